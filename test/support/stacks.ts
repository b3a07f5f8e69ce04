import "./no-stack-traces.ts";
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parse, stringify } from "yaml";
import { readProjectText } from "../../src/runtime/project-files.js";
import * as app from "../../stacks/app.ts";
import { readInputs } from "../../stacks/inputs.ts";
import { platformNames } from "../../stacks/platforms.ts";
import type { Inputs } from "../../stacks/resolve.ts";
import { type sampleMetadata, sampleText, type Shape } from "../../src/core/sample/sample.ts";

const stackClasses = await app.loadStackClasses(platformNames);

/** What main.ts does last, with stack classes that are loaded already. */
export function synthesize(inputs: Inputs, outdir?: string): string[] {
  return app.synthesize(inputs, stackClasses, outdir);
}

/** One resource or data source of a stack, as Terraform gets it. */
export type Block = Record<string, unknown>;

/** A synthesized stack: the parts of cdk.tf.json that tests look at. */
export interface StackJson {
  resource: Record<string, Record<string, Block>>;
  data?: Record<string, Record<string, Block>>;
  readonly provider: Record<string, Block[]>;
  readonly terraform: Block;
  readonly output: Record<string, { value: unknown; description: string; sensitive?: boolean }>;
  readonly check: Record<string, Block>;
  readonly locals?: Block;
}

export interface ProjectProps {
  /** Folder for everything. @default - a new one below the system's temporary folder */
  readonly folder?: string;
  /** @default 4.18; none: there is no bootstrap.ign */
  readonly shape?: Shape | "none";
  /** @default - the sample's, with what the platforms' installers write; null: there is no metadata.json */
  readonly metadata?: object | null;
  /** More files, by name. */
  readonly files?: Readonly<Record<string, string>>;
}

/** What the examples' `stream` names, as far as anything here reads it. */
export const sampleStream = readProjectText("docs/examples/coreos-stream.json");

/** What the examples' `installDir` has: the sample's, with the parts of every cloud. */
export const metadata = JSON.parse(readProjectText("docs/examples/ocp/metadata.json")) as typeof sampleMetadata & {
  readonly aws: Readonly<Record<"region", string>>;
  readonly azure: Readonly<Record<"region" | "resourceGroupName" | "cloudName", string>>;
  readonly gcp: Readonly<Record<"region" | "projectID", string>>;
};
export const { clusterID } = metadata;

/** A user's folder: config file, install folder, output; what `cdktf synth` sees and makes. */
export class Project {
  readonly folder: string;
  readonly configFile: string;
  readonly outdir: string;

  constructor(config: object | string, props: ProjectProps = {}) {
    this.folder = props.folder ?? mkdtempSync(join(tmpdir(), "konnectivity-bootstrap-project-"));
    this.configFile = join(this.folder, "konnectivity.yaml");
    this.outdir = join(this.folder, "cdktf.out");
    mkdirSync(join(this.folder, "ocp"), { recursive: true });
    const { shape = "4.18" } = props;
    if (shape !== "none") this.write("ocp/bootstrap.ign", sampleText(shape));
    if (props.metadata !== null) this.write("ocp/metadata.json", JSON.stringify(props.metadata ?? metadata));
    for (const [name, text] of Object.entries(props.files ?? {})) this.write(name, text);
    this.write("konnectivity.yaml", typeof config === "string" ? config : stringify({ installDir: "ocp", ...config }));
  }

  write(name: string, text: string): void {
    writeFileSync(join(this.folder, name), text);
    chmodSync(join(this.folder, name), 0o600);
  }

  /** Lets everybody read a file. */
  readable(name: string): void {
    chmodSync(join(this.folder, name), 0o644);
  }

  inputs(now = new Date("2026-11-16T12:00:00Z")): Inputs {
    return readInputs(this.configFile, now, { workingDirectory: this.folder });
  }

  /** Runs what main.ts runs; the stacks by name. */
  synth(): Record<string, StackJson> {
    synthesize(this.inputs(), this.outdir);
    return Object.fromEntries(
      readdirSync(join(this.outdir, "stacks")).map((name) => [
        name,
        JSON.parse(readFileSync(join(this.outdir, "stacks", name, "cdk.tf.json"), "utf8")) as StackJson,
      ]),
    );
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** Synthesizes a config in a folder that is gone afterwards. */
export function synthOf(config: object, props?: ProjectProps): Record<string, StackJson> {
  const project = new Project(config, props);
  try {
    return project.synth();
  } finally {
    project.remove();
  }
}

/** The sentences that this config gets. Empty if it is right. */
export function mistakesOf(config: object | string, props?: ProjectProps): string[] {
  const project = new Project(config, props);
  try {
    project.inputs();
    return [];
  } catch (error) {
    if (!(error instanceof Error) || error.name !== "UserError") throw error;
    return error.message.split("\n");
  } finally {
    project.remove();
  }
}

/** Every resource of one type. */
export function resources(stack: StackJson | undefined, type: string): Block[] {
  return Object.values(stack?.resource[type] ?? {});
}

/** The resource of a type of which there is exactly one. */
export function only(stack: StackJson | undefined, type: string): Block {
  const found = resources(stack, type);
  if (found.length !== 1) throw new Error(`${found.length} × ${type} where one is expected`);
  return found[0] ?? {};
}

/** The steps that give a new permission time to spread. */
export const waitsOf = (stack: StackJson): Block[] =>
  resources(stack, "terraform_data").filter(({ provisioner }) =>
    JSON.stringify(provisioner ?? "").includes("WAIT_SECONDS"),
  );

/** What a resource explicitly comes after, beside the report, which all do. */
export function afterOf({ depends_on: after }: Block): string[] {
  return (after as string[]).filter((address) => address !== "terraform_data.report");
}

/** The complete example of a platform's page, with every file that it names. */
export function exampleOf(platform: string): { config: Record<string, unknown>; files: Record<string, string> } {
  const text = readProjectText(`docs/examples/${platform}.yaml`);
  return { config: parse(text) as Record<string, unknown>, files: { "coreos-stream.json": sampleStream } };
}

/** A platform's example, changed: options of the platform, and others. Undefined takes one away. */
export function changedExample(platform: string, options: object = {}, rest: object = {}): object {
  const { config } = exampleOf(platform);
  const changed = { ...config, ...rest, [platform]: { ...(config[platform] as object), ...options } };
  return JSON.parse(JSON.stringify(changed)) as object;
}

/** Synthesized examples: many tests look at the same one. */
const exampleStacks = new Map<string, string>();

/** The bootstrap stack of a platform's example, changed. */
export function exampleStack(platform: string, options?: object, rest?: object, props?: ProjectProps): StackJson {
  const { files } = exampleOf(platform);
  const config = changedExample(platform, options, rest);
  const key = JSON.stringify([config, props]);
  const known = exampleStacks.get(key);
  if (known !== undefined) return JSON.parse(known) as StackJson;
  const stack = synthOf(config, { files, ...props })[`${platform}-bootstrap`];
  if (stack === undefined) throw new Error(`no stack for ${platform}`);
  exampleStacks.set(key, JSON.stringify(stack));
  return stack;
}

/** What happens to a machine when its payload changes: of the resource that would replace it. */
export function replacementOf(stack: StackJson): unknown {
  const found = Object.entries(stack.resource.terraform_data ?? {}).find(([id]) =>
    id.startsWith("payload_replacement_"),
  );
  return found?.[1].lifecycle;
}
