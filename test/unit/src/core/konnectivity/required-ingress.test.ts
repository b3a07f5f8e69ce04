import { describe, expect, it } from "vitest";
import { networks, render, renderedCases } from "../../../../support/tunnel.ts";

const need = (config: unknown, of = networks) => render(config, "4.23+", of).firewall;

describe("the firewall rule", () => {
  it("is one: agents to the bootstrap machine, while it exists", () => {
    expect(need({})).toEqual({
      direction: "ingress",
      protocol: "tcp",
      port: 8091,
      sources: {
        who: expect.stringContaining("control-plane and worker node") as string,
        networks: ["10.0.0.0/16"],
      },
      destination: { who: "the bootstrap machine, and no other", address: "its address in the machine network" },
      lifetime: {
        from: "before the first node boots",
        until: expect.stringContaining("bootstrap machine is removed") as string,
      },
      purpose: expect.stringContaining("TLS") as string,
    });
  });

  it("opens the port on which the server listens for agents, and no other", () => {
    for (const { name, assets, server } of renderedCases())
      expect(server.spec?.containers[0]?.args, name).toContain(`--agent-port=${assets.firewall.port}`);
  });

  it.each([
    { machineNetworks: ["10.0.0.0/16", "2001:db8::/64"], because: "both families" },
    { machineNetworks: [], because: "not known: it is not widened to everyone" },
  ])("comes from the machine networks and nowhere else ($because)", ({ machineNetworks }) => {
    expect(need({}, { ...networks, machineNetworks }).sources.networks).toEqual(machineNetworks);
  });

  it.each([
    { config: {}, address: "its address in the machine network" },
    { config: { listenAddress: "all" }, address: "its address in the machine network" },
    { config: { address: "192.0.2.5" }, address: "192.0.2.5" },
    { config: { address: "2001:db8::5" }, address: "2001:db8::5" },
    { config: { address: "boot.example.com" }, address: "boot.example.com" },
    { config: { address: "boot.example.com", listenAddress: "all" }, address: "boot.example.com" },
    // Behind NAT the packet that reaches the machine has the machine's address.
    { config: { address: "198.51.100.5", listenAddress: "10.0.0.5" }, address: "10.0.0.5" },
    { config: { address: "boot.example.com", listenAddress: "10.0.0.5" }, address: "10.0.0.5" },
  ])("has the server's listen address as its destination: $config", ({ config, address }) => {
    expect(need(config).destination.address).toBe(address);
  });
});
