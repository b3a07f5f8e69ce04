import { relative } from "node:path";
import { AzurermBackend, GcsBackend, LocalBackend, S3Backend, type TerraformStack } from "cdktf";
import type { z } from "zod";
import type { stateSchema } from "../../src/config/state.ts";
import { plainLiteral } from "../../src/core/terraform-literal.ts";
import { stateBackupOf, stateFileOf } from "../../src/files/terraform-state.ts";
import { stackFolder } from "./stack-folder.ts";

/** Where a stack's state is: exactly one of `local`, `s3`, `gcs` and `azurerm`. A local folder is absolute. */
export type StateBackendProps = Readonly<z.output<typeof stateSchema>>;

/** Tells a stack where its state is. Terraform accepts only literals in a backend. */
export function addStateBackend(stack: TerraformStack, state: StateBackendProps): void {
  const name = stack.node.id;
  if (state.s3 !== undefined) {
    const { bucket, region, keyPrefix, kmsKeyId } = state.s3;
    const backend = new S3Backend(stack, {
      bucket,
      region,
      key: `${keyPrefix}/${name}.tfstate`,
      kmsKeyId,
      encrypt: true,
    });
    // The bindings are older than this argument.
    backend.addOverride("use_lockfile", true);
  } else if (state.gcs !== undefined) {
    const { bucket, keyPrefix, kmsEncryptionKey } = state.gcs;
    const backend = new GcsBackend(stack, { bucket, prefix: `${keyPrefix}/${name}` });
    if (kmsEncryptionKey !== undefined) backend.addOverride("kms_encryption_key", kmsEncryptionKey);
  } else if (state.azurerm !== undefined) {
    const { keyPrefix, ...where } = state.azurerm;
    new AzurermBackend(stack, { ...where, key: `${keyPrefix}/${name}.tfstate`, useAzureadAuth: true });
  } else {
    // Outside cdktf.out, which the cdktf command clears.
    new LocalBackend(stack, { path: localStateFile(stack, state.local?.folder ?? "") });
  }
}

/** Relative to the stack's folder, so that the tree can move. */
function localStateFile(stack: TerraformStack, folder: string): string {
  return plainLiteral(relative(stackFolder(stack), stateFileOf(folder, stack.node.id)), "The path of the state");
}

/** The backup that Terraform keeps beside a local state, relative to the stack's folder. None beside a shared state. */
export function localStateBackups(stack: TerraformStack, { local }: StateBackendProps): string[] {
  return local === undefined ? [] : [stateBackupOf(localStateFile(stack, local.folder))];
}
