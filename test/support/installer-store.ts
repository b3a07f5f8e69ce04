import { X509Certificate } from "node:crypto";
import { rewrittenByInstaller } from "./installer-rewrite.ts";

/**
 * A model of openshift-install's asset store (`pkg/asset/store` of openshift/installer, the same rules from 4.12 on): which
 * bootstrap.ign "create cluster" takes. An asset that is on disk and differs from the state file is used, and makes
 * everything that is made from it dirty; an asset with a dirty parent is discarded and made again.
 *
 * It leaves out: assets that do not come before bootstrap.ign; parents that are never read from disk; the parsed `Config`
 * beside `File` in the state; the single files that the installer expects in openshift/; validation of the install config,
 * which needs the platform; everything after the machine has its config.
 */

/** Files of an install folder, by their path in it. */
export type Files = ReadonlyMap<string, Buffer>;

export interface Outcome {
  /**
   * What becomes of bootstrap.ign. used: read from disk. state: the same as in the state file, or taken from there.
   * discarded: made again although it was on disk. generated: made, because there was none. fails: the installer ends.
   */
  readonly bootstrap: "used" | "state" | "discarded" | "generated" | "fails";
  /** Why it fails. */
  readonly reason?: string;
  /** The debug and warning lines about it, as in the log. */
  readonly log: readonly string[];
  /** What the machine gets. @default - it fails, or makes its own, which has no tunnel */
  readonly machine?: string;
  /** The folder afterwards. */
  readonly files: Files;
}

interface Asset {
  readonly name: string;
  /** The key in the state file. */
  readonly key: string;
  readonly parents: readonly Asset[];
  /** What the installer reads of it from disk. */
  readonly onDisk: (files: Files) => Buffer | undefined;
}

const file = (name: string) => (files: Files) => files.get(name);
/** The installer reads only these kinds of files there. */
const folder = (name: string) => (files: Files) => {
  const found = [...files].filter(([path]) => new RegExp(`^${name}/[^/]+\\.(yaml|yml|json)$`).test(path));
  return found.length === 0 ? undefined : Buffer.concat(found.flatMap(([path, bytes]) => [Buffer.from(path), bytes]));
};
const asset = (name: string, key: string, onDisk: Asset["onDisk"], ...parents: readonly Asset[]): Asset => ({
  name,
  key,
  parents,
  onDisk,
});

const installConfig = asset("Install Config", "*installconfig.InstallConfig", file("install-config.yaml"));
const templates = asset("Templates", "*bootkube.CVOOverrides", folder("templates"));
const master = asset("Master Ignition Config", "*machine.Master", file("master.ign"), installConfig);
const worker = asset("Worker Ignition Config", "*machine.Worker", file("worker.ign"), installConfig);
const arbiter = asset("Arbiter Ignition Config", "*machine.Arbiter", file("arbiter.ign"), installConfig);
const machines = [master, worker, arbiter].map((parent) =>
  asset("Machines", parent.key.replace("machine.", "machines."), () => undefined, installConfig, parent),
);
const manifests = asset("Common Manifests", "*manifests.Manifests", folder("manifests"), installConfig, templates);
const openshift = asset("Openshift Manifests", "*manifests.Openshift", folder("openshift"), installConfig, templates);
const signingKey = asset(
  "Bound service account signing key",
  "*tls.BoundSASigningKey",
  file("tls/bound-service-account-signing-key.key"),
);
const bootstrap = asset(
  "Bootstrap Ignition Config",
  "*bootstrap.Bootstrap",
  file("bootstrap.ign"),
  ...[installConfig, ...machines, manifests, openshift, signingKey],
);

type State = Record<string, { File?: { Filename: string; Data: string } | null; [key: string]: unknown }>;

const stateName = ".openshift_install_state.json";

