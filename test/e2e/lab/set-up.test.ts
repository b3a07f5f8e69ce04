import { afterEach, describe, expect, it } from "vitest";
import { targetOf } from "../../../src/cli/target.ts";
import { collect } from "../../../src/cluster/collect.ts";
import type { Finding } from "../../../src/cluster/finding.ts";
import { agentName, loopbackKubeconfig, namespace } from "../../../src/core/konnectivity/names.ts";
import type { Lab } from "../../../lab/lab.ts";
import { LabView } from "../../../lab/lab-view.ts";
import { waitFor } from "../../../lab/wait.ts";
import { projectFile } from "../../../src/runtime/project-files.js";
import { program } from "../../support/cli.ts";
import { labWith, removeLab, reportAgent, startLab } from "../../support/lab.ts";

const name = `setup${process.pid}`;
afterEach(() => removeLab(name));

const isReady = (lab: Lab) => lab.request(lab.bootstrap, "GET", "/readyz").code === 200;

/** As an operator sees it who has access to the bootstrap machine and to the API. */
function findingsOf({ bootstrap }: Lab): readonly Finding[] {
  const ssh = "mkdir -p /opt/lab/ssh && cp $SSH_HERE /opt/lab/ssh/ssh && chmod 755 /opt/lab/ssh/ssh";
  const status = `PATH=/opt/lab/ssh:$PATH ${process.execPath} $PROGRAM status --json --ssh core@bootstrap --kubeconfig ${loopbackKubeconfig}`;
  const files = {
    SSH_HERE: projectFile("test/support/ssh-here.sh"),
    PROGRAM: program,
  };
  const { stdout } = bootstrap.run(`${ssh}; ${status}`, files);
  return (JSON.parse(stdout) as { findings: Finding[] }).findings;
}

describe("a tunnel that cannot be set up", () => {
  it("is left out with required: false, and the installation goes on", async () => {
    const lab = await startLab({ name, tunnel: { required: false, address: "10.9.9.9" } });
    await waitFor("the kube-apiserver", 180, () => isReady(lab), { every: 1 });
    expect(lab.bootstrap.must("tr '\\0' '\\n' </proc/$(pgrep -xo kube-apiserver)/cmdline")).not.toContain("egress");
    expect(new LabView(lab).server()).toBeUndefined();
    await waitFor("the manifests", 60, () => lab.request(lab.node, "GET", "/api/v1/namespaces/lab").code === 200);
    expect(lab.request(lab.node, "GET", `/api/v1/namespaces/${namespace}`).code).toBe(404);
    const { findings } = (await collect(await targetOf({ name }), 200)).status;
    expect(findings).toMatchObject([
      { code: "given-up", what: expect.stringContaining("this machine continues without it, for good") as string },
    ]);
    lab.finish();
    await waitFor("bootkube's end", 60, () => lab.bootstrap.run("test -e /opt/openshift/.bootkube.done").status === 0);
  }, 300_000);
});

describe("keys that are issued again while the cluster has the old ones", () => {
  it("are reported with what to do: cluster-bootstrap never updates the Secret", async () => {
    const lab = await labWith({ name });
    await waitFor("the permanent kube-apiserver", 60, () => lab.request(lab.node, "GET", "/readyz").code === 200);
    reportAgent(lab, "False");
    expect(findingsOf(lab).map(({ code }) => code)).not.toContain("keys-reissued");
    const setUp = "/usr/local/bin/konnectivity-bootstrap-setup.sh";
    lab.bootstrap.must(
      `cd /opt/openshift && rm -r konnectivity-bootstrap/tls && ${setUp} certificates && ${setUp} server && ${setUp} agents`,
    );
    // The agents have the old CA, and cannot connect again.
    const agents = `/usr/bin/podman logs ${agentName}-0-${agentName} 2>&1`;
    await waitFor("an attempt", 60, () => lab.node.run(`${agents} | grep 'unknown authority'`).status === 0);
    const found = findingsOf(lab).find(({ code }) => code === "keys-reissued");
    expect(found?.advice).toContain("replace -f /opt/openshift/manifests/bootstrap-konnectivity-secret.yaml");
  }, 240_000);
});
