import { z } from "zod";
import { InputError, problem } from "../problems.ts";
import { readUserFile } from "./user-file.ts";

/** What is read of the metadata.json that openshift-install writes; the rest of it is the installer's. */
const metadataSchema = z.object({
  clusterName: z.string().min(1),
  /** The cluster's name in the cloud: part of every resource's name. */
  infraID: z.string().regex(/^[a-z]([a-z0-9-]{0,25}[a-z0-9])?$/),
  clusterID: z.string().optional(),
  aws: z.object({ region: z.string().optional() }).optional(),
  azure: z
    .object({
      region: z.string().optional(),
      resourceGroupName: z.string().optional(),
      cloudName: z.string().optional(),
    })
    .optional(),
  gcp: z
    .object({
      region: z.string().optional(),
      projectID: z.string().optional(),
      networkProjectID: z.string().optional(),
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
