import { ports } from "../../src/core/konnectivity/names.ts";

/** Ports of the bootstrap machine that others dial. */
export const machinePorts = {
  agent: ports.agent,
  ssh: 22,
  /** systemd-journal-gatewayd, which openshift-install's gather can use. */
  journal: 19531,
  api: 6443,
  machineConfig: 22623,
} as const;
