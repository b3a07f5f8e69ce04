import { createHash } from "node:crypto";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { DataResource, TerraformLocal, type TerraformResource, TerraformStack } from "cdktf";
import { Construct } from "constructs";
import { keepPrivate } from "../../src/files/private-folder.ts";
import { writeUserFiles } from "../../src/files/user-file.ts";
import { recordName } from "./digest-tag.ts";
import { stackFolder } from "./stack-folder.ts";
import { addressOf } from "./terraform-address.ts";
import { literal } from "../../src/core/terraform-literal.ts";
import { type PointerProps, pointerTo } from "../../src/core/ignition/pointer.ts";
import { serializeIgnition } from "../../src/core/ignition/serialize.ts";

export const payloadFileName = "payload.ign";

/** The payload's content, or why there is none: then everything can be destroyed and nothing deployed. */
export type PayloadContent =
  | { readonly present: true; readonly text: string; readonly sha512: string }
  | { readonly present: false; readonly why: string };

type Parts = Readonly<Record<string, string | number | boolean | undefined>>;

export interface PayloadFileProps {
  readonly payload: PayloadContent;
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
  readonly #payload: PayloadContent;
  readonly #mayReplace: boolean;
  #made: { payload: string; machine: string } | undefined;
  #replacements: readonly DataResource[] = [];

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
   * @param parts in the digest since 0.1.0: another set of names or values would replace every machine of that version
   * @param later parts that came after 0.1.0, in a digest of their own. Creating it replaces nothing, changing it does
   */
  machineIsMadeOf(parts: Parts, later?: Parts): void {
    this.#made = { payload: this.sha512.slice(0, 16), machine: digestOf(JSON.stringify(parts)) };
    this.#replacements = [
      this.#replacedWith("replacement", this.#made),
      ...(later === undefined ? [] : [this.#replacedWith("later-parts", { machine: digestOf(JSON.stringify(later)) })]),
    ];
  }

  /**
   * Changes only if the machine may be replaced, and then the machine is. Replaced too, not updated: so the machine goes
   * first, and a deploy that fails to remove it leaves something to do for the next one.
   */
  #replacedWith(id: string, triggersReplace: Record<string, string>): DataResource {
    return new DataResource(this, id, {
      triggersReplace,
      lifecycle: this.#mayReplace ? {} : { ignoreChanges: ["triggers_replace"] },
    });
  }

  #refusal(why: string) {
    // Terraform wants a condition to refer to something.
    const present = new TerraformLocal(this, "present", false);
    return {
      condition: `\${local.${present.friendlyUniqueId}}`,
      errorMessage: `Nothing can be deployed: ${literal(why, "The reason why there is no payload")}. Give the folder in which "openshift-install create ignition-configs" ran as installDir.`,
    };
  }

  /**
   * What the machine was made of, for the machine itself to carry (as a tag or the like): a record beside it would be lost,
   * or be another machine's, when a deploy stops half-way.
   */
  get record(): Record<string, string> {
    const { payload, machine } = this.#known();
    return { [recordName]: `${payload}-${machine}` };
  }

  /**
   * For the machine and its parts: what is fixed when it is made may change later without touching it.
   * @param fixed attributes
   * @param recordIn the attribute with the record, if it carries one
   */
  lifecycle(fixed: readonly string[], recordIn?: string): { ignoreChanges: string[]; replaceTriggeredBy: string[] } {
    const { replacements } = this.#known();
    const record = recordIn === undefined ? [] : [`${recordIn}["${recordName}"]`];
    return { ignoreChanges: [...fixed, ...record], replaceTriggeredBy: replacements.map(addressOf) };
  }

  /**
   * A plan with another payload or other parts than the machine was made of says that it stays as it is.
   * @param recordIn the machine's attribute with the record
   */
  watch(machine: TerraformResource, recordIn: string): void {
    if (!this.#payload.present) return;
    const made = this.#known();
    // None on a machine from before there were records: then nothing is known of it, and it may be another.
    const record = `try(${addressOf(machine)}.${recordIn}["${recordName}"], "")`;
    this.check(
      "machine_has_this_payload",
      `startswith(${record}, "${made.payload}-")`,
      "The machine keeps the payload that it booted with: this one differs, and is only stored.",
    );
    this.check(
      "machine_is_as_configured",
      `endswith(${record}, "-${made.machine}")`,
      "The machine stays as it was made: its size, disk, image, place or address are others in the config now.",
    );
  }

  /** A plan says so while the machine is not as the config wants it. */
  check(name: string, condition: string, message: string): void {
    if (!this.#payload.present) return;
    const how = "To replace the machine, set `replaceMachine: true` and deploy.";
    const assert = [{ condition: `\${${condition}}`, error_message: `${message} ${how}` }];
    TerraformStack.of(this).addOverride(`check.${name}`, { assert });
  }

  #known() {
    if (this.#made === undefined) throw new Error("what is the machine made of?");
    return { ...this.#made, replacements: this.#replacements };
  }

  /** What goes into user data. */
  pointer(where: Omit<PointerProps, "sha512">): string {
    return serializeIgnition(pointerTo({ ...where, sha512: this.sha512 }).document).text;
  }

  /** Writes the payload into the stack's folder, for its owner only. One from before does not stay. */
  write(): void {
    const folder = stackFolder(this);
    const file = join(folder, this.name);
    // What the cdktf command puts there, a plan for example, is for its owner only too.
    keepPrivate(folder);
    if (this.#payload.present) writeUserFiles([{ file, text: this.#payload.text }]);
    else rmSync(file, { force: true });
  }
}

const digestOf = (text: string) => createHash("sha256").update(text).digest("hex").slice(0, 16);
