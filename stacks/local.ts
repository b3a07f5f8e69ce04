import { relative, resolve } from "node:path";
import { App, Manifest, TerraformOutput } from "cdktf";
import type { Construct } from "constructs";
import type { Inputs } from "./inputs.ts";
import type { LocalInputs } from "../constructs/local/config.ts";
import { Machine } from "../constructs/local/machine.ts";
import { program } from "../src/runtime/program.ts";
import { BootstrapStack } from "./bootstrap-stack.ts";

/** local-bootstrap: the same payload on this machine, in a lab of real programs. It needs no provider and no network. */
export class LocalBootstrap extends BootstrapStack {
  constructor(scope: Construct, inputs: Inputs, local: LocalInputs) {
    super(scope, { platform: "local", inputs: { ...inputs, payload: local.payload } });
    const folder = resolve(App.of(this).outdir, Manifest.stacksFolder, this.node.id);
    new Machine(this, "machine", {
      lab: local.name,
      nodes: local.nodes,
      ipFamily: local.ipFamily,
      program: relative(folder, program),
      payload: this.payload,
    });
    const outputs = {
      look_around: [
        `npx konnectivity-bootstrap lab enter --name=${local.name} bootstrap`,
        "A shell on the bootstrap machine; the others are node-0 and so on",
      ],
      teardown: ["npx cdktf destroy 'local-*'", "Takes the lab away"],
    } as const;
    for (const [id, [value, description]] of Object.entries(outputs))
      new TerraformOutput(this, id, { value, description });
  }
}
