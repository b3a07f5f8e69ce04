import { readdirSync, readFileSync, rmSync } from "node:fs";
import { dirname, isAbsolute, join, relative, resolve } from "node:path";
import { Annotations, App, Manifest } from "cdktf";
import { type Inputs } from "./inputs.ts";
import { everything, ignoreInGit, keepPrivate } from "../src/files/private-folder.ts";
import { saveMetadata } from "../src/config/saved-metadata.ts";
import { platforms } from "../src/config/platform.ts";
import { reasonOf } from "../src/files/user-file.ts";
import { oneLine } from "../src/core/printable.ts";
import { UserError, problem } from "../src/core/errors.ts";
import { payloadFileName } from "../constructs/shared/payload-file.ts";
import { protectLocalState } from "../constructs/shared/state-backend.ts";
import { program } from "../src/runtime/program.ts";
import { templatesLeft } from "../src/core/terraform-literal.ts";
import { AwsBootstrapStack } from "./aws.ts";
import { AzureBootstrapStack } from "./azure.ts";
import type { BootstrapStack } from "./bootstrap-stack.ts";
import type { CloudBootstrapStackProps } from "./cloud-bootstrap-stack.ts";
import { configPrefix } from "./config-prefix.ts";
import { GoogleBootstrapStack } from "./google.ts";
import { LocalBootstrapStack } from "./local.ts";
import { TeardownStack } from "./teardown.ts";

/**
 * An app whose output names no path of the machine that made it. cdktf's validations would only ask Terraform for its
 * version: the stacks say which they need, and to look at them takes no Terraform.
 */
export const newApp = (outdir?: string) => new App({ outdir, stackTraces: false, skipValidation: true });

/**
 * The stacks of every platform in the config, and of no other, each with the teardown in front of it. Their names never
 * depend on how many there are.
 * @returns the bootstrap stacks
 */
export function bootstrapStacks(app: App, inputs: Inputs): BootstrapStack[] {
  const { aws, azure, google, local, providerVersions } = inputs;
  const shared = stackPropsOf(inputs);
  const stacks: BootstrapStack[] = [];
  if (aws !== undefined)
    stacks.push(new AwsBootstrapStack(app, "aws-bootstrap", { ...shared, providerVersion: providerVersions.aws, aws }));
  if (azure !== undefined)
    stacks.push(
      new AzureBootstrapStack(app, "azure-bootstrap", { ...shared, providerVersion: providerVersions.azurerm, azure }),
    );
  if (google !== undefined)
    stacks.push(
      new GoogleBootstrapStack(app, "google-bootstrap", {
        ...shared,
        providerVersion: providerVersions.google,
        google,
      }),
    );
  if (local !== undefined) stacks.push(new LocalBootstrapStack(app, "local-bootstrap", { ...shared, local }));
  if (stacks.length === 0) throw new UserError(problem("no-platform", { platforms: [...platforms, "local"] }));
  for (const bootstrap of stacks) new TeardownStack(app, `${bootstrap.platform}-teardown`, { ...shared, bootstrap });
  // The cdktf command prints the annotations of all stacks, whichever are deployed: one stack has each warning.
  for (const { message, platform } of inputs.warnings) {
    const stack = stacks.find((one) => one.platform === platform) ?? stacks[0];
    if (stack !== undefined) Annotations.of(stack).addWarning(oneLine(message));
  }
  return stacks;
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
    opensTunnelPort: inputs.opensTunnelPort,
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

/** Describes everything and writes it to the app's output folder, the payload beside each stack. */
export function synthesize(inputs: Inputs, outdir?: string): void {
  try {
    describeAndWrite(inputs, outdir);
  } catch (error) {
    if (!(error instanceof Error && "syscall" in error && "path" in error)) throw error;
    throw new UserError(problem("file-unwritable", { file: String(error.path), reason: reasonOf(error) }));
  }
}

function describeAndWrite(inputs: Inputs, outdir?: string): void {
  const app = newApp(outdir);
  const stacks = bootstrapStacks(app, inputs);
  const { stateFolder, metadata, configFile, workingDirectory } = inputs;
  protectOutput(app.outdir);
  if (stateFolder !== undefined) {
    checkStateFolder(stateFolder, app.outdir);
    const project = [workingDirectory, ...(configFile === undefined ? [] : [dirname(configFile)])];
    protectLocalState(stateFolder, namesIn(app), !project.some((folder) => isIn(stateFolder, folder)));
    if (metadata !== undefined) saveMetadata(stateFolder, metadata);
  }
  writeCode(app, inputs);
  for (const name of namesIn(app)) keepPrivate(join(app.outdir, Manifest.stacksFolder, name));
  removeOtherPayloads(app);
  for (const { payload } of stacks) payload.write();
}

/**
 * What is in the output folder holds secrets, and Terraform runs it: it is for its owner only, whatever the umask is, and not
 * for a repository. A folder in which the user has other files keeps its mode.
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
export function writeCode(app: App, { payload, local, ...texts }: Inputs): void {
  app.synth();
  const outside = [texts, payload.present ? "" : payload.why, local?.name, app.outdir, program];
  const files = namesIn(app).map((name) => join(app.outdir, Manifest.stacksFolder, name, "cdk.tf.json"));
  const left = files.flatMap((file) => templatesLeft(outside, JSON.parse(readFileSync(file, "utf8"))));
  if (left.length === 0) return;
  for (const file of files) rmSync(file);
  const found = [...new Set(left)].map((text) => JSON.stringify(text));
  throw new UserError(
    ...found.map((text) => problem("template-refused", { what: "A part of the input", found: text })),
  );
}

/**
 * The cdktf command clears its output folder: a state in it would be lost.
 * @param outdir if not said, as the command says it
 */
export function checkStateFolder(stateFolder: string, outdir = process.env.CDKTF_OUTDIR ?? "cdktf.out"): void {
  if (!isIn(resolve(outdir), stateFolder)) return;
  throw new UserError(
    problem("option-invalid", {
      option: "state.local.folder",
      found: "a folder in the output folder",
      expected: "another one: the output folder is cleared on every run",
    }),
  );
}

/** Whether the second is the first, or below it. */
function isIn(folder: string, path: string): boolean {
  const below = relative(folder, path);
  return !(below.startsWith("..") || isAbsolute(below));
}

const namesIn = (app: App) => app.node.children.map(({ node }) => node.id);

/** A platform that is no longer in the config leaves no payload behind. Its folder is the cdktf command's to remove. */
function removeOtherPayloads(app: App): void {
  const folder = join(app.outdir, Manifest.stacksFolder);
  const kept = namesIn(app);
  for (const name of readdirSync(folder).filter((found) => !kept.includes(found)))
    rmSync(join(folder, name, payloadFileName), { force: true });
}
