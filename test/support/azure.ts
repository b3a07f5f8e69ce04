import type { Construct } from "constructs";
import { type MachineOptions, MachineSpec } from "../../constructs/azure/machine-spec.ts";
import { NetworkInterface } from "../../constructs/azure/network-interface.ts";
import type { PayloadFile } from "../../constructs/shared/payload-file.ts";

export const subscriptionId = "00000000-0000-0000-0000-000000000000";
export const place = { resourceGroupName: "sample-rg", region: "westeurope", tags: { team: "platform" } };

const options: MachineOptions = {
  image: { gallery: "gallery_sample", name: "sample-gen2" },
  size: "Standard_D4as_v5",
  subnet: { resourceGroupName: "net-rg", virtualNetwork: "sample-vnet", name: "master-subnet" },
  ipv6: false,
  publicIp: false,
  rootVolume: { sizeGiB: 128 },
  encryptionAtHost: false,
};

export const specIn = (
  scope: Construct,
  payload: PayloadFile,
  changed: Partial<MachineOptions> = {},
  replaceMachine = false,
) => new MachineSpec(scope, "machine-spec", { payload, replaceMachine, options: { ...options, ...changed } });

export const networkInterfaceIn = (scope: Construct, spec: MachineSpec) =>
  new NetworkInterface(scope, "network-interface", { ...place, name: "sample-bootstrap", spec, subscriptionId });
