import { describe, expect, it } from "vitest";
import { dialledBy, tunnelOf } from "../../../../src/cluster/agent-pods.ts";

const podWith = (...args: string[]) => ({ containers: [{ name: "konnectivity-agent", args }] });

describe("whose agent it is", () => {
  it("shows in the folder of its certificates", () => {
    expect(tunnelOf(podWith("--ca-cert=/etc/konnectivity/ca.crt"))).toBe("installer");
    expect(tunnelOf(podWith("--ca-cert=/etc/konnectivity/certs/ca.crt"))).toBe("ours");
    expect(tunnelOf(undefined)).toBe("ours");
  });
});

describe("what an agent's pod dials", () => {
  it("is the address and the port in its arguments", () => {
    expect(dialledBy(podWith("--v=2", "--proxy-server-host=10.0.0.10", "--proxy-server-port=9591"))).toBe(
      "10.0.0.10:9591",
    );
    expect(dialledBy(podWith("--proxy-server-host=fd00::10", "--proxy-server-port=9591"))).toBe("fd00::10:9591");
  });

  it("is the proxy's own port if they name none, and unknown without an address", () => {
    expect(dialledBy(podWith("--proxy-server-host=10.0.0.10"))).toBe("10.0.0.10:8091");
    expect(dialledBy(podWith("--proxy-server-port=9591"))).toBeUndefined();
    expect(dialledBy(undefined)).toBeUndefined();
  });

  it("contains nothing that a shell would run", () => {
    expect(dialledBy(podWith("--proxy-server-host=10.0.0.10;id"))).toBeUndefined();
    expect(dialledBy(podWith("--proxy-server-host=10.0.0.10", "--proxy-server-port=$(id)"))).toBe("10.0.0.10:8091");
  });
});
