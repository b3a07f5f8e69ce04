import { readFileSync } from "node:fs";
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { egressSelector, home } from "../../../src/core/konnectivity/names.ts";
import { projectFile } from "../../../src/runtime/project-files.js";
import { ScratchNode } from "../../support/node.ts";
import { samplePayload } from "../../support/payload.ts";

const script = readFileSync(projectFile("src/cluster/switch.sh"));
const tunnelSelector = "the tunnel's selector";
const pod = "/etc/kubernetes/manifests/kube-apiserver-pod.yaml";

// A machine with CRI-O, whose fakes leave out everything but one container: `stop` ends it, and the kubelet starts another,
// which is ready unless the selector contains "broken".
const node = new ScratchNode(samplePayload("4.23"));
afterAll(() => {
  node.remove();
});
node.program(
  "crictl",
  `echo "crictl $*" >>/var/crictl.log
number=$(cat /var/number)
case $1 in
ps) echo "id-\${number}" ;;
inspect) echo '{"status": {"state": "CONTAINER_RUNNING"}, "info": {"pid": '"$((1000 + number))"'}}' ;;
stop) echo $((number + 1)) >/var/number ;;
logs) printf 'E1118 an error\\nI1118 nothing\\n\\n' ;;
esac`,
);
node.program("curl", `if grep -q broken ${egressSelector.host}; then printf 500; else printf 200; fi`);
beforeEach(() => {
  node.must(`rm -rf ${home}/switch* /var/crictl.log /opt/openshift/.bootkube.done
    mkdir -p ${egressSelector.host.replace(/\/[^/]*$/, "")} /etc/kubernetes/manifests
    echo 1 >/var/number
    echo "${tunnelSelector}" >${egressSelector.host}
    echo "terminationGracePeriodSeconds: 135" >${pod}`);
  node.program("switch", script.toString());
});

const run = (words: string) => node.must(`/opt/programs/switch ${words}`).trimEnd().split("\n");
const selector = () => node.read(egressSelector.host).trim();
const files = () => node.files(home).filter((file) => /switch.*yaml$/.test(file));
const [marker, saved, pending] = ["switched-off", "switched-on", "switch-pending"].map(
  (name) => `${home}/${name}.yaml`,
);

