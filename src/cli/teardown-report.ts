import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { readInputs } from "../../stacks/inputs.ts";
import type { Inputs } from "../../stacks/resolve.ts";
import type { ReportRow } from "../cluster/leftovers.ts";
import { UserError, problem } from "../core/errors.ts";
import { configPrefix } from "../../stacks/config-prefix.ts";
import { labFolder } from "../../lab/folder.ts";
import { addressesIn } from "./deployed-state.ts";
import { describedStacks } from "./described-stacks.ts";

export interface ReportProps {
  readonly platform: string;
  /** @default - there is none */
  readonly configFile?: string;
  /** @default - the cluster is gone with the machine */
  readonly kubeconfig?: string;
  /** Whether Terraform runs it as the last step of a destroy. */
  readonly lastStep: boolean;
  /** The cdktf command's output folder. @default - the one in cdktf.json */
  readonly outputFolder?: string;
}

/** Everything that deploying and booting created, and whether it is gone. */
export async function reportOf(props: ReportProps): Promise<ReportRow[]> {
  const inputs = readInputs(props.configFile, new Date());
  if (!(props.platform in inputs.platforms))
    throw new UserError(problem("platform-not-configured", { platform: props.platform }));
  const inCluster = props.kubeconfig === undefined ? [] : await clusterRows(props.kubeconfig);
  const lab = inputs.labs[props.platform];
  return [...inCluster, ...(lab === undefined ? [] : await labRows(lab.name)), ...(await stackRows(inputs, props))];
}

/** Loads the Kubernetes client only if there is a cluster to ask. */
async function clusterRows(kubeconfig: string): Promise<ReportRow[]> {
  const { clusterLeftovers } = await import("../cluster/leftovers.ts");
  return clusterLeftovers(kubeconfig);
}

async function labRows(name: string): Promise<ReportRow[]> {
  const { LabMachine } = await import("../../lab/machine.ts");
  const folders = existsSync(labFolder(name)) ? readdirSync(labFolder(name)) : [];
  return [...new Set(["bootstrap", "node-0", ...folders])].map((machine) => {
    const running = LabMachine.ifRunning({ lab: name, name: machine, folder: join(labFolder(name), machine) });
    return running === undefined
      ? { state: "gone", what: `machine ${machine} of the lab ${name}` }
      : {
          state: "left",
          what: `machine ${machine} of the lab ${name}`,
          note: `npx konnectivity-bootstrap lab down --name ${name}`,
        };
  });
}

/** The resources of the platform's stack, and whether its state still has them. */
async function stackRows(inputs: Inputs, { platform, lastStep, outputFolder }: ReportProps): Promise<ReportRow[]> {
  const stack = `${platform}-bootstrap`;
  const made = (await describedStacks(inputs))[stack] ?? [];
  const label = (type: string, name: string | undefined) => `${type}${name === undefined ? "" : ` ${name}`}`;
  if (inputs.stateFolder === undefined && lastStep) {
    // Terraform writes a shared state at its end, and runs this step only after everything else is gone.
    return made.map(({ type, name }) => ({ state: "gone", what: label(type, name) }));
  }
  const addresses = await addressesIn({ ...inputs, outputFolder }, stack);
  const inState = addresses?.filter((address) => !address.startsWith("terraform_data."));
  if (inState === undefined)
    return [{ state: "not looked at", what: stack, note: "there is no state here: nothing was deployed from here" }];
  const again = `${configPrefix(inputs)}npx cdktf destroy '${platform}-*'`;
  const described = new Map(made.map((one) => [one.address, one]));
  return [
    ...made.map(({ address, type, name }): ReportRow => {
      if (!inState.includes(address)) return { state: "gone", what: label(type, name) };
      return { state: "left", what: label(type, name), note: again };
    }),
    ...inState
      .filter((address) => !described.has(address))
      .map((address): ReportRow => ({ state: "left", what: address, note: again })),
  ];
}
