import type { CloudName } from "../../support/clouds.ts";
import { awsHosts } from "./aws/aws.ts";
import { accountName } from "./azure/azure.ts";
import { blobAddress } from "./azure/blob-service.ts";
import { azureHosts } from "./azure/fake.ts";
import { googleHosts } from "./google/fake.ts";

/** A cloud's own name, and where it leads in the cloud's namespace. */
export interface Host {
  readonly name: string;
  readonly address: string;
}

const loopback = (name: string): Host => ({ name, address: "127.0.0.1" });
const metadataService = (name: string): Host => ({ name, address: "169.254.169.254" });

/** The names of a cloud lead to this machine, and no others lead anywhere. */
export function hostsOf(cloud: CloudName): Host[] {
  const clouds: Record<CloudName, Host[]> = {
    aws: awsHosts.map(loopback),
    azure: [...azureHosts.map(loopback), { name: `${accountName}.blob.core.windows.net`, address: blobAddress }],
    google: [...googleHosts.map(loopback), metadataService("metadata.google.internal")],
  };
  return [loopback("localhost"), ...clouds[cloud]];
}
