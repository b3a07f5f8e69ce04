import { createHash } from "node:crypto";
import { rmSync } from "node:fs";
import { resolve } from "node:path";
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
  readonly #replacement: DataResource;

  constructor(scope: Construct, id: string, props: PayloadFileProps) {
    super(scope, id);
    const { payload, replaceMachine } = props;
    this.#payload = payload;
    this.sha512 = payload.present ? payload.sha512 : "0".repeat(128);
    this.md5 = payload.present ? createHash("md5").update(payload.text).digest("hex") : "0".repeat(32);
    this.preconditions = payload.present ? [] : [this.#refusal(payload.why)];
    // Changes only if the machine may be replaced, and then the machine is.
    this.#replacement = new DataResource(this, "replacement", {
      input: { sha512: this.sha512 },
      lifecycle: replaceMachine && payload.present ? {} : { ignoreChanges: ["input"] },
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
   * For the machine: what is fixed when it is made may change later without touching it. Only another payload replaces it,
   * if it may.
   * @param fixed attributes: user data, image, …
   */
  lifecycle(fixed: readonly string[]): { ignoreChanges: string[]; replaceTriggeredBy: string[] } {
    return { ignoreChanges: [...fixed], replaceTriggeredBy: [addressOf(this.#replacement)] };
  }

  /** Remembers with which payload this machine was made; a plan with another one says that the machine keeps its own. */
  watch(machine: TerraformResource): void {
    const booted = new DataResource(this, "booted", {
      input: { sha512: this.sha512 },
      lifecycle: { ignoreChanges: ["input"], replaceTriggeredBy: [`${addressOf(machine)}.id`] },
    });
    if (!this.#payload.present) return;
    TerraformStack.of(this).addOverride("check.machine_has_this_payload", {
      assert: [
        {
          condition: `\${${addressOf(booted)}.input.sha512 == "${this.sha512}"}`,
          error_message:
            "The machine keeps the payload that it booted with: this one differs, and is only stored. To replace the machine, set `replaceMachine: true` and deploy.",
        },
      ],
    });
  }

  /** What goes into user data. */
  pointer(where: Omit<PointerProps, "sha512">): string {
    return writeDocument(pointerTo({ ...where, sha512: this.sha512 }).document).text;
  }

  /** Writes the payload into the stack's folder, for its owner only. One from before does not stay. */
  write(): void {
    const stack = TerraformStack.of(this);
    const file = resolve(App.of(this).outdir, Manifest.stacksFolder, stack.node.id, this.name);
    if (this.#payload.present) writeUserFiles([{ file, text: this.#payload.text }]);
    else rmSync(file, { force: true });
  }
}
