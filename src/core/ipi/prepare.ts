import { type BootstrapPayload, makePayload } from "../bootstrap.ts";
import { readTunnel, type Tunnel, type TunnelOptions } from "../konnectivity/options.ts";
import { isOpenBetweenMachines, openBetweenMachines } from "../konnectivity/agent-port.ts";
import { parseIgnition } from "../ignition/config.ts";
import { Problems, UserError, problem, type Warning } from "../errors.ts";
import { type InstallFolder, ignitionText, stateOf } from "./install-folder.ts";
import { type Origin, originOf } from "./origin.ts";
import { configProblems, folderProblems, maxPayloadBytes } from "./refusals.ts";

/** What is written to a folder so that "create cluster" uses the tunnel. */
export interface Preparation {
  readonly origin: Origin;
  readonly payload: BootstrapPayload;
  /** Whether the payload is in its place, with the original beside it: then nothing is written. */
  readonly done: boolean;
  readonly tunnel: TunnelOptions;
  /** Like aws. */
  readonly platform: string;
  readonly warnings: readonly Warning[];
}

/** Builds the payload from what is in the folder. Throws every reason why "create cluster" would discard it or fail. */
export function prepareFolder(folder: InstallFolder, tunnel: Tunnel, now: Date): Preparation {
  const problems = new Problems();
  const state = problems.attempt(() => stateOf(folder));
  problems.add(...folderProblems(folder, state));
  const origin = problems.attempt(() => originOf(folder, state));
  const payload = origin === undefined ? undefined : problems.attempt(() => build(origin.bytes, tunnel, now));
  if (typeof tunnel === "string") problems.add(problem("ipi-without-tunnel", { tunnel }));
  if (
    problems.found.length > 0 ||
    state === undefined ||
    origin === undefined ||
    payload === undefined ||
    typeof tunnel === "string"
  )
    throw new UserError(...unrepeated(problems.found));
  const done = origin.where === "kept" && folder.bootstrapIgn?.equals(Buffer.from(payload.text)) === true;
  const edited = origin.where === "bootstrap.ign" && !state.bootstrapIgn.equals(origin.bytes);
  return {
    origin,
    payload,
    done,
    tunnel,
    platform: state.platform,
    warnings: [...payload.warnings, ...(edited ? [editedWarning] : []), ...portWarnings(tunnel, state.platform)],
  };
}

function build(original: Buffer, tunnel: Tunnel, now: Date): BootstrapPayload | undefined {
  const problems = new Problems();
  const text = ignitionText(original);
  const config = parseIgnition(text);
  problems.add(...configProblems(config, now));
  // Also for a config without this project's tunnel, so that errors in bootstrap.ign are reported at the same time.
  const options = typeof tunnel === "string" ? readTunnel({}) : tunnel;
  const payload = problems.attempt(() => makePayload(text, options, now));
  if (payload !== undefined && payload.bytes > maxPayloadBytes)
    problems.add(problem("ipi-payload-too-large", { bytes: payload.bytes, limit: maxPayloadBytes }));
  if (problems.found.length > 0) throw new UserError(...problems.found.map(forCreateCluster));
  return payload;
}

/** With the installer's own tunnel, "create cluster" needs no preparation, unlike a machine that the user creates. */
const forCreateCluster = (found: Problems["found"][number]) =>
  found.code === "installer-tunnel-on" ? problem("ipi-own-tunnel") : found;

/** The state file and bootstrap.ign may say the same. */
const unrepeated = (problems: Problems["found"]) => [...new Map(problems.map((one) => [one.message, one])).values()];

const editedWarning: Warning = {
  code: "bootstrap-edited",
  message:
    "bootstrap.ign differs from what openshift-install wrote: its changes are kept, and the machine gets them together with the tunnel.",
};

/** Whether openshift-install creates firewall rules there. */
export const hasInstallerFirewall = (platform: string) =>
  !["baremetal", "libvirt", "nutanix", "ovirt", "vsphere"].includes(platform);

function portWarnings({ port }: TunnelOptions, platform: string): Warning[] {
  if (isOpenBetweenMachines(port) || !hasInstallerFirewall(platform)) return [];
  const { from, to } = openBetweenMachines;
  return [
    {
      code: "port-closed",
      message: `Port ${port} is outside ${from}–${to}, the range that openshift-install opens between the machines of a cluster: open it to the bootstrap machine yourself, or remove tunnel.port.`,
    },
  ];
}
