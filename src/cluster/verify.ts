export type Outcome = "passed" | "failed" | "not looked at";

/** The outcome of one check with what it saw; for "not looked at", why. */
export interface CheckResult {
  readonly result: Outcome;
  readonly seen: string;
}

export interface Check {
  readonly id: CheckId;
  readonly title: string;
  readonly run: () => CheckResult | Promise<CheckResult>;
}

/** One check's line in the report. */
export interface VerifiedCheck extends CheckResult {
  readonly id: CheckId;
  readonly title: string;
}

/** Seven validation steps and nine security checks, in the order of the report. */
export const titles = {
  "step-1": "the cluster responds",
  "step-2": "the server runs on the bootstrap machine",
  "step-3": "agents run on the nodes",
  "step-4": "a webhook runs in the pod network",
  "step-5": "the bootstrap kube-apiserver reaches the webhook",
  "step-6": "the agents are removed after the bootstrap",
  "step-7": "a kube-apiserver without the tunnel reaches the webhook",
  "security-1": "the server has the flag that requires agents to authenticate",
  "security-2": "the path in the flag is correct",
  "security-3": "the CA and its certificates are valid",
  "security-4": "the server is ready",
  "security-5": "the agents are ready",
  "security-6": "the tunnel works",
  "security-7": "an agent without a certificate is refused",
  "security-8": "an agent with a foreign certificate is refused",
  "security-9": "no TLS errors in the logs",
} as const;
export type CheckId = keyof typeof titles;
export const checkIds = Object.keys(titles) as readonly CheckId[];

export const passed = (seen: string): CheckResult => ({ result: "passed", seen });
export const failed = (seen: string): CheckResult => ({ result: "failed", seen });
export const notLookedAt = (why: string): CheckResult => ({ result: "not looked at", seen: why });
export const passedIf = (condition: boolean, seen: string): CheckResult => (condition ? passed(seen) : failed(seen));

export const toChecks = (runs: Readonly<Record<CheckId, Check["run"]>>): Check[] =>
  checkIds.map((id) => ({ id, title: titles[id], run: runs[id] }));

/** These run after everything else, because they may end the bootstrap, and the tunnel with it. */
const last: readonly CheckId[] = ["step-6", "step-7"];

/**
 * Runs all checks, one after the other. A check that throws has failed.
 * @param begin called with the title of each check before it runs
 */
export async function runChecks(
  checks: readonly Check[],
  begin: (title: string) => void = () => undefined,
): Promise<VerifiedCheck[]> {
  const verified = new Map<CheckId, VerifiedCheck>();
  const ordered = [...checks.filter(({ id }) => !last.includes(id)), ...checks.filter(({ id }) => last.includes(id))];
  for (const { id, title, run } of ordered) {
    begin(title);
    let outcome: CheckResult;
    try {
      outcome = await run();
    } catch (error) {
      outcome = failed(error instanceof Error ? error.message : String(error));
    }
    verified.set(id, { id, title, result: outcome.result, seen: shorten(outcome.seen) });
  }
  return checks.flatMap(({ id }) => verified.get(id) ?? []);
}

/** One line of at most 300 characters. */
function shorten(text: string): string {
  const line = text.trim().replaceAll(/\s+/g, " ");
  return line.length > 300 ? `${line.slice(0, 299)}…` : line;
}
