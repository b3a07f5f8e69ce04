import { stringify } from "yaml";
import { UserError, type Warning } from "../errors.ts";
import type { NodeFile } from "../node-file.ts";
import type { Release } from "../releases.ts";
import { defaultAgentPort } from "./agent-port.ts";
import { agentManifests } from "./agents.ts";
import type { ClusterNetworks } from "./cluster-networks.ts";
import { combinationProblems } from "./combinations.ts";
import { egressSelectorConfiguration } from "./egress-selector.ts";
import { type RequiredIngress, requiredIngress } from "./required-ingress.ts";
import { flagsUnknownTo } from "./flags.ts";
import { kubeApiServerOverride } from "./kube-apiserver-override.ts";
import { asSeenByRender, home, ports } from "./names.ts";
import type { TunnelOptions } from "./options.ts";
import { serverPod } from "./server-pod.ts";
import { nodeSettings } from "./settings.ts";
import { readProjectText } from "../../runtime/project-files.js";

/** Everything that a tunnel adds to a bootstrap machine. */
export interface TunnelAssets {
  readonly files: readonly NodeFile[];
  /** Lines for bootkube.sh: before the kube-apiserver is rendered, in its render call, before the manifests are applied, at the end. */
  readonly insertions: {
    readonly setup: string;
    readonly render: string;
    readonly manifests: string;
    readonly cleanup: string;
  };
  readonly firewall: RequiredIngress;
  readonly warnings: readonly Warning[];
}

/** The node's scripts, by the name of the file in node/. */
const scripts = {
  "tunnel.sh": "/usr/local/bin/konnectivity-bootstrap.sh",
  "setup.sh": "/usr/local/bin/konnectivity-bootstrap-setup.sh",
  "address.sh": "/usr/local/bin/konnectivity-bootstrap-address.sh",
} as const;

const overridePath = `${home}/kube-apiserver-override.yaml`;

const insertions: TunnelAssets["insertions"] = {
  setup: `# konnectivity-bootstrap: set up the tunnel's keys, server and egress selector
# shellcheck source=/dev/null
. ${scripts["tunnel.sh"]}
tunnel_setup

`,
  render: `\t\t--config-override-files=${asSeenByRender(overridePath)} \\\n`,
  manifests: `# konnectivity-bootstrap: add the tunnel's agents to the manifests
tunnel_agents

`,
  cleanup: `# konnectivity-bootstrap: remove the tunnel
tunnel_cleanup || :
`,
};

/** Renders the tunnel. Throws every contradiction between the options. */
export function renderTunnel(options: TunnelOptions, release: Release, networks: ClusterNetworks): TunnelAssets {
  const problems = combinationProblems(options);
  if (problems.length > 0) throw new UserError(...problems);
  const yaml = (path: string, value: unknown): NodeFile => ({ path, mode: 0o600, text: toYaml(value) });
  return {
    files: [
      ...Object.entries(scripts).map(([name, path]) => ({ path, mode: 0o555, text: nodeScript(name) })),
      { path: `${home}/settings.sh`, mode: 0o600, text: nodeSettings(options, release, networks) },
      yaml(overridePath, kubeApiServerOverride(options)),
      { path: `${home}/templates.yaml`, mode: 0o600, text: templates(options) },
    ],
    insertions,
    firewall: requiredIngress(options, networks),
    warnings: tunnelWarnings(options, release),
  };
}

/** What node/setup.sh fills in, in one file: by themselves they would take twice the space. Each begins with its name. */
function templates(options: TunnelOptions): string {
  const named = {
    "server-pod": serverPod(options),
    "egress-selector": egressSelectorConfiguration(options),
    ...Object.fromEntries(agentManifests(options).map(({ file, object }) => [`agents/${file}`, object])),
  };
  return Object.entries(named)
    .map(([name, object]) => `--- # ${name}\n${toYaml(object)}`)
    .join("");
}

function toYaml(value: unknown): string {
  return stringify(value, {
    lineWidth: 0,
    aliasDuplicateObjects: false,
    defaultStringType: "QUOTE_SINGLE",
    defaultKeyType: "PLAIN",
  });
}

/** A script of the node with its parts, and without comments, which are for readers of the source. */
function nodeScript(name: string): string {
  const text = readProjectText(`src/core/konnectivity/node/${name}`);
  const [first = "", ...lines] = text.split("\n");
  const shebang = first.startsWith("#!") ? [first] : [];
  const whole = lines.flatMap((line) => {
    const [, part] = /^\. "\$\{0%\/\*\}\/([\w.]+)"$/.exec(line) ?? [];
    if (part !== undefined) return [nodeScript(part).trimEnd()];
    return /^\s*#(?! shellcheck (disable|source=\/dev))/.test(line) ? [] : [line];
  });
  return [...shebang, ...whole].join("\n");
}

/** The installer's server has no flag that limits where it listens. */
export const installerListensOnAll: Warning = {
  code: "listens-on-all",
  message: `The installer's own tunnel listens on every address of the machine, for agents (${defaultAgentPort}, TLS) and for health (${ports.health}): only the firewall rule limits who can connect.`,
};

function tunnelWarnings(options: TunnelOptions, release: Release): Warning[] {
  const warnings: Warning[] = [];
  if (options.authentication === "none")
    warnings.push({
      code: "agents-unauthenticated",
      message: `AGENTS ARE NOT AUTHENTICATED (authentication: none): anyone who can reach port ${options.port} can register as an agent and receive the kube-apiserver's traffic, including webhook calls with secrets.`,
    });
  const mayLack = flagsUnknownTo(release);
  const ofRelease = `A proxy image with the code of release ${release}`;
  if (options.listenAddress !== "all" && mayLack.includes("agent-bind-address"))
    warnings.push({
      code: "listens-on-all",
      message: `${ofRelease} listens on every address of the machine, for agents (${options.port}, TLS) and for health (${ports.health}): only the firewall rule limits who can connect. A newer image listens only on the address that it gets; the machine's journal says which it is.`,
    });
  if (options.transport === "tcp" && mayLack.includes("server-bind-address"))
    warnings.push({
      code: "listens-on-all",
      message: `${ofRelease} opens port ${ports.server} (TLS, client certificates) on every address of the machine; a newer image opens it on loopback only. unix-socket opens no port.`,
    });
  if (options.protocol === "http-connect" && mayLack.includes("backend-dial-timeout"))
    warnings.push({
      code: "connect-unbounded",
      message: `${ofRelease} has no time limit for an HTTP CONNECT through an agent that hangs, and answers 200 before the connection exists: gRPC has neither problem.`,
    });
  if (options.image !== "release") {
    const unpinned = [options.image.server, options.image.agent ?? options.image.server].filter(
      (r) => !r.includes("@sha256:"),
    );
    for (const reference of new Set(unpinned))
      warnings.push({
        code: "image-not-pinned",
        message: `${reference} is not pinned by digest, so the image can change without a change of the config: add @sha256:… to it.`,
      });
  }
  return warnings;
}
