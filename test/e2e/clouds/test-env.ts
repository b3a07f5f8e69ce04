import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Certificate } from "./certificate.ts";

/** Where a cloud's tests run: a folder, and in it the certificate that everything there trusts. */
export interface Place {
  readonly folder: string;
  readonly certificate: Certificate;
}

/** The variable by which main.ts tells the tests their folder. */
export const placeVariable = "KONNECTIVITY_TEST_CLOUD";

/** As main.ts prepared it: these tests run in its namespaces only. */
export function place(): Place {
  const folder = process.env[placeVariable];
  if (folder === undefined) throw new Error("Run these tests with `npm run test:clouds`.");
  const [file, keyFile] = [join(folder, "certificate.pem"), join(folder, "key.pem")];
  return {
    folder,
    certificate: { file, keyFile, certificate: readFileSync(file, "utf8"), key: readFileSync(keyFile, "utf8") },
  };
}
