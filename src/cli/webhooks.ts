import { Command } from "commander";
import { readBootstrapIgn } from "../config/install-dir.ts";
import { Problems, UserError } from "../core/errors.ts";
import { parseIgnition } from "../core/ignition/config.ts";
import { readManifests } from "../core/ignition/manifests.ts";
import { inLines } from "../core/printable.ts";
import { type CalledEndpoint, calledEndpoints, type EndpointOptions, type Meaning } from "../core/webhooks.ts";
import { type ConfigOptions, inConfigFolder, noteConfig, withConfig } from "./config-option.ts";
import { jsonOption, type Output } from "./output.ts";
import { readConfigOf } from "./payload-source.ts";

interface WebhooksOptions extends ConfigOptions {
  readonly kubeconfig?: string;
  readonly json?: boolean;
}

/** Where an endpoint is declared. */
type Source = "install folder" | "cluster";
type Row = CalledEndpoint & { readonly source: Source };

/** `webhooks`: what the bootstrap kube-apiserver must call outside of itself, and which of it needs the tunnel. */
export function webhooksCommand(output: Output): Command {
  return withConfig(new Command("webhooks"))
    .description("List the webhooks and aggregated APIs of a cluster, and which of them need the tunnel")
    .argument("[install-dir]", "folder with bootstrap.ign (default: the config file's installDir)")
    .option("--kubeconfig <file>", "kubeconfig of a cluster, to list what it declares; with a folder, both")
    .option(...jsonOption)
    .action(async (folder: string | undefined, options: WebhooksOptions, command: Command) => {
      const problems = new Problems();
      const { configFile, partial } = readConfigOf(options, problems);
      noteConfig(output, options, configFile);
      if (partial === undefined || problems.found.length > 0) throw new UserError(...problems.found);
      const { tunnel, installDir } = partial.config;
      const ofConfig = configFile === undefined ? undefined : inConfigFolder(configFile, installDir);
      const { kubeconfig } = options;
      const source = folder ?? (kubeconfig === undefined ? ofConfig : undefined);
      if (source === undefined && kubeconfig === undefined)
        command.error("error: give the install folder, or --kubeconfig for a running cluster, or both", {
          code: "commander.missingArgument",
        });
      const agents = { agentsOnHostNetwork: typeof tunnel !== "string" && tunnel.agents.hostNetwork };
      const rows = [
        ...(source === undefined ? [] : declaredIn("install folder", manifestsOf(source, output), agents)),
        ...(kubeconfig === undefined ? [] : declaredIn("cluster", await objectsOf(kubeconfig), agents)),
      ];
      if (options.json === true) output.json({ endpoints: rows.map((row) => ({ ...row, explanation: explain(row) })) });
      else output.text(describe(rows, { onlyFolder: kubeconfig === undefined }));
    });
}

const declaredIn = (source: Source, objects: readonly Record<string, unknown>[], options: EndpointOptions): Row[] =>
  calledEndpoints(objects, options).map((endpoint) => ({ ...endpoint, source }));

function manifestsOf(folder: string, output: Output): readonly Record<string, unknown>[] {
  const { files = [] } = parseIgnition(readBootstrapIgn(folder)).storage ?? {};
  const { objects, unreadable } = readManifests(files);
  output.warnings(
    unreadable.map((file) => ({
      code: "manifest-unreadable",
      message: `${file} in bootstrap.ign is not valid YAML: it is left out.`,
    })),
  );
  return objects;
}

/** Loads the Kubernetes client only if there is a cluster to ask. */
async function objectsOf(kubeconfig: string): Promise<readonly Record<string, unknown>[]> {
  const { callingObjects } = await import("../cluster/webhooks.ts");
  return callingObjects(kubeconfig);
}

/** One sentence for each meaning. */
const explanations: Readonly<Record<Meaning, (endpoint: CalledEndpoint) => string>> = {
  "blocks-without-tunnel": () => "would block the bootstrap without the tunnel",
  "waits-without-tunnel": ({ timeoutSeconds }) =>
    `without the tunnel, each request would wait for up to ${String(timeoutSeconds)} s, and then continue without it`,
  "unavailable-without-tunnel": () => "would not be available without the tunnel",
  "needs-agent-before-cni": () =>
    "with the tunnel, a call needs an agent, and agents wait for the CNI: set tunnel.agents.hostNetwork to true",
  "called-by-url": () => "not tunnelled: the kube-apiserver calls a URL directly",
  "served-by-kube-apiserver": () => "needs no tunnel: the kube-apiserver serves it itself",
};

const explain = (endpoint: CalledEndpoint) => explanations[endpoint.meaning](endpoint);

function describe(rows: readonly Row[], { onlyFolder }: { readonly onlyFolder: boolean }): string {
  const tunnelled = rows.filter((row) => row.tunnelled).length;
  return inLines([
    ...rows.flatMap((row, index) => [
      ...(index === 0 ? [] : [""]),
      `${row.kind} ${row.object}${row.webhook === undefined ? "" : `, webhook ${row.webhook}`}`,
      ...(onlyFolder ? [] : [`  declared  in the ${row.source}`]),
      `  calls     ${row.service === undefined ? (row.url ?? "nothing") : `service ${row.service}`}`,
      ...(row.failurePolicy === undefined ? [] : [`  failure   ${policy(row)}`]),
      ...(row.hostNetwork === undefined ? [] : [`  pods      on the ${row.hostNetwork ? "host" : "pod"} network`]),
      `  means     ${explain(row)}`,
    ]),
    ...(rows.length === 0
      ? ["No webhooks and no aggregated APIs."]
      : ["", `${String(rows.length)} in all, ${String(tunnelled)} through the tunnel.`]),
    ...(onlyFolder
      ? [
          "Webhooks that operators install later are not in the install folder: only a running cluster shows them (--kubeconfig).",
        ]
      : []),
  ]);
}

const policy = ({ failurePolicy, timeoutSeconds }: Row) =>
  failurePolicy === "Fail"
    ? `the request fails, at the latest after ${String(timeoutSeconds)} s`
    : `the request continues, at the latest after ${String(timeoutSeconds)} s`;
