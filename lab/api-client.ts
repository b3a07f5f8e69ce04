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

/** The requests that the lab sends to a kube-apiserver. */
export interface ApiClient {
  list(apiVersion: string, kind: string): Promise<Workload[]>;
  secret(namespace: string, name: string): Promise<Record<string, Buffer>>;
  token(namespace: string, account: string, audience: string, seconds: number): Promise<string>;
  /** What a path leads to. @returns undefined if there is nothing */
  get(path: string): Promise<object | undefined>;
  /** Creates or updates an object. */
  apply(object: KubernetesObject): Promise<void>;
  /** Creates an object. One that exists stays as it is. */
  create(object: KubernetesObject): Promise<void>;
  /** @returns whether the object existed */
  delete(object: KubernetesObject): Promise<boolean>;
}

/** A kubeconfig as cluster-pki.sh writes it. */
interface Kubeconfig {
  readonly clusters: readonly { cluster: { server: string; "certificate-authority-data": string } }[];
  readonly users: readonly { user: { "client-certificate-data": string; "client-key-data": string } }[];
}

interface ApiResources {
  readonly resources: readonly { readonly kind: string; readonly name: string; readonly namespaced: boolean }[];
}

/**
 * By hand, although there is a library: loading that takes 1.5 s of processor time, and a lab starts five programs that would
 * each load it before their first call.
 */
export function connect(kubeconfigFile: string): ApiClient {
  const send = sender(kubeconfigFile);
  const must = async (...args: Parameters<typeof send>): Promise<unknown> => {
    const { status, body } = await send(...args);
    if (status >= 300) throw new Error(`${args[0]} ${args[1]}: ${status} ${body.message ?? "no reason given"}`);
    return body;
  };
  const pathOf = pathFinder((path) => must("GET", path));
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
    get: async (path) => {
      const { status, body } = await send("GET", path);
      if (status === 404) return undefined;
      if (status >= 300) throw new Error(`GET ${path}: ${status} ${body.message ?? ""}`);
      return body;
    },
    apply: async (object) => {
      const path = `${await pathOf(object)}?fieldManager=konnectivity-bootstrap-lab&force=true`;
      await must("PATCH", path, object, "application/apply-patch+yaml");
    },
    create: async (object) => {
      const path = await pathOf(object);
      const collection = path.slice(0, path.lastIndexOf("/"));
      const { status, body } = await send("POST", collection, object);
      if (status >= 300 && status !== 409) throw new Error(`POST ${collection}: ${status} ${body.message ?? ""}`);
    },
    delete: async (object) => {
      const options = { gracePeriodSeconds: 0, propagationPolicy: "Background" };
      const path = await pathOf(object);
      const { status, body } = await send("DELETE", path, options);
      if (status >= 300 && status !== 404) throw new Error(`DELETE ${path}: ${status} ${body.message ?? ""}`);
      return status !== 404;
    },
  };
}

interface HttpResponse {
  readonly status: number;
  readonly body: { readonly message?: string };
}

/** Sends requests to the API that a kubeconfig names, as the user that it names. */
function sender(kubeconfigFile: string) {
  const { clusters, users } = parse(readFileSync(kubeconfigFile, "utf8")) as Kubeconfig;
  const [cluster, user] = [clusters[0]?.cluster, users[0]?.user];
  if (cluster === undefined || user === undefined) throw new Error(`${kubeconfigFile} contains no cluster or no user`);
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
  return (method: string, path: string, body?: object, contentType = "application/json") =>
    new Promise<HttpResponse>((resolve, reject) => {
      const text = body === undefined ? "" : JSON.stringify(body);
      const headers = {
        accept: "application/json",
        // Node.js sends no length with a DELETE by itself.
        ...(body !== undefined && { "content-type": contentType, "content-length": Buffer.byteLength(text) }),
      };
      const outgoing = request(
        new URL(path, cluster.server),
        { agent, method, headers, timeout: 1000 * seconds },
        (response) => {
          let received = "";
          response.setEncoding("utf8").on("data", (part: string) => (received += part));
          response.on("error", reject).on("end", () => {
            const json = response.headers["content-type"]?.startsWith("application/json") === true;
            const content = (json ? JSON.parse(received) : { message: received }) as HttpResponse["body"];
            resolve({ status: response.statusCode ?? 0, body: content });
          });
        },
      );
      outgoing.on("timeout", () => outgoing.destroy(new Error(`no answer from ${cluster.server} within ${seconds} s`)));
      outgoing.on("error", reject).end(text);
    });
}

/** Finds the path of an object, or of all objects of a kind, by what the API says of its groups. */
function pathFinder(get: (path: string) => Promise<unknown>) {
  /** The kinds of each group when it was last read; it is read again for a kind that it did not have. */
  const known = new Map<string, ApiResources>();
  return async ({ apiVersion = "", kind = "", metadata }: KubernetesObject): Promise<string> => {
    const group = apiVersion.includes("/") ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
    const isIt = (one: ApiResources["resources"][number]) => one.kind === kind && !one.name.includes("/");
    let resource = known.get(group)?.resources.find(isIt);
    if (resource === undefined) {
      const found = (await get(group)) as ApiResources;
      known.set(group, found);
      resource = found.resources.find(isIt);
    }
    if (resource === undefined) throw new Error(`the cluster does not serve ${apiVersion} ${kind}`);
    const namespace =
      resource.namespaced && metadata !== undefined ? `/namespaces/${metadata.namespace ?? "default"}` : "";
    return [`${group}${namespace}/${resource.name}`, ...(metadata?.name === undefined ? [] : [metadata.name])].join(
      "/",
    );
  };
}

const decoded = (text: string) => Buffer.from(text, "base64");
