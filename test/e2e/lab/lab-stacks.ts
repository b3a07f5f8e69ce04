import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { stringify } from "yaml";
import { labFolder } from "../../../lab/folder.ts";
import { Lab } from "../../../lab/lab.ts";
import { stateFileOf } from "../../../src/files/terraform-state.ts";
import { projectFile, projectRoot } from "../../../src/runtime/project-files.js";
import { readInputs } from "../../../stacks/inputs.ts";
import { removeLab } from "../../support/lab.ts";
import { synthesize } from "../../support/stacks.ts";
import { runTerraform } from "../../support/terraform.ts";
import { Command } from "../clouds/command.ts";

export type LabStackName = "local-teardown" | "local-bootstrap";
export const labStackNames = ["local-bootstrap", "local-teardown"] as const satisfies LabStackName[];

/** The stacks of a lab, with a config and a state of their own. */
export class LabStacks {
  readonly name: string;
  readonly outdir: string;
  readonly configFile: string;
  readonly #folder = mkdtempSync(join(tmpdir(), "konnectivity-bootstrap-stacks-"));

  constructor(name: string) {
    this.name = name;
    this.outdir = join(this.#folder, "cdktf.out");
    this.configFile = join(this.#folder, "konnectivity.yaml");
  }

  /** Describes both stacks with this config, in which the lab has its name. */
  describe({ local = {}, ...config }: { readonly local?: object; readonly [option: string]: unknown }): void {
    writeFileSync(this.configFile, stringify({ local: { ...local, name: this.name }, ...config }));
    synthesize(readInputs(this.configFile, new Date(), { workingDirectory: projectRoot }), this.outdir);
  }

  terraform(stack: LabStackName, ...args: readonly string[]): { code: number | null; output: string } {
    return runTerraform([`-chdir=${join(this.outdir, "stacks", stack)}`, ...args]);
  }

  apply(stack: LabStackName): { code: number | null; output: string } {
    return this.terraform(stack, "apply", "-auto-approve");
  }

  /** Deploys both for the first time. */
  deploy(): void {
    for (const stack of labStackNames)
      for (const { code, output } of [this.terraform(stack, "init"), this.apply(stack)])
        if (code !== 0) throw new Error(output);
  }

  /** By the real cdktf. */
  destroy(): Command {
    const args = ["destroy", "local-*", "--auto-approve", "--output", this.outdir];
    return new Command(projectFile("node_modules/.bin/cdktf"), args, {
      cwd: projectRoot,
      env: {
        ...process.env,
        KONNECTIVITY_CONFIG: this.configFile,
        CHECKPOINT_DISABLE: "1",
        NO_COLOR: "1",
        FORCE_COLOR: "0",
      },
    });
  }

  /** What a stack's state has. */
  inState(stack: LabStackName): string[] {
    const file = stateFileOf(join(this.#folder, ".state"), stack);
    const text = existsSync(file) ? readFileSync(file, "utf8") : "";
    const { resources = [] } = JSON.parse(text || "{}") as { resources?: { name: string }[] };
    return resources.map((one) => one.name.replace(/_[0-9A-F]{8}$/, "")).sort();
  }

  runningLab(): Lab {
    const lab = Lab.ifRunning(this.name, labFolder(this.name));
    if (lab === undefined) throw new Error("the lab is not running");
    return lab;
  }

  async remove(): Promise<void> {
    await removeLab(this.name);
    rmSync(this.#folder, { recursive: true });
  }
}
