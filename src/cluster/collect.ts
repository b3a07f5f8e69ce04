import type { PodsSeen } from "./agent-pods.ts";
import type { ClusterApi } from "./api.ts";
import { type Answer, ask, readAnswer, type Transport } from "./probe.ts";
import { diagnose, type Status } from "./diagnose.ts";

/** What is looked at. */
export interface Target {
  /** The bootstrap machine and nodes, as far as there are ways onto them. */
  readonly ways: readonly Transport[];
  /** The cluster's API. @default - not looked at */
  readonly api?: ClusterApi;
  /** The command line that prints the firewall rule of this cluster. @default - not known */
  readonly firewallCommand?: string;
}

export interface Look {
  readonly answers: readonly Answer[];
  readonly cluster: PodsSeen | undefined;
  readonly status: Status;
}

/** Looks at everything once, all at the same time. */
export async function collect({ ways, api, firewallCommand }: Target, logLines: number): Promise<Look> {
  const [answers, cluster] = await Promise.all([
    Promise.all(ways.map((way) => ask(way, logLines))),
    // Only then: loading the client takes longer than all the rest.
    api === undefined ? undefined : import("./agent-pods.ts").then(({ askCluster }) => askCluster(api, logLines)),
  ]);
  const machines = answers.flatMap((answer) => ("sections" in answer ? [readAnswer(answer.sections)] : []));
  const silent = answers.flatMap((answer) =>
    "silent" in answer ? [{ machine: answer.machine, reason: answer.silent }] : [],
  );
  return {
    answers,
    cluster,
    status: diagnose({ machines, silent, firewallCommand, ...(cluster !== undefined && { cluster }) }),
  };
}
