import { DataAzurermStorageAccountBlobContainerSas } from "@cdktf/provider-azurerm/lib/data-azurerm-storage-account-blob-container-sas/index.js";
import { DataResource, TerraformStack } from "cdktf";
import { Construct } from "constructs";
import type { PayloadFile } from "../shared/payload-file.ts";
import { addressOf } from "../shared/terraform-address.ts";
import type { PayloadStore } from "./payload-store.ts";

export interface PayloadSasProps {
  readonly store: PayloadStore;
  readonly payload: PayloadFile;
  /** How long it is good. */
  readonly hours: number;
}

/** A signature that reads the payload's container over https, and nothing else. */
export class PayloadSas extends Construct {
  /** A URL's query, "?" included. */
  readonly query: string;

  constructor(scope: Construct, id: string, props: PayloadSasProps) {
    super(scope, id);
    const { store, payload, hours } = props;
    // The state remembers when: a time of each run would sign another URL each time. A new payload gets a new time.
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
      // The store's clock may be behind.
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
