import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { version } from "../constructs/package.ts";
import type { Look } from "./look.ts";
import { statusText } from "./status-text.ts";

/** Everything that was seen, as files; without secrets. */
export function gatheredFiles({ answers, cluster, status }: Look, now: Date): Map<string, string> {
  const files = new Map<string, string>();
  const add = (name: string, text: string) => {
    if (text !== "") files.set(name, withoutSecrets(`${text.trimEnd()}\n`));
  };
  add("README", `konnectivity-bootstrap ${version}, gathered ${now.toISOString()}\n\n${readme}`);
  add("status.txt", statusText(status));
  for (const answer of answers) {
    const folder = answer.machine.replaceAll(/[^\w.@:-]/g, "_");
    if ("silent" in answer) add(`${folder}/silent.txt`, answer.silent);
    else for (const [name, text] of answer.sections) add(`${folder}/${name}.txt`, text);
  }
  if (cluster !== undefined && "silent" in cluster) add("cluster/silent.txt", cluster.silent);
  if (cluster !== undefined && "pods" in cluster) {
    add("cluster/pods.json", JSON.stringify(cluster.pods.map(({ log: _, ...pod }) => pod), undefined, 2)); // prettier-ignore
    add("cluster/events.txt", cluster.events.join("\n"));
    for (const { name, log = "" } of cluster.pods) add(`cluster/${name}.log.txt`, log);
  }
  return files;
}

const readme = `status.txt is what the status command says. Each machine has a folder: what was asked there is in cluster/probe.sh of the
project. It is read-only, and asks for no key, token or kubeconfig; logs are looked through for such things once more.`;

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
