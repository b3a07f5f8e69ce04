import { basename, dirname, join } from "node:path";
import { Command } from "commander";
import { everything, folderWarnings, ignoreInGit, makePrivateFolder } from "../files/private-folder.ts";
import { partialOf, reasonOf, writeNewUserFile } from "../files/user-file.ts";
import { inLines } from "../core/printable.ts";
import { UserError, problem } from "../core/errors.ts";
import { jsonOption, type Output } from "./output.ts";
import { noteTarget, type TargetOptions, targetOf, withTarget } from "./target.ts";

/** In the working directory, which is often a repository: this folder has a `.gitignore` of its own. */
const usualFolder = "konnectivity-gather";

/** Limits each log to a few megabytes. */
const logLines = 20_000;

/** `gather`: everything needed to find out what is wrong, in one archive, without secrets. */
export function gatherCommand(output: Output): Command {
  return withTarget(
    new Command("gather").description(
      "Collect logs, health, metrics, certificate dates and settings in one archive, without secrets",
    ),
  )
    .option(
      "--out <file>",
      `file to write, which must not exist (default: one in ${usualFolder}, with the time in its name)`,
    )
    .option(...jsonOption)
    .action(async (options: TargetOptions & { out?: string; json?: boolean }) => {
      const [{ archiveOf }, { gatheredFiles }, { collect }] = await Promise.all([
        import("../cluster/archive.ts"),
        import("../cluster/gather.ts"),
        import("../cluster/collect.ts"),
      ]);
      const target = await targetOf(options);
      noteTarget(output, options, target);
      const now = new Date();
      const folder = `${usualFolder}-${now.toISOString().replace(/[:.]/g, "-").slice(0, 19)}`;
      output.doing("Reading from the machines and the cluster");
      const collected = await collect(target, logLines);
      const files = gatheredFiles(collected, now);
      const archive = await archiveOf({ files, folder, time: now });
      const file = options.out ?? join(usualFolder, `${folder}.tar.gz`);
      if (options.out === undefined) makeUsualFolder();
      writeNewUserFile(file, archive, "give another name with --out");
      output.warnings(folderWarnings(dirname(file), [basename(file)]));
      const unreachable = collected.probes.filter((probe) => "unreachable" in probe);
      if (options.json === true)
        output.json({
          file,
          files: [...files.keys()],
          unreachable: unreachable.map((probe) => ({ machine: probe.machine, reason: probe.unreachable })),
        });
      else output.text(inLines([`${file} is written: ${files.size} files, no keys, tokens or kubeconfigs in it.`]));
      for (const probe of unreachable)
        output.warnings([{ code: "unreachable", message: `${probe.machine} did not answer: ${probe.unreachable}` }]);
    });
}

function makeUsualFolder(): void {
  const archives = `${usualFolder}-*.tar.gz`;
  try {
    const isNew = makePrivateFolder(usualFolder) !== undefined;
    ignoreInGit(usualFolder, isNew ? everything : [`/${archives}`, `/${partialOf(archives)}`]);
  } catch (error) {
    throw new UserError(problem("file-unwritable", { file: usualFolder, reason: reasonOf(error) }));
  }
}
