export type Result = "passed" | "failed" | "not looked at";

/** What was seen of one thing; with "not looked at", why. */
export interface Finding {
  readonly result: Result;
  readonly seen: string;
}

export interface Check {
  readonly id: CheckId;
  readonly title: string;
  readonly look: () => Finding | Promise<Finding>;
}

export interface Row extends Finding {
  readonly id: CheckId;
  readonly title: string;
}

/** The seven steps of a validation and nine security scenarios, as they stand in the table. */
export const titles = {
  "step-1": "the cluster answers",
  "step-2": "the server runs on the bootstrap machine",
  "step-3": "agents run on the nodes",
  "step-4": "a webhook runs in the pod network",
  "step-5": "the bootstrap kube-apiserver reaches the webhook",
  "step-6": "after the bootstrap's end the agents are removed",
  "step-7": "a kube-apiserver without the tunnel reaches the webhook",
  "security-1": "the server has the flag that makes agents prove themselves",
  "security-2": "the flag's path is right",
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

export const passed = (seen: string): Finding => ({ result: "passed", seen });
export const failed = (seen: string): Finding => ({ result: "failed", seen });
export const notLookedAt = (why: string): Finding => ({ result: "not looked at", seen: why });
export const judged = (right: boolean, seen: string): Finding => (right ? passed(seen) : failed(seen));

export const toChecks = (looks: Readonly<Record<CheckId, Check["look"]>>): Check[] =>
  checkIds.map((id) => ({ id, title: titles[id], look: looks[id] }));

/** These come after everything else: the bootstrap's end takes the tunnel away. */
const last: readonly CheckId[] = ["step-6", "step-7"];

/** Looks at everything, one after the other. What cannot be looked at because something broke has failed. */
export async function lookAt(checks: readonly Check[]): Promise<Row[]> {
  const rows = new Map<CheckId, Row>();
  const ordered = [...checks.filter(({ id }) => !last.includes(id)), ...checks.filter(({ id }) => last.includes(id))];
  for (const { id, title, look } of ordered) {
    let finding: Finding;
    try {
      finding = await look();
    } catch (error) {
      finding = failed(error instanceof Error ? error.message : String(error));
    }
    rows.set(id, { id, title, result: finding.result, seen: short(finding.seen) });
  }
  return checks.flatMap(({ id }) => rows.get(id) ?? []);
}

/** One line, not endless. */
function short(text: string): string {
  const line = text.trim().replaceAll(/\s+/g, " ");
  return line.length > 300 ? `${line.slice(0, 299)}…` : line;
}
