import { z } from "zod";
import { InputError, problem } from "../problems.ts";
import { readUserFile } from "./user-file.ts";

/** An infra ID. One that begins with a digit is none for every cloud. */
export const infraIdPattern = /^[a-z0-9]([a-z0-9-]{0,25}[a-z0-9])?$/;

/** The installer writes what it does not know as an empty text. */
const known = () =>
  z
    .string()
    .optional()
    .transform((value) => (value === "" ? undefined : value));

/** What is read of the metadata.json that openshift-install writes; the rest of it is the installer's. */
const metadataSchema = z.object({
  clusterName: z.string().min(1),
  /** The cluster's name in the cloud: part of every resource's name. */
  infraID: z.string().regex(infraIdPattern),
  clusterID: known(),
  aws: z.object({ region: known() }).optional(),
  azure: z
    .object({
      region: known(),
      resourceGroupName: known(),
      cloudName: known(),
    })
    .optional(),
  gcp: z
    .object({
      region: known(),
      projectID: known(),
      networkProjectID: known(),
    })
    .optional(),
});
export type Metadata = z.output<typeof metadataSchema>;

export function readMetadata(file: string): Metadata {
  const invalid = (detail: string) => new InputError(problem("metadata-invalid", { file, detail }));
  const text = readUserFile(file, "check its permissions");
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw invalid("it is not JSON");
  }
  const result = metadataSchema.safeParse(value);
  if (result.success) return result.data;
  const paths = result.error.issues.map(({ path }) => path.join(".") || "the whole");
  throw invalid(`${[...new Set(paths)].join(", ")} is missing or not what it should be`);
}
