import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { App, Manifest } from "cdktf";
import { type Inputs } from "../constructs/config/inputs.ts";
import { rememberCluster } from "../constructs/config/remembered.ts";
import { payloadFileName } from "../constructs/payload-file.ts";
import { protectLocalState } from "../constructs/state-backend.ts";
import { AwsBootstrap } from "./aws.ts";
import { AzureBootstrap } from "./azure.ts";
import type { BootstrapStack } from "./bootstrap-stack.ts";
import { GoogleBootstrap } from "./google.ts";
import { LocalBootstrap } from "./local.ts";

/**
 * An app whose output names no path of the machine that made it. cdktf's validations would only ask Terraform for its
 * version: the stacks say which they need, and to look at them takes no Terraform.
 */
export const newApp = (outdir?: string) => new App({ outdir, stackTraces: false, skipValidation: true });

/** The stacks of every platform in the config, and of no other. Their names never depend on how many there are. */
export function bootstrapStacks(app: App, inputs: Inputs): BootstrapStack[] {
  const { aws, azure, google, local } = inputs;
  return [
    ...(aws === undefined ? [] : [new AwsBootstrap(app, inputs, aws)]),
    ...(azure === undefined ? [] : [new AzureBootstrap(app, inputs, azure)]),
    ...(google === undefined ? [] : [new GoogleBootstrap(app, inputs, google)]),
    ...(local === undefined ? [] : [new LocalBootstrap(app, inputs, local)]),
  ];
}

/** Describes everything and writes it to the app's output folder, the payload beside each stack. */
export function synthesize(inputs: Inputs, outdir?: string): void {
  const app = newApp(outdir);
  const stacks = bootstrapStacks(app, inputs);
  app.synth();
  removeOtherPayloads(app, stacks);
  for (const { payload } of stacks) payload.write();
  if (inputs.stateFolder === undefined || stacks.length === 0) return;
  protectLocalState(
    inputs.stateFolder,
    stacks.map(({ node }) => node.id),
  );
  if (inputs.metadata !== undefined) rememberCluster(inputs.stateFolder, inputs.metadata);
}

/** A platform that is no longer in the config leaves no payload behind. Its folder is the cdktf command's to remove. */
function removeOtherPayloads(app: App, stacks: readonly BootstrapStack[]): void {
  const folder = join(app.outdir, Manifest.stacksFolder);
  const kept = stacks.map(({ node }) => node.id);
  for (const name of readdirSync(folder).filter((found) => !kept.includes(found)))
    rmSync(join(folder, name, payloadFileName), { force: true });
}
