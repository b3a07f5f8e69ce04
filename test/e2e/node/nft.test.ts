import { spawnSync } from "node:child_process";
import { expect, it } from "vitest";
import { firewallScript, otherFirewalls } from "../../../src/core/konnectivity/firewall-commands.ts";
import { networks, render } from "../../support/tunnel.ts";

/** Runs a shell script in a network namespace of its own, with a chain as a firewall has it. */
function inNamespace(...lines: readonly string[]): string {
  const chain = `add table inet filter; add chain inet filter forward { type filter hook forward priority 0; policy drop; }`;
  const script = ["set -e", `nft '${chain}'`, ...lines, "nft list ruleset"].join("\n");
  const { status, stdout, stderr } = spawnSync("unshare", ["--net", "sh", "-c", script], {
    env: { ...process.env, NFT_CHAIN: "inet filter forward", BOOTSTRAP_IPV4: "10.0.0.5", BOOTSTRAP_IPV6: "fd00::5" },
    encoding: "utf8",
  });
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  return stdout;
}

it("the real nft opens the port for the nodes' networks, and closes it again", () => {
  const { firewall } = render({}, "4.23+", {
    ...networks,
    machineNetworks: ["10.0.0.0/16", "10.2.0.0/16", "fd00::/64"],
  });
  const { nft } = otherFirewalls;
  if (nft === undefined) throw new Error("there are no commands for nft");
  const script = firewallScript(nft, firewall, "prod-x7k2p");
  const opened = inNamespace(script);
  expect(opened).toMatch(
    /ip saddr \{ 10\.0\.0\.0\/16, 10\.2\.0\.0\/16 \} ip daddr 10\.0\.0\.5 tcp dport 8091 accept comment "prod-x7k2p-bootstrap-konnectivity"/,
  );
  expect(opened).toMatch(/ip6 saddr (\{ )?fd00::\/64( \})? ip6 daddr fd00::5 tcp dport 8091 accept/);
  const [, close = ""] = script.split(/^# When .*$/m);
  expect(inNamespace(script, close.replaceAll(/^# /gm, ""))).not.toContain("8091");
});
