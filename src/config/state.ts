import { z } from "zod";
import { text, pattern } from "../core/schema/fields.ts";

const keyPrefix = pattern(
  "a path like clusters/prod that no other cluster uses",
  /^(?!.*(^|\/)\.{1,2}(\/|$))[\w.-]+(\/[\w.-]+)*$/,
).describe("Prefix of the state objects' names. Each cluster needs its own.");

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
        .describe("State files on this machine, readable only by you."),
      s3: z
        .strictObject(
          {
            bucket: bucket().describe("An existing bucket."),
            region: pattern("a region like eu-central-1", /^[a-z]{2,4}(-[a-z]+)+-\d$/).describe("The bucket's region."),
            keyPrefix,
            kmsKeyId: text("a KMS key")
              .optional()
              .describe("KMS key for the state. Default: the bucket's own encryption."),
          },
          { error: "an object with bucket, region, keyPrefix" },
        )
        .optional()
        .describe("State in S3, encrypted and with a lock file."),
      gcs: z
        .strictObject(
          {
            bucket: bucket().describe("An existing bucket."),
            keyPrefix,
            kmsEncryptionKey: text("a KMS key")
              .optional()
              .describe("KMS key for the state. Default: Google's own encryption."),
          },
          { error: "an object with bucket, keyPrefix" },
        )
        .optional()
        .describe("State in Google Cloud Storage."),
      azurerm: z
        .strictObject(
          {
            resourceGroupName: text("a resource group").describe("The storage account's resource group."),
            storageAccountName: pattern("a storage account's name", /^[a-z0-9]{3,24}$/).describe(
              "An existing storage account.",
            ),
            containerName: pattern("a container's name", /^[a-z0-9](-?[a-z0-9]){2,62}$/).describe(
              "An existing container.",
            ),
            keyPrefix,
            subscriptionId: pattern("a subscription's id", /^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$/)
              .optional()
              .describe("The storage account's subscription. Default: the subscription of the credentials."),
          },
          { error: "an object with resourceGroupName, storageAccountName, containerName, keyPrefix" },
        )
        .optional()
        .describe("State in Azure Storage, accessed with Entra ID."),
    },
    { error: kinds },
  )
  .refine((state) => Object.keys(state).length === 1, { error: kinds })
  .prefault({ local: {} })
  .describe("Where Terraform stores its state. Each cluster needs its own state folder or key prefix.");

/** Where the state is, on one line. */
export function describeState({ local, s3, gcs, azurerm }: z.output<typeof stateSchema>): string {
  if (s3 !== undefined) return `s3 ${s3.bucket}/${s3.keyPrefix}`;
  if (gcs !== undefined) return `gcs ${gcs.bucket}/${gcs.keyPrefix}`;
  if (azurerm !== undefined)
    return `azurerm ${azurerm.storageAccountName}/${azurerm.containerName}/${azurerm.keyPrefix}`;
  return `local, in ${local?.folder ?? ""} beside the config file`;
}
