/**
 * Fakes `cluster-kube-apiserver-operator render`: writes a default config for the bootstrap kube-apiserver, executes each
 * override file as a template and merges it (objects recursively, everything else replaced), and writes the static pod with
 * the merged arguments. Left out: every manifest and config that the tunnel does not need; all of the template language but
 * the one expression in our override; `--openshift-config`, which only OpenShift's kube-apiserver has: its values are
 * command-line arguments here.
 */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parse, stringify } from "yaml";
import { addressesOf } from "../addresses.ts";
import { kubeApiServerArguments, kubeApiServerPod, secretsFolder } from "../control-plane.ts";
import { readLayout } from "../layout.ts";

type Config = Record<string, unknown>;

/** The host folder that the real pod mounts here, read-only. */
const configFolder = { host: "/etc/kubernetes/bootstrap-configs", pod: "/etc/kubernetes/config" };

export function main(args: readonly string[]): number {
  const option = (name: string) =>
    args.filter((arg) => arg.startsWith(`--${name}=`)).map((arg) => onHost(arg.slice(name.length + 3)));
  const [output = "kube-apiserver-bootstrap"] = option("asset-output-dir");
  const [configFile = join(output, "config")] = option("config-output-file");
  const overrides = option("config-override-files").flatMap((files) => files.split(","));
  const config = overrides.reduce((merged, file) => merge(merged, readOverride(file)), defaultConfig());
  mkdirSync(join(output, "manifests"), { recursive: true });
  mkdirSync("bootstrap-manifests", { recursive: true });
  writeFileSync(configFile, stringify(config), { mode: 0o600 });
  for (const name of namespaces) writeFileSync(join(output, `manifests/00_${name}.yaml`), stringify(namespaceOf(name)));
  writeFileSync("bootstrap-manifests/kube-apiserver-pod.yaml", stringify(pod(config)), { mode: 0o600 });
  return 0;
}

/** bootkube mounts its folder at /assets. */
const onHost = (path: string) => path.replaceAll("/assets/", "./");

/** The lab's own, and one of a real cluster, for the manifest that openshift-install adds to bootstrap.ign. */
const namespaces = ["lab", "openshift-config"];
const namespaceOf = (name: string) => ({ apiVersion: "v1", kind: "Namespace", metadata: { name } });

/** Executes a file as the operator would execute a template; any expression but this one is an error. */
export function readOverride(file: string): Config {
  const text = readFileSync(file, "utf8").replaceAll(
    /\{\{ or \.ServiceAccountIssuer "([^"]+)" \}\}/g,
    (_, other: string) => other,
  );
  if (text.includes("{{")) throw new Error(`${file} has a template expression that this fake does not support`);
  const config = parse(text) as Config;
  const kind = `${String(config.apiVersion)} ${String(config.kind)}`;
  // Absent counts as matching.
  if (Object.keys(config).length > 0 && kind !== "kubecontrolplane.config.openshift.io/v1 KubeAPIServerConfig")
    throw new Error(`${file} is a ${kind}`);
  return config;
}

/** Merges objects recursively; everything else, lists included, is replaced. */
export function merge(into: Config, from: Config): Config {
  const merged: Config = { ...into };
  for (const [key, value] of Object.entries(from)) {
    const old = merged[key];
    merged[key] = isObject(old) && isObject(value) ? merge(old, value) : value;
  }
  return merged;
}

const isObject = (value: unknown): value is Config =>
  typeof value === "object" && value !== null && !Array.isArray(value);

function defaultConfig(): Config {
  const { ipFamily, nodes } = readLayout();
  const addresses = addressesOf(ipFamily);
  return {
    apiVersion: "kubecontrolplane.config.openshift.io/v1",
    kind: "KubeAPIServerConfig",
    apiServerArguments: {
      ...kubeApiServerArguments(addresses, addresses.bootstrap),
      // OpenShift's: it serves on while load balancers notice that it ends. With a single replica nobody takes over.
      "shutdown-delay-duration": [nodes === 1 ? "0s" : "70s"],
    },
  };
}

function pod(config: Config) {
  return kubeApiServerPod(config.apiServerArguments as Record<string, string[]>, {
    [configFolder.pod]: configFolder.host,
    [secretsFolder]: "/opt/openshift/tls",
  });
}
