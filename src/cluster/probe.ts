import { spawn } from "node:child_process";
import { readProjectText } from "../runtime/project-files.js";

/** The script that reports a machine's part of the tunnel. */
export const probeScript = readProjectText("src/cluster/probe.sh");

/** The sections that probe.sh prints; a test compares them. */
export const machineSections = [
  ...["machine", "tunnel", "record", "ended", "given-up", "server-pod", "stages", "said", "certificates"],
  ...["egress-selector", "kube-apiserver-config", "kube-apiserver", "healthz", "readyz", "metrics", "denials"],
  ...["agent-port", "sockets", "arguments", "container", "log", "end"],
];
/** The sections of each agent, which are printed as `agent-<number>.<section>`. */
export const agentSections = [
  "container",
  "arguments",
  "proxies",
  "certificates",
  "readyz",
  "metrics",
  "dialling",
  "log",
];

/** Whether the probe prints a section of this name. A hostile machine may send any other name. */
export function isProbeSection(name: string): boolean {
  const [, ofAgent] = /^agent-\d{1,3}\.(.*)$/.exec(name) ?? [];
  return ofAgent === undefined ? machineSections.includes(name) : agentSections.includes(ofAgent);
}

/** How to run bash as root on a machine. */
export interface Transport {
  /** The machine's name, as the user knows it. */
  readonly machine: string;
  /** Command that runs `bash -s`; the script's own arguments are appended. */
  readonly command: readonly string[];
  /** Sections that the machine itself cannot provide. @default - none */
  readonly extraSections?: () => Readonly<Record<string, string>>;
}

/** Uses this machine's ssh with the user's own ssh config, and never asks for a password. */
export function sshTransports(destinations: readonly string[]): Transport[] {
  const limits = ["-o", "BatchMode=yes", "-o", "ConnectTimeout=10", "-o", "ServerAliveInterval=5"];
  return destinations.map((destination) => ({
    machine: destination,
    command: ["ssh", ...limits, "--", destination, "sudo", "-n", "bash", "-s", "--"],
  }));
}

/** What the probe printed on a machine, by section, or why it could not run there. */
export type ProbeResult =
  | { readonly machine: string; readonly sections: ReadonlyMap<string, string> }
  | { readonly machine: string; readonly unreachable: string };

/** Runs the probe on a machine. */
export async function runProbe(transport: Transport, logLines: number): Promise<ProbeResult> {
  const { machine, command, extraSections } = transport;
  const [program = "", ...args] = command;
  const { stdout, complaint } = await outputOf(program, [...args, String(logLines)], probeScript);
  const sections = splitSections(stdout);
  if (!sections.has("end")) return { machine, unreachable: complaint };
  for (const [name, text] of Object.entries(extraSections?.() ?? {})) sections.set(name, text);
  return { machine, sections };
}

interface ProgramOutput {
  readonly stdout: string;
  /** The last line of stderr, or how the program ended. */
  readonly complaint: string;
}

function outputOf(program: string, args: readonly string[], input: string): Promise<ProgramOutput> {
  return new Promise((resolve) => {
    const child = spawn(program, args, { stdio: "pipe" });
    // Not spawn's own timeout: that keeps this process alive even if the program does not exist.
    const limit = setTimeout(() => child.kill(), 60_000);
    let [stdout, stderr] = ["", ""];
    child.stdout.setEncoding("utf8").on("data", (part: string) => (stdout += part));
    child.stderr.setEncoding("utf8").on("data", (part: string) => (stderr += part));
    // A program can end before it has read all input; its exit code says more than EPIPE.
    child.stdin.on("error", () => undefined).end(input);
    child.on("error", (error) => {
      clearTimeout(limit);
      resolve({ stdout, complaint: `${program} cannot be started: ${error.message}` });
    });
    child.on("close", (code) => {
      clearTimeout(limit);
      const lines = stderr.split(/\r?\n/).filter((line) => line.trim() !== "");
      resolve({ stdout, complaint: lines.at(-1) ?? `${program} exited with ${String(code)} and no output` });
    });
  });
}

/** "== NAME" begins a section; each of its lines is indented by one space. */
function splitSections(text: string): Map<string, string> {
  const sections = new Map<string, string>();
  let lines: string[] = [];
  const end = (name: string | undefined) => name !== undefined && sections.set(name, lines.join("\n"));
  let name: string | undefined;
  for (const line of text.split("\n")) {
    if (line.startsWith(" ")) lines.push(line.slice(1));
    else if (line.startsWith("== ")) {
      end(name);
      [name, lines] = [line.slice(3), []];
    }
  }
  end(name);
  return sections;
}
