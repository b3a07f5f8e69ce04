import { ComputeFirewall } from "@cdktf/provider-google/lib/compute-firewall/index.js";
import { describe, expect, it } from "vitest";
import { FirewallRules, type Source } from "../../../../constructs/google/firewall-rules.ts";
import { bootstrapIngress, type IngressProps, type RuleIds } from "../../../../constructs/shared/ingress.ts";
import { machineSpecIn, synthScope } from "../../../support/constructs.ts";
import { resources } from "../../../support/stacks.ts";

const tcp = (port: string) => [{ protocol: "tcp", ports: [port] }];

function stackWith(props: Partial<IngressProps<Source>> = {}) {
  let ruleIds: RuleIds = {};
  const stack = synthScope((scope) => {
    const rules = new FirewallRules(scope, "firewall-rule", {
      name: "sample-bootstrap",
      ingress: bootstrapIngress<Source>({
        nodes: ["sample-master", "sample-worker"].map((networkTag) => ({ networkTag })),
        tunnelPort: 8091,
        ...props,
      }),
      project: "host-project",
      network: "sample-network",
      targetTag: "sample-konnectivity",
      spec: machineSpecIn(scope),
    });
    ({ ruleIds } = rules);
  });
  return { stack, ruleIds, rules: resources(stack, ComputeFirewall.tfResourceType) };
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
      tunnelPort: undefined,
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

  it("keep another port than 8091 as long as the machine, and a plan says if the config's is another", () => {
    const { rules, stack } = stackWith({ tunnelPort: 9591 });
    for (const rule of rules)
      expect(rule).toMatchObject({
        allow: tcp("9591"),
        lifecycle: {
          ignore_changes: ["allow"],
          replace_triggered_by: [expect.stringMatching(/^terraform_data\.payload_replacement_/)],
        },
      });
    expect(Object.values(stack.check)).toEqual(
      [0, 1].map((index) => ({
        assert: [
          {
            condition: expect.stringMatching(
              new RegExp(
                `^\\$\\{contains\\(.* in google_compute_firewall\\.[\\w-]*konnectivity-${index}_\\w+\\.allow : .*"9591"\\)\\}$`,
              ),
            ) as string,
            error_message: expect.stringMatching(/it is 9591 in the config now\. .*replaceMachine: true/) as string,
          },
        ],
      })),
    );
    for (const rule of stackWith().rules) expect(rule).not.toHaveProperty("lifecycle");
    expect(stackWith().stack.check).toEqual({});
  });

  it("have their IDs by what they are for", () => {
    const { ruleIds } = stackWith({ allowedBootstrapSshCidr: "192.0.2.0/24" });
    expect(ruleIds.konnectivity).toHaveLength(2);
    expect(ruleIds.ssh).toHaveLength(1);
    expect(ruleIds).not.toHaveProperty("journal");
  });
});
