import { z } from "zod";
import { isObject } from "../core/ignition/config.ts";
import { UserError, problem } from "../core/errors.ts";
import { text, pattern } from "../core/schema/fields.ts";
import { describeIssues } from "../core/schema/parse.ts";
import { readSmallFile } from "../files/user-file.ts";
import type { Platform } from "./platform.ts";

/** An infra ID. A platform may accept less. */
export const infraIdPattern = /^[a-z0-9]([a-z0-9-]{0,25}[a-z0-9])?$/;

/** The installer writes an empty string for unknown values. Any other value is checked like the option. */
export const known = <T extends z.ZodType<string>>(kind: T) =>
  z.preprocess((value) => (value === "" ? undefined : value), kind.optional());

/** Any text of metadata.json. */
export const anyText = () => z.string({ error: "a string" });

/** A platform's part of metadata.json. */
export const metadataPart = <T extends z.ZodRawShape>(shape: T) => z.object(shape, { error: "an object" });

const clusterShape = {
  clusterName: text("the cluster's name"),
  /** The cluster's name in the cloud: part of every resource's name. */
  infraID: pattern("an infra ID like prod-x7k2p", infraIdPattern),
  /** The Terraform code contains only a few digits of it, or of its hash. */
  clusterID: known(anyText()),
};

/** What is read of metadata.json, with the platforms' parts under the installer's keys; other keys are ignored. */
export type Metadata = z.output<z.ZodObject<typeof clusterShape>> & Readonly<Record<string, unknown>>;
export type MetadataSchema = z.ZodType<Metadata>;

export function metadataSchemaFor(platforms: readonly Platform[]): MetadataSchema {
  const parts = platforms.flatMap(({ metadata }) =>
    metadata === undefined ? [] : [[metadata.key, metadata.schema.optional()] as const],
  );
  return z.object({ ...clusterShape, ...Object.fromEntries(parts) });
}

/** Real ones have less than a kilobyte. */
const largest = 1024 * 1024;

export function readMetadata(schema: MetadataSchema, file: string): Metadata {
  const invalid = (detail: string) => new UserError(problem("metadata-invalid", { file, detail }));
  const advice = "check its permissions";
  const content = readSmallFile(file, largest, advice);
  if (content === undefined)
    throw new UserError(problem("file-unreadable", { file, reason: "it does not exist", advice }));
  let value: unknown;
  try {
    value = JSON.parse(content.toString("utf8"));
  } catch {
    throw invalid("it is not JSON");
  }
  if (!isObject(value)) throw invalid("it is not an object");
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const problems = describeIssues(result.error.issues, schema, value, "");
  throw invalid(problems.map(({ message }) => message.replace(/\.$/, "")).join(", and "));
}
