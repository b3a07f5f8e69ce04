/** The log that every run of openshift-install appends to. */
export const logName = ".openshift_install.log";

/** What the log says about the last run of "create cluster". */
export interface CreateClusterRun {
  /** Where bootstrap.ign came from: the folder, the state file, or openshift-install made it. @default - not decided yet */
  readonly bootstrap?: "used" | "state" | "discarded" | "generated";
  /** When that was decided. */
  readonly decided?: Date;
  /** Whether it has begun to create infrastructure. */
  readonly creating: boolean;
  /** Whether it has seen the cluster's API answer. */
  readonly apiUp: boolean;
  /** Whether it has begun to remove the bootstrap machine. */
  readonly destroysBootstrap: boolean;
  /** Whether it has ended well. */
  readonly complete: boolean;
}

/** Each message about bootstrap.ign by which a run decides. "Consuming …" is written in every case. */
const decisions = {
  "Using Bootstrap Ignition Config loaded from target directory": "used",
  "Using Bootstrap Ignition Config loaded from state file": "state",
  "Discarding the Bootstrap Ignition Config that was provided in the target directory": "discarded",
  "Generating Bootstrap Ignition Config...": "generated",
} as const;

const logLine = /^time="([^"]*)" level=\w+ msg=(?:"(.*)"|(\S*))$/;

/**
 * Finds the last run of "create cluster". Every command begins with its version, a "create cluster" twice; which command it is
 * shows in the first asset that it fetches.
 * @returns undefined if the last command that made something was another one, or if there was none
 */
export function lastCreateCluster(log: string): CreateClusterRun | undefined {
  let run: Mutable<CreateClusterRun> | undefined;
  let fetched = false;
  for (const line of log.split(/\r?\n/)) {
    const [, time = "", quoted, word = ""] = logLine.exec(line) ?? [];
    const message = quoted ?? word;
    if (/^(OpenShift Installer|Running:) /.test(message)) fetched = false;
    // An indented asset is fetched for another one.
    // "gather bootstrap" fetches a key only, and changes nothing.
    if (message.startsWith("Fetching ") && !fetched && !message.startsWith("Fetching Bootstrap SSH Key Pair")) {
      fetched = true;
      run =
        message === "Fetching Metadata..."
          ? { creating: false, apiUp: false, destroysBootstrap: false, complete: false }
          : undefined;
    }
    if (run === undefined) continue;
    const text = message.trim();
    const decision = Object.entries(decisions).find(([words]) => text.startsWith(words))?.[1];
    if (decision !== undefined && run.bootstrap === undefined) {
      run.bootstrap = decision;
      const decided = new Date(time);
      if (!Number.isNaN(decided.getTime())) run.decided = decided;
    }
    if (text.startsWith("Creating infrastructure resources")) run.creating = true;
    if (/^API \S+ up$/.test(text)) run.apiUp = true;
    if (text.startsWith("Destroying the bootstrap resources")) run.destroysBootstrap = true;
    if (text.startsWith("Install complete!")) run.complete = true;
  }
  return run;
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] };
