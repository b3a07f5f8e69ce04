/** `npm run test:clouds`: the stacks, applied by the real providers to clouds that run on this machine. */
import { spawn } from "node:child_process";
import { chmodSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { Command, InvalidArgumentError } from "commander";
import { type CloudName, clouds as allClouds } from "../../support/clouds.ts";
import { ensureGoProgram, isBuilt } from "../../../lab/go-programs.js";
import { projectFile, projectRoot } from "../../../src/runtime/project-files.js";
import { ensureMoto } from "./aws/moto.ts";
import { ensureAzurite } from "./azure/azurite.ts";
import { certificateFor } from "./certificate.ts";
import { hostsOf } from "./hosts.ts";
import { testEnvVariable } from "./test-env.ts";
import { ensureCheckov } from "./policy/checkov.ts";
import { ProviderMirror } from "./providers.ts";

const begin = Date.now();
const say = (text: string) => {
  console.log(`${((Date.now() - begin) / 1000).toFixed(1).padStart(6)} s  ${text}`);
};

/** What runs side by side: most clouds have one file of tests, where one goes on where the one before it ended. */
const filesOf = (cloud: CloudName) =>
  readdirSync(projectFile("test/e2e/clouds")).filter((name) => new RegExp(`^${cloud}(-.*)?\\.test\\.ts$`).test(name));

const nameOf = (file: string) => file.replace(".test.ts", "");

/** Runs a file of one cloud's tests in namespaces of their own. Whether they passed. */
async function run(cloud: CloudName, file: string, mirror: string): Promise<boolean> {
  const folder = mkdtempSync(join(tmpdir(), `konnectivity-bootstrap-${cloud}-`));
  // Ignition becomes another user to reach a machine's files; others cannot list the folder.
  chmodSync(folder, 0o711);
  const hosts = hostsOf(cloud);
  const certificate = certificateFor([...new Set(hosts.map(({ name }) => name))], folder);
  writeFileSync(join(folder, "hosts"), hosts.map(({ address, name }) => `${address} ${name}\n`).join(""));
  const settings = `provider_installation {\n  filesystem_mirror {\n    path    = ${JSON.stringify(mirror)}\n    include = ["hashicorp/*"]\n  }\n}\n`;
  writeFileSync(join(folder, "terraformrc"), settings);
  const child = spawn(
    "unshare",
    [
      ...[
        "--net",
        "--mount",
        "--pid",
        "--fork",
        "--kill-child",
        "bash",
        projectFile("test/e2e/clouds/enter.sh"),
        folder,
      ],
      ...["node_modules/.bin/vitest", "run", "--config", "test/e2e/clouds/vitest.config.ts", `test/e2e/clouds/${file}`],
    ],
    {
      cwd: projectRoot,
      env: {
        ...ownEnvironment(),
        [testEnvVariable]: folder,
        TF_CLI_CONFIG_FILE: join(folder, "terraformrc"),
        SSL_CERT_FILE: certificate.file,
        NODE_EXTRA_CA_CERTS: certificate.file,
        NO_COLOR: "1",
      },
      stdio: ["ignore", "pipe", "pipe"],
    },
  );
  running.add(child);
  for (const stream of [child.stdout, child.stderr])
    createInterface({ input: stream }).on("line", (line) => {
      if (line.trim() !== "") console.log(`${nameOf(file).padEnd(11)} │ ${line}`);
    });
  const code = await new Promise((resolve) => child.once("close", resolve));
  running.delete(child);
  rmSync(folder, { recursive: true, force: true });
  return code === 0;
}

/** Without the user's own settings for any cloud or proxy, which would count. */
function ownEnvironment(): NodeJS.ProcessEnv {
  const foreign = /^(AWS|ARM|AZURE|GOOGLE|GCE|CLOUDSDK|TF)_|_PROXY$/i;
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !foreign.test(name)));
}

let interrupted = false;
const running = new Set<ReturnType<typeof spawn>>();
for (const signal of ["SIGINT", "SIGTERM"] as const)
  process.once(signal, () => {
    interrupted = true;
    // Everything in a namespace goes with its first process; then its folder is removed as always.
    for (const child of running) child.kill("SIGKILL");
  });

async function main(clouds: readonly CloudName[], { within }: { within?: number }): Promise<void> {
  let minutes = within ?? Infinity;
  const mirrors: [CloudName, string][] = [];
  const left: string[] = [];
  // The one that is ready soonest comes first.
  const wanted = clouds.map((cloud) => ({ cloud, mirror: new ProviderMirror(cloud) }));
  const times = wanted.map(({ cloud, mirror }) => ({
    cloud,
    mirror,
    needed: mirror.minutes() + ignitionMinutes(cloud),
  }));
  for (const { cloud, mirror, needed } of times.sort((one, other) => one.needed - other.needed)) {
    if (needed > minutes) {
      left.push(
        `${cloud} (building what it needs, ${mirror.title} above all, takes about ${needed} minutes): npm run test:clouds ${cloud}`,
      );
      continue;
    }
    minutes -= needed;
    mirrors.push([cloud, mirror.ensure()]);
    ensureCheckov();
    if (cloud === "azure") {
      ensureAzurite();
      ensureGoProgram("ignition");
    }
    if (cloud === "aws") ensureMoto();
  }
  const results = await Promise.all(
    mirrors.flatMap(([cloud, mirror]) =>
      filesOf(cloud).map(async (file) => {
        say(`${nameOf(file)} begins`);
        const passed = await run(cloud, file, mirror);
        say(`${nameOf(file)} ${passed ? "passed" : interrupted ? "was interrupted" : "FAILED"}`);
        return passed;
      }),
    ),
  );
  for (const sentence of left) say(`NOT RUN: ${sentence}`);
  process.exitCode = interrupted ? 130 : results.every((passed) => passed) ? 0 : 1;
}

/** What Azure's tests build beside the provider. */
const ignitionMinutes = (cloud: CloudName) => (cloud === "azure" && !isBuilt("ignition") ? 3 : 0);

function asCloud(text: string, previous: readonly CloudName[] = []): CloudName[] {
  const cloud = allClouds.find((platform) => platform === text);
  if (cloud === undefined) throw new InvalidArgumentError(`It is one of ${allClouds.join(", ")}.`);
  return [...previous, cloud];
}

function asMinutes(text: string): number {
  if (!/^\d+$/.test(text)) throw new InvalidArgumentError("It is a number of minutes.");
  return Number(text);
}

await new Command("npm run test:clouds --")
  .description("Applies the stacks with the real providers to clouds that run on this machine: docs/clouds-test.md.")
  .argument("[clouds...]", `any of ${allClouds.join(", ")}; all of them if none is named`, asCloud)
  .option("--within <minutes>", "leave out clouds whose providers take longer to build, and say so", asMinutes)
  .action((clouds: readonly CloudName[] | undefined, options: { within?: number }) =>
    main(clouds === undefined || clouds.length === 0 ? allClouds : clouds, options),
  )
  .parseAsync()
  .catch((error: unknown) => {
    console.error(error instanceof Error ? error.message : String(error));
    process.exitCode = 1;
  });
