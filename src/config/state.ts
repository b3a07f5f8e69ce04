import { z } from "zod";
import { text, pattern } from "../core/schema/fields.ts";

const keyPrefix = pattern(
  "a path like clusters/prod, unlike any other cluster's",
  /^(?!.*(^|\/)\.{1,2}(\/|$))[\w.-]+(\/[\w.-]+)*$/,
).describe("In front of each stack's name: another cluster has another.");

const bucket = () => pattern("a bucket's name", /^[a-z0-9][a-z0-9._-]{1,220}[a-z0-9]$/);

const kinds = "an object with exactly one of local, s3, gcs, azurerm";

export const stateSchema = z
  .strictObject(
    {
      local: z
        .strictObject(
          { folder: text("a folder").default(".state").describe("Folder of the state files.") },
          { error: "an object with folder" },
        )
        .optional()
        .describe("On this machine, readable for you only."),
      s3: z
        .strictObject(
          {
            bucket: bucket().describe("A bucket that is there already."),
            region: pattern("a region like eu-central-1", /^[a-z]{2,4}(-[a-z]+)+-\d$/).describe("The bucket's."),
            keyPrefix,
            kmsKeyId: text("a KMS key").optional().describe("Default: the bucket's own encryption."),
          },
          { error: "an object with bucket, region, keyPrefix" },
        )
        .optional()
        .describe("In S3, encrypted and with a lock file."),
      gcs: z
        .strictObject(
          {
            bucket: bucket().describe("A bucket that is there already."),
            keyPrefix,
            kmsEncryptionKey: text("a KMS key").optional().describe("Default: Google's own encryption."),
          },
          { error: "an object with bucket, keyPrefix" },
        )
        .optional()
        .describe("In Google Cloud Storage."),
      azurerm: z
        .strictObject(
          {
            resourceGroupName: text("a resource group").describe("The storage account's."),
            storageAccountName: pattern("a storage account's name", /^[a-z0-9]{3,24}$/).describe(
              "An account that is there already.",
            ),
            containerName: pattern("a container's name", /^[a-z0-9](-?[a-z0-9]){2,62}$/).describe(
              "A container that is there already.",
            ),
            keyPrefix,
            subscriptionId: pattern("a subscription's id", /^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$/)
              .optional()
              .describe("Default: that of the credentials."),
          },
          { error: "an object with resourceGroupName, storageAccountName, containerName, keyPrefix" },
        )
        .optional()
        .describe("In Azure storage, with Entra ID."),
    },
    { error: kinds },
  )
  .refine((state) => Object.keys(state).length === 1, { error: kinds })
  .prefault({ local: {} })
  .describe("Where Terraform keeps what it made: one file and one state folder for each cluster.");

/** Where the state is, on one line. */
export function describeState({ local, s3, gcs, azurerm }: z.output<typeof stateSchema>): string {
  if (s3 !== undefined) return `s3 ${s3.bucket}/${s3.keyPrefix}`;
  if (gcs !== undefined) return `gcs ${gcs.bucket}/${gcs.keyPrefix}`;
  if (azurerm !== undefined)
    return `azurerm ${azurerm.storageAccountName}/${azurerm.containerName}/${azurerm.keyPrefix}`;
  return `local, in ${local?.folder ?? ""} beside the config file`;
}
