import { closeSync, constants, fchmodSync, lstatSync, openSync } from "node:fs";
import { relative } from "node:path";
import { AzurermBackend, GcsBackend, LocalBackend, S3Backend, type TerraformStack } from "cdktf";
import type { z } from "zod";
import type { stateSchema } from "../../src/config/state.ts";
import { everything, ignoreInGit, keepPrivate, makePrivateFolder } from "../../src/files/private-folder.ts";
import { isStateLost, stateBackupOf, stateFileOf } from "../../src/files/terraform-state.ts";
import { nothingThere, reasonOf } from "../../src/files/user-file.ts";
import { UserError, problem } from "../../src/core/errors.ts";
import { plainLiteral } from "../../src/core/terraform-literal.ts";
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
    // The bindings are older than the lock file.
    backend.addOverride("use_lockfile", true);
  } else if (state.gcs !== undefined) {
    const { bucket, keyPrefix, kmsEncryptionKey } = state.gcs;
    const backend = new GcsBackend(stack, { bucket, prefix: `${keyPrefix}/${name}` });
    if (kmsEncryptionKey !== undefined) backend.addOverride("kms_encryption_key", kmsEncryptionKey);
  } else if (state.azurerm !== undefined) {
    const { keyPrefix, ...where } = state.azurerm;
    new AzurermBackend(stack, { ...where, key: `${keyPrefix}/${name}.tfstate`, useAzureadAuth: true });
  } else {
    // Outside cdktf.out, which the CLI clears.
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

/** What a state folder holds that is not for everybody who can read a repository: states, backups, locks. */
const stateFiles = ["/*.tfstate", "/*.tfstate.*", "/cluster.json", "/.cluster.json.partial"];

/**
 * Terraform would make its state readable for everybody; a file that is there keeps its mode. A link is refused: Terraform
 * would follow it, and so would a change of its mode.
 * @param own whether the folder is there for the state alone, and not the user's project itself
 */
export function protectLocalState(folder: string, stacks: readonly string[], own = true): void {
  const files = stacks.map((stack) => stateFileOf(folder, stack)).flatMap((file) => [file, stateBackupOf(file)]);
  try {
    const isNew = makePrivateFolder(folder) !== undefined;
    if (own) keepPrivate(folder);
    ignoreInGit(folder, isNew ? everything : stateFiles);
    const links = files.filter((file) => lstatSync(file, { throwIfNoEntry: false })?.isSymbolicLink());
    if (links.length > 0) throw new UserError(...links.map((file) => problem("state-is-link", { file })));
    const lost = stacks.map((stack) => stateFileOf(folder, stack)).find(isStateLost);
    if (lost !== undefined) throw new UserError(problem("state-lost", { file: lost, backup: stateBackupOf(lost) }));
    for (const file of files) keepForOwner(file);
  } catch (error) {
    if (error instanceof UserError) throw error;
    throw new UserError(problem("file-unwritable", { file: folder, reason: reasonOf(error, nothingThere) }));
  }
}

/** Creates the file, or takes it from everybody but its owner. It follows no link that came meanwhile, and waits for no FIFO. */
function keepForOwner(file: string): void {
  const { O_WRONLY, O_APPEND, O_CREAT, O_NOFOLLOW, O_NONBLOCK } = constants;
  const descriptor = openSync(file, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK, 0o600);
  try {
    fchmodSync(descriptor, 0o600);
  } finally {
    closeSync(descriptor);
  }
}
