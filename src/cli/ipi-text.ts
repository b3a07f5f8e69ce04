import type { Preparation } from "../core/ipi/prepare.ts";
import { hasInstallerFirewall } from "../core/ipi/prepare.ts";
import { isOpenBetweenMachines } from "../core/konnectivity/agent-port.ts";
import { inLines } from "../core/printable.ts";

interface Prepared {
  readonly preparation: Preparation;
  readonly state: "prepared" | "built again" | "already prepared";
  readonly metadata: { readonly clusterName: string; readonly infraID: string } | undefined;
  /** @default - none was read */
  readonly configFile: string | undefined;
  readonly file: string;
  readonly keptFile: string;
  readonly next: { readonly create: string; readonly check: string };
}

const states: Record<Prepared["state"], string> = {
  prepared: "prepared: the payload has replaced bootstrap.ign",
  "built again": "prepared: the payload was built again from the original",
  "already prepared": "already prepared: nothing was changed",
};

/** What `ipi prepare` did, which port must be open, and the next command. */
export function describePreparation({
  preparation,
  state,
  metadata,
  configFile,
  file,
  keptFile,
  next,
}: Prepared): string {
  const { payload, tunnel, origin, platform } = preparation;
  const { port, address, protocol, transport, authentication } = tunnel;
  const where = address === "detect" ? "the address that it finds on the machine" : address;
  return inLines([
    `state     ${states[state]}`,
    `cluster   ${metadata === undefined ? "not known (no metadata.json)" : `${metadata.clusterName} (${metadata.infraID})`} on ${platform}`,
    `release   ${payload.release}${tunnel.release === "auto" ? ", read from bootkube.sh" : ""}`,
    `config    ${configFile ?? "none: the defaults"}`,
    `tunnel    ${protocol} over ${transport}, agents by ${authentication}, port ${port}, at ${where}`,
    `payload   ${file}  ${payload.bytes} bytes (${payload.bytes - payload.originalBytes} added)`,
    `original  ${keptFile}  ${origin.bytes.length} bytes; openshift-install does not read it`,
    !hasInstallerFirewall(platform)
      ? `firewall  openshift-install creates none on ${platform}; in a firewall of your own, open TCP ${port} from every node to the bootstrap machine`
      : isOpenBetweenMachines(port)
        ? `firewall  openshift-install's own rules open TCP ${port}; in a firewall of your own, open it from every node to the bootstrap machine`
        : `firewall  open TCP ${port} from every node to the bootstrap machine: openshift-install does not`,
    `secret    both files contain every secret of the cluster; delete ${keptFile} after the installation`,
    "",
    "Next, and while it runs, in another terminal:",
    `  ${next.create}`,
    `  ${next.check}`,
  ]);
}

/** What `ipi restore` did. */
export interface RestoredFolder {
  readonly state: "restored" | "nothing to restore";
  readonly file: string;
  readonly bytes?: number;
  readonly sha512?: string;
  /** A file that is kept and belongs to an earlier bootstrap.ign. */
  readonly stale?: string;
}

export function describeRestoration({ state, file, bytes, sha512, stale }: RestoredFolder): string {
  if (state === "restored")
    return inLines([
      `state     restored: ${file} is as before the tunnel was added, and the payload is deleted`,
      `original  ${file}  ${bytes ?? 0} bytes`,
      `sha512    ${sha512 ?? ""}`,
    ]);
  return inLines([
    `state     nothing to restore: ${file} has no tunnel`,
    ...(stale === undefined ? [] : [`stale     ${stale} belongs to an earlier bootstrap.ign and was not touched`]),
  ]);
}
