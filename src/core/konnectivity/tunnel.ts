import { stringify } from "yaml";
import { UserError, type Problem, problem, type Warning } from "../errors.ts";
import type { NodeFile } from "../node-file.ts";
import type { Release } from "../releases.ts";
import { defaultAgentPort } from "./agent-port.ts";
import { agentManifests } from "./agents.ts";
import type { ClusterNetworks } from "./cluster-networks.ts";
import { combinationProblems } from "./combinations.ts";
import { egressSelectorConfiguration } from "./egress-selector.ts";
import { type RequiredIngress, requiredIngress } from "./required-ingress.ts";
import { knowsFlag } from "./flags.ts";
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
  "address.sh": "/usr/local/bin/konnectivity-bootstrap-address.sh",
  "pki.sh": "/usr/local/bin/konnectivity-bootstrap-pki.sh",
} as const;

const overridePath = `${home}/kube-apiserver-override.yaml`;

const insertions: TunnelAssets["insertions"] = {
  setup: `# konnectivity-bootstrap: the tunnel's keys, server and egress selector
# shellcheck source=/dev/null
. ${scripts["tunnel.sh"]}
tunnel_setup

`,
  render: `\t\t--config-override-files=${asSeenByRender(overridePath)} \\\n`,
  manifests: `# konnectivity-bootstrap: the tunnel's agents
tunnel_agents

`,
  cleanup: `# konnectivity-bootstrap: the tunnel goes
tunnel_cleanup || :
`,
};

/** Renders the tunnel. Throws every reason why these options do not work with this release. */
export function renderTunnel(options: TunnelOptions, release: Release, networks: ClusterNetworks): TunnelAssets {
  const problems = [...combinationProblems(options), ...releaseProblems(options, release)];
  if (problems.length > 0) throw new UserError(...problems);
  const yaml = (path: string, value: unknown): NodeFile => ({ path, mode: 0o600, text: toYaml(value) });
  return {
    files: [
      ...Object.entries(scripts).map(([name, path]) => ({ path, mode: 0o555, text: nodeScript(name) })),
      { path: `${home}/settings.sh`, mode: 0o600, text: nodeSettings(options, release, networks) },
      yaml(overridePath, kubeApiServerOverride(options)),
      yaml(`${home}/egress-selector.yaml`, egressSelectorConfiguration(options)),
      yaml(`${home}/server-pod.yaml`, serverPod(options, release)),
      ...agentManifests(options, release).map(({ file, object }) => yaml(`${home}/agents/${file}.yaml`, object)),
    ],
    insertions,
    firewall: requiredIngress(options, networks),
    warnings: tunnelWarnings(options, release),
  };
}

function toYaml(value: unknown): string {
  return stringify(value, {
    lineWidth: 0,
    aliasDuplicateObjects: false,
    defaultStringType: "QUOTE_SINGLE",
    defaultKeyType: "PLAIN",
  });
}

/** A script of the node without its comments, which are for readers of the source. */
function nodeScript(name: string): string {
  const text = readProjectText(`src/core/konnectivity/node/${name}`);
  const [shebang = "", ...lines] = text.split("\n");
  return [shebang, ...lines.filter((line) => !/^\s*#(?! shellcheck)/.test(line))].join("\n");
}

/** Options that need a flag which the release's proxy image does not have. */
function releaseProblems({ listenAddress, transport }: TunnelOptions, release: Release): Problem[] {
  const problems: Problem[] = [];
  if (!["address", "all"].includes(listenAddress) && !knowsFlag("server", release, "agent-bind-address"))
    problems.push(
      problem("release-lacks-flag", {
        options: ["tunnel.listenAddress"],
        release,
        flag: "--agent-bind-address",
        advice:
          "that server always listens on all addresses; remove the option, or set tunnel.image and tunnel.release to a newer image",
      }),
    );
  if (transport === "tcp" && !knowsFlag("server", release, "server-bind-address"))
    problems.push(
      problem("release-lacks-flag", {
        options: { "tunnel.transport": transport },
        release,
        flag: "--server-bind-address",
        advice: `port ${ports.server} would be open on every address; use \`transport: unix-socket\``,
      }),
    );
  return problems;
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
  if (options.listenAddress !== "all" && !knowsFlag("server", release, "agent-bind-address"))
    warnings.push({
      code: "listens-on-all",
      message: `The proxy image of release ${release} listens on every address of the machine, for agents (${options.port}, TLS) and for health (${ports.health}): only the firewall rule limits who can connect.`,
    });
  if (options.protocol === "http-connect" && !knowsFlag("server", release, "backend-dial-timeout"))
    warnings.push({
      code: "connect-unbounded",
      message: `The proxy image of release ${release} has no time limit for an HTTP CONNECT through an agent that hangs, and answers 200 before the connection exists: gRPC has neither problem.`,
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
