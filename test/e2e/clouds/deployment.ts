import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gateVariable } from "../../../src/cluster/gate-override.ts";
import { sampleText } from "../../../src/core/sample/sample.ts";
import { projectFile } from "../../../src/runtime/project-files.js";
import { exampleOf, Project } from "../../support/stacks.ts";
import { Command, type Ended } from "./command.ts";
import type { Cloud } from "./cloud.ts";

const cdktf = projectFile("node_modules/.bin/cdktf");

/** A user's folder: config, install folder, state; and the commands that a user gives there. */
export class Deployment {
  readonly #cloud: Cloud;
  readonly #project: Project;
  readonly #stack: string;

  constructor(cloud: Cloud, folder: string) {
    this.#cloud = cloud;
    this.#stack = `${cloud.name}-bootstrap`;
    this.#project = new Project(this.#config({}), {
      folder: mkdtempSync(join(folder, "user-")),
      files: exampleOf(cloud.name).files,
    });
    this.#writeCdktf(this.#project.folder);
  }

  /** What cdktf.json says, for a folder outside the repository. */
  #writeCdktf(folder: string): void {
    const { app, ...rest } = JSON.parse(readFileSync(projectFile("cdktf.json"), "utf8")) as { app: string };
    const there = app.replace("scripts/app.js", projectFile("scripts/app.js"));
    writeFileSync(join(folder, "cdktf.json"), JSON.stringify({ ...rest, app: there }));
  }

  /** The payload that was made for this deployment. */
  payload(): Buffer {
    return readFileSync(join(this.#stackFolder(), "payload.ign"));
  }

  #config(options: object, rest: object = {}): object {
    const { name, options: own, rest: more } = this.#cloud;
    return { tags: { team: "platform" }, ...more, ...rest, [name]: { ...own, ...options } };
  }

  /** From now on the config file has these options of the platform, and others, beside its own. */
  configure(options: object, rest?: object): void {
    this.#project.write("konnectivity.yaml", JSON.stringify({ installDir: "ocp", ...this.#config(options, rest) }));
  }

  /** From now on, the install folder has another bootstrap.ign. */
  changePayload(): void {
    this.#project.write("ocp/bootstrap.ign", sampleText("4.14"));
  }

  deploy(): Command {
    return this.#cdktf(this.#project.folder, "deploy");
  }

  destroy(): Command {
    return this.#cdktf(this.#project.folder, "destroy", { [gateVariable]: "there is no cluster in these clouds" });
  }

  /** Without the override that opens the gate. */
  destroyUnasked(): Promise<Ended> {
    return this.#cdktf(this.#project.folder, "destroy").ended;
  }

  /** On another machine, which has the config file and the state but no install folder and no output. */
  async destroyElsewhere(): Promise<Ended> {
    const folder = `${this.#project.folder}-elsewhere`;
    mkdirSync(folder);
    for (const part of ["konnectivity.yaml", ".state"])
      cpSync(join(this.#project.folder, part), join(folder, part), { recursive: true });
    this.#writeCdktf(folder);
    const open = { [gateVariable]: "there is no cluster in these clouds" };
    let ended = await this.#cdktf(folder, "destroy", open).ended;
    if (ended.code !== 0 && this.#cloud.cannotRead?.test(ended.output) === true)
      ended = await this.#cdktf(folder, "destroy", { ...open, TF_CLI_ARGS_destroy: "-refresh=false" }).ended;
    cpSync(join(folder, ".state"), join(this.#project.folder, ".state"), { recursive: true });
    rmSync(folder, { recursive: true });
    return ended;
  }

  /** Terraform empties the file before it writes it: if it is killed in between, only the backup is left. */
  stateIsWhole(): boolean {
    try {
      this.inState();
      return true;
    } catch {
      return false;
    }
  }

  /** What Terraform says of the state: nothing, if all is gone. */
  inState(): string[] {
    const file = join(this.#project.folder, ".state", `${this.#stack}.tfstate`);
    const { resources } = JSON.parse(readFileSync(file, "utf8")) as { resources: { mode: string; type: string }[] };
    return resources.filter(({ mode }) => mode === "managed").map(({ type }) => type);
  }

  /** Terraform itself in the stack's folder, as the cdktf command calls it. */
  terraform(...args: readonly string[]): Promise<Ended> {
    const program = process.env.TERRAFORM_BINARY_NAME ?? "terraform";
    return new Command(program, args, { cwd: this.#stackFolder(), env: this.#environment() }).ended;
  }

  /** What a deploy would do now. */
  async planAsJson(): Promise<string> {
    await this.terraform("plan", "-out=plan");
    const { output } = await this.terraform("show", "-json", "plan");
    rmSync(join(this.#stackFolder(), "plan"));
    return output;
  }

  #stackFolder(): string {
    return join(this.#project.outdir, "stacks", this.#stack);
  }

  #cdktf(cwd: string, verb: "deploy" | "destroy", more: NodeJS.ProcessEnv = {}): Command {
    // For a lock the cdktf command would ask a registry, whatever mirror there is.
    const args = [verb, `${this.#cloud.name}-*`, "--auto-approve", "--skip-provider-lock"];
    return new Command(cdktf, args, { cwd, env: { ...this.#environment(), ...more } });
  }

  #environment(): NodeJS.ProcessEnv {
    return environmentOf(this.#cloud);
  }
}

/** What programs that work in the cloud have in their environment. */
export function environmentOf(cloud: Cloud): NodeJS.ProcessEnv {
  return {
    ...process.env,
    ...cloud.environment,
    CHECKPOINT_DISABLE: "1",
    CI: "1",
    FORCE_COLOR: "0",
    TF_IN_AUTOMATION: "1",
    TF_CLI_ARGS: "-no-color",
  };
}
