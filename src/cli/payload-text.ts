import { stringify } from "yaml";
import type { BootstrapPayload } from "../core/bootstrap.ts";
import type { Tunnel } from "../core/konnectivity/options.ts";
import type { InspectedPayload, InspectedPointer } from "../core/ignition/inspect.ts";
import { inLines } from "../core/printable.ts";
import type { Difference } from "./payload-config.ts";
import type { PayloadSource } from "./payload-source.ts";

interface Build {
  readonly source: PayloadSource;
  readonly payload: BootstrapPayload;
  readonly payloadFile: string;
  readonly pointer: { readonly bytes: number } | undefined;
  readonly pointerFile: string;
}

export function describeBuild({ source, payload, payloadFile, pointer, pointerFile }: Build): string {
  const { configFile, file, metadata } = source;
  const { tunnel } = source.config;
  return inLines([
    `config    ${configFile ?? "none: the defaults"}`,
    `source    ${file}`,
    `cluster   ${metadata === undefined ? "not known (no metadata.json)" : `${metadata.clusterName} (${metadata.infraID})`}`,
    `release   ${payload.release}${typeof tunnel !== "string" && tunnel.release === "auto" ? ", read from bootkube.sh" : ""}`,
    `tunnel    ${describeTunnel(tunnel)}`,
    `payload   ${payloadFile}  ${payload.bytes} bytes (${payload.bytes - payload.originalBytes} added)`,
    `sha512    ${payload.sha512}`,
    pointer === undefined
      ? "pointer   none: give --url once you know where the payload will be"
      : `pointer   ${pointerFile}  ${pointer.bytes} bytes`,
    ...(payload.firewall === undefined
      ? []
      : [
          `firewall  open ${payload.firewall.protocol} ${payload.firewall.port} on the bootstrap machine to every node ("payload firewall" says exactly)`,
        ]),
    "secret    payload.ign holds every secret of the cluster: keep it private, delete it after the installation",
  ]);
}

function describeTunnel(tunnel: Tunnel): string {
  if (tunnel === "off") return "off: bootstrap.ign as it is";
  if (tunnel === "installer") return "the installer's own: bootstrap.ign as it is";
  return `${tunnel.protocol} over ${tunnel.transport}, agents by ${tunnel.authentication}`;
}

/** A payload that was compared with a config. */
export interface Comparison {
  readonly configFile: string;
  readonly differences: readonly Difference[];
}

export function describePayload(found: InspectedPayload, compared?: Comparison): string {
  const { record, added } = found;
  const width = Math.max(...added.map(({ path }) => path.length));
  return inLines([
    `payload   version ${record.version}, for release ${record.release}`,
    `size      ${found.bytes} bytes, of which the tunnel is ${found.addedBytes}`,
    `sha512    ${found.sha512}`,
    ...describeSinceBuild(found.sinceBuild),
    ...(compared === undefined ? [] : describeComparison(compared)),
    "",
    "options",
    ...indent(stringify(record.options, { lineWidth: 0 })),
    "",
    "files added (mode, size on the node)",
    ...added.map(({ path, mode, bytes }) => `  ${path.padEnd(width)}  ${mode}  ${bytes}`),
    "",
    "bootkube.sh",
    ...indent(found.diff),
  ]);
}

/** Whether the config still says what the payload was built with. */
function describeComparison({ configFile, differences }: Comparison): string[] {
  if (differences.length === 0) return [`config    ${configFile}: the payload has the tunnel options of this file`];
  const value = (one: unknown) => (one === undefined ? "not set" : JSON.stringify(one));
  return [
    `config    ${configFile}: the tunnel options differ; to use those of the file, build the payload again`,
    ...differences.map(
      ({ option, payload, config }) => `  ${option}: ${value(payload)} in the payload, ${value(config)} in the file`,
    ),
  ];
}

/** What openshift-install, or somebody else, did to the payload. Nothing for one that is as it was built. */
function describeSinceBuild({ rewritten, filesAdded }: InspectedPayload["sinceBuild"]): string[] {
  if (!rewritten && filesAdded.length === 0) return [];
  return [
    `unchanged the tunnel's files and its lines in bootkube.sh, exactly as they were built`,
    ...(rewritten
      ? ["changed   the order of keys: the payload was written again after the build, as openshift-install does"]
      : []),
    ...filesAdded.map((path) => `added     ${path}, after the build`),
  ];
}

export function describePointer(found: InspectedPointer): string {
  return inLines([
    `pointer   ${found.bytes} bytes`,
    `source    ${found.source}`,
    `hash      ${found.hash}`,
    `time-out  ${found.totalTimeoutSeconds === undefined ? "none" : `${found.totalTimeoutSeconds} s`}`,
    `proxy     ${found.proxy ? "yes" : "no"}`,
    `CA bundle ${found.caBundle ? "yes" : "no"}`,
  ]);
}

function indent(text: string): string[] {
  return text
    .trimEnd()
    .split("\n")
    .map((line) => `  ${line}`.trimEnd());
}
