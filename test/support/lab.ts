import { existsSync, readdirSync, readFileSync } from "node:fs";
import { makePayload } from "../../constructs/bootstrap-payload.ts";
import { readTunnel } from "../../constructs/konnectivity/options.ts";
import { labFolder } from "../../lab/folder.ts";
import { ensureImages } from "../../lab/images.js";
import { Lab, labIsUp } from "../../lab/lab.ts";
import type { Layout } from "../../lab/layout.ts";
import { labNetworks, sampleText, type Shape } from "../../lab/sample/sample.ts";

export interface TestLabProps extends Partial<Layout> {
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
  payload = labPayload(shape, tunnel, ipFamily),
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
  });
}

/** What a lab's bootstrap machine boots with. */
export function labPayload(shape: Shape, tunnel: unknown, ipFamily: Layout["ipFamily"] = "IPv4"): string {
  return makePayload(sampleText(shape, { networks: labNetworks(ipFamily) }), readTunnel(tunnel), new Date()).text;
}

export const removeLab = (name: string) => Lab.down(name, labFolder(name));

/** Control groups of a lab, which every process of it is in, and its folder. */
export function leftOf(lab: string): string[] {
  const hierarchies = readFileSync("/proc/self/mounts", "utf8")
    .split("\n")
    .map((line) => line.split(" "))
    .filter(([, , kind]) => kind === "cgroup" || kind === "cgroup2")
    .map(([, place = ""]) => place);
  return [
    ...hierarchies.flatMap((place) =>
      readdirSync(place).filter((group) => group.startsWith(`konnectivity-bootstrap.${lab}.`)),
    ),
    ...(existsSync(labFolder(lab)) ? [labFolder(lab)] : []),
  ];
}
