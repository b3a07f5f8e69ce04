import { stringify } from "yaml";
import { type ConfigFormat, isPlatform } from "./config-format.ts";
import { configJsonSchema, schemaLine, type SchemaNode } from "./schema.ts";

/**
 * A commented config file for one platform: all its options, and empty values where the user must fill them in.
 * @param file where it will be
 */
export function startingFile(format: ConfigFormat, platform: string, file: string): string {
  const { properties = {} } = configJsonSchema(format);
  const { usualOptions = [], usesStream = false } = format.clouds.find(({ name }) => name === platform) ?? {};
  // Other platforms are left out: uncommented, they would be deployed too.
  const shown = Object.entries(properties).filter(([key]) => key === platform || !isPlatform(format, key));
  return [
    schemaLine(file),
    `# The bootstrap machine of one cluster. See docs/configuration.md and docs/${platform}.md.`,
    "# Fill in the empty values. Commented lines show the defaults. Paths are relative to this file.",
    "",
    ...shown.flatMap(([key, node]) => {
      if (key === "installDir") return option(key, { ...node, default: undefined }, true, "ocp");
      if (key === "stream" && usesStream) return option(key, node, true, "coreos-stream.json");
      if (key === platform) return [...comment(node), `${key}:`, ...indent(optionsOf(node, usualOptions)), ""];
      // The default port depends on the command: stacks and `ipi` have different ones.
      return option(key, key === "tunnel" ? withoutOption(node, "port") : node, false);
    }),
  ].join("\n");
}

function optionsOf(node: SchemaNode, alsoOpen: readonly string[]): string[] {
  const { properties = {}, required = [] } = node;
  return Object.entries(properties).flatMap(([key, child]) =>
    option(key, child, required.includes(key) || alsoOpen.includes(key)),
  );
}

/** One option: its description and its line, which is a comment unless the user must fill it in. */
function option(key: string, node: SchemaNode, open: boolean, value?: string): string[] {
  const line =
    value !== undefined
      ? `${key}: ${value}`
      : stringify({ [key]: defaultOf(node) ?? null }, { nullStr: "", lineWidth: 0 }).trimEnd();
  const lines = line.split("\n").map((text) => text.trimEnd());
  return [...comment(node), ...(open ? lines : lines.map((text) => `# ${text}`)), ""];
}

/** The defaults of the options in an object. An object with a required option has no default. */
function defaultOf(node: SchemaNode): unknown {
  const object = [node, ...(node.anyOf ?? [])].find(({ properties }) => properties !== undefined);
  const parts = object?.properties;
  if (parts === undefined || (object?.required ?? []).length > 0) return node.default;
  const known = Object.entries(parts)
    .map(([key, child]) => [key, defaultOf(child)] as const)
    .filter(([, value]) => value !== undefined);
  return known.length === 0 ? node.default : Object.fromEntries(known);
}

/** The same node without one of its parts. */
function withoutOption(node: SchemaNode, name: string): SchemaNode {
  const { properties, anyOf } = node;
  return {
    ...node,
    ...(properties && { properties: Object.fromEntries(Object.entries(properties).filter(([key]) => key !== name)) }),
    ...(anyOf && { anyOf: anyOf.map((one) => withoutOption(one, name)) }),
  };
}

function comment({ description }: SchemaNode): string[] {
  return description === undefined ? [] : [`# ${description}`];
}

function indent(lines: readonly string[]): string[] {
  return lines.map((line) => (line === "" ? "" : `  ${line}`));
}
