import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { targetOf } from "../../../src/cli/target.ts";
import { collect } from "../../../src/cluster/collect.ts";
import { gatheredFiles } from "../../../src/cluster/gather.ts";
import { statusText } from "../../../src/cluster/status-text.ts";
import { type CheckId, type VerifiedCheck } from "../../../src/cluster/verify.ts";
import { makePayload } from "../../../src/core/bootstrap.ts";
import { namespace } from "../../../src/core/konnectivity/names.ts";
import { tunnelNames } from "../../../src/core/konnectivity/tunnel-names.ts";
import { localNetworks } from "../../../src/core/sample/networks.ts";
import { sampleText } from "../../../src/core/sample/sample.ts";
import { bootstrapIsUp, type Lab } from "../../../lab/lab.ts";
import { waitFor } from "../../../lab/wait.ts";
import { program } from "../../support/cli.ts";
import { removeLab, startLab } from "../../support/lab.ts";
import { leaks, secretsOf } from "../../support/secrets.ts";

const name = `installer${process.pid}`;
const { tls, staticPodManifest } = tunnelNames.installer;
let lab: Lab;

/** What runs here is the sample's imitation of openshift-install's own tunnel, with real server and agents. */
beforeAll(async () => {
  const bootstrapIgn = sampleText("4.23-gate-on", { networks: localNetworks.IPv4 });
  const { text } = makePayload(bootstrapIgn, "installer", new Date());
  expect(text).toBe(bootstrapIgn);
  lab = await startLab({ name, payload: text });
  await bootstrapIsUp(lab, () => undefined);
  await waitFor("an agent", 120, async () => (await look()).status.state === "carries", { every: 2 });
  await lab.installWorkload();
}, 300_000);
afterAll(() => removeLab(name));

const look = async () => collect(await targetOf({ name }), 200);
const onBootstrap = (...words: string[]) =>
  lab.bootstrap.run(
    [process.execPath, program, ...words, "--kubeconfig=/opt/openshift/auth/kubeconfig-loopback"].join(" "),
  );

describe("the installer's own tunnel", () => {
  it("carries a webhook call", () => {
    expect(lab.createConfigMap(lab.bootstrap, "carried", { tunnelled: "true" })).toMatchObject({ code: 201 });
  });

  it("is recognized by status, with its certificates, and without its /readyz", async () => {
    const { status } = await look();
    expect(status).toMatchObject({
      state: "carries",
      server: { tunnel: "installer", port: 8091, wanted: true, healthz: 200, readyz: 500, agents: 1 },
      agents: [{ dials: "10.0.0.10:8091", readyz: 200 }],
    });
    const filesOf = (side: { certificates: readonly { file: string }[] } | undefined) =>
      side?.certificates.map(({ file }) => file);
    expect(filesOf(status.server)).toEqual(["agent.crt", "ca.crt", "server.crt"]);
    expect(filesOf(status.agents[0])).toEqual(["ca.crt", "tls.crt"]);
    const text = statusText(status);
    expect(text).toMatch(/^made by +openshift-install$/m);
    expect(text).toMatch(/^certificate +server for 10\.0\.0\.10 until /m);
    expect(text).not.toContain("readyz");
  });

  it("is gathered without a secret", async () => {
    const files = gatheredFiles(await look(), new Date());
    for (const section of ["tunnel", "server-pod", "egress-selector", "stages", "certificates", "log"])
      expect([...files.keys()]).toContain(`bootstrap/${section}.txt`);
    expect(files.get("bootstrap/tunnel.txt")).toBe("installer\n");
    expect(files.get("bootstrap/egress-selector.txt")).toContain("konnectivity-server.socket");
    const secrets = secretsOf(lab);
    expect(secrets.map(({ where }) => where)).toContain(`${tls}/ca.key of bootstrap`);
    expect(leaks(secrets, [...files.values()].join("\n"))).toEqual([]);
  });

  it("is verified by its own names", () => {
    const { results } = JSON.parse(onBootstrap("verify", "--json").stdout) as { results: VerifiedCheck[] };
    const seen = (id: CheckId) => results.find((row) => row.id === id)?.seen;
    expect(seen("security-1")).toContain(`grep cluster-ca-cert ${staticPodManifest}`);
    expect(seen("security-3")).toContain(`openssl verify -CAfile ${tls}/ca.crt ${tls}/server.crt`);
    expect(lab.bootstrap.must(`openssl verify -CAfile ${tls}/ca.crt ${tls}/server.crt`)).toContain("OK");
    expect(seen("security-4")).toContain("curl 127.0.0.1:2041/healthz");
    expect(seen("security-7")).toContain("openssl s_client -connect 10.0.0.10:8091");
  });

  it("is swept out of the cluster after its end", async () => {
    await lab.completeBootstrap();
    expect((await look()).status).toMatchObject({ state: "ended", server: { tunnel: "installer", wanted: false } });
    // The lab has no namespace controller: the objects stay until somebody deletes them.
    const sweep = lab.node.run(`${process.execPath} ${program} teardown sweep local --kubeconfig=/opt/lab/kubeconfig`);
    expect(sweep.stdout).toContain("daemonset/konnectivity-agent, secret/konnectivity-agent-certs");
    const left = `/apis/apps/v1/namespaces/${namespace}/daemonsets`;
    expect(lab.request(lab.node, "GET", left).body.items).toEqual([]);
    await waitFor("the agents' end", 60, () => lab.node.run("pgrep -x proxy-agent").status !== 0);
  }, 180_000);
});
