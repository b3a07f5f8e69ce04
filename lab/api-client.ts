import { X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { Agent, request } from "node:https";
import { isIPv6 } from "node:net";
import { checkServerIdentity } from "node:tls";
import type { KubernetesObject } from "@kubernetes/client-node";
import type { PodTemplateSpec } from "kubernetes-types/core/v1.js";
import { parse } from "yaml";
import { timeLimit } from "../src/core/time-limits.ts";

/** A workload, as far as the lab's kubelet reads it. */
export interface Workload extends KubernetesObject {
  readonly metadata: NonNullable<KubernetesObject["metadata"]> & { readonly name: string };
  readonly spec: {
    readonly replicas?: number;
    readonly template: PodTemplateSpec & { readonly spec: NonNullable<PodTemplateSpec["spec"]> };
  };
}

/** What the lab asks a kube-apiserver. */
export interface ApiClient {
  list(apiVersion: string, kind: string): Promise<Workload[]>;
  secret(namespace: string, name: string): Promise<Record<string, Buffer>>;
  token(namespace: string, account: string, audience: string, seconds: number): Promise<string>;
  /** Makes it, or makes it so. */
  apply(object: KubernetesObject): Promise<void>;
  /** @returns whether it was there */
  delete(object: KubernetesObject): Promise<boolean>;
}

/** As cluster-pki.sh writes it. */
interface Kubeconfig {
  readonly clusters: readonly { cluster: { server: string; "certificate-authority-data": string } }[];
  readonly users: readonly { user: { "client-certificate-data": string; "client-key-data": string } }[];
}

interface ApiResources {
  readonly resources: readonly { readonly kind: string; readonly name: string; readonly namespaced: boolean }[];
}

/**
 * By hand, although there is a library: loading it takes 1.5 s of a processor, and a lab starts five programs that would
 * each load it before its first call.
 */
export function connect(kubeconfigFile: string): ApiClient {
  const { clusters, users } = parse(readFileSync(kubeconfigFile, "utf8")) as Kubeconfig;
  const [cluster, user] = [clusters[0]?.cluster, users[0]?.user];
  if (cluster === undefined || user === undefined) throw new Error(`${kubeconfigFile} names no cluster or no user`);
  const decoded = (text: string) => Buffer.from(text, "base64");
  const agent = new Agent({
    keepAlive: true,
    ca: decoded(cluster["certificate-authority-data"]),
    cert: decoded(user["client-certificate-data"]),
    key: decoded(user["client-key-data"]),
    // Node.js 22.23 itself finds no IPv6 address in a certificate.
    checkServerIdentity: (host, certificate) =>
      isIPv6(host) && new X509Certificate(certificate.raw).checkIP(host) !== undefined
        ? undefined
        : checkServerIdentity(host, certificate),
  });

  const seconds = timeLimit(10);
  const ask = (method: string, path: string, body?: object, contentType = "application/json") =>
    new Promise<{ status: number; body: unknown }>((resolve, reject) => {
      const text = body === undefined ? "" : JSON.stringify(body);
      const headers = {
        accept: "application/json",
        // Node.js says no length for a DELETE by itself.
        ...(body !== undefined && { "content-type": contentType, "content-length": Buffer.byteLength(text) }),
      };
      const asked = request(
        new URL(path, cluster.server),
        { agent, method, headers, timeout: 1000 * seconds },
        (response) => {
          let answer = "";
          response.setEncoding("utf8").on("data", (part: string) => (answer += part));
          response.on("error", reject).on("end", () => {
            const json = response.headers["content-type"]?.startsWith("application/json") === true;
            resolve({ status: response.statusCode ?? 0, body: json ? JSON.parse(answer) : { message: answer } });
          });
        },
      );
      asked.on("timeout", () => asked.destroy(new Error(`${cluster.server} did not answer within ${seconds} s`)));
      asked.on("error", reject).end(text);
    });
  const must = async (...args: Parameters<typeof ask>): Promise<unknown> => {
    const { status, body } = await ask(...args);
    const { message = "no reason given" } = body as { message?: string };
    if (status >= 300) throw new Error(`${args[0]} ${args[1]}: ${status} ${message}`);
    return body;
  };

  /** What a group had when it was asked last; it is asked again for what it did not have. */
  const known = new Map<string, ApiResources>();

  /** Where the objects of a kind are. */
  const pathOf = async ({ apiVersion = "", kind = "", metadata }: KubernetesObject): Promise<string> => {
    const group = apiVersion.includes("/") ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
    const isIt = (one: ApiResources["resources"][number]) => one.kind === kind && !one.name.includes("/");
    let resource = known.get(group)?.resources.find(isIt);
    if (resource === undefined) {
      const found = (await must("GET", group)) as ApiResources;
      known.set(group, found);
      resource = found.resources.find(isIt);
    }
    if (resource === undefined) throw new Error(`the cluster knows no ${apiVersion} ${kind}`);
    const place = resource.namespaced && metadata !== undefined ? `/namespaces/${metadata.namespace ?? "default"}` : "";
    return [`${group}${place}/${resource.name}`, ...(metadata?.name === undefined ? [] : [metadata.name])].join("/");
  };

  return {
    list: async (apiVersion, kind) => {
      const { items } = (await must("GET", await pathOf({ apiVersion, kind }))) as { items: Workload[] };
      return items;
    },
    secret: async (namespace, name) => {
      const path = `/api/v1/namespaces/${namespace}/secrets/${name}`;
      const { data = {} } = (await must("GET", path)) as { data?: Record<string, string> };
      return Object.fromEntries(Object.entries(data).map(([key, value]) => [key, decoded(value)]));
    },
    token: async (namespace, name, audience, expirationSeconds) => {
      const path = `/api/v1/namespaces/${namespace}/serviceaccounts/${name}/token`;
      const body = { spec: { audiences: [audience], expirationSeconds } };
      return ((await must("POST", path, body)) as { status: { token: string } }).status.token;
    },
    apply: async (object) => {
      const path = `${await pathOf(object)}?fieldManager=konnectivity-bootstrap-lab&force=true`;
      await must("PATCH", path, object, "application/apply-patch+yaml");
    },
    delete: async (object) => {
      const options = { gracePeriodSeconds: 0, propagationPolicy: "Background" };
      const path = await pathOf(object);
      const { status, body } = await ask("DELETE", path, options);
      if (status >= 300 && status !== 404)
        throw new Error(`DELETE ${path}: ${status} ${(body as { message?: string }).message ?? ""}`);
      return status !== 404;
    },
  };
}
