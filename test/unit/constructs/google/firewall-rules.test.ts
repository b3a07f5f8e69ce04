import { ComputeFirewall } from "@cdktf/provider-google/lib/compute-firewall/index.js";
import { describe, expect, it } from "vitest";
import { FirewallRules, type Source } from "../../../../constructs/google/firewall-rules.ts";
import { bootstrapIngress, type IngressProps, type RuleIds } from "../../../../constructs/shared/ingress.ts";
import { synthScope } from "../../../support/constructs.ts";
import { resources } from "../../../support/stacks.ts";

const tcp = (port: string) => [{ protocol: "tcp", ports: [port] }];

function stackWith(props: Partial<IngressProps<Source>> = {}) {
  let ruleIds: RuleIds = {};
  const stack = synthScope((scope) => {
    const rules = new FirewallRules(scope, "firewall-rule", {
      name: "sample-bootstrap",
      ingress: bootstrapIngress<Source>({
        nodes: ["sample-master", "sample-worker"].map((networkTag) => ({ networkTag })),
        opensTunnelPort: true,
        ...props,
      }),
      project: "host-project",
      network: "sample-network",
      targetTag: "sample-konnectivity",
    });
    ({ ruleIds } = rules);
  });
  return { ruleIds, rules: resources(stack, ComputeFirewall.tfResourceType) };
}

describe("the firewall rules on Google Cloud", () => {
  it("allow 8091 from the control plane's and the workers' tag, to the machine's own tag", () => {
    const rule = (index: number, source: string) =>
      expect.objectContaining({
        name: `sample-bootstrap-konnectivity-${index}`,
        project: "host-project",
        network: "projects/host-project/global/networks/sample-network",
        direction: "INGRESS",
        allow: tcp("8091"),
        source_tags: [source],
        target_tags: ["sample-konnectivity"],
      }) as object;
    const { rules } = stackWith();
    expect(rules).toEqual([rule(0, "sample-master"), rule(1, "sample-worker")]);
    for (const found of rules) expect(found).not.toHaveProperty("source_ranges");
  });

  it("have no number in their name if there is one for a port", () => {
    expect(stackWith({ nodes: [{ networkTag: "nodes" }] }).rules).toEqual([
      expect.objectContaining({ name: "sample-bootstrap-konnectivity", source_tags: ["nodes"] }),
    ]);
  });

  it("allow ssh and the journal from networks", () => {
    const { rules } = stackWith({
      opensTunnelPort: false,
      allowedBootstrapSshCidr: "192.0.2.0/24",
      allowedBootstrapJournalCidr: "198.51.100.0/24",
    });
    const rule = (id: string, port: string, network: string) =>
      expect.objectContaining({
        name: `sample-bootstrap-${id}`,
        allow: tcp(port),
        source_ranges: [network],
        target_tags: ["sample-konnectivity"],
      }) as object;
    expect(rules).toEqual([rule("journal", "19531", "198.51.100.0/24"), rule("ssh", "22", "192.0.2.0/24")]);
  });

  it("have their IDs by what they are for", () => {
    const { ruleIds } = stackWith({ allowedBootstrapSshCidr: "192.0.2.0/24" });
    expect(ruleIds.konnectivity).toHaveLength(2);
    expect(ruleIds.ssh).toHaveLength(1);
    expect(ruleIds).not.toHaveProperty("journal");
  });
});
