/** A kubelet's log about its pods: one line for each event, and each error of a pod only once. */
export class PodLog {
  readonly #write: (line: string) => void;
  readonly #errors = new Map<string, Set<string>>();

  constructor(write: (line: string) => void) {
    this.#write = write;
  }

  started(pod: string): void {
    this.#errors.delete(pod);
    this.#write(`${pod}: started`);
  }

  stopped(pod: string): void {
    this.#errors.delete(pod);
    this.#write(`${pod}: stopped`);
  }

  /** The kubelet tries to start a pod twice a second, so the same error is logged only once. */
  failed(pod: string, error: unknown): void {
    const text = (error instanceof Error ? error.message : String(error)).trim().replaceAll(/\s*\n\s*/g, " | ");
    const errors = this.#errors.get(pod) ?? new Set();
    this.#errors.set(pod, errors);
    // Every try has containers with other ids.
    const known = text.replaceAll(/\b[0-9a-f]{12,}\b/g, "");
    if (errors.has(known)) return;
    errors.add(known);
    this.#write(`${pod}: ${failure}${text}`);
  }
}

const failure = "cannot be started: ";

/** The first error of each pod that a log says cannot be started, by the pod's name. */
export function failedPods(log: string): Map<string, string> {
  const failed = new Map<string, string>();
  for (const line of log.split("\n")) {
    const [, pod, event = ""] = /^([a-z0-9.-]+): (.+)$/.exec(line) ?? [];
    if (pod === undefined) continue;
    if (event === "started" || event === "stopped") failed.delete(pod);
    else if (event.startsWith(failure) && !failed.has(pod)) failed.set(pod, event.slice(failure.length));
  }
  return failed;
}
