import { existsSync, readFileSync } from "node:fs";
import { homedir, hostname, userInfo } from "node:os";
import { dirname } from "node:path";
import { configFormat, platformNames } from "../../stacks/platforms.ts";
import { readPartialConfig } from "../config/config-file.ts";
import { configJsonSchema } from "../config/schema.ts";
import { projectRoot } from "../runtime/project-files.js";
import { textsIn } from "./acceptance-redaction.ts";
import type { Session } from "./acceptance-steps.ts";

/** Every text that is known to identify a cluster, an account, this machine or its user. */
export function identifyingTexts(
  session: Pick<Session, "platform" | "configFile" | "inputs" | "kubeconfig" | "folder">,
): string[] {
  const { platform, configFile, inputs, kubeconfig, folder } = session;
  const { config } = readPartialConfig(configFormat, configFile);
  const resolved: unknown = inputs.platforms[platform as keyof typeof inputs.platforms];
  const described = configFormat.platforms.find(({ name }) => name === platform);
  const shown = Object.values(described?.reportedFacts?.(resolved) ?? {});
  const vocabulary = new Set<unknown>([...enumeratedIn(configJsonSchema(configFormat)), ...platformNames, ...shown]);
  const texts = [
    ...textsIn(config),
    ...Object.keys(inputs.tags),
    ...textsIn(resolved),
    ...textsIn(inputs.metadata),
    ...[inputs.infraId, inputs.uniquePart, inputs.fixedAddress ?? ""],
    ...[hostname(), userInfo().username, homedir(), process.cwd(), projectRoot, folder],
    ...(configFile === undefined ? [] : [configFile, dirname(configFile)]),
    ...(kubeconfig === undefined ? [] : [kubeconfig, ...hostsIn(kubeconfig)]),
  ];
  return texts.filter((text) => !vocabulary.has(text));
}

/** The words that a config may only choose from: they identify nobody. */
function enumeratedIn(schema: unknown): unknown[] {
  if (typeof schema !== "object" || schema === null) return [];
  const {
    enum: words = [],
    const: word,
    default: value,
  } = schema as { enum?: unknown[]; const?: unknown; default?: unknown };
  return [...words, word, value, ...Object.values(schema).flatMap(enumeratedIn)];
}

/** The API's host and the domains above it. */
function hostsIn(kubeconfig: string): string[] {
  if (!existsSync(kubeconfig)) return [];
  const [, host = ""] =
    /server: *["']?https?:\/\/\[?([\w.:-]+?)\]?(?::\d+)?["']?\s/.exec(readFileSync(kubeconfig, "utf8")) ?? [];
  const labels = host.split(".");
  return labels.slice(0, -1).map((_, index) => labels.slice(index).join("."));
}
