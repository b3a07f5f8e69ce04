import { relative } from "node:path";
import { shellWord } from "../src/core/shell-word.ts";
import type { Inputs } from "./resolve.ts";

/** What an operator puts before a cdktf command so that it finds the config file. */
export function configPrefix({
  configFile,
  workingDirectory,
}: Pick<Inputs, "configFile" | "workingDirectory">): string {
  const file = configFile === undefined ? "" : relative(workingDirectory, configFile);
  return file === "" || file === "konnectivity.yaml" ? "" : `KONNECTIVITY_CONFIG=${shellWord(file)} `;
}
