import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { readProjectText } from "../runtime/project-files.js";
import type { Transport } from "./probe.ts";

/** The script that switches a bootstrap machine's tunnel off or on. */
export const switchScript = readProjectText("src/cluster/switch.sh");

export type Switched = "off" | "on";

/** Why there is nothing to switch on a machine. */
export const refusals = ["installer", "none", "ended", "not-running", "busy", "not-saved"] as const;
export type Refusal = (typeof refusals)[number];

/** What a switch finds on the machine, before it changes anything. */
export interface SwitchPlan {
  /** incomplete: an earlier switch was interrupted. */
  readonly state: Switched | "incomplete";
  /** Whether the kube-apiserver is ready. */
  readonly ready: boolean;
  /** Whether the tunnel's server runs and has an agent. */
  readonly connected: boolean;
  /** The seconds that the kube-apiserver has to complete requests before it is restarted. */
  readonly grace: number;
  /** Whether the tunnel's set-up keeps a tunnel switched off when bootkube.sh runs again. */
  readonly lasts: boolean;
}

const results = ["switched", "unchanged", "restored", "not-ready"] as const;

export interface SwitchResult {
  /** restored: the kube-apiserver did not become ready, and is as before. not-ready: it is not ready with either. */
  readonly result: (typeof results)[number];
  /** How long the API did not answer. @default - not restarted, or not measured */
  readonly outageMilliseconds?: number;
  /** The last line of the kube-apiserver's log if it did not become ready. */
  readonly lastLogLine?: string;
}

/** Why a machine has no plan or no result: it refused, or did not answer. */
export type NoAnswer = { readonly refused: Refusal } | { readonly unreachable: string };

/** The longest time that a restart may take, beside the kube-apiserver's grace period. */
export const defaultWaitSeconds = 180;

export async function planSwitch(transport: Transport): Promise<SwitchPlan | NoAnswer> {
  const answer = await run(transport, ["plan"]);
  if (!("values" in answer)) return answer;
  const value = (name: string) => answer.values.get(name) ?? "";
  const state = (["off", "on", "incomplete"] as const).find((one) => one === value("state"));
  if (state === undefined) return { unreachable: "its answer is not one of the script's" };
  return {
    state,
    ready: value("ready") === "200",
    connected: value("agents") === "200",
    grace: Number(/^\d{1,4}$/.exec(value("grace"))?.[0] ?? 0),
    lasts: value("lasts") === "yes",
  };
}

/** @param doing is told what happens on the machine */
export async function runSwitch(
  transport: Transport,
  to: Switched,
  waitSeconds: number,
  doing: (what: "restart" | "restore") => void,
): Promise<SwitchResult | NoAnswer> {
  const answer = await run(transport, [to, String(waitSeconds)], (name, value) => {
    if (name === "doing" && (value === "restart" || value === "restore")) doing(value);
  });
  if (!("values" in answer)) return answer;
  const result = results.find((one) => one === answer.values.get("result"));
  if (result === undefined) return { unreachable: answer.complaint };
  const outage = /^\d{1,7}$/.exec(answer.values.get("outage") ?? "")?.[0];
  const log = answer.values.get("log");
  return {
    result,
    ...(outage !== undefined && { outageMilliseconds: Number(outage) }),
    ...(log !== undefined && log !== "" && { lastLogLine: log }),
  };
}

interface Answer {
  readonly values: ReadonlyMap<string, string>;
  /** The last line of stderr. */
  readonly complaint: string;
}

/**
 * Runs the script on a machine, without a time limit: every wait of the script has one. In a process group of its own, so that
 * Ctrl-C does not interrupt a switch that has begun.
 */
function run(
  { command }: Transport,
  args: readonly string[],
  seen: (name: string, value: string) => void = () => undefined,
): Promise<Answer | NoAnswer> {
  const [program = "", ...words] = command;
  return new Promise((resolve) => {
    const child = spawn(program, [...words, ...args], { stdio: "pipe", detached: true });
    const values = new Map<string, string>();
    let stderr = "";
    createInterface({ input: child.stdout }).on("line", (line) => {
      const [, name, value = ""] = /^([a-z]+)=(.*)$/.exec(line) ?? [];
      if (name === undefined) return;
      values.set(name, value);
      seen(name, value);
    });
    child.stderr.setEncoding("utf8").on("data", (part: string) => (stderr += part));
    // A program can end before it has read all input; its exit code says more than EPIPE.
    child.stdin.on("error", () => undefined).end(switchScript);
    child.on("error", (error) => {
      resolve({ unreachable: `${program} cannot be started: ${error.message}` });
    });
    child.on("close", (code) => {
      const lines = stderr.split(/\r?\n/).filter((line) => line.trim() !== "");
      const complaint = lines.at(-1) ?? `${program} exited with ${String(code)} and no output`;
      const refused = refusals.find((one) => one === values.get("refused"));
      if (refused !== undefined) resolve({ refused });
      else resolve(values.has("end") ? { values, complaint } : { unreachable: complaint });
    });
  });
}
