import { describe, expect, it } from "vitest";
import { exampleStack, metadata, resources } from "../../../support/stacks.ts";

const { infraID } = metadata;
const rulesOf = (options?: object, rest?: object) =>
  resources(exampleStack("google", options, rest), "google_compute_firewall");
const tcp = (port: string) => [{ protocol: "tcp", ports: [port] }];

describe("the rule for 8091 on Google", () => {
  it("is two: from the control plane's and from the workers' tag, to a tag of its own", () => {
    const rule = (index: number, source: string) =>
      expect.objectContaining({
        name: `${infraID}-bootstrap-konnectivity-${index}`,
        project: "sample-project",
        network: "projects/sample-project/global/networks/prod-x7k2p-network",
        direction: "INGRESS",
        allow: tcp("8091"),
        source_tags: [source],
        target_tags: [`${infraID}-konnectivity`],
      }) as object;
    expect(rulesOf()).toEqual([rule(0, `${infraID}-master`), rule(1, `${infraID}-worker`)]);
    for (const found of rulesOf()) expect(found).not.toHaveProperty("source_ranges");
  });

  it("names the tags that the config gives", () => {
    const tags = { controlPlaneTag: "masters", workerTag: "workers" };
    expect(rulesOf(tags).map(({ source_tags }) => source_tags)).toEqual([["masters"], ["workers"]]);
  });

  it("is one if both have the same tag", () => {
    expect(rulesOf({ controlPlaneTag: "nodes", workerTag: "nodes" })).toEqual([
      expect.objectContaining({ name: `${infraID}-bootstrap-konnectivity`, source_tags: ["nodes"] }),
    ]);
  });

  it("is in the host project of a shared VPC", () => {
    for (const rule of rulesOf({ networkProject: "host-project" }))
      expect(rule).toMatchObject({
        project: "host-project",
        network: "projects/host-project/global/networks/prod-x7k2p-network",
      });
  });

  it.each([
    ["firewall: external", { firewall: "external" }],
    ["tunnel: off", { tunnel: "off" }],
  ])("is not made with %s", (_, rest) => {
    const stack = exampleStack("google", {}, rest);
    expect(resources(stack, "google_compute_firewall")).toEqual([]);
    expect(stack.output).not.toHaveProperty("firewall_rules");
  });

  it("external: the rule that is needed is an output", () => {
    const stack = exampleStack("google", {}, { firewall: "external" });
    expect(stack.output.firewall_rule_needed?.value).toMatchObject({
      port: 8091,
      destination: { address: "${google_compute_instance.machine.network_interface[0].network_ip}" },
    });
  });

  it("ssh and journal are open to whom the config says, and else to nobody", () => {
    const options = { allowedBootstrapSshCidr: "192.0.2.0/24", allowedBootstrapJournalCidr: "198.51.100.0/24" };
    const rule = (id: string, port: string, network: string) =>
      expect.objectContaining({
        name: `${infraID}-bootstrap-${id}`,
        allow: tcp(port),
        source_ranges: [network],
        target_tags: [`${infraID}-konnectivity`],
      }) as object;
    expect(rulesOf(options, { tunnel: "off" })).toEqual([
      rule("journal", "19531", "198.51.100.0/24"),
      rule("ssh", "22", "192.0.2.0/24"),
    ]);
    for (const found of rulesOf()) expect(found.allow).toEqual(tcp("8091"));
  });

  it("the output names the rules for 8091, and no other", () => {
    const { output } = exampleStack("google", { allowedBootstrapSshCidr: "192.0.2.0/24" });
    expect(output.firewall_rules?.value).toEqual([
      expect.stringMatching(/^\$\{google_compute_firewall\.firewall-rule_konnectivity-0_\w+\.id\}$/),
      expect.stringMatching(/^\$\{google_compute_firewall\.firewall-rule_konnectivity-1_\w+\.id\}$/),
    ]);
  });
});
