import { createHash } from "node:crypto";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { TerraformLocal } from "cdktf";
import { Construct } from "constructs";
import { type PointerProps, pointerTo } from "../../src/core/ignition/pointer.ts";
import { serializeIgnition } from "../../src/core/ignition/serialize.ts";
import { literal } from "../../src/core/terraform-literal.ts";
import { keepPrivate } from "../../src/files/private-folder.ts";
import { writeUserFiles } from "../../src/files/user-file.ts";
import { stackFolder } from "./stack-folder.ts";

export const payloadFileName = "payload.ign";

/**
 * The payload's content, or why there is none. Without content, and for an example, a destroy works and a deploy does not.
 */
export type PayloadContent =
  | { readonly present: true; readonly text: string; readonly sha512: string; readonly example?: boolean }
  | { readonly present: false; readonly why: string };

export interface PayloadFileProps {
  readonly content: PayloadContent;
}

/**
 * The payload as a file in the stack's folder. It contains every secret of the cluster, so the Terraform code refers to it
 * by name and hash only.
 */
export class PayloadFile extends Construct {
  /** Relative to the stack's folder, and the object's name in the payload store. */
  readonly name = payloadFileName;
  readonly contentType = "application/vnd.coreos.ignition+json";
  readonly present: boolean;
  /** In hex. Zeros without a payload: the code must still pass the provider's plan. */
  readonly sha512: string;
  /** In hex. Zeros without a payload. */
  readonly md5: string;
  /** For the resource that stores the payload: without a payload, a deploy stops before it changes anything. */
  readonly preconditions: { condition: string; errorMessage: string }[];
  /**
   * For the resource that all others depend on: a deploy of an example stops there, with this sentence alone and also
   * without a provider's credentials.
   */
  readonly examplePreconditions: { condition: string; errorMessage: string }[];
  readonly #content: PayloadContent;

  constructor(scope: Construct, id: string, props: PayloadFileProps) {
    super(scope, id);
    const { content } = props;
    this.#content = content;
    this.present = content.present;
    this.sha512 = content.present ? content.sha512 : "0".repeat(128);
    this.md5 = content.present ? createHash("md5").update(content.text).digest("hex") : "0".repeat(32);
    this.preconditions = content.present
      ? []
      : [this.#refusal("present", literal(content.why, "The reason why there is no payload"))];
    this.examplePreconditions =
      content.present && content.example === true
        ? [this.#refusal("real", "the cluster in bootstrap.ign is a made-up example")]
        : [];
  }

  #refusal(condition: string, why: string) {
    // Terraform rejects a condition that refers to nothing.
    const met = new TerraformLocal(this, condition, false);
    return {
      condition: `\${local.${met.friendlyUniqueId}}`,
      errorMessage: `Nothing can be deployed: ${why}. Give the folder in which "openshift-install create ignition-configs" ran as installDir.`,
    };
  }

  /** The Ignition config for user data, which makes the machine fetch the payload and verify its hash. */
  pointer(where: Omit<PointerProps, "sha512">): string {
    return serializeIgnition(pointerTo({ ...where, sha512: this.sha512 }).config).text;
  }

  /** Writes the payload into the stack's folder, readable by its owner only, or deletes an old one. */
  write(): void {
    const folder = stackFolder(this);
    const file = join(folder, this.name);
    // The cdktf command writes files with secrets into this folder too, for example plans.
    keepPrivate(folder);
    if (this.#content.present) writeUserFiles([{ file, text: this.#content.text }]);
    else rmSync(file, { force: true });
  }
}
