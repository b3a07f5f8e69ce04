import { describe, expect, it } from "vitest";
import type { PodTemplateSpec } from "kubernetes-types/core/v1.js";
import { parse } from "yaml";
import { decodeContents } from "../../../../../src/core/ignition/contents.ts";
import { parseIgnition } from "../../../../../src/core/ignition/config.ts";
import { agentArguments } from "../../../../../src/core/konnectivity/agents.ts";
import { readTunnel } from "../../../../../src/core/konnectivity/options.ts";
import { serverArguments } from "../../../../../src/core/konnectivity/server-pod.ts";
import { ours, payloadOf, upstream, type Variant } from "../../../../bench/tunnel/variant.ts";

function podsOf(variant: Variant) {
  const files = parseIgnition(payloadOf(variant)).storage?.files ?? [];
  const templates = files.find(({ path }) => path.endsWith("/templates.yaml"));
  const texts = decodeContents(templates?.contents).toString().split("--- # ");
  const pod = (name: string) => {
    const text = texts.find((one) => one.startsWith(`${name}\n`)) ?? "";
    const object = parse(text.replace(name, "")) as { spec: { template?: PodTemplateSpec } };
    const spec = object.spec.template?.spec ?? (object.spec as PodTemplateSpec["spec"]);
    return { args: spec?.containers[0]?.args ?? [], object };
  };
  return { server: pod("server-pod"), agent: pod("agents/agents") };
}

const options = readTunnel({ agents: { kind: "Deployment", replicas: 1 } });

describe("a variant's payload", () => {
  it("has our own arguments where nothing is changed", () => {
    const { server, agent } = podsOf(ours);
    if (typeof options === "string") throw new Error("off");
    expect(server.args).toEqual(serverArguments(options));
    expect(agent.args).toEqual(agentArguments(options));
  });

  it("has upstream's and no others, with our pods' paths, and the rest of the pods is ours", () => {
    const { server, agent } = podsOf(upstream);
    expect(server.args).toContain("--proxy-strategies=destHost,defaultRoute");
    expect(server.args).toContain("--cluster-ca-cert=/etc/konnectivity/serving/ca.crt");
    expect(server.args).toHaveLength(12);
    expect(agent.args).toContain("--sync-interval=5s");
    expect(agent.args).toContain("--proxy-server-host=@SERVER_HOST@");
    expect(agent.args).toHaveLength(12);
    const rest = ({ object, args }: { object: object; args: string[] }) =>
      JSON.stringify(object).replace(JSON.stringify(args), "");
    expect(rest(server)).toBe(rest(podsOf(ours).server));
    expect(rest(agent)).toBe(rest(podsOf(ours).agent));
  });
});
