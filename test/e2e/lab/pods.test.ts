import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, it } from "vitest";
import { stringify } from "yaml";
import { UserError } from "../../../src/core/errors.ts";
import { type Lab } from "../../../lab/lab.ts";
import { waitFor } from "../../../lab/wait.ts";
import { removeLab, startLab } from "../../support/lab.ts";

const name = `pods${process.pid}`;
let lab: Lab;
beforeAll(async () => {
  lab = await startLab({ name });
});
afterAll(() => removeLab(name));

const linesAbout = (pod: string) =>
  readFileSync(join(lab.node.folder, "kubelet.log"), "utf8")
    .split("\n")
    .filter((line) => line.startsWith(`${pod}: `));

it("a pod that cannot be started is tried again from nothing, and the lab shows why", async () => {
  // The program is missing at first: podman creates the pod, and only its start fails.
  const pod = {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "late" },
    spec: {
      hostNetwork: true,
      containers: [
        {
          name: "late",
          image: "localhost/lab/etcd:latest",
          command: ["/programs/catatonit"],
          args: ["-P"],
          volumeMounts: [{ name: "programs", mountPath: "/programs" }],
        },
      ],
      volumes: [{ name: "programs", hostPath: { path: "/opt/programs" } }],
    },
  };
  lab.node.must("mkdir /opt/programs && cat >/etc/kubernetes/manifests/late.yaml", {}, stringify(pod));
  await waitFor("the first try", 60, () => linesAbout("late").length > 0);
  // Time for more tries.
  await sleep(5000);
  expect(linesAbout("late")).toEqual([
    expect.stringMatching(/^late: cannot be started: podman .*"\/programs\/catatonit": .*no such file or directory/),
  ]);

  lab.node.must("mv /opt/lab/kubeconfig /opt/lab/moved");
  const stuck: unknown = await lab.completeBootstrap().catch((error: unknown) => error);
  lab.node.must("mv /opt/lab/moved /opt/lab/kubeconfig");
  expect(stuck).toBeInstanceOf(UserError);
  expect((stuck as UserError).message).toMatch(
    /^The lab pods\d+ is stuck: a command on node-0 failed with ".*", the pod late cannot be started on node-0 \(podman .*no such file or directory.*\); read /,
  );

  lab.node.must("cp /usr/bin/catatonit /opt/programs");
  await waitFor("the pod", 60, () => linesAbout("late").length > 1);
  expect(linesAbout("late").slice(1)).toEqual(["late: started"]);
  expect(lab.node.must("/usr/bin/podman ps --filter name=late-late --format '{{.Status}}'")).toMatch(/^Up /);
});