describe("switch.sh on a machine with CRI-O", () => {
  it("plans, and changes nothing", () => {
    expect(run("plan")).toEqual(["state=on", "ready=200", "agents=200", "grace=135", "lasts=yes", "end=yes"]);
    expect([selector(), files()]).toEqual([tunnelSelector, []]);
    expect(node.read("/var/crictl.log")).not.toContain("stop");
  });

  it("stops the kube-apiserver's container with its grace period, and the kubelet starts another", () => {
    expect(run("off 5")).toEqual([
      "doing=restart",
      expect.stringMatching(/^outage=\d+$/),
      "result=switched",
      "end=yes",
    ]);
    expect(node.read("/var/crictl.log").match(/^crictl stop .*$/gm)).toEqual(["crictl stop --timeout 135 id-1"]);
    expect(selector()).toMatch(/^apiVersion: apiserver.k8s.io\/v1beta1\n/);
    expect(selector().match(/proxyProtocol: \w+/g)).toEqual(Array(3).fill("proxyProtocol: Direct"));
    expect(files()).toEqual([marker, saved]);
    expect(node.stat(egressSelector.host)).toEqual({ mode: "0600", owner: "0:0" });
    expect(run("plan")[0]).toBe("state=off");
    expect(run("on 5")).toContain("result=switched");
    expect([selector(), files()]).toEqual([tunnelSelector, [saved]]);
    expect(run("on 5")).toEqual(["result=unchanged", "end=yes"]);
  });

  it("restores what was before if the kube-apiserver does not become ready", () => {
    run("off 5");
    const off = selector();
    node.must(`echo broken >${saved ?? ""}`);
    expect(run("on 1")).toEqual(["doing=restart", "log=E1118 an error", "doing=restore", "result=restored", "end=yes"]);
    expect([selector(), files()]).toEqual([off, [marker, saved]]);
  });

  it("says so if it is not ready with the former selector either, and completes when it is repeated", () => {
    node.program("curl", "printf 500");
    try {
      expect(run("off 1")).toEqual([
        "doing=restart",
        "log=E1118 an error",
        "doing=restore",
        "result=not-ready",
        "end=yes",
      ]);
      expect(selector()).toBe(tunnelSelector);
    } finally {
      node.program("curl", `if grep -q broken ${egressSelector.host}; then printf 500; else printf 200; fi`);
    }
    expect(run("plan")[0]).toBe("state=incomplete");
    expect(run("off 5")).toContain("result=switched");
    expect(files()).toEqual([marker, saved]);
  });

  it("completes a switch that was killed at any of its steps", () => {
    for (const step of ["saved", "before", "marker", "selector"]) {
      node.must(`rm -f ${home}/switch*; echo "${tunnelSelector}" >${egressSelector.host}`);
      // Killed before it replaces the file with this variable's name.
      const killed = script
        .toString()
        .replace(/^write\(\) \{$/m, () => `write() {\n    [ "$1" != "\${${step}}" ] || kill -KILL $$`);
      node.program("killed", killed);
      // Not as the first process, which cannot be killed from inside.
      expect(node.run("/opt/programs/killed off 5; :").stdout, step).not.toContain("result");
      expect(run("off 5"), step).toContain("result=switched");
      expect(files(), step).toEqual([marker, saved]);
      expect(run("on 5"), step).toContain("result=switched");
      expect(selector(), step).toBe(tunnelSelector);
    }
    expect(pending).toBe(`${home}/switch-pending.yaml`);
  });

  it("switches off again what a set-up that ignores the marker has switched on", () => {
    run("off 5");
    node.must(`echo "${tunnelSelector}" >${egressSelector.host}`);
    expect(run("plan")[0]).toBe("state=incomplete");
    expect(run("off 5")).toContain("result=switched");
    expect(selector()).toContain("Direct");
  });

  it("says whether the payload's set-up knows the marker", () => {
    const setUp = "/usr/local/bin/konnectivity-bootstrap-setup.sh";
    const kept = node.read(setUp);
    node.must(`chmod +w ${setUp}; sed -i /switched-off/d ${setUp}`);
    expect(run("plan")).toContain("lasts=no");
    node.must(`cat >${setUp} <<'KEPT'\n${kept}KEPT`);
  });

  it("refuses where there is nothing to switch", () => {
    const refused = (line: string) => node.must(`${line}; /opt/programs/switch off 5`).trimEnd().split("\n");
    const busy = `(flock 9; sleep 3) 9>${home}/switch-lock & sleep 0.5`;
    expect(refused(busy)).toEqual(["refused=busy", "end=yes"]);
    expect(refused("touch /opt/openshift/.bootkube.done")).toEqual(["refused=ended", "end=yes"]);
    expect(refused(`rm /opt/openshift/.bootkube.done; mv ${pod} /var/pod`)).toEqual(["refused=not-running", "end=yes"]);
    expect(refused(`mv /var/pod ${pod}; rm ${egressSelector.host}`)).toEqual(["refused=not-running", "end=yes"]);
    expect(refused(`mv ${home} /var/home`)).toEqual(["refused=none", "end=yes"]);
    expect(refused(`echo '"konnectivity-certs"' >/usr/local/bin/konnectivity.sh`)).toEqual([
      "refused=installer",
      "end=yes",
    ]);
    node.must("rm /usr/local/bin/konnectivity.sh; mv /var/home " + home);
    expect(selector).toThrow();
  });

  it("does not switch on what was not saved", () => {
    run("off 5");
    node.must(`rm ${saved ?? ""}`);
    expect(run("on 5")).toEqual(["refused=not-saved", "end=yes"]);
  });
});

describe("the tunnel's set-up", () => {
  it("uses the selector of a tunnel that is switched off, and the tunnel's otherwise", () => {
    const setUp = `cd /opt/openshift && set -e && record_service_stage_start() { :; } && record_service_stage_success() { :; } &&
      . /usr/local/bin/release-image.sh && . /usr/local/bin/konnectivity-bootstrap.sh && tunnel_setup`;
    run("off 5");
    const off = selector();
    node.must(`echo "${tunnelSelector}" >${egressSelector.host}; ${setUp}`);
    expect(selector()).toBe(off);
    run("on 5");
    node.must(setUp);
    expect(selector()).toMatch(/'GRPC'/);
  });
});
