import { existsSync } from "node:fs";
import { join } from "node:path";
import { Command, InvalidArgumentError } from "commander";
import { stringify } from "yaml";
import { inspect, makePayload, requiredIngressOf } from "../core/bootstrap.ts";
import { readConfig } from "../config/config-file.ts";
import { readInstallDir } from "../config/install-dir.ts";
import { notIgnored } from "../files/private-folder.ts";
import { readUserFile, writeUserFiles } from "../files/user-file.ts";
import type { InspectedPayload, InspectedPointer } from "../core/ignition/inspect.ts";
import { pointerTo } from "../core/ignition/pointer.ts";
import { serializeIgnition } from "../core/ignition/serialize.ts";
import { inLines } from "../core/printable.ts";
import { UserError, problem, type Warning } from "../core/errors.ts";
import { type Output } from "./output.ts";

interface BuildOptions {
  out: string;
  config?: string;
  url?: string;
  caBundle?: string;
  httpProxy?: string;
  httpsProxy?: string;
  proxyExcept?: string[];
  timeout?: number;
  json?: boolean;
}

const installDir = ["<install-dir>", 'folder in which "openshift-install create ignition-configs" ran'] as const;
const config = ["--config <file>", "config file (YAML); its `tunnel` part counts here"] as const;
const json = ["--json", "for machines"] as const;

/** What `payload build` writes: every secret of the cluster, and where it is. */
const fileNames = ["payload.ign", "pointer.ign"] as const;

/** `payload build`, `payload inspect`, `payload firewall`. */
export function payloadCommand(output: Output): Command {
  const command = new Command("payload").description("make, show and explain the bootstrap machine's payload");
  command
    .command("build")
    .description("write <dir>/payload.ign, and with --url <dir>/pointer.ign for user data")
    .argument(...installDir)
    .requiredOption("--out <dir>", "folder to write to", folderName)
    .option(...config)
    .option("--url <url>", "where the machine will fetch the payload: https://, s3:// or gs://")
    .option("--ca-bundle <file>", "PEM certificates to trust for that fetch (https only)")
    .option("--http-proxy <url>", "proxy for that fetch")
    .option("--https-proxy <url>", "proxy for that fetch")
    .option("--proxy-except <hosts>", "hosts that are fetched without the proxy, by commas", (text) => text.split(","))
    .option("--timeout <seconds>", "limit for that fetch, retries included (default 1800)", wholeSeconds)
    .option(...json)
    .action((folder: string, options: BuildOptions) => {
      build(folder, options, output);
    });
  command
    .command("inspect")
    .description("show what was added to a payload, or what a pointer says; never a secret")
    .argument("<file>", "payload.ign or pointer.ign")
    .option(...json)
    .action((file: string, options: { json?: boolean }) => {
      const found = inspect(readUserFile(file, "give the payload.ign or pointer.ign that you built"), file);
      if (options.json === true) output.json(found);
      else output.text(found.kind === "payload" ? describePayload(found) : describePointer(found));
    });
  command
    .command("firewall")
    .description("print the rule that must be open while the bootstrap machine lives")
    .argument(...installDir)
    .option(...config)
    .option(...json)
    .action((folder: string, options: { config?: string; json?: boolean }) => {
      const { tunnel } = readConfig(options.config, "check --config");
      const { bootstrapIgn, metadata } = readInstallDir(folder);
      const { firewall, warnings } = requiredIngressOf(bootstrapIgn, tunnel, new Date());
      output.warnings(warnings);
      const answer = { cluster: metadata?.infraID ?? null, rule: firewall ?? null };
      if (options.json === true) output.json(answer);
      else
        output.text(
          firewall === undefined ? "# The tunnel is off: no rule is needed.\n" : stringify(answer, { lineWidth: 0 }),
        );
    });
  return command;
}

function build(folder: string, options: BuildOptions, output: Output): void {
  const { tunnel } = readConfig(options.config, "check --config");
  const { bootstrapIgn, metadata } = readInstallDir(folder);
  const payload = makePayload(bootstrapIgn, tunnel, new Date());
  const pointer = readPointer(options, payload.sha512);
  const [payloadFile, pointerFile] = fileNames.map((name) => join(options.out, name)) as [string, string];
  const files = [
    { file: payloadFile, text: payload.text },
    ...(pointer === undefined ? [] : [{ file: pointerFile, text: pointer.text }]),
  ];
  writeUserFiles(files, fileNames);

  const warnings = [
    ...payload.warnings,
    ...(pointer?.warnings ?? []),
    ...staleWarnings(pointerFile, pointer, payload.sha512),
    ...gitWarnings(options.out),
  ];
  output.warnings(warnings);
  const written = { file: payloadFile, bytes: payload.bytes, sha512: payload.sha512 };
  if (options.json === true) {
    output.json({
      cluster: metadata === undefined ? null : { clusterName: metadata.clusterName, infraID: metadata.infraID },
      release: payload.release,
      tunnel,
      payload: { ...written, addedBytes: payload.bytes - payload.originalBytes },
      pointer: pointer === undefined ? null : { file: pointerFile, bytes: pointer.bytes },
      firewall: payload.firewall ?? null,
      warnings,
    });
    return;
  }
  const lines = [
    `cluster   ${metadata === undefined ? "not known (no metadata.json)" : `${metadata.clusterName} (${metadata.infraID})`}`,
    `release   ${payload.release}${tunnel !== "off" && tunnel.release === "auto" ? ", read from bootkube.sh" : ""}`,
    tunnel === "off"
      ? "tunnel    off: bootstrap.ign as it is"
      : `tunnel    ${tunnel.protocol} over ${tunnel.transport}, agents by ${tunnel.authentication}`,
    `payload   ${written.file}  ${payload.bytes} bytes (${payload.bytes - payload.originalBytes} added)`,
    `sha512    ${payload.sha512}`,
    pointer === undefined
      ? "pointer   none: give --url once you know where the payload will be"
      : `pointer   ${pointerFile}  ${pointer.bytes} bytes`,
    ...(payload.firewall === undefined
      ? []
      : [
          `firewall  open ${payload.firewall.protocol} ${payload.firewall.port} on the bootstrap machine to every node ("payload firewall" says exactly)`,
        ]),
    "secret    payload.ign holds every secret of the cluster: keep it private, delete it after the installation",
  ];
  output.text(inLines(lines));
}

