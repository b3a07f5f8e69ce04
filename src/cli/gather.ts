import { closeSync, openSync, writeSync } from "node:fs";
import { join } from "node:path";
import { Command } from "commander";
import { everything, ignoreInGit, makePrivateFolder } from "../files/private-folder.ts";
import { reasonOf } from "../files/user-file.ts";
import { inLines } from "../core/printable.ts";
import { UserError, problem } from "../core/errors.ts";
import type { Output } from "./output.ts";
import { type TargetOptions, targetOf, withTarget } from "./target.ts";

/** In the working directory, which is often a repository: this folder has a `.gitignore` of its own. */
const usualFolder = "konnectivity-gather";

/** Of each log: some megabytes at the most. */
const logLines = 20_000;

/** `gather`: what a person needs to find out what is wrong, in one archive, without secrets. */
export function gatherCommand(output: Output): Command {
  return withTarget(
    new Command("gather").description(
      "logs, health, metrics, certificates' dates and settings in one archive, without secrets",
    ),
  )
    .option(
      "--out <file>",
      `the archive (default: ${usualFolder}/${usualFolder}-<time>.tar.gz); one that is there is not touched`,
    )
    .action(async (options: TargetOptions & { out?: string }) => {
      const { archiveOf, gatheredFiles } = await import("../cluster/gather.ts");
      const { collect } = await import("../cluster/collect.ts");
      const target = await targetOf(options);
      const now = new Date();
      const folder = `${usualFolder}-${now.toISOString().replace(/[:.]/g, "-").slice(0, 19)}`;
      const seen = await collect(target, logLines);
      const files = gatheredFiles(seen, now);
      const file = options.out ?? join(usualFolder, `${folder}.tar.gz`);
      if (options.out === undefined) makeUsualFolder();
      writeNew(file, archiveOf(files, folder));
      output.text(inLines([`${file} is written: ${files.size} files, no keys, tokens or kubeconfigs in it.`]));
      const silent = seen.answers.filter((answer) => "silent" in answer);
      for (const { machine, silent: why } of silent)
        output.warnings([{ code: "silent", message: `${machine} did not answer: ${why}` }]);
    });
}

function makeUsualFolder(): void {
  try {
    const isNew = makePrivateFolder(usualFolder) !== undefined;
    ignoreInGit(usualFolder, isNew ? everything : [`/${usualFolder}-*.tar.gz`]);
  } catch (error) {
    throw new UserError(problem("file-unwritable", { file: usualFolder, reason: reasonOf(error) }));
  }
}

/** For its owner only. */
function writeNew(file: string, bytes: Buffer): void {
  let descriptor: number;
  try {
    descriptor = openSync(file, "wx", 0o600);
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "EEXIST")
      throw new UserError(problem("file-exists", { file, advice: "give another name with --out" }));
    throw new UserError(problem("file-unwritable", { file, reason: reasonOf(error) }));
  }
  try {
    for (let at = 0; at < bytes.length;) at += writeSync(descriptor, bytes, at);
  } finally {
    closeSync(descriptor);
  }
}
