import { DataAzurermStorageAccountBlobContainerSas } from "@cdktf/provider-azurerm/lib/data-azurerm-storage-account-blob-container-sas/index.js";
import { DataResource, TerraformStack } from "cdktf";
import { Construct } from "constructs";
import type { PayloadFile } from "../shared/payload-file.ts";
import { addressOf } from "../shared/terraform-address.ts";
import type { PayloadStore } from "./payload-store.ts";

export interface PayloadSasProps {
  readonly store: PayloadStore;
  readonly payload: PayloadFile;
  /** How long the signature is valid. */
  readonly hours: number;
}

/** A shared access signature that allows only reading the payload's container, over HTTPS. */
export class PayloadSas extends Construct {
  /** The query to append to the payload's URL, with its "?". */
  readonly query: string;

  constructor(scope: Construct, id: string, props: PayloadSasProps) {
    super(scope, id);
    const { store, payload, hours } = props;
    // The start time is kept in the state, or every run would sign another URL. A new payload gets a new start time.
    const window = new DataResource(this, "window", {
      input: { start: "${plantimestamp()}" },
      triggersReplace: { payload: payload.sha512 },
      lifecycle: { ignoreChanges: ["input"] },
    });
    const from = `${addressOf(window)}.output.start`;
    const expiry = `timeadd(${from}, "${hours}h")`;
    const signature = new DataAzurermStorageAccountBlobContainerSas(this, "Default", {
      connectionString: store.connectionString,
      containerName: store.containerName,
      httpsOnly: true,
      // The storage account's clock may be slow.
      start: `\${timeadd(${from}, "-15m")}`,
      expiry: `\${${expiry}}`,
      permissions: { read: true, add: false, create: false, write: false, delete: false, list: false },
    });
    this.query = signature.sas;
    TerraformStack.of(this).addOverride("check.signed_url_is_good", {
      assert: [
        {
          condition: `\${timecmp(plantimestamp(), ${expiry}) < 0}`,
          error_message:
            "The payload's signed URL has expired: the running machine has no more use for it, but a machine made now could not boot. Run `openshift-install create ignition-configs` again and deploy: a new payload gets a new URL.",
        },
      ],
    });
  }
}