function readPointer(options: BuildOptions, sha512: string) {
  const { url, caBundle, httpProxy, httpsProxy, proxyExcept, timeout } = options;
  if (url === undefined) {
    const useless = {
      "--ca-bundle": caBundle,
      "--http-proxy": httpProxy,
      "--https-proxy": httpsProxy,
      "--proxy-except": proxyExcept,
      "--timeout": timeout,
    };
    const given = Object.entries(useless).filter(([, value]) => value !== undefined);
    if (given.length > 0)
      throw new UserError(...given.map(([option]) => problem("pointer-option-without-url", { option })));
    return undefined;
  }
  const { document, warnings } = pointerTo({
    url,
    sha512,
    caBundle: caBundle === undefined ? undefined : readUserFile(caBundle, "check --ca-bundle"),
    proxy:
      httpProxy === undefined && httpsProxy === undefined && proxyExcept === undefined
        ? undefined
        : { http: httpProxy, https: httpsProxy, none: proxyExcept },
    totalTimeoutSeconds: timeout,
  });
  return { ...serializeIgnition(document), warnings };
}

/** An older pointer beside a newer payload would make a machine that refuses to boot. */
function staleWarnings(file: string, pointer: object | undefined, sha512: string): Warning[] {
  if (pointer !== undefined || !existsSync(file) || namesPayload(file, sha512)) return [];
  return [
    {
      code: "pointer-stale",
      message: `${file} is from an earlier build and names another payload: build again with --url, or delete it.`,
    },
  ];
}

/** A `.gitignore` that is there is not changed. */
function gitWarnings(folder: string): Warning[] {
  const names = notIgnored(folder, fileNames);
  if (names.length === 0) return [];
  return [
    {
      code: "not-ignored",
      message: `${join(folder, ".gitignore")} was there and was not changed: add ${names.join(" and ")} to it, or \`git add -A\` takes every secret of the cluster.`,
    },
  ];
}

/** One that cannot be read is as good as one that names another. */
function namesPayload(pointerFile: string, sha512: string): boolean {
  try {
    return readUserFile(pointerFile, "").includes(sha512);
  } catch (error) {
    if (error instanceof UserError) return false;
    throw error;
  }
}

function describePayload(found: InspectedPayload): string {
  const { record, added } = found;
  const width = Math.max(...added.map(({ path }) => path.length));
  return inLines([
    `payload   of konnectivity-bootstrap ${record.version}, for release ${record.release}`,
    `size      ${found.bytes} bytes, of which the tunnel is ${found.addedBytes}`,
    `sha512    ${found.sha512}`,
    "",
    "options",
    ...indent(stringify(record.options, { lineWidth: 0 })),
    "",
    "files added (mode, size on the node)",
    ...added.map(({ path, mode, bytes }) => `  ${path.padEnd(width)}  ${mode}  ${bytes}`),
    "",
    "bootkube.sh",
    ...indent(found.diff),
  ]);
}

function describePointer(found: InspectedPointer): string {
  return inLines([
    `pointer   ${found.bytes} bytes`,
    `source    ${found.source}`,
    `hash      ${found.hash}`,
    `time-out  ${found.totalTimeoutSeconds === undefined ? "none" : `${found.totalTimeoutSeconds} s`}`,
    `proxy     ${found.proxy ? "yes" : "no"}`,
    `CA bundle ${found.caBundle ? "yes" : "no"}`,
  ]);
}

function indent(text: string): string[] {
  return text
    .trimEnd()
    .split("\n")
    .map((line) => `  ${line}`.trimEnd());
}

function folderName(text: string): string {
  if (text === "") throw new InvalidArgumentError("Name a folder.");
  return text;
}

function wholeSeconds(text: string): number {
  const seconds = Number(text);
  if (!Number.isInteger(seconds) || seconds <= 0) throw new InvalidArgumentError("Give whole seconds above 0.");
  return seconds;
}
