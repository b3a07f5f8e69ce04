import {
  ApiException,
  AppsV1Api,
  type ConfigurationOptions,
  CoreV1Api,
  CustomObjectsApi,
  KubeConfig,
  type KubernetesObject,
  type ObservableMiddleware,
  RbacAuthorizationV1Api,
  setHeaderMiddleware,
} from "@kubernetes/client-node";
import { dirname, resolve } from "node:path";
import { readUserFile } from "../files/user-file.ts";
import { version } from "../core/package.ts";
import { UserError, problem } from "../core/errors.ts";
import { timeLimit } from "../core/time-limits.ts";

/** Time limit of one request. */
const seconds = () => timeLimit(20);

/** Reads a kubeconfig of the user. Throws a UserError if it is not one. */
export function readKubeconfig(file: string): KubeConfig {
  const text = readUserFile(file, "use the kubeconfig of a cluster");
  const config = new KubeConfig();
  try {
    config.loadFromString(text);
  } catch {
    throw new UserError(problem("kubeconfig-invalid", { file, detail: "it cannot be parsed" }));
  }
  config.makePathsAbsolute(dirname(resolve(file)));
  if (config.getCurrentCluster()?.server === undefined)
    throw new UserError(problem("kubeconfig-invalid", { file, detail: "its current context names no cluster" }));
  return config;
}

/** The API groups that are used. Pass `requestOptions()` to each call: it sets the time limit. */
export class ClusterApi {
  readonly server: string;
  readonly core: CoreV1Api;
  readonly apps: AppsV1Api;
  readonly rbac: RbacAuthorizationV1Api;
  readonly #custom: CustomObjectsApi;

  constructor(config: KubeConfig) {
    this.server = config.getCurrentCluster()?.server ?? "";
    this.core = config.makeApiClient(CoreV1Api);
    this.apps = config.makeApiClient(AppsV1Api);
    this.rbac = config.makeApiClient(RbacAuthorizationV1Api);
    this.#custom = config.makeApiClient(CustomObjectsApi);
  }

  /** The object named "cluster" of one of OpenShift's own kinds. @returns undefined if it does not exist */
  async openshift<T>(group: string, plural: string): Promise<(KubernetesObject & T) | undefined> {
    const object = { group, version: "v1", plural, name: "cluster" };
    return ignoreNotFound(
      this.#custom.getClusterCustomObject(object, requestOptions()) as Promise<KubernetesObject & T>,
    );
  }

  /** The bootstrap's status as openshift-install reads it: "complete" at the end. @returns undefined if not reported yet */
  async bootstrapStatus(): Promise<string | undefined> {
    const configMap = { namespace: "kube-system", name: "bootstrap" };
    return (await ignoreNotFound(this.core.readNamespacedConfigMap(configMap, requestOptions())))?.data?.status;
  }
}

/** Options of one request: the user agent, and the time limit. */
export function requestOptions(): ConfigurationOptions {
  const userAgent = setHeaderMiddleware("User-Agent", `konnectivity-bootstrap/${version}`);
  const middleware: ObservableMiddleware = {
    pre: (context) => {
      context.setSignal(AbortSignal.timeout(1000 * seconds()));
      return userAgent.pre(context);
    },
    post: (context) => userAgent.post(context),
  };
  return { middleware: [middleware], middlewareMergeStrategy: "append" };
}

/** @returns undefined if the object does not exist */
export async function ignoreNotFound<T>(response: Promise<T>): Promise<T | undefined> {
  try {
    return await response;
  } catch (error) {
    if (error instanceof ApiException && error.code === 404) return undefined;
    throw error;
  }
}

/** Why a request failed, in words. */
export function describeApiError(error: unknown): string {
  if (error instanceof ApiException) {
    if (error.code === 401) return "the API does not accept the kubeconfig's credentials (401)";
    if (error.code === 403) return "the kubeconfig's user lacks the permission (403)";
    return `the API returned ${String(error.code)}`;
  }
  if (!(error instanceof Error)) return String(error);
  if (error.name === "AbortError" || error.name === "TimeoutError") return `no answer within ${seconds()} s`;
  return error.message.replace(/^.*reason: /s, "").split("\n")[0] ?? "";
}
