import { createHash } from "node:crypto";
import { DataResource, type TerraformResource, TerraformStack } from "cdktf";
import { Construct } from "constructs";
import { digestTagName } from "./digest-tag.ts";
import type { PayloadFile } from "./payload-file.ts";
import { addressOf } from "./terraform-address.ts";

/** Names and values of the options that a machine keeps for its lifetime. */
export type MachineParts = Readonly<Record<string, string | number | boolean | undefined>>;

export interface MachineSpecProps {
  readonly payload: PayloadFile;
  /**
   * The machine's image, size, disk, subnet, address and so on. Their digest is in the tag of every machine since 0.1.0:
   * another set of names, another order or another spelling would replace those machines.
   */
  readonly parts: MachineParts;
  /** Options added after 0.1.0, in a digest of their own: adding one replaces nothing, changing one does. @default - none */
  readonly laterParts?: MachineParts;
  /** Whether a changed payload or part replaces the running machine. Otherwise the plan reports the difference. */
  readonly replaceMachine: boolean;
  /** Tells the machines of one stack apart, in the names of triggers and checks. @default "machine" */
  readonly machineName?: string;
}

/** Props of a platform's own spec, which makes the parts from the platform's options. */
export interface PlatformMachineSpecProps<Options> extends Omit<MachineSpecProps, "parts" | "laterParts"> {
  readonly options: Options;
}

/**
 * What a machine is created from: its payload and its parts. The machine is tagged with a digest of both. A running machine
 * keeps what it was created from, unless it may be replaced.
 */
export class MachineSpec extends Construct {
  readonly payload: PayloadFile;
  readonly replaceMachine: boolean;
  /**
   * The digest tag, which is a metadata entry on a cloud whose tags have no values. It is on the machine itself, because a
   * record in another resource could be lost or belong to another machine after a deploy that stopped half-way.
   */
  readonly tag: Readonly<Record<string, string>>;
  readonly #digests: { readonly payload: string; readonly machine: string };
  readonly #machineName: string;
  readonly #triggers: readonly string[];

  constructor(scope: Construct, id: string, props: MachineSpecProps) {
    super(scope, id);
    const { payload, parts, laterParts, replaceMachine, machineName = "machine" } = props;
    this.payload = payload;
    this.replaceMachine = replaceMachine;
    this.#machineName = machineName;
    this.#digests = { payload: payload.sha512.slice(0, 16), machine: digestOf(parts) };
    this.tag = { [digestTagName]: `${this.#digests.payload}-${this.#digests.machine}` };

    const ignoreChanges = replaceMachine && payload.present ? {} : { ignoreChanges: ["triggers_replace"] };
    // These are children of the payload, and without a prefix for "machine", because those are their addresses since 0.1.0.
    const triggerId = (kind: string) => (machineName === "machine" ? kind : `${machineName}-${kind}`);
    const trigger = (kind: string, triggersReplace: Record<string, string>) =>
      // Replaced with the machine, not updated: a deploy that fails to delete the machine leaves the trigger for the next one.
      addressOf(new DataResource(payload, triggerId(kind), { triggersReplace, lifecycle: ignoreChanges }));
    this.#triggers = [
      trigger("replacement", this.#digests),
      ...(laterParts === undefined ? [] : [trigger("later-parts", { machine: digestOf(laterParts) })]),
    ];
  }

  /**
   * For the machine and the resources that are replaced with it.
   * @param fixedAttributes set on creation and ignored afterwards
   * @param tagAttribute the attribute with the digest tag. @default - the resource has none
   */
  lifecycle(
    fixedAttributes: readonly string[],
    tagAttribute?: string,
  ): { ignoreChanges: string[]; replaceTriggeredBy: string[] } {
    const tag = tagAttribute === undefined ? [] : [`${tagAttribute}["${digestTagName}"]`];
    return { ignoreChanges: [...fixedAttributes, ...tag], replaceTriggeredBy: [...this.#triggers] };
  }

  /**
   * Makes a plan report that a running machine was created from another payload or from other parts.
   * @param tagAttribute the machine's attribute with the digest tag
   */
  checkDriftOf(machine: TerraformResource, tagAttribute: string): void {
    // Machines created before 0.1 have no digest tag: they count as changed.
    const tag = `try(${addressOf(machine)}.${tagAttribute}["${digestTagName}"], "")`;
    this.addDriftCheck(
      "has_this_payload",
      `startswith(${tag}, "${this.#digests.payload}-")`,
      "The machine keeps the payload that it booted with: this one differs, and is only stored.",
    );
    this.addDriftCheck(
      "is_as_configured",
      `endswith(${tag}, "-${this.#digests.machine}")`,
      "The machine stays as it was made: its size, disk, image, place or address are others in the config now.",
    );
  }

  /** Makes a plan print the message while the condition is false. Without a payload there is nothing to compare with. */
  addDriftCheck(name: string, condition: string, message: string): void {
    if (!this.payload.present) return;
    const how = "To replace the machine, set `replaceMachine: true` and deploy.";
    TerraformStack.of(this).addOverride(`check.${this.#machineName}_${name}`, {
      assert: [{ condition: `\${${condition}}`, error_message: `${message} ${how}` }],
    });
  }
}

const digestOf = (parts: MachineParts) => createHash("sha256").update(JSON.stringify(parts)).digest("hex").slice(0, 16);
