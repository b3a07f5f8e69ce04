import { existsSync } from "node:fs";
import { platforms } from "../../src/config/platform.ts";
import { projectFile } from "../../src/runtime/project-files.js";
import { exampleOf, sampleStream } from "./stacks.ts";

/** One config with the platforms of all examples in docs, and the files that it names. */
export function everyPlatform(): {
  config: Record<string, unknown>;
  files: Record<string, string>;
  platforms: string[];
} {
  const there = platforms.filter((platform) => existsSync(projectFile(`docs/examples/${platform}.yaml`)));
  const parts = there.map((platform) => [platform, exampleOf(platform).config[platform]] as const);
  return {
    config: { stream: "coreos-stream.json", tags: { team: "platform" }, ...Object.fromEntries(parts) },
    files: { "coreos-stream.json": sampleStream },
    platforms: there,
  };
}
