/** What each platform's stacks contain, drawn from the code that they synthesize: docs/stacks.md. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadStackClasses, synthesize } from "../stacks/app.ts";
import { readInputs } from "../stacks/inputs.ts";
import { platformNames } from "../stacks/platforms.ts";
import { writeExampleProject } from "./example-project.ts";
import { arrowsOf, mermaid, nodeOf } from "./mermaid.ts";

type Block = Readonly<Record<string, unknown>>;
type Blocks = Readonly<Record<string, Readonly<Record<string, Block>>>>;

/** The parts of cdk.tf.json that a picture shows. */
export interface DrawnStack {
  readonly resource?: Blocks;
  readonly data?: Blocks;
}

/** The diagram of each platform, by its name: the stacks of the examples in docs, and the lab with its defaults. */
export async function stackDiagrams(): Promise<Readonly<Record<string, string>>> {
  const folder = mkdtempSync(join(tmpdir(), "konnectivity-bootstrap-diagrams-"));
  try {
    const { configFile, platforms } = writeExampleProject(folder);
    const classes = await loadStackClasses(platformNames);
    const outdir = join(folder, "cdktf.out");
    mkdirSync(join(folder, "lab"));
    const labConfig = join(folder, "lab/konnectivity.yaml");
    const labs = platformNames.filter((name) => !platforms.includes(name));
    writeFileSync(labConfig, labs.map((name) => `${name}: {}\n`).join(""));
    synthesize(readInputs(configFile, new Date()), classes, outdir);
    synthesize(readInputs(labConfig, new Date()), classes, join(folder, "lab/cdktf.out"));
    const stackOf = (name: string, kind: string) => {
      const stacks = join(platforms.includes(name) ? outdir : join(folder, "lab/cdktf.out"), "stacks");
      return JSON.parse(readFileSync(join(stacks, `${name}-${kind}`, "cdk.tf.json"), "utf8")) as DrawnStack;
    };
    return Object.fromEntries(
      platformNames.map((name) => [name, stackDiagram(name, stackOf(name, "bootstrap"), stackOf(name, "teardown"))]),
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** One node for each construct, with its resources; an arrow leads to what a construct depends on. */
export function stackDiagram(platform: string, bootstrap: DrawnStack, teardown: DrawnStack): string {
  const inStack = (name: string, stack: DrawnStack) => [
    `  subgraph ${name}`,
    "    direction TB",
    ...linesOf(constructsOf(stack), `${name}/`),
    "  end",
  ];
  return mermaid([
    "flowchart TD",
    ...inStack(`${platform}-teardown`, teardown),
    ...inStack(`${platform}-bootstrap`, bootstrap),
    `  ${platform}-teardown -.-> ${platform}-bootstrap`,
  ]);
}

interface DrawnConstruct {
  /** Type of each resource and data source, and how many there are. */
  readonly contents: Map<string, number>;
  readonly dependsOn: Set<string>;
}

function linesOf(constructs: ReadonlyMap<string, DrawnConstruct>, prefix: string): string[] {
  const nodes = [...constructs].map(([name, { contents }]) => {
    const rows = [...contents].map(([type, count]) => (count === 1 ? type : `${type} × ${String(count)}`));
    return `    ${nodeOf(`${prefix}${name}`, [`<b>${name}</b>`, ...rows.sort()].join("<br/>"))}`;
  });
  const idOf = (name: string) => nodeOf(`${prefix}${name}`).replace(/\[.*/, "");
  const graph = new Map([...constructs].map(([name, { dependsOn }]) => [name, dependsOn]));
  return [...nodes.sort(), ...arrowsOf(graph).map(([from, to]) => `    ${idOf(from)} --> ${idOf(to)}`)].sort(
    nodesFirst,
  );
}

const nodesFirst = (one: string, other: string) =>
  Number(one.includes("-->")) - Number(other.includes("-->")) || (one < other ? -1 : 1);

/** A stack's constructs by name, in the order in which they are synthesized. */
function constructsOf({ resource = {}, data = {} }: DrawnStack): Map<string, DrawnConstruct> {
  const constructs = new Map<string, DrawnConstruct>();
  const ownerOf = new Map<string, string>();
  const all = [...blocksOf(resource, ""), ...blocksOf(data, "data.")];
  for (const { type, address, block } of all) {
    const owner = constructOf(block);
    ownerOf.set(address, owner);
    const construct = constructs.get(owner) ?? { contents: new Map<string, number>(), dependsOn: new Set<string>() };
    constructs.set(owner, construct);
    construct.contents.set(type, (construct.contents.get(type) ?? 0) + 1);
  }
  for (const { block } of all) {
    const owner = constructOf(block);
    for (const address of referencesIn(block)) {
      const target = ownerOf.get(address);
      if (target !== undefined && target !== owner) constructs.get(owner)?.dependsOn.add(target);
    }
  }
  return constructs;
}

const blocksOf = (blocks: Blocks, prefix: string) =>
  Object.entries(blocks).flatMap(([type, byId]) =>
    Object.entries(byId).map(([id, block]) => ({
      type: `${prefix === "" ? "" : "data "}${type}`,
      address: `${prefix}${type}.${id}`,
      block,
    })),
  );

/** The second part of its path, like machine in aws-bootstrap/machine/Default. */
function constructOf(block: Block): string {
  const { metadata } = block["//"] as { metadata: { path: string } };
  return metadata.path.split("/")[1] ?? metadata.path;
}

/** Addresses in depends_on and in expressions, like data.aws_vpc.a or aws_instance.b. */
function referencesIn(value: unknown): string[] {
  if (typeof value === "string") {
    const found = value.matchAll(/(?:data\.)?[a-z][a-z0-9_]*\.[A-Za-z][\w-]*/g);
    return [...found].map(([address]) => address);
  }
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(referencesIn) : [];
}
