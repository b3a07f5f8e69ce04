import type { DaemonSet, Deployment } from "kubernetes-types/apps/v1.js";
import type { Container, Pod, PodSpec, Secret } from "kubernetes-types/core/v1.js";
import { parse } from "yaml";
import type { ClusterNetworks } from "../../src/core/konnectivity/cluster-networks.ts";
import { readTunnel, type TunnelOptions } from "../../src/core/konnectivity/options.ts";
import { renderTunnel, type TunnelAssets } from "../../src/core/konnectivity/tunnel.ts";
import { type Release, releases } from "../../src/core/releases.ts";

export const networks: ClusterNetworks = {
  machineNetworks: ["10.0.0.0/16"],
  serviceNetworks: ["172.30.0.0/16"],
  virtualAddresses: [],
};

export const pinned = `registry.example.com/team/proxy@sha256:${"a".repeat(64)}`;

/** The options of a config's `tunnel` part that is on. */
export function tunnelOptions(config: unknown): TunnelOptions {
  const tunnel = readTunnel(config);
  if (typeof tunnel === "string") throw new Error(`the tunnel is ${tunnel}`);
  return tunnel;
}

export function render(config: unknown, release: Release = "4.23+", of: ClusterNetworks = networks): TunnelAssets {
  return renderTunnel(tunnelOptions(config), release, of);
}

/** One way to set the options, for one release. */
export interface TunnelCase {
  readonly name: string;
  readonly release: Release;
  readonly options: TunnelOptions;
}

const everyValue = {
  protocol: ["grpc", "http-connect"],
  transport: ["unix-socket", "tcp"],
  authentication: ["mtls", "service-account-token", "none"],
  listenAddress: ["address", "all", "192.0.2.7"],
  kind: ["DaemonSet", "Deployment"],
  hostNetwork: [false, true],
  image: ["release", { server: pinned }],
  release: releases,
} as const;

/** Every combination of the options that change what is rendered, good and bad. */
export const allCases: readonly TunnelCase[] = product(everyValue).map(
  ({ release, protocol, transport, authentication, listenAddress, kind, hostNetwork, image }) => ({
    name: [
      ...[release, protocol, transport, authentication, listenAddress, kind],
      ...(hostNetwork ? ["host network"] : []),
      ...(image === "release" ? [] : ["own image"]),
    ].join(" "),
    release,
    options: tunnelOptions({
      ...{ protocol, transport, authentication, listenAddress, image },
      agents: { kind, hostNetwork },
      acceptUnauthenticatedAgents: authentication === "none",
    }),
  }),
);

/** Which of them must work: gRPC has no TCP. */
export const mustWork = ({ options }: TunnelCase): boolean =>
  options.protocol !== "grpc" || options.transport !== "tcp";

/** A tunnel's files, read back. */
export interface RenderedTunnel extends TunnelCase {
  readonly assets: TunnelAssets;
  readonly server: Pod;
  readonly agents: DaemonSet | Deployment;
  readonly egress: EgressSelectorConfiguration;
}

/** The part of apiserver.k8s.io/v1beta1 that a tunnel uses. */
export interface EgressSelectorConfiguration {
  readonly egressSelections: readonly {
    readonly name: string;
    readonly connection: {
      readonly proxyProtocol: string;
      readonly transport?: {
        readonly uds?: { readonly udsName: string };
        readonly tcp?: { readonly url: string; readonly tlsConfig?: Readonly<Record<string, string>> };
      };
    };
  }[];
}

/** Every case that works, rendered. Made once for all test files of a worker. */
export const renderedCases: () => readonly RenderedTunnel[] = once(() =>
  allCases.filter(mustWork).map((tunnelCase) => {
    const assets = renderTunnel(tunnelCase.options, tunnelCase.release, networks);
    return {
      ...tunnelCase,
      assets,
      server: readObject(assets, "server-pod.yaml"),
      agents: readObject(assets, "agents/agents.yaml"),
      egress: readObject(assets, "egress-selector.yaml"),
    };
  }),
);

const home = "/opt/openshift/konnectivity-bootstrap/";

/** The text of one of the tunnel's files in its folder on the node, or of one of its templates. */
export function textOf(assets: TunnelAssets, name: string): string {
  const text = textsOf(assets).get(name);
  if (text === undefined) throw new Error(`no file ${home}${name}, and no such template`);
  return text;
}

/** The names of the objects, as in `agents/secret.yaml`. */
export function objectFiles(assets: TunnelAssets): string[] {
  return [...textsOf(assets).keys()].filter((name) => name.endsWith(".yaml"));
}

/** By their names, the templates as if each were a file. */
function textsOf({ files }: TunnelAssets): Map<string, string> {
  const named = files.flatMap(({ path, text }) => {
    const name = path.replace(home, "");
    if (name !== "templates.yaml") return [[name, text] as const];
    const [, ...parts] = text.split(/^--- # (.*)\n/m);
    return parts.flatMap((part, index) => (index % 2 === 0 ? [[`${part}.yaml`, parts[index + 1] ?? ""] as const] : []));
  });
  return new Map(named);
}

const parsed = new Map<string, unknown>();

/** What the files hold, where a test looks into it. */
interface Objects {
  readonly "server-pod.yaml": Pod;
  readonly "agents/agents.yaml": DaemonSet | Deployment;
  readonly "agents/secret.yaml": Secret;
  readonly "egress-selector.yaml": EgressSelectorConfiguration;
}

export function readObject<F extends string>(
  assets: TunnelAssets,
  name: F,
): F extends keyof Objects ? Objects[F] : unknown;
export function readObject(assets: TunnelAssets, name: string): unknown {
  const text = textOf(assets, name);
  if (!parsed.has(text)) parsed.set(text, parse(text));
  return parsed.get(text);
}

export function podSpecOf({ spec }: Pod | DaemonSet | Deployment): PodSpec {
  const podSpec = spec !== undefined && "template" in spec ? spec.template.spec : spec;
  if (podSpec === undefined) throw new Error("no pod in it");
  return podSpec;
}

export function containerOf(object: Pod | DaemonSet | Deployment): Container {
  const [container, ...others] = podSpecOf(object).containers;
  if (container === undefined || others.length > 0) throw new Error("not exactly one container");
  return container;
}

function once<T>(make: () => T): () => T {
  let made: { value: T } | undefined;
  return () => (made ??= { value: make() }).value;
}

type Choice<T> = { readonly [K in keyof T]: T[K] extends readonly (infer V)[] ? V : never };

function product<T extends Readonly<Record<string, readonly unknown[]>>>(values: T): Choice<T>[] {
  return Object.entries(values).reduce<Record<string, unknown>[]>(
    (choices, [key, list]) => choices.flatMap((choice) => list.map((value) => ({ ...choice, [key]: value }))),
    [{}],
  ) as Choice<T>[];
}
