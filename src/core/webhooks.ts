import { isObject } from "./ignition/config.ts";

/** What a kube-apiserver calls outside of itself. */
export type CalledKind =
  "ValidatingWebhookConfiguration" | "MutatingWebhookConfiguration" | "CustomResourceDefinition" | "APIService";

/** A webhook or an aggregated API, and whether the bootstrap kube-apiserver can call it. */
export interface CalledEndpoint {
  readonly kind: CalledKind;
  /** Name of the object that declares it. */
  readonly object: string;
  /** Name of the webhook. @default - the object is no list of webhooks */
  readonly webhook?: string;
  /** Like namespace/name:443/path. @default - it is called by URL */
  readonly service?: string;
  /** @default - it is called by service */
  readonly url?: string;
  /** What happens to a request if the call fails. An aggregated API has none. */
  readonly failurePolicy?: "Fail" | "Ignore";
  /** @default - the API has no time limit for it */
  readonly timeoutSeconds?: number;
  /** Whether the call goes through the tunnel. */
  readonly tunnelled: boolean;
  /** Whether its pods are on the host network. @default - not known: its pods were not found */
  readonly hostNetwork?: boolean;
  readonly meaning: Meaning;
}

/** What that means for a bootstrap. */
export type Meaning =
  | "blocks-without-tunnel"
  | "waits-without-tunnel"
  | "unavailable-without-tunnel"
  | "needs-agent-before-cni"
  | "called-by-url"
  | "served-by-kube-apiserver";

interface ServiceReference {
  readonly namespace: string;
  readonly name: string;
  readonly port: number;
  readonly path: string;
}

/** The API server itself, which it calls without a tunnel. */
const kubernetesService = { namespace: "default", name: "kubernetes" };

export interface EndpointOptions {
  /** Whether the agents of this tunnel are on the host network: then they run before the CNI does. */
  readonly agentsOnHostNetwork: boolean;
}

/**
 * Every admission webhook, conversion webhook and aggregated API that these objects declare.
 * @param objects may also contain services, and pods or what creates them: they tell who is on the host network
 */
export const calledEndpoints = (
  objects: readonly Record<string, unknown>[],
  options: EndpointOptions,
): CalledEndpoint[] => declaredIn(objects).map((declared) => judge(declared, objects, options));

/** The services that these objects refer to, each once. */
export function calledServices(
  objects: readonly Record<string, unknown>[],
): Pick<ServiceReference, "namespace" | "name">[] {
  const called = declaredIn(objects).flatMap(({ reference }) => reference ?? []);
  return [...new Map(called.map(({ namespace, name }) => [`${namespace}/${name}`, { namespace, name }])).values()];
}

function declaredIn(objects: readonly Record<string, unknown>[]): Declared[] {
  return objects.flatMap((object) => {
    const { kind } = object;
    if (kind === "ValidatingWebhookConfiguration" || kind === "MutatingWebhookConfiguration")
      return admissionWebhooks(kind, object);
    if (kind === "CustomResourceDefinition") return conversionWebhook(object);
    return kind === "APIService" ? aggregatedApi(object) : [];
  });
}

interface Declared extends Pick<
  CalledEndpoint,
  "kind" | "object" | "webhook" | "url" | "failurePolicy" | "timeoutSeconds"
> {
  readonly reference?: ServiceReference;
}

const textOf = (value: unknown) => (typeof value === "string" ? value : undefined);
const nameOf = ({ metadata }: Record<string, unknown>) =>
  (isObject(metadata) ? textOf(metadata.name) : undefined) ?? "";
const part = (value: unknown, key: string): Record<string, unknown> =>
  isObject(value) && isObject(value[key]) ? value[key] : {};

