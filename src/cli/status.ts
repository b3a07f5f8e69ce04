import { setTimeout as sleep } from "node:timers/promises";
import { Command } from "commander";
import type { Status } from "../cluster/diagnose.ts";
import { jsonLinesOption, type Output } from "./output.ts";
import { type FoundTarget, noteTarget, type TargetOptions, targetOf, withTarget } from "./target.ts";

/** How many lines of each log are searched for the reason of a failure. */
const logLines = 200;

interface StatusOptions extends TargetOptions {
  readonly watch?: boolean;
  readonly json?: boolean;
}

/** `status`: whether the tunnel works, what is wrong with it, and what to do. */
export function statusCommand(output: Output): Command {
  return withTarget(
    new Command("status").description(
      "Show whether the tunnel works, what is wrong and what to do; exit code 1 if it does not work or that is unknown",
    ),
  )
    .option("--watch", "repeat until the bootstrap has ended, and print each change")
    .option(...jsonLinesOption)
    .action(async (options: StatusOptions) => {
      const [{ collect }, { statusText, statusVerdicts }] = await Promise.all([
        import("../cluster/collect.ts"),
        import("../cluster/status-text.ts"),
      ]);
      let before: string | undefined;
      for (;;) {
        output.doing("Reading from the machines and the cluster");
        const target = await targetOf(options);
        if (before === undefined) noteTarget(output, options, target);
        const { status } = await collect(target, logLines);
        const text = statusText(status);
        const fine = status.state === "carries" || status.state === "ended";
        const ok = fine && !status.findings.some(({ kind }) => kind === "wrong" || kind === "unknown");
        output.exitCode = ok ? 0 : 1;
        output.doing();
        if (text !== before) {
          if (options.json !== true)
            output.text(before === undefined ? text : `\n${new Date().toISOString()}\n${text}`, statusVerdicts);
          else if (options.watch === true) output.jsonLine(toJson(target, status), ok);
          else output.json(toJson(target, status));
        }
        before = text;
        if (options.watch !== true || status.state === "ended") return;
        await sleep(2000);
      }
    });
}

const toJson = ({ configFile }: FoundTarget, status: Status) => ({ config: configFile ?? null, ...statusJson(status) });

/** Without the pods' logs, which `gather` has. */
export function statusJson({ cluster, ...rest }: Status) {
  if (cluster === undefined) return { ...rest, cluster };
  // 0.1.0's name for it is `silent`.
  if ("unreachable" in cluster) return { ...rest, cluster: { ...cluster, silent: cluster.unreachable } };
  return { ...rest, cluster: { ...cluster, pods: cluster.pods.map(({ log: _, ...pod }) => pod) } };
}
