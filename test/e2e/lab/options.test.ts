import { afterAll, describe, expect, it } from "vitest";
import { targetOf } from "../../../src/cli/target.ts";
import { gatheredFiles } from "../../../src/cluster/gather.ts";
import { collect } from "../../../src/cluster/collect.ts";
import { agentName, staticPodManifest } from "../../../src/core/konnectivity/names.ts";
import { hostOf } from "../../../lab/addresses.ts";
import { ensureOldProxyImage } from "../../../lab/images.js";
import { type Lab } from "../../../lab/lab.ts";
import { waitFor } from "../../../lab/wait.ts";
import { runChecks } from "../../../src/cluster/verify.ts";
import { labChecks } from "../../../lab/verify-lab.ts";
import { labWith, removeLab, type TestLabProps } from "../../support/lab.ts";
import { leaks, secretsOf } from "../../support/secrets.ts";

const names = [`left${process.pid}`, `right${process.pid}`] as const;
afterAll(() => Promise.all(names.map(removeLab)));

/** An image of an older proxy for server and agents, and the store that has it. */
const proxy = (version: "0.0.37" | "0.1.2" | "0.29.0", tunnel: object = {}) => ({
  images: [ensureOldProxyImage(`proxy-${version}`)],
  tunnel: {
    image: { server: `localhost/lab/apiserver-network-proxy:${version}`, binaryDirectory: "/usr/bin" },
    ...tunnel,
  },
});

/** Each value of each option, and in every release class a proxy of that time. `verify` has the other authentications. */
const cases = {
  "http-connect over the socket, and a Deployment of two on two nodes": {
    nodes: 2,
    tunnel: { protocol: "http-connect", agents: { kind: "Deployment", replicas: 2 } },
  },
  "agents on the host network, and RSA keys": {
    tunnel: { agents: { hostNetwork: true }, certificates: { keyAlgorithm: "rsa-2048" } },
  },
  "http-connect over tcp with client certificates": { tunnel: { protocol: "http-connect", transport: "tcp" } },
  "IPv6 alone": { ipFamily: "IPv6" },
  "another port for agents": { tunnel: { port: 9591 } },
  "a bootstrap.ign of 4.12 with a proxy of that time": { shape: "4.12", ...proxy("0.0.37") },
  "a bootstrap.ign of 4.14 with a proxy of that time, http-connect and tokens": {
    shape: "4.14",
    ...proxy("0.1.2", { protocol: "http-connect", authentication: "service-account-token" }),
  },
  "a bootstrap.ign of 4.18 with a proxy of that time": { shape: "4.18", ...proxy("0.29.0") },
} as const satisfies Record<string, Omit<TestLabProps, "name">>;
type Case = keyof typeof cases;

/** Two labs at a time, with the same addresses: what one needs the other does not take, and nothing waits for itself. */
const pairs: readonly (readonly [Case, Case?])[] = [
  [
    "http-connect over the socket, and a Deployment of two on two nodes",
    "a bootstrap.ign of 4.14 with a proxy of that time, http-connect and tokens",
  ],
  ["http-connect over tcp with client certificates", "IPv6 alone"],
  ["agents on the host network, and RSA keys", "another port for agents"],
  ["a bootstrap.ign of 4.12 with a proxy of that time", "a bootstrap.ign of 4.18 with a proxy of that time"],
];

const furtherChecks: Partial<Record<Case, (lab: Lab, name: string) => void | Promise<void>>> = {
  "a bootstrap.ign of 4.12 with a proxy of that time": readyWithoutServer,
  "a bootstrap.ign of 4.14 with a proxy of that time, http-connect and tokens": gatheredWithoutSecrets,
  "another port for agents": statusNamesThePort,
  "http-connect over tcp with client certificates": curlThroughTheServer,
  "http-connect over the socket, and a Deployment of two on two nodes": async (lab) => {
    for (const node of lab.nodes) await waitFor("an agent", 30, () => node.run("pgrep -x proxy-agent").status === 0);
  },
};

describe("the tunnel holds what verify asks of it", () => {
  it.each(pairs)(
    "with %s, and beside it %s",
    async (...pair) => {
      const chosen = pair.filter((one) => one !== undefined);
      const labs = await Promise.all(
        chosen.map(async (which, index) => {
          const lab = await labWith({ name: names[index] ?? "", ...cases[which] });
          await waitFor("the permanent kube-apiserver", 60, () => lab.request(lab.node, "GET", "/readyz").code === 200);
          return { which, lab };
        }),
      );
      // Both run now: what one is asked does not reach the other's webhook.
      const before = labs.map(({ lab }) => webhookCalls(lab));
      for (const [index, { lab }] of labs.entries()) {
        expect(lab.createConfigMap(lab.bootstrap, "beside", { tunnelled: "true" })).toMatchObject({ code: 201 });
        expect(labs.map((one) => webhookCalls(one.lab))).toEqual(
          before.map((calls, of) => calls + (of <= index ? 1 : 0)),
        );
      }
      for (const [index, { which, lab }] of labs.entries()) {
        const rows = await runChecks(labChecks(lab, { finish: false }));
        expect(rows.filter(({ result }) => result !== "passed")).toMatchObject([{ id: "step-6" }]);
        await furtherChecks[which]?.(lab, names[index] ?? "");
      }
      await Promise.all(names.map(removeLab));
    },
    240_000,
  );
});

