import { join, relative, resolve } from "node:path";
import { createInterface } from "node:readline/promises";
import { Argument, Command, InvalidArgumentError } from "commander";
import { findConfigFile } from "../../stacks/load.ts";
import { platformNames } from "../../stacks/platforms.ts";
import { inLines } from "../core/printable.ts";
import { UserError, problem } from "../core/errors.ts";
import { projectRoot } from "../runtime/project-files.js";
import type { Session } from "./acceptance-steps.ts";
import { installerNames, oneOfWords } from "./choice.ts";
import { configOption } from "./config-option.ts";
import { jsonOption, type Output } from "./output.ts";
import { ownCommand } from "./printed-commands.ts";
import { sshDestination } from "./target.ts";
import { configFor, isLab, kubeconfigFor } from "./teardown-options.ts";

const usualFolder = "konnectivity-acceptance";

interface AcceptanceOptions {
  readonly config?: string;
  readonly out?: string;
  readonly output?: string;
  readonly kubeconfig?: string;
  readonly ssh?: string;
  readonly wait: number;
  readonly yes?: boolean;
  readonly restart?: boolean;
  readonly dryRun?: boolean;
  readonly json?: boolean;
}

/** `acceptance`: deploy, verify, destroy and report, on the user's own account. */
export function acceptanceCommand(output: Output): Command {
  return new Command("acceptance")
    .description("Check the stacks on your own account: deploy, verify, destroy, and write a report without names")
    .addArgument(
      new Argument("<platform>", "whose stacks to check")
        .choices(platformNames)
        .argParser(oneOfWords(platformNames, output, installerNames)),
    )
    .option(...configOption)
    .option("--out <folder>", `folder for progress, logs and report (default: ${usualFolder}/<platform>)`)
    .option("--output <folder>", "output folder of cdktf (default: the one in cdktf.json)")
    .option("--kubeconfig <file>", "kubeconfig of the cluster (default: the one that a destroy uses)")
    .option("--ssh <destination>", "bootstrap machine (default: the one that is deployed)", sshDestination)
    .option("--wait <minutes>", "time limit for the tunnel, and for the end of the bootstrap", waitMinutes, 60)
    .option("--yes", "answer yes to every question")
    .option("--restart", "start over, and forget the saved progress")
    .option("--dry-run", "print the steps and what they cost, and do nothing")
    .option(...jsonOption)
    .action(async (platform: string, options: AcceptanceOptions, self: Command) => {
      const forClouds = (["kubeconfig", "ssh"] as const).filter((name) => options[name] !== undefined);
      if (isLab(platform) && forClouds.length > 0)
        self.error(
          `error: Leave out ${forClouds.map((name) => `--${name}`).join(" and ")} with ${platform}, which has no real cluster.`,
        );
      if (options.dryRun === true) {
        await printSteps(platform, options, output);
        return;
      }
      if (options.yes !== true && !process.stdin.isTTY)
        self.error(
          "error: There is no terminal to ask for consent: give --yes to deploy and destroy without questions.",
        );
      await accept(platform, options, output);
    });
}

async function printSteps(platform: string, { json }: AcceptanceOptions, output: Output): Promise<void> {
  const { steps } = await import("./acceptance-steps.ts");
  const free = isLab(platform);
  const list = steps.map(({ id, title, cost }) => ({ id, title, cost: free ? null : (cost ?? null) }));
  if (json === true) output.json({ platform, steps: list });
  else
    output.text(
      inLines([
        ...list.flatMap(({ id, title, cost }, index) => [
          `${index + 1}  ${id.padEnd(10)}  ${title}`,
          ...(cost === null ? [] : [`               ${cost}; asks first`]),
        ]),
        "",
        "Nothing was done.",
      ]),
    );
}

async function accept(platform: string, options: AcceptanceOptions, output: Output): Promise<void> {
  // The command line starts without what only this command needs.
  const [{ steps }, { describeRemains, runSteps, writeReport }, saved, { hasPassed }, { interruptible }] =
    await Promise.all([
      import("./acceptance-steps.ts"),
      import("./acceptance-run.ts"),
      import("./acceptance-progress.ts"),
      import("./acceptance-report.ts"),
      import("./interruptible.ts"),
    ]);
  // With --json, stdout has the report alone.
  const say = (text: string) => {
    if (options.json === true) output.usage(text);
    else output.text(text);
  };
  const session = await sessionFor(platform, options, say);
  const { folder, lab, inputs } = session;
  const cluster = { platform, cluster: lab?.name ?? inputs.infraId };
  const found = options.restart === true ? undefined : saved.readProgress(folder, cluster);
  let progress = found ?? saved.newProgress(platform, cluster.cluster, new Date());
  output.warnings([...inputs.warnings, ...saved.makeAcceptanceFolder(folder)]);
  const again = ownCommand(wordsOf(platform, options));
  const remains = async () => {
    progress = saved.readProgress(folder, cluster) ?? progress;
    say(await describeRemains(session, progress, again));
  };
  const redact = await redactorFor(session);
  const report = () => {
    const written = writeReport(session, progress, redact);
    if (options.json === true) output.json(written);
    const file = join(folder, "report.md");
    const shown = relative("", file);
    say(
      inLines([
        `Report: ${shown.startsWith("..") ? file : shown}, and report.json beside it. Read it before you attach it to an issue.`,
      ]),
    );
  };
  output.exitCode = 1;
  const code = await interruptible(
    async (signal) => {
      signal.addEventListener("abort", () => {
        say("Interrupted: waiting until what has begun is finished.\n");
      });
      try {
        progress = await runSteps(steps, { ...session, signal }, progress);
      } catch (error) {
        if (!signal.aborted) await remains();
        throw error;
      }
      signal.throwIfAborted();
      if (hasPassed(progress)) output.exitCode = 0;
      if (progress.results.leftovers === undefined) await remains();
      report();
    },
    async () => {
      await remains();
      report();
    },
  );
  if (code !== 0) output.exitCode = code;
}

