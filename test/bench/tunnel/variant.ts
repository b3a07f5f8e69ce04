import type { PodTemplateSpec } from "kubernetes-types/core/v1.js";
import { parse, stringify } from "yaml";
import { makePayload } from "../../../src/core/bootstrap.ts";
import { home } from "../../../src/core/konnectivity/names.ts";
import { readTunnel } from "../../../src/core/konnectivity/options.ts";
import { decodeContents, replaceContents } from "../../../src/core/ignition/contents.ts";
import type { IgnitionConfig } from "../../../src/core/ignition/config.ts";
import { installerArguments } from "../../../src/core/sample/installer-tunnel.ts";
import { localNetworks } from "../../../src/core/sample/networks.ts";
import { sampleText } from "../../../src/core/sample/sample.ts";

type Arguments = readonly string[];

/** A tunnel to be measured: what runs in our pods instead of our arguments. */
export interface Variant {
  readonly name: string;
  readonly server: (ours: Arguments) => Arguments;
  readonly agent: (ours: Arguments) => Arguments;
}

/** The name of a tunnel beside paths without one. */
export const routeThrough = ({ name }: Variant) => `hook, tunnel: ${name}`;

export const ours: Variant = { name: "this project", server: (args) => args, agent: (args) => args };

/** The arguments of openshift-install's own tunnel. Where files lie, and the server's address, is said by our pods. */
export const upstream: Variant = {
  name: "installer's arguments",
  server: (args) => [
    ...pick(args, "cluster-cert", "cluster-key", "cluster-ca-cert", "uds-name"),
    ...installerArguments.server,
  ],
  agent: (args) => [
    ...pick(args, "ca-cert", "agent-cert", "agent-key", "proxy-server-host"),
    ...installerArguments.agent,
  ],
};

function pick(args: Arguments, ...flags: readonly string[]): string[] {
  return flags.map((flag) => {
    const found = args.find((arg) => arg.startsWith(`--${flag}=`));
    if (found === undefined) throw new Error(`our own arguments have no --${flag}`);
    return found;
  });
}

/** The payload of a lab that runs this variant. One agent, as a Deployment: it can be given more replicas. */
export function payloadOf({ server, agent }: Variant): string {
  const tunnel = readTunnel({ agents: { kind: "Deployment", replicas: 1 } });
  const { text } = makePayload(sampleText("4.23", { networks: localNetworks.IPv4 }), tunnel, new Date());
  const ignition = JSON.parse(text) as IgnitionConfig;
  replaceArguments(ignition, "server-pod", server);
  replaceArguments(ignition, "agents/agents", agent);
  return JSON.stringify(ignition);
}

function replaceArguments(ignition: IgnitionConfig, template: string, change: Variant["server"]): void {
  const path = `${home}/templates.yaml`;
  const file = ignition.storage?.files?.find((entry) => entry.path === path);
  if (file?.contents === undefined) throw new Error(`the payload has no ${path}`);
  const heading = `--- # ${template}\n`;
  const [before = "", after] = decodeContents(file.contents).toString().split(heading);
  const [text = "", ...others] = after?.split(/^(?=---)/m) ?? [];
  const object = parse(text) as PodTemplateSpec & { readonly spec: { readonly template?: PodTemplateSpec } };
  const [container] = (object.spec.template?.spec ?? object.spec).containers;
  if (container?.args === undefined) throw new Error(`${template} has no container with arguments`);
  container.args = [...change(container.args)];
  // Quoted as ours are: the node's scripts read lines.
  const changed = stringify(object, { lineWidth: 0, defaultStringType: "QUOTE_SINGLE", defaultKeyType: "PLAIN" });
  file.contents = replaceContents(file.contents, Buffer.from([before, heading, changed, ...others].join("")));
}
