import { readFileSync } from "node:fs";

/** What package.json says of this project. */
export const { version, description } = JSON.parse(
  readFileSync(new URL("../../package.json", import.meta.url), "utf8"),
) as { readonly version: string; readonly description: string };
