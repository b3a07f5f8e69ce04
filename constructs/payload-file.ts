import { createHash } from "node:crypto";
import { chmodSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { App, DataResource, Manifest, TerraformLocal, type TerraformResource, TerraformStack } from "cdktf";
import { Construct } from "constructs";
import type { PayloadInput } from "./config/inputs.ts";
import { writeUserFiles } from "./config/user-file.ts";
import { addressOf } from "./terraform-address.ts";
import { type PointerProps, pointerTo } from "./payload/pointer.ts";
import { writeDocument } from "./payload/write.ts";

export const payloadFileName = "payload.ign";

export interface PayloadFileProps {
  readonly payload: PayloadInput;
  /** Whether a changed payload replaces a running machine. */
  readonly replaceMachine: boolean;
}

/**
 * The payload beside a stack's Terraform code, and what the stack must know of it. Terraform sees its name and its
 * hashes only: it holds every secret of the cluster.
 */
export class PayloadFile extends Construct {
  /** From the stack's folder, which is Terraform's working directory; and the object's name in its store. */
  readonly name = payloadFileName;
  readonly contentType = "application/vnd.coreos.ignition+json";
  readonly sha512: string;
  readonly md5: string;
  /** For the resource that stores the payload: without one a deploy stops before anything is touched; destroying goes on. */
  readonly preconditions: { condition: string; errorMessage: string }[];
  readonly #payload: PayloadInput;
  readonly #mayReplace: boolean;
  #made = { sha512: "", machine: "" };
  #replacement: DataResource | undefined;

  constructor(scope: Construct, id: string, props: PayloadFileProps) {
    super(scope, id);
    const { payload, replaceMachine } = props;
    this.#payload = payload;
    this.sha512 = payload.present ? payload.sha512 : "0".repeat(128);
    this.md5 = payload.present ? createHash("md5").update(payload.text).digest("hex") : "0".repeat(32);
    this.preconditions = payload.present ? [] : [this.#refusal(payload.why)];
    this.#mayReplace = replaceMachine && payload.present;
  }

  /**
   * What the machine is made of beside the payload, once and before everything that has a `lifecycle`: size, disk, image,
   * place, address. A running machine keeps all of it; with `replaceMachine` a change replaces it.
   */
  machineIsMadeOf(parts: Readonly<Record<string, string | number | boolean | undefined>>): void {
    this.#made = { sha512: this.sha512, machine: JSON.stringify(parts) };
    // Changes only if the machine may be replaced, and then the machine is.
    this.#replacement = new DataResource(this, "replacement", {
      input: this.#made,
      lifecycle: this.#mayReplace ? {} : { ignoreChanges: ["input"] },
    });
  }

  #refusal(why: string) {
    // Terraform wants a condition to refer to something.
    const present = new TerraformLocal(this, "present", false);
    return {
      condition: `\${local.${present.friendlyUniqueId}}`,
      errorMessage: `Nothing can be deployed: ${why}. Give the folder in which "openshift-install create ignition-configs" ran as installDir.`,
    };
  }

  /**
   * For the machine and its parts: what is fixed when it is made may change later without touching it.
   * @param fixed attributes
   */
  lifecycle(fixed: readonly string[]): { ignoreChanges: string[]; replaceTriggeredBy: string[] } {
    if (this.#replacement === undefined) throw new Error("what is the machine made of?");
    return { ignoreChanges: [...fixed], replaceTriggeredBy: [addressOf(this.#replacement)] };
  }

  /** Remembers what this machine was made of; a plan with something else says that the machine stays as it is. */
  watch(machine: TerraformResource): void {
    const booted = new DataResource(this, "booted", {
      input: this.#made,
      lifecycle: { ignoreChanges: ["input"], replaceTriggeredBy: [`${addressOf(machine)}.id`] },
    });
    if (!this.#payload.present) return;
    const check = (name: string, part: "sha512" | "machine", message: string) => {
      const condition = `\${${addressOf(booted)}.input.${part} == ${JSON.stringify(this.#made[part])}}`;
      const how = "To replace the machine, set `replaceMachine: true` and deploy.";
      const assert = [{ condition, error_message: `${message} ${how}` }];
      TerraformStack.of(this).addOverride(`check.${name}`, { assert });
    };
    check(
      "machine_has_this_payload",
      "sha512",
      "The machine keeps the payload that it booted with: this one differs, and is only stored.",
    );
    check(
      "machine_is_as_configured",
      "machine",
      "The machine stays as it was made: its size, disk, image, place or address are others in the config now.",
    );
  }

  /** What goes into user data. */
  pointer(where: Omit<PointerProps, "sha512">): string {
    return writeDocument(pointerTo({ ...where, sha512: this.sha512 }).document).text;
  }

  /** Writes the payload into the stack's folder, for its owner only. One from before does not stay. */
  write(): void {
    const stack = TerraformStack.of(this);
    const folder = resolve(App.of(this).outdir, Manifest.stacksFolder, stack.node.id);
    const file = join(folder, this.name);
    // What the cdktf command puts there, a plan for example, is for its owner only too.
    chmodSync(folder, 0o700);
    if (this.#payload.present) writeUserFiles([{ file, text: this.#payload.text }]);
    else rmSync(file, { force: true });
  }
}
