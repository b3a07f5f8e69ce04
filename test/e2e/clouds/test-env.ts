import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Certificate } from "./certificate.ts";

/** Where a cloud's tests run: a folder, and the certificate that every program there trusts. */
export interface TestEnv {
  readonly folder: string;
  readonly certificate: Certificate;
}

/** The environment variable with the tests' folder, set by main.ts. */
export const testEnvVariable = "KONNECTIVITY_TEST_CLOUD";

/** The environment that main.ts prepared: these tests run in its namespaces only. */
export function testEnv(): TestEnv {
  const folder = process.env[testEnvVariable];
  if (folder === undefined) throw new Error("Run these tests with `npm run test:clouds`.");
  const [file, keyFile] = [join(folder, "certificate.pem"), join(folder, "key.pem")];
  return {
    folder,
    certificate: { file, keyFile, certificate: readFileSync(file, "utf8"), key: readFileSync(keyFile, "utf8") },
  };
}
