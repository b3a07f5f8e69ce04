import { describe, expect, it } from "vitest";
import { bootstrapIngress, createRules } from "../../../../constructs/shared/ingress.ts";

const nodes = ["masters", "workers"];

describe("the bootstrap machine's ingress", () => {
  it("is 8091 from the nodes, 22 and 19531 from the allowed networks", () => {
    const ingress = bootstrapIngress({
      nodes,
      opensTunnelPort: true,
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
    expect(bootstrapIngress({ nodes, opensTunnelPort: true }).map(({ id }) => id)).toEqual(["konnectivity"]);
    expect(bootstrapIngress({ nodes, opensTunnelPort: false })).toEqual([]);
  });

  it("becomes one rule for each source, numbered if there are several", () => {
    const ingress = bootstrapIngress({ nodes, opensTunnelPort: true, allowedBootstrapSshCidr: "192.0.2.0/24" });
    expect(createRules(ingress, ({ id, source }) => `${id} from ${JSON.stringify(source)}`)).toEqual({
      konnectivity: ['konnectivity-0 from "masters"', 'konnectivity-1 from "workers"'],
      ssh: ['ssh from {"network":"192.0.2.0/24"}'],
    });
  });
});
