import { TerraformOutput } from "cdktf";
import type { Construct } from "constructs";
import type { RequiredIngress } from "../src/core/konnectivity/required-ingress.ts";
import { shellWord } from "../src/core/shell-word.ts";
import { literal } from "../src/core/terraform-literal.ts";
import { BootstrapStack, type BootstrapStackProps } from "./bootstrap-stack.ts";

/** What the bootstrap stack of every cloud needs. */
export interface CloudBootstrapStackProps extends BootstrapStackProps {
  readonly cluster: {
    readonly infraId: string;
    /** A few hex digits that make names unique in the whole cloud. */
    readonly uniquePart: string;
  };
  /** Tags or labels for every resource that accepts them, in addition to the cluster's own. */
  readonly tags: Readonly<Record<string, string>>;
  /** The machine's private IP address. @default - the subnet assigns one */
  readonly fixedAddress?: string;
  /** The tunnel's port, for which the stack creates the firewall rules. @default - the stack creates none */
  readonly tunnelPort?: number;
  /** Ingress that someone else must allow, shown as an output. @default - none */
  readonly externalIngress?: RequiredIngress;
  /** Version range of the Terraform provider. */
  readonly providerVersion: string;
  /** For the commands in the stack's outputs. */
  readonly commands: {
    /** The folder in which openshift-install ran, as the operator types it. */
    readonly installDir: string;
    /** Environment assignments before a cdktf command, with a space at the end. Empty if it needs none. */
    readonly cdktfPrefix: string;
  };
}

/** What a cloud's stack reports about the machine. */
export interface MachineOutputs {
  /** How this cloud's firewall identifies the nodes. */
  readonly nodes: Readonly<Record<string, string | readonly string[]>>;
  readonly privateIp: string;
  /** @default - the machine has none */
  readonly publicIp?: string;
  readonly machineId: string;
  readonly payloadUrl: string;
  /** IDs of the rules for the tunnel's port. @default - the stack creates none */
  readonly firewallRules?: readonly string[];
}

interface Provider {
  readonly platform: string;
  /** Name of the Terraform provider. */
  readonly provider: string;
}

/** What the bootstrap stacks of all clouds share: the provider's version and the outputs. */
export abstract class CloudBootstrapStack extends BootstrapStack {
  readonly #props: CloudBootstrapStackProps;

  constructor(scope: Construct, id: string, props: CloudBootstrapStackProps & Provider) {
    super(scope, id, props);
    this.#props = props;
    const { provider, providerVersion } = props;
    this.addOverride(`terraform.required_providers.${provider}`, {
      source: `hashicorp/${provider}`,
      version: providerVersion,
    });
  }

  protected addOutputs(machine: MachineOutputs): void {
    const { externalIngress, tunnelPort, commands } = this.#props;
    const { nodes, privateIp, publicIp, firewallRules } = machine;
    const installDir = literal(shellWord(commands.installDir), "The path of the install folder");
    const prefix = literal(commands.cdktfPrefix, "The path of the config file");
    const reachable = publicIp ?? privateIp;
    const outputs: Record<string, { value: unknown; description: string } | undefined> = {
      bootstrap_private_ip: { value: privateIp, description: "The machine's address for the cluster's nodes" },
      bootstrap_public_ip:
        publicIp === undefined ? undefined : { value: publicIp, description: "The machine's public address" },
      bootstrap_machine_id: { value: machine.machineId, description: "The machine in the cloud" },
      payload_url: { value: machine.payloadUrl, description: "Where the machine fetches its payload" },
      firewall_rules:
        firewallRules === undefined
          ? undefined
          : { value: [...firewallRules], description: `The rules for ${tunnelPort}` },
      firewall_rule_needed:
        externalIngress === undefined
          ? undefined
          : {
              value: {
                ...externalIngress,
                sources: { ...externalIngress.sources, ...nodes },
                destination: { ...externalIngress.destination, address: privateIp },
              },
              description:
                "The rule that someone must open before the first node boots, and close after the installation",
            },
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
        value: `${prefix}npx cdktf destroy '${this.platform}-*'`,
        description: "After that: removes the machine, the rule and the payload",
      },
    };
    for (const [id, output] of Object.entries(outputs)) if (output !== undefined) new TerraformOutput(this, id, output);
  }
}
