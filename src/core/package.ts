import { readProjectText } from "../runtime/project-files.js";

/** The fields of this project's package.json that it shows to users. */
export const { version, description } = JSON.parse(readProjectText("package.json")) as {
  readonly version: string;
  readonly description: string;
};
