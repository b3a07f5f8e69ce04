import { readFileSync } from "node:fs";
import {
  ApiException,
  CoreV1Api,
  KubeConfig,
  type KubernetesObject,
  KubernetesObjectApi,
} from "@kubernetes/client-node";
import type { PodTemplateSpec } from "kubernetes-types/core/v1.js";

/** A workload, as far as the lab's kubelet reads it. */
export interface Workload extends KubernetesObject {
  readonly metadata: NonNullable<KubernetesObject["metadata"]> & { readonly name: string };
  readonly spec: {
    readonly replicas?: number;
    readonly template: PodTemplateSpec & { readonly spec: NonNullable<PodTemplateSpec["spec"]> };
  };
}

/** What the lab asks a kube-apiserver. */
export interface Cluster {
  list(apiVersion: string, kind: string): Promise<Workload[]>;
  secret(namespace: string, name: string): Promise<Record<string, Buffer>>;
  token(namespace: string, account: string, audience: string, seconds: number): Promise<string>;
  /** Makes it, or makes it so. */
  apply(object: KubernetesObject): Promise<void>;
  /** @returns whether it was there */
  delete(object: KubernetesObject): Promise<boolean>;
}

export function connect(kubeconfigFile: string): Cluster {
  const config = new KubeConfig();
  config.loadFromString(readFileSync(kubeconfigFile, "utf8"));
  const objects = KubernetesObjectApi.makeApiClient(config);
  const core = config.makeApiClient(CoreV1Api);
  return {
    list: async (apiVersion, kind) => (await objects.list(apiVersion, kind)).items as Workload[],
    secret: async (namespace, name) => {
      const { data = {} } = await core.readNamespacedSecret({ namespace, name });
      return Object.fromEntries(Object.entries(data).map(([key, value]) => [key, Buffer.from(value, "base64")]));
    },
    token: async (namespace, name, audience, expirationSeconds) => {
      const body = { spec: { audiences: [audience], expirationSeconds } };
      const answer = await core.createNamespacedServiceAccountToken({ namespace, name, body });
      return answer.status?.token ?? "";
    },
    apply: async (object) => {
      await objects.patch(
        object,
        undefined,
        undefined,
        "konnectivity-bootstrap-lab",
        true,
        "application/apply-patch+yaml",
      );
    },
    delete: async (object) => {
      try {
        await objects.delete(object, undefined, undefined, 0, undefined, "Background");
        return true;
      } catch (error) {
        if (error instanceof ApiException && error.code === 404) return false;
        throw error;
      }
    },
  };
}
