/** Ports of the bootstrap machine that others dial, beside the tunnel's. */
export const machinePorts = {
  ssh: 22,
  /** systemd-journal-gatewayd, which openshift-install's gather can use. */
  journal: 19531,
  api: 6443,
  machineConfig: 22623,
} as const;
