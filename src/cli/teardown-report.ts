import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type Inputs, readInputs } from "../../stacks/inputs.ts";
import { UserError, problem } from "../core/errors.ts";
import { configPrefix } from "../../stacks/config-prefix.ts";
import { labFolder } from "../../lab/folder.ts";
import { addressesIn } from "./deployed-state.ts";
import { describedStacks } from "./described-stacks.ts";

export interface Row {
  readonly state: "gone" | "terminating" | "left" | "not looked at";
  readonly what: string;
  /** What to do, or why it is so. */
  readonly note?: string;
}

export interface ReportProps {
  readonly platform: string;
  /** @default - there is none */
  readonly configFile?: string;
  /** @default - the cluster is gone with the machine */
  readonly kubeconfig?: string;
  /** Terraform runs it, as its last step. */
  readonly lastStep: boolean;
}

/** How long objects on their way out may take. */
const patience = 60_000;

/** Everything that deploying and booting made, with what became of it. */
export async function reportOf(props: ReportProps): Promise<Row[]> {
  const inputs = readInputs(props.configFile, new Date());
  if (!(props.platform in inputs) || inputs[props.platform as "aws"] === undefined)
    throw new UserError(problem("platform-not-configured", { platform: props.platform }));
  const inCluster = props.kubeconfig === undefined ? [] : await clusterRows(props.kubeconfig);
  const lab = props.platform === "local" ? await labRows(inputs.local?.name ?? "local") : [];
  return [...inCluster, ...lab, ...(await stackRows(inputs, props))];
}

async function clusterRows(kubeconfig: string): Promise<Row[]> {
  const { ClusterApi, readKubeconfig, describeApiError } = await import("../cluster/api.ts");
  const { tunnelObjects } = await import("../cluster/objects.ts");
  let objects: ReturnType<typeof tunnelObjects>;
  try {
    objects = tunnelObjects(new ClusterApi(readKubeconfig(kubeconfig)));
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    return [{ state: "not looked at", what: "objects of the tunnel in the cluster", note: error.message }];
  }
  const end = Date.now() + patience;
  for (;;) {
    let rows: Row[];
    try {
      rows = await Promise.all(
        objects.map(async (object) => {
          const state = await object.state();
          return { state, what: object.name, ...(state === "left" && { note: object.command }) };
        }),
      );
    } catch (error) {
      return [{ state: "not looked at", what: "objects of the tunnel in the cluster", note: describeApiError(error) }];
    }
    if (Date.now() >= end || !rows.some(({ state }) => state === "terminating")) return rows;
    await sleep(1000);
  }
}

async function labRows(name: string): Promise<Row[]> {
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

/** What the stacks describe, and what their states still have. */
async function stackRows(inputs: Inputs, { platform, lastStep }: ReportProps): Promise<Row[]> {
  const stack = `${platform}-bootstrap`;
  const made = (await describedStacks(inputs))[stack] ?? [];
  const label = (type: string, name: string | undefined) => `${type}${name === undefined ? "" : ` ${name}`}`;
  if (inputs.stateFolder === undefined && lastStep) {
    // Terraform writes a shared state when it ends; it comes to this step only when all the rest is gone.
    return made.map(({ type, name }) => ({ state: "gone", what: label(type, name) }));
  }
  const inState = addressesIn(inputs, stack)?.filter((address) => !address.startsWith("terraform_data."));
  if (inState === undefined)
    return [{ state: "not looked at", what: stack, note: "there is no state here: nothing was deployed from here" }];
  const again = `${configPrefix(inputs)}npx cdktf destroy '${platform}-*'`;
  const described = new Map(made.map((one) => [one.address, one]));
  return [
    ...made.map(({ address, type, name }): Row => {
      if (!inState.includes(address)) return { state: "gone", what: label(type, name) };
      return { state: "left", what: label(type, name), note: again };
    }),
    ...inState
      .filter((address) => !described.has(address))
      .map((address): Row => ({ state: "left", what: address, note: again })),
  ];
}
