import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { version } from "../core/package.ts";
import { inLines, printable } from "../core/printable.ts";
import type { Look } from "./collect.ts";
import { isProbeSection } from "./probe.ts";
import { statusText } from "./status-text.ts";

/** Everything that was seen, as files, safe to print; without secrets. No name that a machine or an API sent is a path. */
export function gatheredFiles({ answers, cluster, status }: Look, now: Date): Map<string, string> {
  const files = new Map<string, string>();
  const add = (name: string, text: string) => {
    if (text !== "") files.set(name, printable(withoutSecrets(`${text.trimEnd()}\n`)));
  };
  const folders = safeNames(answers.map(({ machine }) => machine), ["README", "status.txt", "cluster"]); // prettier-ignore
  const pods = cluster !== undefined && "pods" in cluster ? cluster.pods : [];
  const logs = safeNames(pods.map(({ name }) => name));
  const renamed = [
    ...folders.map(({ given, safe }) => ({ given, safe, file: `${safe}/` })),
    ...logs.map(({ given, safe }) => ({ given, safe, file: logFile(safe) })),
  ].filter(({ given, safe }) => given !== safe);
  const names = renamed.map(({ given, file }) => `${file} belongs to ${JSON.stringify(given)}`);
  add(
    "README",
    [
      `konnectivity-bootstrap ${version}, gathered ${now.toISOString()}\n\n${readme}`,
      ...(names.length === 0 ? [] : [`Names that were changed to be file names:\n${names.join("\n")}`]),
    ].join("\n\n"),
  );
  add("status.txt", statusText(status));
  for (const [index, answer] of answers.entries()) {
    const folder = folders[index]?.safe ?? "";
    if ("silent" in answer) add(`${folder}/silent.txt`, answer.silent);
    else {
      for (const [name, text] of answer.sections) if (isProbeSection(name)) add(`${folder}/${name}.txt`, text);
      add(`${folder}/unknown-sections.txt`, unknownSections(answer.sections));
    }
  }
  if (cluster !== undefined && "silent" in cluster) add("cluster/silent.txt", cluster.silent);
  if (cluster !== undefined && "pods" in cluster) {
    add("cluster/pods.json", JSON.stringify(pods.map(({ log: _, ...pod }) => pod), undefined, 2)); // prettier-ignore
    add("cluster/events.txt", inLines(cluster.events));
    for (const [index, { log = "" }] of pods.entries()) add(logFile(logs[index]?.safe ?? ""), log);
  }
  return files;
}

const logFile = (pod: string) => `cluster/${pod}.log.txt`;

interface SafeName {
  readonly given: string;
  readonly safe: string;
}

/** The longest name that still leaves room for a number and an ending on every file system. */
const longestName = 100;

/**
 * A file name for each name, and none twice: also where upper and lower case are the same.
 * @param taken names that are not free
 */
export function safeNames(names: readonly string[], taken: readonly string[] = []): SafeName[] {
  const used = new Set(taken.map((name) => name.toLowerCase()));
  return names.map((given) => {
    // No dot at either end: "." and ".." are folders, other names would be hidden. No "-" in front: programs take it for an option.
    const reduced = given.slice(0, longestName).replaceAll(/[^\w.@-]/g, "_").replaceAll(/^[.-]|\.$/g, "_"); // prettier-ignore
    const base = reduced === "" ? "unnamed" : reduced;
    let safe = base;
    for (let number = 2; used.has(safe.toLowerCase()); number++) safe = `${base}-${number}`;
    used.add(safe.toLowerCase());
    return { given, safe };
  });
}

/** What a machine sent under names that are not the probe's. */
function unknownSections(sections: ReadonlyMap<string, string>): string {
  return [...sections]
    .filter(([name]) => !isProbeSection(name))
    .map(([name, text]) => `== ${JSON.stringify(name)}\n${text.replaceAll(/^/gm, " ")}\n`)
    .join("");
}

const readme = `status.txt is what the status command says. Each machine has a folder: what was asked there is in src/cluster/probe.sh of the
project. It is read-only, and asks for no key, token or kubeconfig; logs are looked through for such things once more.
unknown-sections.txt holds what a machine sent beside the answers to that. Characters that a terminal would obey are written
as \\uXXXX in all files.`;

/** Nothing of this is asked for; a program's log is not ours, though. */
export function withoutSecrets(text: string): string {
  return text
    .replaceAll(/-----BEGIN [A-Z ]*PRIVATE KEY-----[^]*?(-----END [A-Z ]*PRIVATE KEY-----|$)/g, "(a private key)")
    .replaceAll(/\beyJ[\w-]{10,}\.[\w-]{10,}\.[\w-]{10,}/g, "(a token)")
    .replaceAll(/\bLS0tLS1CRUdJTi[\w+/]+=*/g, "(a PEM file)")
    .replaceAll(/\b(Bearer|Basic) [\w.+/~-]{8,}=*/g, "$1 (a secret)")
    .replaceAll(/\/\/[^/@\s"']+:[^/@\s"']+@/g, "//(a password)@");
}

/** One archive of files, below one folder; the system's tar makes it. In one go: no signal leaves anything behind. */
export function archiveOf(files: ReadonlyMap<string, string>, folder: string): Buffer {
  const work = mkdtempSync(join(tmpdir(), "konnectivity-bootstrap-gather-"));
  try {
    for (const [name, text] of files) {
      const file = join(work, folder, name);
      mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
      writeFileSync(file, text, { mode: 0o600 });
    }
    const tar = ["--create", "--gzip", "--owner=0", "--group=0", "--directory", work, folder];
    const { status, stdout, stderr, error } = spawnSync("tar", tar, { maxBuffer: 1024 ** 3 });
    if (status !== 0) throw new Error(`tar failed: ${error?.message ?? stderr.toString().trim()}`);
    return stdout;
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}
