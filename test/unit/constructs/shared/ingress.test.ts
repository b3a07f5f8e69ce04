import { describe, expect, it } from "vitest";
import { bootstrapIngress, createRules } from "../../../../constructs/shared/ingress.ts";

const nodes = ["masters", "workers"];

describe("the bootstrap machine's ingress", () => {
  it("is 8091 from the nodes, 22 and 19531 from the allowed networks", () => {
    const ingress = bootstrapIngress({
      nodes,
      tunnelPort: 8091,
      allowedBootstrapSshCidr: "192.0.2.0/24",
      allowedBootstrapJournalCidr: "198.51.100.0/24",
    });
    expect(ingress.map(({ id, port, sources }) => [id, port, sources])).toEqual([
      ["konnectivity", 8091, nodes],
      ["ssh", 22, [{ network: "192.0.2.0/24" }]],
      ["journal", 19531, [{ network: "198.51.100.0/24" }]],
    ]);
  });

  it("has no port that is open to nobody", () => {
    expect(bootstrapIngress({ nodes, tunnelPort: 8091 }).map(({ id }) => id)).toEqual(["konnectivity"]);
    expect(bootstrapIngress({ nodes })).toEqual([]);
  });

  it("is another port if the tunnel has one, which its rules keep as long as the machine", () => {
    const all = { nodes, allowedBootstrapSshCidr: "192.0.2.0/24", allowedBootstrapJournalCidr: "192.0.2.0/24" };
    const kept = (tunnelPort: number) =>
      bootstrapIngress({ ...all, tunnelPort }).map(({ port, keepsPort }) => [port, keepsPort]);
    expect(kept(9591)).toEqual([
      [9591, true],
      [22, false],
      [19531, false],
    ]);
    // As 0.1.0 made it.
    expect(kept(8091)[0]).toEqual([8091, false]);
  });

  it("becomes one rule for each source, numbered if there are several", () => {
    const ingress = bootstrapIngress({ nodes, tunnelPort: 8091, allowedBootstrapSshCidr: "192.0.2.0/24" });
    expect(createRules(ingress, ({ id, source }) => `${id} from ${JSON.stringify(source)}`)).toEqual({
      konnectivity: ['konnectivity-0 from "masters"', 'konnectivity-1 from "workers"'],
      ssh: ['ssh from {"network":"192.0.2.0/24"}'],
    });
  });
});
