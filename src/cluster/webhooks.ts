import { CustomObjectsApi } from "@kubernetes/client-node";
import { UserError, problem } from "../core/errors.ts";
import { calledServices } from "../core/webhooks.ts";
import { ClusterApi, describeApiError, ignoreNotFound, readKubeconfig, requestOptions } from "./api.ts";

type ApiObject = Record<string, unknown>;

/** Where a cluster declares what its kube-apiservers call. */
const lists = [
  ["admissionregistration.k8s.io", "validatingwebhookconfigurations", "ValidatingWebhookConfiguration"],
  ["admissionregistration.k8s.io", "mutatingwebhookconfigurations", "MutatingWebhookConfiguration"],
  ["apiextensions.k8s.io", "customresourcedefinitions", "CustomResourceDefinition"],
  ["apiregistration.k8s.io", "apiservices", "APIService"],
] as const;

/** The objects of a running cluster that declare calls, and the services and pods that are called. */
export async function callingObjects(kubeconfig: string): Promise<ApiObject[]> {
  const config = readKubeconfig(kubeconfig);
  const custom = config.makeApiClient(CustomObjectsApi);
  const api = new ClusterApi(config);
  try {
    const declaring = await Promise.all(
      lists.map(async ([group, plural, kind]) => {
        const request = { group, version: "v1", plural };
        const { items = [] } = (await custom.listClusterCustomObject(request, requestOptions())) as {
          items?: ApiObject[];
        };
        // The items of a list do not say their kind.
        return items.map((item) => ({ ...item, kind }));
      }),
    );
    const objects: ApiObject[] = declaring.flat();
    const called = await Promise.all(calledServices(objects).map((service) => serviceAndPods(api, service)));
    return [...objects, ...called.flat()];
  } catch (error) {
    if (error instanceof UserError) throw error;
    throw new UserError(problem("cluster-unreachable", { server: api.server, reason: describeApiError(error) }));
  }
}

async function serviceAndPods(
  { core }: ClusterApi,
  { namespace, name }: { readonly namespace: string; readonly name: string },
): Promise<ApiObject[]> {
  const service = await ignoreNotFound(core.readNamespacedService({ namespace, name }, requestOptions()));
  const selector = Object.entries(service?.spec?.selector ?? {});
  if (service === undefined || selector.length === 0) return [];
  const labelSelector = selector.map(([key, value]) => `${key}=${value}`).join(",");
  const { items } = await core.listNamespacedPod({ namespace, labelSelector }, requestOptions());
  const { metadata, spec } = service;
  return [
    { kind: "Service", metadata, spec },
    ...items.map((pod) => ({ kind: "Pod", metadata: pod.metadata, spec: pod.spec })),
  ];
}
