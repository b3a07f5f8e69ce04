import { join } from "node:path";
import { z } from "zod";
import { UserError, problem, type Warning } from "../core/errors.ts";
import { everything, folderWarnings, ignoreInGit, makePrivateFolder } from "../files/private-folder.ts";
import { nothingThere, partialOf, readSmallFile, reasonOf, writeUserFiles } from "../files/user-file.ts";
import { factsSchema } from "./acceptance-facts.ts";

/** The steps, in their order. */
export const stepIds = [
  "preflight",
  "deploy",
  "plan",
  "status",
  "verify",
  "complete",
  "verify-end",
  "destroy",
  "leftovers",
] as const;
export type StepId = (typeof stepIds)[number];

const resultSchema = z.strictObject({
  state: z.enum(["passed", "failed"]),
  seconds: z.number().min(0),
  /** Why it failed: as it was printed, with names of the cluster. */
  reason: z.string().optional(),
});
export type StepResult = z.output<typeof resultSchema>;

const schema = z.strictObject({
  format: z.literal(1),
  platform: z.string(),
  /** Infra ID, or the lab's name. */
  cluster: z.string(),
  startedAt: z.iso.datetime(),
  results: z.partialRecord(z.enum(stepIds), resultSchema),
  facts: factsSchema,
});

/** How far a run is. */
export type Progress = z.output<typeof schema>;

export const newProgress = (platform: string, cluster: string, now: Date): Progress => ({
  format: 1,
  platform,
  cluster,
  startedAt: now.toISOString(),
  results: {},
  facts: {},
});

const fileIn = (folder: string) => join(folder, "progress.json");
/** Real ones have a few kilobytes. */
const largest = 1024 * 1024;

/**
 * The saved progress of a run in this folder. Throws a UserError if the file is damaged, or is about another cluster.
 * @returns undefined if there is none
 */
export function readProgress(folder: string, expected: Pick<Progress, "platform" | "cluster">): Progress | undefined {
  const file = fileIn(folder);
  const content = readSmallFile(file, largest, "give another folder with --out");
  if (content === undefined) return undefined;
  const result = schema.safeParse(parseJson(content.toString("utf8")));
  if (!result.success) throw new UserError(problem("acceptance-progress-invalid", { file }));
  const { platform, cluster } = result.data;
  if (platform !== expected.platform || cluster !== expected.cluster)
    throw new UserError(
      problem("acceptance-another-cluster", {
        folder,
        found: `${platform} ${cluster}`,
        wanted: `${expected.platform} ${expected.cluster}`,
      }),
    );
  return result.data;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

export function saveProgress(folder: string, progress: Progress): void {
  writeUserFiles([{ file: fileIn(folder), text: `${JSON.stringify(progress, undefined, 2)}\n` }]);
}

/** What a run writes, for `.gitignore`. */
const names = ["progress.json", "report.md", "report.json", "*.log"];

/** Creates the folder for its owner only, and keeps what is in it out of git. @returns what does not protect it */
export function makeAcceptanceFolder(folder: string): Warning[] {
  try {
    const isNew = makePrivateFolder(folder) !== undefined;
    ignoreInGit(folder, isNew ? everything : names.flatMap((name) => [`/${name}`, `/${partialOf(name)}`]));
    return folderWarnings(folder, ["progress.json"]);
  } catch (error) {
    throw new UserError(problem("file-unwritable", { file: folder, reason: reasonOf(error, nothingThere) }));
  }
}
