import { z } from "zod";
import { configSchema } from "./config-file.ts";

/** One option or object of options in the config's JSON Schema: the part of the standard that zod writes for ours. */
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
export function configJsonSchema(): SchemaNode {
  return { ...z.toJSONSchema(configSchema, { io: "input" }), title: "konnectivity.yaml" } as SchemaNode;
}
