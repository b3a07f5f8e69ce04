import { type ChildProcess, spawn } from "node:child_process";
import { routing, tls } from "../../../src/core/konnectivity/names.ts";
import { type Lab } from "../../../lab/lab.ts";
import { agentPortOf } from "../../../lab/lab-view.ts";
import { waitFor } from "../../../lab/wait.ts";
import type { LabMachine } from "../../../lab/machine.ts";
import { readProjectText } from "../../../src/runtime/project-files.js";
import type { LoadedLab } from "../load/loaded-lab.ts";
import { currentProxy, ensureGoProgram } from "../../../lab/go-programs.js";

const folder = "/opt/lab/rogue-agents";

/** What an agent presents, which CA it trusts, and the refusal in its log. */
const shown = {
  "no certificate": { ca: "server.crt", pair: undefined, refusal: "tls: certificate required" },
  "a foreign certificate": { ca: "server.crt", pair: "foreign", refusal: "tls: unknown certificate authority" },
  "an expired certificate": { ca: "server.crt", pair: "expired", refusal: "tls: expired certificate" },
  "another CA than the server's": {
    ca: "foreign-ca.crt",
    pair: "good",
    refusal: "x509: certificate signed by unknown authority",
  },
  "a good certificate": { ca: "server.crt", pair: "good", refusal: undefined },
} as const;
export type Shown = keyof typeof shown;
export const refused = (Object.keys(shown) as Shown[]).filter((one) => shown[one].refusal !== undefined);

/** Starts real agents on a node, beside the tunnel's own. */
export function rogueAgents(lab: Lab, which: readonly Shown[]): RogueAgent[] {
  return which.map((one, index) => new RogueAgent(lab, one, 9000 + 2 * index));
}

/** Creates their keys, and restarts the server so that it also accepts agents of a second CA. */
export async function prepareRogueAgents(loaded: LoadedLab): Promise<void> {
  const { bootstrap, node } = loaded.lab;
  node.must(`bash -s ${folder}`, {}, readProjectText("test/e2e/faults/rogue-certificates.sh"));
  node.must(`cat >${folder}/server.crt`, {}, bootstrap.must(`cat ${tls}/serving/ca.crt`));
  bootstrap.must(`cat >>${tls}/serving/ca.crt`, {}, node.must(`cat ${folder}/second-ca.crt`));
  loaded.killServer();
  await loaded.agentsAre(loaded.lab.nodes.length);
}

/** A real agent that does not belong to the tunnel. */
export class RogueAgent {
  readonly #what: Shown;
  readonly #child: ChildProcess;
  readonly #node: LabMachine;
  readonly #port: number;
  #log = "";

  constructor(lab: Lab, what: Shown, port: number) {
    const { node, addresses } = lab;
    this.#what = what;
    this.#node = node;
    this.#port = port;
    const { ca, pair } = shown[what];
    const [program = "", ...args] = node.enter([
      // nsenter is its parent: when that is killed, so is this.
      ...["setpriv", "--pdeathsig", "KILL", ensureGoProgram(currentProxy)["proxy-agent"]],
      ...[`--proxy-server-host=${addresses.bootstrap}`, `--proxy-server-port=${agentPortOf(lab)}`],
      ...[`--agent-identifiers=${routing.identifier}`, `--ca-cert=${folder}/${ca}`],
      ...(pair === undefined ? [] : [`--agent-cert=${folder}/${pair}.crt`, `--agent-key=${folder}/${pair}.key`]),
      ...[`--health-server-port=${port}`, `--admin-server-port=${port + 1}`, "--sync-interval=250ms"],
    ]);
    this.#child = spawn(program, args, { stdio: ["ignore", "pipe", "pipe"] });
    for (const stream of [this.#child.stdout, this.#child.stderr])
      stream?.on("data", (part: Buffer) => (this.#log += String(part)));
  }

  /** Waits until the agent is refused. @returns the refusal */
  async isRefused(): Promise<string> {
    const { refusal } = shown[this.#what];
    if (refusal === undefined) throw new Error(`an agent with ${this.#what} is not refused`);
    await waitFor(`"${refusal}" to an agent with ${this.#what}`, 90, () => {
      if (this.isTaken()) throw new Error(`an agent with ${this.#what} was taken`);
      return this.#log.includes(refusal);
    });
    return refusal;
  }

  /** Whether it is connected to a server. */
  isTaken(): boolean {
    return this.#node.run(`curl --silent --fail --max-time 2 http://127.0.0.1:${this.#port}/readyz`).status === 0;
  }

  end(): void {
    this.#child.kill("SIGKILL");
  }
}
