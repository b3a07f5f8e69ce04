import { describe, expect, it } from "vitest";
import { calledEndpoints, calledServices } from "../../../../src/core/webhooks.ts";

const service = (name: string, more: object = {}) => ({ service: { namespace: "ns", name, ...more } });
const admission = (clientConfig: object, more: object = {}) => ({
  kind: "ValidatingWebhookConfiguration",
  metadata: { name: "hooks" },
  webhooks: [{ name: "hook.example.com", clientConfig, ...more }],
});
const pods = (hostNetwork: boolean) => [
  { kind: "Service", metadata: { name: "a", namespace: "ns" }, spec: { selector: { app: "a" } } },
  {
    kind: "Deployment",
    metadata: { name: "a", namespace: "ns" },
    spec: { template: { metadata: { labels: { app: "a", other: "x" } }, spec: { hostNetwork } } },
  },
];
const endpoints = (objects: readonly Record<string, unknown>[], agentsOnHostNetwork = false) =>
  calledEndpoints(objects, { agentsOnHostNetwork });

describe("an admission webhook", () => {
  it("by service goes through the tunnel, with the API's defaults for what is not set", () => {
    expect(endpoints([admission(service("a", { path: "/check" }))])).toEqual([
      {
        kind: "ValidatingWebhookConfiguration",
        object: "hooks",
        webhook: "hook.example.com",
        service: "ns/a:443/check",
        failurePolicy: "Fail",
        timeoutSeconds: 10,
        tunnelled: true,
        meaning: "blocks-without-tunnel",
      },
    ]);
  });

  it("that may fail makes requests wait without the tunnel", () => {
    const [found] = endpoints([admission(service("a"), { failurePolicy: "Ignore", timeoutSeconds: 3 })]);
    expect(found).toMatchObject({ failurePolicy: "Ignore", timeoutSeconds: 3, meaning: "waits-without-tunnel" });
  });

  it("by URL is not tunnelled", () => {
    const [found] = endpoints([admission({ url: "https://hooks.example.com/check" })]);
    expect(found).toMatchObject({ url: "https://hooks.example.com/check", tunnelled: false, meaning: "called-by-url" });
  });

  it("of the kube-apiserver's own service is not tunnelled", () => {
    const own = { service: { namespace: "default", name: "kubernetes", path: "/apis/x" } };
    expect(endpoints([admission(own)])).toMatchObject([{ tunnelled: false, meaning: "served-by-kube-apiserver" }]);
  });

  it("whose pods are on the host network needs agents there", () => {
    const objects = [admission(service("a")), ...pods(true)];
    expect(endpoints(objects)).toMatchObject([{ hostNetwork: true, meaning: "needs-agent-before-cni" }]);
    expect(endpoints(objects, true)).toMatchObject([{ hostNetwork: true, meaning: "blocks-without-tunnel" }]);
  });

  it("whose pods are in the pod network says so", () => {
    const found = endpoints([admission(service("a")), ...pods(false)]);
    expect(found).toMatchObject([{ hostNetwork: false, meaning: "blocks-without-tunnel" }]);
  });

  it("does not take the pods of another namespace for its own", () => {
    const elsewhere = pods(true).map((object) => ({ ...object, metadata: { ...object.metadata, namespace: "b" } }));
    expect(endpoints([admission(service("a")), ...elsewhere])[0]).not.toHaveProperty("hostNetwork");
  });
});

describe("a custom resource definition", () => {
  const definition = (conversion: object) => ({
    kind: "CustomResourceDefinition",
    metadata: { name: "widgets.example.com" },
    spec: { conversion },
  });

  it("with a conversion webhook is called, and cannot be skipped", () => {
    const conversion = { strategy: "Webhook", webhook: { clientConfig: service("a", { port: 8443 }) } };
    expect(endpoints([definition(conversion)])).toEqual([
      {
        kind: "CustomResourceDefinition",
        object: "widgets.example.com",
        service: "ns/a:8443",
        failurePolicy: "Fail",
        timeoutSeconds: 30,
        tunnelled: true,
        meaning: "blocks-without-tunnel",
      },
    ]);
  });

  it("without one is not listed", () => {
    expect(endpoints([definition({ strategy: "None" })])).toEqual([]);
  });
});

describe("an aggregated API", () => {
  const api = (spec: object) => ({ kind: "APIService", metadata: { name: "v1.example.com" }, spec });

  it("with a service is called", () => {
    expect(endpoints([api(service("a"))])).toMatchObject([{ tunnelled: true, meaning: "unavailable-without-tunnel" }]);
  });

  it("without a service is the kube-apiserver's own", () => {
    expect(endpoints([api({ group: "apps", version: "v1" })])).toEqual([]);
  });
});

describe("objects of a strange shape", () => {
  it.each([
    { kind: "ValidatingWebhookConfiguration" },
    { kind: "ValidatingWebhookConfiguration", webhooks: "x" },
    { kind: "CustomResourceDefinition", spec: 1 },
    { kind: "APIService", spec: null },
    { kind: 1 },
  ])("are not endpoints: %j", (object) => {
    expect(endpoints([object])).toEqual([]);
  });

  it("are named as far as they can be", () => {
    expect(endpoints([{ kind: "MutatingWebhookConfiguration", webhooks: [{}] }])).toMatchObject([{ tunnelled: false }]);
  });
});

it("each called service is named once", () => {
  const objects = [admission(service("a")), admission(service("a", { path: "/b" })), admission({ url: "https://x" })];
  expect(calledServices(objects)).toEqual([{ namespace: "ns", name: "a" }]);
});
