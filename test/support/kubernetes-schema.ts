import { spawnSync } from "node:child_process";
import { ensureGoProgram } from "../../lab/go-programs.js";

/** One object's text, and what kind it is meant to be. */
export interface ObjectText {
  readonly name: string;
  readonly kind: string;
  readonly text: string;
}

/** What a kube-apiserver would say of the object; nothing means that it would take it. */
export interface CheckedObject {
  readonly name: string;
  readonly problems: readonly string[];
}

/** Checks objects against the real API types (test/support/kubernetes-schema). One call takes many: starting costs most. */
export function checkObjects(objects: readonly ObjectText[]): CheckedObject[] {
  const checker = spawnSync(ensureGoProgram("kubernetes-schema")["kubernetes-schema"], {
    input: JSON.stringify(objects),
    encoding: "utf8",
    maxBuffer: 64 * 1024 * 1024,
  });
  if (checker.error !== undefined || checker.status !== 0)
    throw new Error(`kubernetes-schema did not run: ${checker.error?.message ?? checker.stderr}`);
  return JSON.parse(checker.stdout) as CheckedObject[];
}
