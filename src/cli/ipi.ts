import { createHash } from "node:crypto";
import { join } from "node:path";
import { Command } from "commander";
import { configFormat } from "../../stacks/platforms.ts";
import { metadataOf } from "../config/install-dir.ts";
import { readInstallFolder } from "../config/install-folder.ts";
import { aboutFile, Problems, UserError, type Warning } from "../core/errors.ts";
import { bootstrapName, originalName } from "../core/ipi/install-folder.ts";
import { prepareFolder } from "../core/ipi/prepare.ts";
import { restoreFolder } from "../core/ipi/restore.ts";
import { readTunnel } from "../core/konnectivity/options.ts";
import { ipiAgentPort } from "../core/konnectivity/agent-port.ts";
import { shellPath } from "../core/shell-word.ts";
import { removePartials, replaceFile, replaceKeepingOriginal, restoreOriginal } from "../files/keep-original.ts";
import { folderWarnings } from "../files/private-folder.ts";
import { type ConfigOptions, withConfig } from "./config-option.ts";
import { ipiCheckCommand } from "./ipi-check.ts";
import { describePreparation, describeRestoration, type RestoredFolder } from "./ipi-text.ts";
import { jsonOption, type Output } from "./output.ts";
import { readConfigOf } from "./payload-source.ts";

const installDir = ["<install-dir>", 'folder of "openshift-install create ignition-configs"'] as const;

interface PrepareOptions extends ConfigOptions {
  readonly json?: boolean;
}

/** `ipi prepare`, `ipi restore` and `ipi check`: the tunnel for "openshift-install create cluster". */
export function ipiCommand(output: Output): Command {
  const command = new Command("ipi").description('Add the tunnel to "openshift-install create cluster"');
  withConfig(command.command("prepare"))
    .description(
      `Replace bootstrap.ign with the payload, and keep the original (the agents' default port is ${ipiAgentPort})`,
    )
    .argument(...installDir)
    .option(...jsonOption)
    .action((folder: string, options: PrepareOptions) => {
      prepare(folder, options, output);
    });
  command
    .command("restore")
    .description("Restore the original bootstrap.ign")
    .argument(...installDir)
    .option(...jsonOption)
    .action((folder: string, options: { json?: boolean }) => {
      restore(folder, options, output);
    });
  return command.addCommand(ipiCheckCommand(output));
}

function prepare(folder: string, options: PrepareOptions, output: Output): void {
  const problems = new Problems();
  const found = problems.attempt(() => readInstallFolder(folder));
  const { configFile, partial } = readConfigOf(options, problems);
  const preparation =
    found &&
    problems.attempt(() =>
      aboutFile(join(folder, bootstrapName), () =>
        prepareFolder(found, partial?.config.ipiTunnel ?? readTunnel({}), new Date()),
      ),
    );
  const noFolder = problems.found.some(({ code }) => code === "folder-is-file");
  const metadata = noFolder ? undefined : problems.attempt(() => metadataOf(configFormat, folder));
  if (found === undefined || preparation === undefined || problems.found.length > 0)
    throw new UserError(
      ...problems.found.map((one) => (one.position === undefined ? (partial?.locate(one) ?? one) : one)),
    );
  const [file, keptFile] = [join(folder, bootstrapName), join(folder, originalName)];
  const { origin, payload, done } = preparation;
  const before = found.bootstrapIgn ?? Buffer.alloc(0);
  let staleFile: string | undefined;
  if (done) removePartials(file, keptFile);
  else
    ({ staleFile } = replaceKeepingOriginal({
      file,
      before,
      after: Buffer.from(payload.text),
      keptFile,
      kept: origin.bytes,
      keptIsStale: origin.keptIsStale,
    }));

  const warnings = [...preparation.warnings, ...staleWarnings(staleFile), ...folderWarnings(folder, [originalName])];
  output.warnings(warnings);
  const state = done ? "already prepared" : origin.where === "bootstrap.ign" ? "prepared" : "built again";
  const next = {
    create: `openshift-install create cluster --dir ${shellPath(folder)}`,
    check: `npx konnectivity-bootstrap ipi check ${shellPath(folder)}`,
  };
  if (options.json === true) {
    output.json({
      state,
      cluster: metadata === undefined ? null : { clusterName: metadata.clusterName, infraID: metadata.infraID },
      platform: preparation.platform,
      release: payload.release,
      config: configFile ?? null,
      tunnel: preparation.tunnel,
      payload: {
        file,
        bytes: payload.bytes,
        sha512: payload.sha512,
        addedBytes: payload.bytes - payload.originalBytes,
      },
      original: { file: keptFile, bytes: origin.bytes.length, sha512: sha512(origin.bytes) },
      firewall: payload.firewall ?? null,
      next,
      warnings,
    });
    return;
  }
  output.text(describePreparation({ preparation, state, metadata, configFile, file, keptFile, next }));
}

function restore(folder: string, options: { json?: boolean }, output: Output): void {
  const restoration = aboutFile(join(folder, bootstrapName), () => restoreFolder(readInstallFolder(folder)));
  const [file, keptFile] = [join(folder, bootstrapName), join(folder, originalName)];
  if (restoration.how === "kept") restoreOriginal(file, keptFile);
  else if (restoration.how === "state") replaceFile(file, restoration.bytes);
  else removePartials(file, keptFile);
  const restored: RestoredFolder = {
    state: restoration.how === "nothing" ? "nothing to restore" : "restored",
    file,
    ...(restoration.how !== "nothing" && { bytes: restoration.bytes.length, sha512: sha512(restoration.bytes) }),
    ...(restoration.how === "nothing" && restoration.keptIsStale && { stale: keptFile }),
  };
  if (options.json === true) output.json(restored);
  else output.text(describeRestoration(restored));
}

const sha512 = (bytes: Buffer) => createHash("sha512").update(bytes).digest("hex");

function staleWarnings(staleFile: string | undefined): Warning[] {
  if (staleFile === undefined) return [];
  return [
    {
      code: "stale-original",
      message: `openshift-install has written another bootstrap.ign since the last time: the one that was kept before is now ${staleFile}; delete it if no cluster was created from it.`,
    },
  ];
}
