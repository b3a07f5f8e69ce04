import { spawnSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import { firewallScript, otherFirewalls } from "../../../../../src/core/konnectivity/firewall-commands.ts";
import { configFormat } from "../../../../../stacks/platforms.ts";
import { networks, render } from "../../../../support/tunnel.ts";

const programs = {
  ...Object.fromEntries(configFormat.clouds.map(({ name, firewallCommands }) => [name, firewallCommands])),
  ...otherFirewalls,
};
const programNames = Object.keys(programs);

function programOf(name: string) {
  const program = programs[name];
  if (program === undefined) throw new Error(`there are no commands for ${name}`);
  return program;
}

const ingressFor = (machineNetworks: readonly string[], config: unknown = {}) =>
  render(config, "4.23+", { ...networks, machineNetworks }).firewall;

const variables = {
  NODE_NETWORK: "10.9.0.0/16",
  BOOTSTRAP_IPV4: "10.0.0.5",
  BOOTSTRAP_IPV6: "fd00::5",
  NFT_CHAIN: "inet filter forward",
  BOOTSTRAP_SECURITY_GROUP_ID: "sg-1",
  RESOURCE_GROUP: "a group",
  NETWORK_SECURITY_GROUP: "nsg",
  PRIORITY: "300",
  NETWORK: "network",
  BOOTSTRAP_TAG: "tag",
  BOOTSTRAP_PORT: "port",
};

/** Runs a script by a real shell, in which every program only prints its words, each between angle brackets. */
function run(script: string, environment: Readonly<Record<string, string>> = variables) {
  const print = `{ printf '<%s>' "$@" >&2; echo >&2; }`;
  const called = ["aws", "az", "gcloud", "openstack", "nft"];
  const fakes = called.map((name) => `${name}() ${print.replace('"$@"', `${name} "$@"`)}`);
  const { status, stderr } = spawnSync("sh", ["-c", [...fakes, script].join("\n")], {
    env: { PATH: process.env.PATH, ...environment },
    encoding: "utf8",
  });
  const calls = stderr
    .split("\n")
    .filter((line) => line.startsWith("<"))
    .map((line) => line.slice(1, -1).split("><"));
  return { status, stderr, calls };
}

/** The comments at the end, as a script. */
const closing = (script: string) =>
  script
    .split("\n")
    .slice(script.split("\n").findIndex((line) => line.startsWith("# When")) + 1)
    .map((line) => line.replace(/^# /, ""))
    .join("\n");

const words = (text: string) => text.split(" ");
const name = "prod-x7k2p-bootstrap-konnectivity";

describe("commands that open the port", () => {
  const script = (program: string, machineNetworks = ["10.0.0.0/16", "10.1.0.0/16", "fd00::/64"]) =>
    firewallScript(programOf(program), ingressFor(machineNetworks), "prod-x7k2p");

  it.each<[string, string[][], string[][]]>([
    [
      "aws",
      [
        [
          ...words("aws ec2 authorize-security-group-ingress --group-id sg-1 --ip-permissions"),
          "IpProtocol=tcp,FromPort=8091,ToPort=8091,IpRanges=[{CidrIp=10.0.0.0/16},{CidrIp=10.1.0.0/16}],Ipv6Ranges=[{CidrIpv6=fd00::/64}]",
        ],
      ],
      [
        [
          ...words("aws ec2 revoke-security-group-ingress --group-id sg-1 --ip-permissions"),
          "IpProtocol=tcp,FromPort=8091,ToPort=8091,IpRanges=[{CidrIp=10.0.0.0/16},{CidrIp=10.1.0.0/16}],Ipv6Ranges=[{CidrIpv6=fd00::/64}]",
        ],
      ],
    ],
    [
      "azure",
      [
        [
          ...words("az network nsg rule create --resource-group"),
          "a group",
          ...words(`--nsg-name nsg --name ${name} --priority 300 --direction Inbound --access Allow --protocol Tcp`),
          ...words("--source-address-prefixes 10.0.0.0/16 10.1.0.0/16 --source-port-ranges *"),
          ...words("--destination-address-prefixes 10.0.0.5 --destination-port-ranges 8091"),
        ],
        [
          ...words("az network nsg rule create --resource-group"),
          "a group",
          ...words(
            `--nsg-name nsg --name ${name}-ipv6 --priority 301 --direction Inbound --access Allow --protocol Tcp`,
          ),
          ...words("--source-address-prefixes fd00::/64 --source-port-ranges *"),
          ...words("--destination-address-prefixes fd00::5 --destination-port-ranges 8091"),
        ],
      ],
      ["", "-ipv6"].map((suffix) => [
        ...words("az network nsg rule delete --resource-group"),
        "a group",
        ...words(`--nsg-name nsg --name ${name}${suffix}`),
      ]),
    ],
    [
      "google",
      [
        [name, "10.0.0.0/16,10.1.0.0/16"],
        [`${name}-ipv6`, "fd00::/64"],
      ].map(([rule = "", ranges = ""]) => [
        ...words(`gcloud compute firewall-rules create ${rule} --network network --direction INGRESS --action ALLOW`),
        ...words(`--rules tcp:8091 --source-ranges ${ranges} --target-tags tag`),
      ]),
      [
        words(`gcloud compute firewall-rules delete ${name} --quiet`),
        words(`gcloud compute firewall-rules delete ${name}-ipv6 --quiet`),
      ],
    ],
    [
      "openstack",
      [
        words(`openstack security group create ${name}`),
        ...[
          ["IPv4", "10.0.0.0/16"],
          ["IPv4", "10.1.0.0/16"],
          ["IPv6", "fd00::/64"],
        ].map(([family = "", network = ""]) =>
          words(
            `openstack security group rule create --ingress --ethertype ${family} --protocol tcp --dst-port 8091 --remote-ip ${network} ${name}`,
          ),
        ),
        words(`openstack port set --security-group ${name} port`),
      ],
      [words(`openstack port unset --security-group ${name} port`), words(`openstack security group delete ${name}`)],
    ],
  ])("with %s, for every network of the nodes; and close it", (program, open, close) => {
    expect(run(script(program))).toMatchObject({ status: 0, calls: open });
    expect(run(closing(script(program)))).toMatchObject({ status: 0, calls: close });
  });

  it.each(programNames)("with %s, not before every variable is set", (program) => {
    const { status, stderr, calls } = run(script(program), {});
    expect(status).not.toBe(0);
    expect(calls).toEqual([]);
    expect(stderr).toContain("set it to ");
  });

  it.each(programNames)("with %s, never for everybody, if the networks are not known", (program) => {
    const { status, stderr } = run(script(program, []));
    expect(status).toBe(0);
    expect(stderr).toContain("10.9.0.0/16");
    expect(stderr).not.toMatch(/0\.0\.0\.0\/0|::\/0/);
  });

  it("to the address that agents dial, if it is known, and from its family only", () => {
    const ingress = ingressFor(["10.0.0.0/16", "fd00::/64"], { address: "10.0.0.9", port: 9591 });
    const { stderr } = run(firewallScript(programOf("azure"), ingress, undefined));
    expect(stderr).toContain("<openshift-bootstrap-konnectivity>");
    expect(stderr).toContain("<10.0.0.9><--destination-port-ranges><9591>");
    expect(stderr).not.toContain("fd00::");
  });
});