/** Everything that does not change during a run. */
async function sessionFor(platform: string, options: AcceptanceOptions, say: Session["say"]): Promise<Session> {
  const { readInputs } = await import("../../stacks/inputs.ts");
  const { outputFolder } = await import("./deployed-state.ts");
  const configFile = configFileOfCdktf(options.config);
  // The cdktf command runs there: relative paths in what it shows begin there.
  const inputs = readInputs(configFile, new Date(), { workingDirectory: projectRoot });
  if (!(platform in inputs.platforms)) throw new UserError(problem("platform-not-configured", { platform }));
  const of = { config: configFile, kubeconfig: options.kubeconfig };
  const { yes = false } = options;
  const quiet = options.json === true || (process.env.CI ?? "") !== "";
  return {
    platform,
    configFile,
    inputs: {
      ...inputs,
      platforms: Object.fromEntries(Object.entries(inputs.platforms).filter(([name]) => name === platform)),
      labs: Object.fromEntries(Object.entries(inputs.labs).filter(([name]) => name === platform)),
    },
    lab: inputs.labs[platform],
    folder: resolve(options.out ?? join(usualFolder, platform)),
    outputFolder: resolve(options.output ?? resolve(projectRoot, outputFolder(projectRoot))),
    kubeconfig: isLab(platform) ? undefined : resolve(kubeconfigFor(of, configFor(of))),
    ssh: options.ssh,
    waitMinutes: options.wait,
    environment: process.env,
    signal: new AbortController().signal,
    say,
    show: quiet ? () => undefined : say,
    showFailed: quiet
      ? (text) => {
          say(inLines(text.trimEnd().split("\n").slice(-40)));
        }
      : () => undefined,
    ask: async (question, signal) => {
      if (!yes) await consent(question, signal);
    },
  };
}

/** The config file that the cdktf command will read. @returns undefined if there is none */
function configFileOfCdktf(given: string | undefined): string | undefined {
  if (given !== undefined) return resolve(given);
  const here = findConfigFile(process.env);
  if (here !== undefined) return resolve(here);
  const there = findConfigFile(process.env, projectRoot);
  return there === undefined ? undefined : resolve(projectRoot, there);
}

/** Everything that is known to identify: of the config, of metadata.json and of this machine. */
async function redactorFor(session: Session): Promise<(text: string) => string> {
  const [{ redactor }, { identifyingTexts }] = await Promise.all([
    import("./acceptance-redaction.ts"),
    import("./acceptance-names.ts"),
  ]);
  return redactor(identifyingTexts(session));
}

/** Asks on the terminal. Everything but yes means no. */
async function consent(question: string, signal: AbortSignal): Promise<void> {
  const { Declined } = await import("./acceptance-steps.ts");
  // Not as a terminal, which would keep Ctrl-C to itself.
  const lines = createInterface({ input: process.stdin, output: process.stderr, terminal: false });
  const closed = new Promise<string>((resolve) => lines.once("close", () => { resolve(""); })); // prettier-ignore
  try {
    const answer = await Promise.race([lines.question(`${question} [y/N] `, { signal }), closed]);
    if (!/^y(es)?$/i.test(answer.trim())) throw new Declined();
  } finally {
    lines.close();
  }
}

/** The words with which the same run continues. */
function wordsOf(platform: string, options: AcceptanceOptions): string[] {
  const named = ["config", "out", "output", "kubeconfig", "ssh"] as const;
  return [
    "acceptance",
    platform,
    ...named.flatMap((name) => (options[name] === undefined ? [] : [`--${name}`, options[name]])),
    ...(options.wait === 60 ? [] : ["--wait", String(options.wait)]),
    ...(options.yes === true ? ["--yes"] : []),
  ];
}

function waitMinutes(text: string): number {
  const value = Number(text);
  if (!/^\d{1,4}$/.test(text) || value > 1440)
    throw new InvalidArgumentError("A whole number of minutes, at most 1440.");
  return value;
}
