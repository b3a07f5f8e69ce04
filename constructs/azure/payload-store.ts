import { StorageAccount } from "@cdktf/provider-azurerm/lib/storage-account/index.js";
import { StorageBlob } from "@cdktf/provider-azurerm/lib/storage-blob/index.js";
import { StorageContainer } from "@cdktf/provider-azurerm/lib/storage-container/index.js";
import type { ITerraformDependable } from "cdktf";
import { Construct } from "constructs";
import type { PayloadFile } from "../shared/payload-file.ts";

export interface PayloadStoreProps {
  /** Unique in the whole cloud: 3 to 24 lower case letters and digits. */
  readonly accountName: string;
  readonly resourceGroupName: string;
  readonly region: string;
  /** Like blob.core.windows.net. */
  readonly blobDomain: string;
  readonly payload: PayloadFile;
  /** Whether the account's keys give access. */
  readonly sharedKeys: boolean;
  readonly tags: Readonly<Record<string, string>>;
}

/** A private container with the payload in it, in its own storage account. All are deleted with the stack. */
export class PayloadStore extends Construct {
  /** A literal: a reference to the blob would replace the machine with each new payload. */
  readonly url: string;
  readonly containerName = "ignition";
  readonly containerId: string;
  /** The storage account's connection string, which contains its key. */
  readonly connectionString: string;
  /** Must exist before a machine can fetch the payload. */
  readonly stored: ITerraformDependable;

  constructor(scope: Construct, id: string, props: PayloadStoreProps) {
    super(scope, id);
    const { accountName, payload, sharedKeys } = props;
    this.url = `https://${accountName}.${props.blobDomain}/${this.containerName}/${payload.name}`;

    const account = new StorageAccount(this, "account", {
      name: accountName,
      resourceGroupName: props.resourceGroupName,
      location: props.region,
      accountKind: "StorageV2",
      accountTier: "Standard",
      accountReplicationType: "LRS",
      minTlsVersion: "TLS1_2",
      httpsTrafficOnlyEnabled: true,
      allowNestedItemsToBePublic: false,
      crossTenantReplicationEnabled: false,
      sharedAccessKeyEnabled: sharedKeys,
      defaultToOauthAuthentication: !sharedKeys,
      localUserEnabled: false,
      tags: props.tags,
    });
    const container = new StorageContainer(this, "container", {
      name: this.containerName,
      storageAccountId: account.id,
      containerAccessType: "private",
    });
    const blob = new StorageBlob(this, "blob", {
      name: payload.name,
      // Provider 5 has the container's ID instead of these two. The bindings are older, so overrides below replace them.
      storageAccountName: account.name,
      storageContainerName: container.name,
      type: "Block",
      source: payload.name,
      // Without it the provider does not notice that the file has changed.
      contentMd5: payload.md5,
      contentType: payload.contentType,
      lifecycle: { precondition: payload.preconditions },
    });
    blob.addOverride("storage_account_name", undefined);
    blob.addOverride("storage_container_name", undefined);
    blob.addOverride("storage_container_id", container.id);

    this.containerId = container.id;
    this.connectionString = account.primaryBlobConnectionString;
    this.stored = blob;
  }
}
