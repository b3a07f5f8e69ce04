import { Aspects, TerraformOutput, TerraformResource, TerraformStack } from "cdktf";
import type { Construct } from "constructs";
import type { Inputs } from "./inputs.ts";
import type { Platform } from "../src/config/platform.ts";
import { PayloadFile, payloadFileName } from "../constructs/shared/payload-file.ts";
import { shellWord } from "../src/core/shell-word.ts";
import { addStateBackend, localStateBackup } from "../constructs/shared/state-backend.ts";
import { configOf, configPrefix, gateStep, stepOf } from "../constructs/shared/command-line.ts";
import { DestroyStep } from "../constructs/shared/destroy-step.ts";
import { addressOf } from "../constructs/shared/terraform-address.ts";
import { literal } from "../src/core/terraform-literal.ts";

export interface BootstrapStackProps {
  readonly platform: Platform | "local";
  readonly inputs: Inputs;
  /** Terraform's name of the provider, whose version range is the config's. @default - none is needed */
  readonly provider?: keyof Inputs["providerVersions"];
}

/** What an operator wants to know of the machine. */
export interface MachineOutputs {
  /** Who the nodes are to this cloud's firewall. */
  readonly nodes: Readonly<Record<string, string | readonly string[]>>;
  readonly privateIp: string;
  /** @default - it has none */
  readonly publicIp?: string;
  readonly machineId: string;
  readonly payloadUrl: string;
  /** @default - the config has `firewall: external`, or the tunnel is off */
  readonly firewallRules?: readonly string[];
}

/** S3's lock file came with it. */
export const requiredTerraform = ">= 1.10.0";

/** What the bootstrap stacks of all platforms share: state, provider versions, the payload, outputs. */
export abstract class BootstrapStack extends TerraformStack {
  readonly payload: PayloadFile;
  readonly platform: Platform | "local";
  readonly #props: BootstrapStackProps;

  constructor(scope: Construct, props: BootstrapStackProps) {
    super(scope, `${props.platform}-bootstrap`);
    this.#props = props;
    this.platform = props.platform;
    const { inputs, provider } = props;
    addStateBackend(this, inputs);
    this.addOverride("terraform.required_version", requiredTerraform);
    if (provider !== undefined)
      this.addOverride(`terraform.required_providers.${provider}`, {
        source: `hashicorp/${provider}`,
        version: inputs.providerVersions[provider],
      });
    this.#addSteps();
    this.payload = new PayloadFile(this, "payload", inputs);
  }

  /**
   * Destroying begins with the gate, here too: after Ctrl-C in the teardown the cdktf command goes on with this stack. It ends
   * with the report of what is left, and then the files go that hold secrets: the payload, a plan that `cdktf diff` saved, the
   * state of before.
   */
  #addSteps(): void {
    const { platform, inputs } = this.#props;
    const { stateFolder } = inputs;
    const { resource: report } = new DestroyStep(this, "report", {
      ...stepOf(this, inputs),
      command: ["teardown", "report", "--last-step", ...configOf(inputs), platform],
      continueOnFailure: true,
      cleanupFiles: [
        payloadFileName,
        "plan",
        ...(stateFolder === undefined ? [] : [localStateBackup(this, stateFolder)]),
      ],
    });
    const { resource: gate } = new DestroyStep(this, "gate", gateStep(this, platform, inputs, "--wait=0"));
    const comesAfter = (later: TerraformResource, earlier: TerraformResource) => {
      later.dependsOn = [...(later.dependsOn ?? []), addressOf(earlier)];
    };
    Aspects.of(this).add({
      visit: (node) => {
        // Not instanceof: with CDK Terrain a provider can bring a cdktf of its own.
        if (!TerraformResource.isTerraformResource(node) || node === report) return;
        comesAfter(node, report);
        if (node !== gate) comesAfter(gate, node);
      },
    });
  }

  protected addOutputs(machine: MachineOutputs): void {
    const { platform, inputs } = this.#props;
    const { firewall, requiredIngress } = inputs;
    const installDir = literal(shellWord(inputs.installDir), "The way to the install folder");
    const prefix = literal(configPrefix(inputs), "The way to the config file");
    const reachable = machine.publicIp ?? machine.privateIp;
    const outputs: Record<string, { value: unknown; description: string } | undefined> = {
      bootstrap_private_ip: { value: machine.privateIp, description: "The machine's address for the cluster's nodes" },
      bootstrap_public_ip:
        machine.publicIp === undefined
          ? undefined
          : { value: machine.publicIp, description: "The machine's public address" },
      bootstrap_machine_id: { value: machine.machineId, description: "The machine in the cloud" },
      payload_url: { value: machine.payloadUrl, description: "Where the machine fetches its payload" },
      firewall_rules:
        machine.firewallRules === undefined
          ? undefined
          : { value: [...machine.firewallRules], description: "The rules for 8091" },
      firewall_rule_needed:
        firewall === "external" && requiredIngress !== undefined
          ? {
              value: {
                ...requiredIngress,
                sources: { ...requiredIngress.sources, ...machine.nodes },
                destination: { ...requiredIngress.destination, address: machine.privateIp },
              },
              description:
                "The rule that someone must open before the first node boots, and close after the installation",
            }
          : undefined,
      ssh: { value: `ssh core@${reachable}`, description: "If ssh is open" },
      gather: {
        value: `openshift-install gather bootstrap --dir ${installDir} --bootstrap ${reachable}`,
        description: "If the installation fails",
      },
      next: {
        value: `openshift-install wait-for bootstrap-complete --dir ${installDir}`,
        description: "Waits until the cluster needs the machine no longer",
      },
      teardown: {
        value: `${prefix}npx cdktf destroy '${platform}-*'`,
        description: "After that: removes the machine, the rule and the payload",
      },
    };
    for (const [id, output] of Object.entries(outputs)) if (output !== undefined) new TerraformOutput(this, id, output);
  }
}