function admissionWebhooks(kind: CalledKind, object: Record<string, unknown>): Declared[] {
  const webhooks = Array.isArray(object.webhooks) ? object.webhooks.filter(isObject) : [];
  return webhooks.map((webhook) => ({
    kind,
    object: nameOf(object),
    webhook: textOf(webhook.name) ?? "",
    ...clientOf(webhook.clientConfig),
    // The API's defaults.
    failurePolicy: webhook.failurePolicy === "Ignore" ? "Ignore" : "Fail",
    timeoutSeconds: typeof webhook.timeoutSeconds === "number" ? webhook.timeoutSeconds : 10,
  }));
}

function conversionWebhook(object: Record<string, unknown>): Declared[] {
  const conversion = part(object.spec, "conversion");
  if (conversion.strategy !== "Webhook") return [];
  // A conversion cannot be skipped, and the API has a fixed time limit for it.
  const client = clientOf(part(conversion, "webhook").clientConfig);
  return [
    { kind: "CustomResourceDefinition", object: nameOf(object), ...client, failurePolicy: "Fail", timeoutSeconds: 30 },
  ];
}

function aggregatedApi(object: Record<string, unknown>): Declared[] {
  const service = part(object.spec, "service");
  // Without a service the kube-apiserver serves the group itself.
  if (service.name === undefined) return [];
  return [{ kind: "APIService", object: nameOf(object), reference: referenceOf(service) }];
}

function clientOf(value: unknown): Pick<Declared, "url" | "reference"> {
  if (!isObject(value)) return {};
  const url = textOf(value.url);
  return url === undefined ? { reference: referenceOf(part(value, "service")) } : { url };
}

const referenceOf = (service: Record<string, unknown>): ServiceReference => ({
  namespace: textOf(service.namespace) ?? "",
  name: textOf(service.name) ?? "",
  port: typeof service.port === "number" ? service.port : 443,
  path: textOf(service.path) ?? "",
});

function judge(
  { reference, ...declared }: Declared,
  objects: readonly Record<string, unknown>[],
  { agentsOnHostNetwork }: EndpointOptions,
): CalledEndpoint {
  if (reference === undefined) return { ...declared, tunnelled: false, meaning: "called-by-url" };
  const { namespace, name, port, path } = reference;
  const service = `${namespace}/${name}:${String(port)}${path}`;
  if (namespace === kubernetesService.namespace && name === kubernetesService.name)
    return { ...declared, service, tunnelled: false, meaning: "served-by-kube-apiserver" };
  const hostNetwork = isOnHostNetwork(reference, objects);
  const meaning =
    hostNetwork === true && !agentsOnHostNetwork ? "needs-agent-before-cni" : withoutTunnel(declared.failurePolicy);
  return { ...declared, service, tunnelled: true, ...(hostNetwork !== undefined && { hostNetwork }), meaning };
}

function withoutTunnel(failurePolicy: CalledEndpoint["failurePolicy"]): Meaning {
  if (failurePolicy === undefined) return "unavailable-without-tunnel";
  return failurePolicy === "Fail" ? "blocks-without-tunnel" : "waits-without-tunnel";
}

/** Whether a service's pods are on the host network. @returns undefined if neither they nor what creates them is here */
function isOnHostNetwork(
  { namespace, name }: ServiceReference,
  objects: readonly Record<string, unknown>[],
): boolean | undefined {
  const inNamespace = objects.filter(({ metadata }) => isObject(metadata) && metadata.namespace === namespace);
  const service = inNamespace.find((object) => object.kind === "Service" && nameOf(object) === name);
  const selector = Object.entries(part(service?.spec, "selector"));
  if (selector.length === 0) return undefined;
  const pods = inNamespace.flatMap(podOf).filter(({ metadata }) => {
    const labels = part(metadata, "labels");
    return selector.every(([key, value]) => labels[key] === value);
  });
  return pods.length === 0 ? undefined : pods.some(({ spec }) => isObject(spec) && spec.hostNetwork === true);
}

/** A pod, or the template of what creates pods. */
function podOf(object: Record<string, unknown>): Record<string, unknown>[] {
  if (object.kind === "Pod") return [object];
  const { template } = isObject(object.spec) ? object.spec : {};
  return isObject(template) ? [template] : [];
}
