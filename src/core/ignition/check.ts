import { UserError, problem, type Warning } from "../errors.ts";
import type { Release } from "../releases.ts";
import {
  type AnchorOffsets,
  bootkubePath,
  detectRelease,
  findAnchors,
  hasInstallerTunnelFlag,
  isBootstrapInPlace,
} from "./bootkube.ts";
import { expiryWarnings } from "./certificates.ts";
import { type Cluster, networkWarnings, readCluster } from "./install-config.ts";
import { decodeContents, UndecodableError } from "./contents.ts";
import type { FileEntry, IgnitionConfig } from "./config.ts";
import { isExample } from "./example-mark.ts";
import { findRecord, recordPath } from "./record.ts";

/** The installer's own tunnel script. It exists from 4.23 on; with the feature gate off, its functions are empty. */
export const installerTunnelPath = "/usr/local/bin/konnectivity.sh";

/** Code of the warning that a cluster is only an example. */
export const exampleCode = "example-cluster";

/** A bootstrap machine's Ignition config after all checks, with everything that later steps need from it. */
export interface Bootstrap {
  readonly config: IgnitionConfig;
  readonly files: readonly FileEntry[];
  readonly bootkube: { readonly entry: FileEntry; readonly script: string };
  readonly installerTunnel: "absent" | "off" | "on";
  readonly release: Release;
  readonly cluster: Cluster;
  /** Whether the cluster is only an example. */
  readonly example: boolean;
  readonly warnings: readonly Warning[];
}

/** Refuses anything but a bootstrap.ign as openshift-install wrote it. `now` is for the expiry warning only. */
export function checkBootstrap(config: IgnitionConfig, now: Date): Bootstrap {
  const files = config.storage?.files ?? [];
  if (files.some(({ path }) => path === recordPath))
    throw new UserError(problem("already-built", { version: findRecord(files)?.version ?? "(version not readable)" }));

  const entries = files.filter((file) => file.path === bootkubePath);
  const [entry] = entries;
  if (entry === undefined) throw new UserError(problem("bootkube-missing", { path: bootkubePath }));
  if (entries.length > 1)
    throw new UserError(problem("bootkube-repeated", { path: bootkubePath, count: entries.length }));
  const script = decodeScript(entry);
  if (isBootstrapInPlace(script)) throw new UserError(problem("bootstrap-in-place"));

  const installerTunnel = installerTunnelState(files, script);
  const cluster = readCluster(files);
  const example = isExample(files);
  return {
    config,
    files,
    bootkube: { entry, script },
    installerTunnel,
    release: detectRelease(script, installerTunnel !== "absent"),
    cluster,
    example,
    warnings: [...(example ? [exampleWarning] : []), ...expiryWarnings(files, now), ...networkWarnings(cluster)],
  };
}

const exampleWarning: Warning = {
  code: exampleCode,
  message: "This bootstrap.ign is an example for a cluster that does not exist: it cannot be deployed.",
};

/** Where the insertions go. Throws every reason why the script cannot take them. */
export function checkAnchors(bootstrap: Bootstrap): AnchorOffsets {
  const found = findAnchors(bootstrap.bootkube.script, bootstrap.release);
  if (Array.isArray(found)) throw new UserError(...found);
  return found;
}

function decodeScript(entry: FileEntry): string {
  const refuse = (reason: string) => new UserError(problem("bootkube-undecodable", { path: bootkubePath, reason }));
  if (Array.isArray(entry.append) && entry.append.length > 0) throw refuse("it uses `append`");
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(decodeContents(entry.contents));
  } catch (error) {
    if (error instanceof UndecodableError) throw refuse(error.message);
    throw refuse("it is not UTF-8 text");
  }
}

function installerTunnelState(files: readonly FileEntry[], script: string): Bootstrap["installerTunnel"] {
  if (hasInstallerTunnelFlag(script)) return "on";
  const file = files.find(({ path }) => path === installerTunnelPath);
  if (file === undefined) return "absent";
  try {
    // With the gate on, its functions record this stage; with the gate off they are empty.
    return decodeContents(file.contents).includes('"konnectivity-certs"') ? "on" : "off";
  } catch (error) {
    // Unknown counts as on: two tunnels would be worse than none.
    if (error instanceof UndecodableError) return "on";
    throw error;
  }
}
