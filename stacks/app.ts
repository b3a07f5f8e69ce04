import { existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { dirname, isAbsolute, join, relative, resolve } from "node:path";
import { Annotations, App, Manifest } from "cdktf";
import type { CloudBootstrapStackProps } from "./cloud-bootstrap-stack.ts";
import type { Inputs } from "./resolve.ts";
import { everything, ignoreInGit, keepPrivate } from "../src/files/private-folder.ts";
import { saveMetadata } from "../src/config/saved-metadata.ts";
import { reasonOf } from "../src/files/user-file.ts";
import { oneLine } from "../src/core/printable.ts";
import { UserError, problem } from "../src/core/errors.ts";
import { payloadFileName } from "../constructs/shared/payload-file.ts";
import { protectLocalState } from "../constructs/shared/local-state.ts";
import { program } from "../src/runtime/project-files.js";
import { templatesLeft } from "../src/core/terraform-literal.ts";
import type { BootstrapStack } from "./bootstrap-stack.ts";
import { configPrefix } from "./config-prefix.ts";
import { withoutConfig } from "./load.ts";
import { configFormat, platformNames, platforms, type StackClass } from "./platforms.ts";
import { TeardownStack } from "./teardown.ts";

/**
 * An app whose output contains no path of the machine that made it. It skips cdktf's validations, which only ask Terraform
 * for its version: the stacks declare which they need, and describing them must work without Terraform.
 */
export const newApp = (outdir?: string) => new App({ outdir, stackTraces: false, skipValidation: true });

/** The classes of bootstrap stacks, by the platform's name. */
export type StackClasses = Readonly<Record<string, StackClass>>;

/** Loads the stack classes of these platforms, and of no others: each loads its provider. */
export async function loadStackClasses(names: readonly string[]): Promise<StackClasses> {
  const wanted = platforms.filter(({ name }) => names.includes(name));
  return Object.fromEntries(await Promise.all(wanted.map(async ({ name, stack }) => [name, await stack()] as const)));
}

/** An app with its stacks. */
export interface Description {
  readonly app: App;
  readonly bootstrapStacks: readonly BootstrapStack[];
}

/**
 * Describes the bootstrap stack of every platform in the config, and of no other, each with the teardown stack that is
 * destroyed before it. Their names never depend on how many there are.
 */
export function describe(inputs: Inputs, classes: StackClasses, outdir?: string): Description {
  const app = newApp(outdir);
  const shared = stackPropsOf(inputs);
  const stacks = platformNames
    .filter((name) => name in inputs.platforms)
    .map((name) => {
      const Stack = classes[name];
      if (Stack === undefined) throw new Error(`the stack class of ${name} is not loaded`);
      // Each class declares props with the inputs of its own platform, and gets no others here.
      return new Stack(app, `${name}-bootstrap`, { ...shared, ...platformPropsOf(inputs, name) } as never);
    });
  if (stacks.length === 0)
    throw new UserError({ ...problem("no-platform", { platforms: platformNames }), file: inputs.configFile });
  for (const bootstrap of stacks) new TeardownStack(app, `${bootstrap.platform}-teardown`, { ...shared, bootstrap });
  // The cdktf command prints the annotations of all stacks, whichever are deployed: one stack has each warning.
  for (const { message, platform } of inputs.warnings) {
    const stack = stacks.find((one) => one.platform === platform) ?? stacks[0];
    if (stack !== undefined) Annotations.of(stack).addWarning(oneLine(message));
  }
  return { app, bootstrapStacks: stacks };
}

/** What one platform's stack gets in addition to what all of them get. */
function platformPropsOf({ platforms: resolved, labs, providerVersions }: Inputs, name: string): object {
  const provider = configFormat.platforms.find((platform) => platform.name === name)?.provider;
  const lab = labs[name];
  return {
    [name]: resolved[name as keyof typeof resolved],
    ...(provider !== undefined && { providerVersion: providerVersions[provider.name] }),
    ...(lab !== undefined && { payload: lab.payload }),
  };
}

/** What the stacks of every platform get from the inputs. */
export function stackPropsOf(inputs: Inputs): Omit<CloudBootstrapStackProps, "providerVersion"> {
  const { configFile, workingDirectory, state, stateFolder } = inputs;
  return {
    cluster: { infraId: inputs.infraId, uniquePart: inputs.uniquePart },
    payload: inputs.payload,
    replaceMachine: inputs.replaceMachine,
    tags: inputs.tags,
    fixedAddress: inputs.fixedAddress,
    tunnelPort: inputs.tunnelPort,
    externalIngress: inputs.firewall === "external" ? inputs.requiredIngress : undefined,
    state: stateFolder === undefined ? state : { local: { folder: stateFolder } },
    steps: {
      program,
      workingDirectory,
      configArguments: configFile === undefined ? [] : ["--config", relative(workingDirectory, configFile)],
    },
    commands: { installDir: inputs.installDir, cdktfPrefix: configPrefix(inputs) },
  };
}

/**
 * Describes everything and writes it to the app's output folder, the payload beside each stack.
 * @returns what an operator should know about it; the cdktf command prints that too
 */
export function synthesize(inputs: Inputs, classes: StackClasses, outdir?: string): string[] {
  try {
    return write(describe(inputs, classes, outdir), inputs);
  } catch (error) {
    if (!(error instanceof Error && "syscall" in error && "path" in error)) throw error;
    throw new UserError(problem("file-unwritable", { file: String(error.path), reason: reasonOf(error) }));
  }
}

function write({ app, bootstrapStacks }: Description, inputs: Inputs): string[] {
  protectOutput(app.outdir);
  const notes = [
    ...(inputs.configFile === undefined
      ? [`There is no config file: ${withoutConfig.stacks}; ${withoutConfig.advice}.`]
      : []),
    ...prepareLocalState(app, inputs),
  ];
  // The cdktf command prints the annotations of all stacks, whichever are deployed: one stack has these.
  const [first] = bootstrapStacks;
  if (first !== undefined) for (const note of notes) Annotations.of(first).addInfo(oneLine(note));
  writeCode(app, inputs);
  for (const name of namesIn(app)) keepPrivate(join(app.outdir, Manifest.stacksFolder, name));
  removeOtherPayloads(app);
  for (const { payload } of bootstrapStacks) payload.write();
  return notes;
}

/**
 * Everything that is written outside the output folder: Terraform would create a state that others can read, and a destroy
 * needs the cluster's metadata after the install folder is gone.
 * @returns a sentence about what is new
 */
function prepareLocalState(app: App, inputs: Inputs): string[] {
  const { stateFolder, metadata, configFile, workingDirectory } = inputs;
  if (stateFolder === undefined) return [];
  checkStateFolder(stateFolder, app.outdir);
  if (!existsSync(stateFolder) && !isDeployable(inputs)) return [];
  const project = [workingDirectory, ...(configFile === undefined ? [] : [dirname(configFile)])];
  const created = protectLocalState(stateFolder, namesIn(app), !project.some((folder) => isIn(stateFolder, folder)));
  const saved = metadata === undefined ? undefined : saveMetadata(stateFolder, metadata);
  if (saved !== undefined && !created.some((folder) => isIn(folder, saved))) created.push(saved);
  if (created.length === 0) return [];
  const shown = created.map((path) => relative(workingDirectory, path) || ".");
  return [`Created for the state, outside the output folder: ${shown.join(", ")}.`];
}

/** Without a payload, or with an example's, a deploy stops before it has a state. A lab has a payload of its own. */
const isDeployable = ({ payload, labs }: Inputs) =>
  Object.keys(labs).length > 0 || (payload.present && payload.example !== true);

/**
 * The output folder contains secrets, and code that Terraform runs. It is readable by its owner only, whatever the umask is,
 * and git ignores it. A folder in which the user has other files keeps its mode.
 */
function protectOutput(outdir: string): void {
  const ours = [Manifest.fileName, Manifest.stacksFolder];
  const own = readdirSync(outdir).every((name) => [...ours, ".gitignore"].includes(name));
  if (own) keepPrivate(outdir);
  ignoreInGit(outdir, own ? everything : ours.map((name) => `/${name}`));
  keepPrivate(join(outdir, Manifest.stacksFolder));
}

/**
 * Writes the stacks' code. Nothing of the inputs is an expression: code in which Terraform would evaluate a part of them
 * is removed again.
 */
export function writeCode(app: App, { payload, labs: _, ...texts }: Inputs): void {
  app.synth();
  const outside = [texts, payload.present ? "" : payload.why, app.outdir, program];
  const files = namesIn(app).map((name) => join(app.outdir, Manifest.stacksFolder, name, "cdk.tf.json"));
  const left = files.flatMap((file) => templatesLeft(outside, JSON.parse(readFileSync(file, "utf8"))));
  if (left.length === 0) return;
  for (const file of files) rmSync(file);
  const found = [...new Set(left)].map((text) => JSON.stringify(text));
  throw new UserError(...found.map((text) => problem("template-refused", { what: "Part of the input", found: text })));
}

/**
 * The cdktf command clears its output folder: a state in it would be lost.
 * @param outdir @default - the cdktf command's
 */
export function checkStateFolder(stateFolder: string, outdir = process.env.CDKTF_OUTDIR ?? "cdktf.out"): void {
  if (!isIn(resolve(outdir), stateFolder)) return;
  throw new UserError(
    problem("option-invalid", {
      option: "state.local.folder",
      found: "a folder in the output folder",
      expected: "a folder outside it, because the output folder is cleared on every run",
    }),
  );
}

/** Whether a path is this folder or below it. */
function isIn(folder: string, path: string): boolean {
  const below = relative(folder, path);
  return !(below.startsWith("..") || isAbsolute(below));
}

const namesIn = (app: App) => app.node.children.map(({ node }) => node.id);

/** A platform that is no longer in the config leaves no payload behind. The cdktf command removes its folder. */
function removeOtherPayloads(app: App): void {
  const folder = join(app.outdir, Manifest.stacksFolder);
  const kept = namesIn(app);
  for (const name of readdirSync(folder).filter((found) => !kept.includes(found)))
    rmSync(join(folder, name, payloadFileName), { force: true });
}
