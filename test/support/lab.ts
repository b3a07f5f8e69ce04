import { makePayload } from "../../src/core/bootstrap.ts";
import { withIpiPort } from "../../src/core/konnectivity/agent-port.ts";
import { agentName, namespace } from "../../src/core/konnectivity/names.ts";
import { readTunnel } from "../../src/core/konnectivity/options.ts";
import { labFolder } from "../../lab/folder.ts";
import { ensureImages } from "../../lab/images.js";
import { Lab, labIsUp } from "../../lab/lab.ts";
import type { LabLayout } from "../../src/core/lab-layout.ts";
import { localNetworks } from "../../src/core/sample/networks.ts";
import { sampleText, type Shape } from "../../src/core/sample/sample.ts";

export interface TestLabProps extends Partial<LabLayout> {
  readonly name: string;
  /** @default 4.23 */
  readonly shape?: Shape;
  /** Image stores beside the usual one. */
  readonly images?: readonly string[];
  /** Options of the tunnel. */
  readonly tunnel?: unknown;
  /** @default - a sample of this shape, with this tunnel */
  readonly payload?: string;
}

const ignore = () => undefined;

/** A lab for one test file: up, with the webhook in it. It dies with the tests. */
export async function labWith(props: TestLabProps): Promise<Lab> {
  const lab = await startLab(props);
  await labIsUp(lab, ignore);
  await lab.installWorkload();
  return lab;
}

/** One whose machines run, and nothing more is known of it. */
export function startLab({
  name,
  shape = "4.23",
  images = [],
  tunnel = {},
  nodes,
  ipFamily,
  ipi,
  payload = labPayload(shape, ipi === true ? withIpiPort(tunnel) : tunnel, ipFamily),
}: TestLabProps): Promise<Lab> {
  return Lab.up({
    name,
    folder: labFolder(name),
    payload,
    images: [ensureImages(), ...images],
    dieWithParent: true,
    say: ignore,
    nodes,
    ipFamily,
    ipi,
  });
}

/** What a lab's bootstrap machine boots with. */
export function labPayload(shape: Shape, tunnel: unknown, ipFamily: LabLayout["ipFamily"] = "IPv4"): string {
  return makePayload(sampleText(shape, { networks: localNetworks[ipFamily] }), readTunnel(tunnel), new Date()).text;
}

/** What is left of a lab. */
export const leftOf = (name: string) => Lab.remains(name, labFolder(name));
export const removeLab = (name: string) => Lab.down(name, labFolder(name));

/** An agent's pod in the API, as a kubelet would report it. */
export function reportAgent(lab: Lab, ready: "True" | "False"): void {
  const path = `/api/v1/namespaces/${namespace}/pods`;
  const workload = lab.request(lab.node, "GET", `/apis/apps/v1/namespaces/${namespace}/daemonsets/${agentName}`).body;
  const { template } = workload.spec as { template: { metadata: object; spec: object } };
  lab.request(lab.node, "POST", path, {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { ...template.metadata, name: "agent" },
    spec: { ...template.spec, nodeName: "node-0", priorityClassName: undefined },
  });
  const pod = lab.request(lab.node, "GET", `${path}/agent`).body;
  const status = { phase: "Running", conditions: [{ type: "Ready", status: ready }] };
  const { code, body } = lab.request(lab.node, "PUT", `${path}/agent/status`, { ...pod, status });
  if (code !== 200) throw new Error(`${code}: ${body.message ?? ""}`);
}
