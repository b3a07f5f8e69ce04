import { resolve } from "node:path";
import { App, Manifest, TerraformStack } from "cdktf";
import type { Construct } from "constructs";

/** The folder of a construct's stack in the app's output: Terraform's working directory. Absolute. */
export function stackFolder(construct: Construct): string {
  return resolve(App.of(construct).outdir, Manifest.stacksFolder, TerraformStack.of(construct).node.id);
}
