import { z } from "zod";
import { isObject } from "../core/ignition/config.ts";
import { UserError, problem } from "../core/errors.ts";
import { awsRegion } from "../../constructs/aws/config.ts";
import { azureRegion, resourceGroup } from "../../constructs/azure/config.ts";
import { text, pattern } from "../core/schema/fields.ts";
import { projectId } from "../../constructs/google/resource-link.ts";
import { googleRegion } from "../../constructs/google/config.ts";
import { describeIssues } from "../core/schema/parse.ts";
import { readUserFile } from "../files/user-file.ts";

/** An infra ID. One that begins with a digit is none for every cloud. */
export const infraIdPattern = /^[a-z0-9]([a-z0-9-]{0,25}[a-z0-9])?$/;

/** The installer writes what it does not know as an empty text. Checked like the option of the same meaning. */
const known = <T extends z.ZodType<string>>(kind: T) =>
  z.preprocess((value) => (value === "" ? undefined : value), kind.optional());
const anyText = () => z.string({ error: "a text" });
const part = <T extends z.ZodRawShape>(shape: T) => z.object(shape, { error: "an object" }).optional();

/** What is read of the metadata.json that openshift-install writes; the rest of it is the installer's. */
const metadataSchema = z.object({
  clusterName: text("the cluster's name"),
  /** The cluster's name in the cloud: part of every resource's name. */
  infraID: pattern("an infra ID like prod-x7k2p", infraIdPattern),
  /** Never itself in the code: only digits of it, or of its hash. */
  clusterID: known(anyText()),
  aws: part({ region: known(awsRegion()) }),
  azure: part({
    region: known(azureRegion()),
    resourceGroupName: known(resourceGroup()),
    /** Only compared with the names that are known. */
    cloudName: known(anyText()),
  }),
  gcp: part({
    region: known(googleRegion()),
    projectID: known(projectId()),
    networkProjectID: known(projectId()),
  }),
});
export type Metadata = z.output<typeof metadataSchema>;

export function readMetadata(file: string): Metadata {
  const invalid = (detail: string) => new UserError(problem("metadata-invalid", { file, detail }));
  const content = readUserFile(file, "check its permissions");
  let value: unknown;
  try {
    value = JSON.parse(content);
  } catch {
    throw invalid("it is not JSON");
  }
  if (!isObject(value)) throw invalid("it is not an object");
  const result = metadataSchema.safeParse(value);
  if (result.success) return result.data;
  const mistakes = describeIssues(result.error.issues, metadataSchema, value, "");
  throw invalid(mistakes.map(({ message }) => message.replace(/\.$/, "")).join(", and "));
}
