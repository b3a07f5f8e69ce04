import { closeSync, constants, existsSync, fchmodSync, lstatSync, openSync } from "node:fs";
import { UserError, problem } from "../../src/core/errors.ts";
import { everything, ignoreInGit, keepPrivate, makePrivateFolder } from "../../src/files/private-folder.ts";
import { isStateLost, stateBackupOf, stateFileOf } from "../../src/files/terraform-state.ts";
import { nothingThere, reasonOf } from "../../src/files/user-file.ts";

/** Files that must not be committed if the folder is also something else: states, backups, locks. */
const stateFiles = ["/*.tfstate", "/*.tfstate.*", "/cluster.json", "/.cluster.json.partial"];

/**
 * Creates the state files with mode 0600, because Terraform keeps the mode of an existing file but makes a new one readable
 * by everyone. Refuses symbolic links, which Terraform and a change of the mode would follow.
 * @param own whether the folder is only for the state, and not the user's project itself
 * @returns what was created: the folder alone if that is new
 */
export function protectLocalState(folder: string, stacks: readonly string[], own = true): string[] {
  const files = stacks.map((stack) => stateFileOf(folder, stack)).flatMap((file) => [file, stateBackupOf(file)]);
  try {
    const newFolder = makePrivateFolder(folder);
    if (own) keepPrivate(folder);
    const ignored = ignoreInGit(folder, newFolder === undefined ? stateFiles : everything);
    const links = files.filter((file) => lstatSync(file, { throwIfNoEntry: false })?.isSymbolicLink());
    if (links.length > 0) throw new UserError(...links.map((file) => problem("state-is-link", { file })));
    const lost = stacks.map((stack) => stateFileOf(folder, stack)).find(isStateLost);
    if (lost !== undefined) throw new UserError(problem("state-lost", { file: lost, backup: stateBackupOf(lost) }));
    const newFiles = files.filter((file) => !existsSync(file));
    for (const file of files) keepForOwner(file);
    return newFolder === undefined ? [...(ignored === undefined ? [] : [ignored]), ...newFiles] : [newFolder];
  } catch (error) {
    if (error instanceof UserError) throw error;
    throw new UserError(problem("file-unwritable", { file: folder, reason: reasonOf(error, nothingThere) }));
  }
}

/** Creates the file or changes its mode. Follows no link that was created in the meantime, and does not block on a FIFO. */
function keepForOwner(file: string): void {
  const { O_WRONLY, O_APPEND, O_CREAT, O_NOFOLLOW, O_NONBLOCK } = constants;
  const descriptor = openSync(file, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK, 0o600);
  try {
    fchmodSync(descriptor, 0o600);
  } finally {
    closeSync(descriptor);
  }
}