/** Runs "create cluster" up to the moment when the machine gets its config. */
export function createCluster(files: Files, { now }: { readonly now: Date }): Outcome {
  const log: string[] = [];
  const fails = (reason: string): Outcome => ({ bootstrap: "fails", reason, log, files });
  let state: State = {};
  const stateBytes = files.get(stateName);
  if (stateBytes !== undefined) {
    try {
      state = JSON.parse(stateBytes.toString()) as State;
    } catch {
      return fails("failed to unmarshal state file");
    }
  }
  if ([...files.keys()].some((name) => name === ".clusterapi_output/envtest.kubeconfig"))
    return fails("local infrastructure provisioning artifacts already exist");
  if ("*cluster.Cluster" in state) return fails("there is a cluster already");
  if (state[installConfig.key] === undefined && !files.has("install-config.yaml"))
    return fails("asks for the install config of a new cluster");

  let typedText: string | undefined;
  const onDisk = files.get("bootstrap.ign");
  if (onDisk !== undefined) {
    try {
      typedText = rewrittenByInstaller(onDisk.toString());
    } catch (error) {
      return fails(`failed to unmarshal bootstrap.ign: ${String(error)}`);
    }
    // From 4.19 on; before, a warning, and a machine that never comes up.
    if (expired(typedText, now)) return fails("certificates expired");
  }
  const loaded = load(bootstrap, files, state, log, new Map());
  const { config } = state[installConfig.key] as { config?: { platform?: object; bootstrapInPlace?: object } };
  const platform = Object.keys(config?.platform ?? {})[0];
  if (platform === "none" || platform === "external")
    return fails(`cannot create the cluster because "${platform}" is a UPI platform`);
  if (config?.bootstrapInPlace !== undefined) return fails("cluster cannot be created with bootstrapInPlace set");

  const data = loaded.source === "disk" ? onDisk : loaded.source === "state" ? loaded.data : undefined;
  const machine = data === undefined ? undefined : rewrittenByInstaller(data.toString());
  if (machine !== undefined && Buffer.byteLength(machine) > 1024 * 1024) return fails("Secret is too long");
  const consumed = new Set(["bootstrap.ign", "master.ign", "worker.ign", "arbiter.ign", "install-config.yaml"]);
  const kept = [...files].filter(([path]) => !consumed.has(path) && !/^(manifests|openshift)\//.test(path));
  const saved: State = {
    ...state,
    [bootstrap.key]: { File: { Filename: "bootstrap.ign", Data: (data ?? Buffer.from("{}")).toString("base64") } },
  };
  return {
    bootstrap:
      loaded.source === "disk"
        ? "used"
        : loaded.source === "state"
          ? "state"
          : onDisk === undefined
            ? "generated"
            : "discarded",
    log,
    ...(machine !== undefined && { machine }),
    files: new Map([...kept, [stateName, Buffer.from(JSON.stringify(saved))]]),
  };
}

interface Loaded {
  readonly source: "disk" | "state" | "none";
  readonly anyParentsDirty: boolean;
  readonly data?: Buffer;
}

function load(one: Asset, files: Files, state: State, log: string[], seen: Map<Asset, Loaded>): Loaded {
  const before = seen.get(one);
  if (before !== undefined) return before;
  const parents = one.parents.map((parent) => load(parent, files, state, log, seen));
  const anyParentsDirty = parents.some((parent) => parent.anyParentsDirty || parent.source === "disk");
  const onDisk = one.onDisk(files);
  const inState = anyParentsDirty ? undefined : state[one.key];
  const data = typeof inState?.File?.Data === "string" ? Buffer.from(inState.File.Data, "base64") : undefined;
  const result = ((): Loaded => {
    if (anyParentsDirty) {
      if (onDisk !== undefined)
        log.push(
          `Discarding the ${one.name} that was provided in the target directory because its dependencies are dirty and it needs to be regenerated`,
        );
      return { source: "none", anyParentsDirty };
    }
    if (onDisk !== undefined && data?.equals(onDisk) !== true) {
      log.push(`Using ${one.name} loaded from target directory`);
      return { source: "disk", anyParentsDirty };
    }
    if (inState === undefined) return { source: "none", anyParentsDirty };
    log.push(`Using ${one.name} loaded from state file`);
    return { source: "state", anyParentsDirty, ...(data !== undefined && { data }) };
  })();
  seen.set(one, result);
  return result;
}

/** Whether a certificate in the config has expired: any file whose name ends with .crt. */
function expired(text: string, now: Date): boolean {
  const { storage } = JSON.parse(text) as { storage?: { files?: { path: string; contents?: { source?: string } }[] } };
  return (storage?.files ?? [])
    .filter(({ path, contents }) => path.endsWith(".crt") && contents?.source !== undefined)
    .some(({ contents }) => {
      const pem = Buffer.from(contents?.source?.split(",")[1] ?? "", "base64").toString();
      return pem.includes("BEGIN CERTIFICATE") && new Date(new X509Certificate(pem).validTo) < now;
    });
}