function webhookCalls({ node, addresses }: Lab): number {
  const calls = node.must(`curl --silent --insecure https://${hostOf(addresses.webhookPod)}:8443/calls`);
  return (JSON.parse(calls) as Record<string, { count: number } | undefined>)["/validate"]?.count ?? 0;
}

/** docs/troubleshooting.md: up to 4.13 an agent is Ready whatever its connection does, and `status` goes by the server's word. */
async function readyWithoutServer({ bootstrap, node }: Lab, name: string): Promise<void> {
  const before = node.must("pgrep -x proxy-agent");
  bootstrap.must("iptables -I INPUT -p tcp --dport 8091 -j REJECT --reject-with tcp-reset");
  node.must(`kill -9 ${before}`);
  const refused = async () => {
    const { server, agents, findings } = (await collect(await targetOf({ name }), 200)).status;
    const isSaid = findings.some(({ code }) => code === "port-refused");
    return isSaid && server?.agents === 0 && agents[0]?.readyz === 200;
  };
  // Each run starts a hundred processes.
  await waitFor("port-refused, of a Ready agent", 60, refused, { every: 2 });
}

/** `status` finds the port on the machines: in what the server and the agent were started with. */
async function statusNamesThePort({ bootstrap, node, addresses }: Lab, name: string): Promise<void> {
  const target = `${addresses.bootstrap}:9591`;
  const look = async () => (await collect(await targetOf({ name }), 200)).status;
  expect(await look()).toMatchObject({
    state: "carries",
    server: { port: 9591, listens: [target], peers: [addresses.node] },
    agents: [{ dials: target }],
  });
  expect(bootstrap.must("ss -Hltn 'sport = 8091'")).toBe("");
  bootstrap.must("iptables -I INPUT -p tcp --dport 9591 -j DROP");
  node.must("pkill -9 -x proxy-agent");
  await waitFor(
    "port-blocked",
    60,
    async () => {
      const { findings } = await look();
      return findings.some(({ code, advice }) => code === "port-blocked" && advice.startsWith("open TCP 9591 "));
    },
    { every: 2 },
  );
  // Without a server the payload's record knows the port.
  bootstrap.must(`rm ${staticPodManifest}`);
  await waitFor("the server's end", 60, () => bootstrap.run("pgrep -x proxy-server").status !== 0);
  expect((await look()).server).toMatchObject({ healthz: 0, port: 9591 });
}

/** The agents' tokens are in none of what was gathered, nor is a key. */
async function gatheredWithoutSecrets(lab: Lab, name: string): Promise<void> {
  const secrets = secretsOf(lab);
  expect(secrets.map(({ kind }) => kind)).toContain("token");
  const archive = [...gatheredFiles(await collect(await targetOf({ name }), 20_000), new Date()).values()].join("\n");
  expect(archive).toContain("Agent connected");
  expect(leaks(secrets, archive)).toEqual([]);
}

/** docs/troubleshooting.md: the server is an HTTPS proxy that asks for a certificate, and its answers tell what is wrong. */
function curlThroughTheServer(lab: Lab): void {
  const { bootstrap, node, addresses } = lab;
  const folder = "/etc/kubernetes/bootstrap-configs";
  const certificate = `--proxy-cert ${folder}/konnectivity-client.crt --proxy-key ${folder}/konnectivity-client.key`;
  const curl = (place: string, proof: string) =>
    bootstrap.run(
      `curl --silent --show-error --max-time 10 --proxy https://127.0.0.1:8090 ${proof} ` +
        `--proxy-cacert ${folder}/konnectivity-client-ca.crt --insecure ` +
        `--write-out ' connect=%{http_connect}' https://${place}/healthz`,
    );
  const kubelet = `${addresses.node}:10250`;
  expect(curl(kubelet, certificate)).toMatchObject({ status: 0, stdout: "ok connect=200" });
  expect(curl(kubelet, "").stderr).toContain("certificate required");
  expect(curl(`${addresses.webhookPod}:9`, certificate).stdout).toBe(" connect=502");
  node.must(`/usr/bin/podman pod stop --time=0 $(/usr/bin/podman pod ps --quiet --filter name=${agentName})`);
  expect(curl(kubelet, certificate).stdout).toBe(" connect=500");
  const { code, body } = lab.createConfigMap(bootstrap, "no-agent", { tunnelled: "true" });
  expect(code).toBe(500);
  expect(body.message).toContain(
    `proxy error from 127.0.0.1:8090 while dialing ${addresses.webhookPod}:8443, code 500: 500 Internal Server Error`,
  );
}
