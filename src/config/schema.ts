import { dirname, relative, resolve } from "node:path";
import { z } from "zod";
import { projectFile } from "../runtime/project-files.js";
import type { ConfigFormat } from "./config-format.ts";

/** One option or object of options in the config's JSON Schema: what zod writes for our schemas. */
export interface SchemaNode {
  readonly type?: string;
  readonly description?: string;
  readonly default?: unknown;
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, SchemaNode>>;
  readonly anyOf?: readonly SchemaNode[];
  readonly items?: SchemaNode;
}

/** The config file's JSON Schema: for editors, and for everything that explains the options. */
export function configJsonSchema({ schema }: ConfigFormat): SchemaNode {
  return { ...z.toJSONSchema(schema, { io: "input" }), title: "konnectivity.yaml" } as SchemaNode;
}

/** The first line of a config file, by which editors find the schema. It leads there from the file's own folder. */
export function schemaLine(file: string): string {
  return `# yaml-language-server: $schema=${relative(dirname(resolve(file)), projectFile("docs/konnectivity.schema.json"))}`;
}
