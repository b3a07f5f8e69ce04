import { existsSync } from "node:fs";
import { platforms } from "../../src/config/platform.ts";
import { exampleOf, sampleStream } from "./stacks.ts";

/** One config with the platforms of all examples in docs, and the files that it names. */
export function everyPlatform(): {
  config: Record<string, unknown>;
  files: Record<string, string>;
  platforms: string[];
} {
  const there = platforms.filter((platform) =>
    existsSync(new URL(`../../docs/examples/${platform}.yaml`, import.meta.url)),
  );
  const parts = there.map((platform) => [platform, exampleOf(platform).config[platform]] as const);
  return {
    config: { stream: "coreos-stream.json", tags: { team: "platform" }, ...Object.fromEntries(parts) },
    files: { "coreos-stream.json": sampleStream },
    platforms: there,
  };
}
