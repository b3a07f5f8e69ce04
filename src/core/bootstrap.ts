import { installerListening, type RequiredIngress, requiredIngress } from "./konnectivity/required-ingress.ts";
import { clientSigner, loopbackKubeconfig } from "./konnectivity/names.ts";
import { defaultAgentPort } from "./konnectivity/agent-port.ts";
import type { Tunnel, TunnelOptions } from "./konnectivity/options.ts";
import { installerListensOnAll, renderTunnel } from "./konnectivity/tunnel.ts";
import { type Bootstrap, checkBootstrap } from "./ignition/check.ts";
import { decodeContents, UndecodableError } from "./ignition/contents.ts";
import { isObject, parseIgnition } from "./ignition/config.ts";
import { type InspectedPayload, type InspectedPointer, inspectIgnition } from "./ignition/inspect.ts";
import { sshKeysOf } from "./ignition/users.ts";
import { payloadVersion } from "./ignition/record.ts";
import { type Addition, transformIgnition } from "./ignition/transform.ts";
import { serializeIgnition, type SerializedConfig, withDigest } from "./ignition/serialize.ts";
import { UserError, problem, type Warning } from "./errors.ts";
import type { Release } from "./releases.ts";

/** A bootstrap machine's payload, and what building it found out. */
export interface BootstrapPayload extends SerializedConfig {
  readonly release: Release;
  /** The size of bootstrap.ign. */
  readonly originalBytes: number;
  /** @default - none with the tunnel off */
  readonly firewall?: RequiredIngress;
  /** The public keys that it authorizes for core. */
  readonly sshKeys: readonly string[];
  /** Whether the cluster is only an example, for which nothing may be deployed. */
  readonly example: boolean;
  readonly warnings: readonly Warning[];
}

/** From the text of a bootstrap.ign to the payload: parse → check → transform → serialize. */
export function makePayload(bootstrapIgn: string, tunnel: Tunnel, now: Date): BootstrapPayload {
  const { bootstrap, release, firewall, warnings, addition } = prepare(bootstrapIgn, tunnel, now);
  const originalBytes = Buffer.byteLength(bootstrapIgn);
  const sshKeys = sshKeysOf(bootstrap.config, "core");
  // Without this project's tunnel, the payload is bootstrap.ign itself, byte for byte.
  const serialized =
    addition === undefined ? withDigest(bootstrapIgn) : serializeIgnition(transformIgnition(bootstrap, addition));
  return {
    ...serialized,
    originalBytes,
    release,
    ...(firewall !== undefined && { firewall }),
    sshKeys,
    example: bootstrap.example,
    warnings,
  };
}

/** The firewall rule that this cluster needs, without building its payload. Undefined with the tunnel off. */
export function requiredIngressOf(
  bootstrapIgn: string,
  tunnel: Tunnel,
  now: Date,
): { firewall: RequiredIngress | undefined; warnings: readonly Warning[] } {
  const { firewall, warnings } = prepare(bootstrapIgn, tunnel, now);
  return { firewall, warnings };
}

/** Reads a payload or a pointer back. The result contains no secret. */
export function inspect(text: string, file: string): InspectedPayload | InspectedPointer {
  const found = inspectIgnition(text, file);
  if (found.kind === "pointer") return found;
  return { ...found, record: { ...found.record, options: fromRecorded(found.record.options) } };
}

/** A record of 0.1.0 has its word for `tunnel.image: release`, and no port. */
function fromRecorded(options: unknown): unknown {
  if (!isObject(options)) return options;
  const { image } = options;
  return { port: defaultAgentPort, ...options, image: image === "payload" ? "release" : image };
}

interface Prepared {
  readonly bootstrap: Bootstrap;
  readonly release: Release;
  readonly warnings: readonly Warning[];
  readonly firewall: RequiredIngress | undefined;
  /** What is added to bootstrap.ign. */
  readonly addition: Addition | undefined;
}

function prepare(bootstrapIgn: string, tunnel: Tunnel, now: Date): Prepared {
  const bootstrap = checkBootstrap(parseIgnition(bootstrapIgn), now);
  const { installerTunnel, release: ofDocument, cluster, warnings } = bootstrap;
  const unchanged = { bootstrap, release: ofDocument, addition: undefined };
  if (tunnel === "off") return { ...unchanged, firewall: undefined, warnings };
  if (tunnel === "installer") {
    if (installerTunnel !== "on")
      throw new UserError(problem("installer-tunnel-off", { option: "tunnel", found: installerTunnel }));
    const firewall = requiredIngress(installerListening, cluster);
    return { ...unchanged, firewall, warnings: [...warnings, installerListensOnAll] };
  }
  if (installerTunnel === "on") throw new UserError(problem("installer-tunnel-on"));
  const release = tunnel.release === "auto" ? ofDocument : tunnel.release;
  const { files, insertions, firewall, warnings: ofTunnel } = renderTunnel(tunnel, release, cluster);
  checkTokenReviewer(bootstrap, tunnel);
  const record = { version: payloadVersion, release, options: tunnel };
  return {
    bootstrap,
    release,
    firewall,
    warnings: [...warnings, ...ofTunnel],
    addition: { files, insertions, record },
  };
}

/**
 * With tokens, the node issues a client certificate for the server with a signer of bootstrap.ign, and takes from the loopback
 * kubeconfig where the kube-apiserver is (node/setup.sh). Both must be there. The admin's key is never used.
 */
function checkTokenReviewer(bootstrap: Bootstrap, { authentication }: TunnelOptions): void {
  if (authentication !== "service-account-token") return;
  const contentOf = (path: string): string | undefined => {
    const file = bootstrap.files.find((one) => one.path === path);
    try {
      return file === undefined ? undefined : decodeContents(file.contents).toString("utf8");
    } catch (error) {
      if (error instanceof UndecodableError) return undefined;
      throw error;
    }
  };
  const missing = [`${clientSigner}.crt`, `${clientSigner}.key`].filter((path) => !contentOf(path)?.trim());
  const kubeconfig = contentOf(loopbackKubeconfig) ?? "";
  const places = kubeconfig.match(/^ *(server: https:\/\/\S+|certificate-authority-data: \S+)$/gm) ?? [];
  const problems = missing.map((path) => problem("token-signer-missing", { path }));
  if (new Set(places.map((line) => line.trim().split(":")[0])).size !== 2 || places.length !== 2)
    problems.push(problem("token-kubeconfig-unusable", { path: loopbackKubeconfig }));
  if (problems.length > 0) throw new UserError(...problems);
}
