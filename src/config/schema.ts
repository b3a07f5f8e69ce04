import { z } from "zod";
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
