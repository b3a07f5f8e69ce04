import { version } from "../core/package.ts";
import { inLines, printable } from "../core/printable.ts";
import type { Collected } from "./collect.ts";
import { isProbeSection } from "./probe.ts";
import { statusText } from "./status-text.ts";

/**
 * Everything that was collected, as files by path, without secrets and safe to print. Names that a machine or an API sent
 * are never used as paths.
 */
export function gatheredFiles({ probes, cluster, status }: Collected, now: Date): Map<string, string> {
  const files = new Map<string, string>();
  const add = (name: string, text: string) => {
    if (text !== "") files.set(name, printable(withoutSecrets(`${text.trimEnd()}\n`)));
  };
  const folders = safeNames(probes.map(({ machine }) => machine), ["README", "status.txt", "cluster"]); // prettier-ignore
  const pods = cluster !== undefined && "pods" in cluster ? cluster.pods : [];
  const logs = safeNames(pods.map(({ name }) => name));
  const renamed = [
    ...folders.map(({ given, safe }) => ({ given, safe, file: `${safe}/` })),
    ...logs.map(({ given, safe }) => ({ given, safe, file: logFile(safe) })),
  ].filter(({ given, safe }) => given !== safe);
  const names = renamed.map(({ given, file }) => `${file} was ${JSON.stringify(given)}`);
  add(
    "README",
    [
      `konnectivity-bootstrap ${version}, gathered ${now.toISOString()}\n\n${readme}`,
      ...(names.length === 0 ? [] : [`Names that were changed to valid file names:\n${names.join("\n")}`]),
    ].join("\n\n"),
  );
  add("status.txt", statusText(status));
  for (const [index, probe] of probes.entries()) {
    const folder = folders[index]?.safe ?? "";
    if ("unreachable" in probe) add(`${folder}/unreachable.txt`, probe.unreachable);
    else {
      for (const [name, text] of probe.sections) if (isProbeSection(name)) add(`${folder}/${name}.txt`, text);
      add(`${folder}/unknown-sections.txt`, unknownSections(probe.sections));
    }
  }
  if (cluster !== undefined && "unreachable" in cluster) add("cluster/unreachable.txt", cluster.unreachable);
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

/** Leaves room for a number and an extension on every file system. */
const longestName = 100;

/**
 * A unique file name for each name, also on file systems that ignore case.
 * @param taken names that are already in use
 */
export function safeNames(names: readonly string[], taken: readonly string[] = []): SafeName[] {
  const used = new Set(taken.map((name) => name.toLowerCase()));
  return names.map((given) => {
    // No dot at either end: "." and ".." are folders, other names would be hidden. No leading "-": programs take it for an option.
    const reduced = given.slice(0, longestName).replaceAll(/[^\w.@-]/g, "_").replaceAll(/^[.-]|\.$/g, "_"); // prettier-ignore
    const base = reduced === "" ? "unnamed" : reduced;
    let safe = base;
    for (let number = 2; used.has(safe.toLowerCase()); number++) safe = `${base}-${number}`;
    used.add(safe.toLowerCase());
    return { given, safe };
  });
}

/** What a machine sent in sections that the probe does not have. */
function unknownSections(sections: ReadonlyMap<string, string>): string {
  return [...sections]
    .filter(([name]) => !isProbeSection(name))
    .map(([name, text]) => `== ${JSON.stringify(name)}\n${text.replaceAll(/^/gm, " ")}\n`)
    .join("");
}

const readme = `status.txt is the output of the status command. Each machine has a folder with the output of src/cluster/probe.sh. That script is
read-only and collects no key, token or kubeconfig; in addition, such secrets are removed from logs. unknown-sections.txt
contains output of a machine that the script does not produce. In all files, terminal control characters are written as \\uXXXX.`;

/** Removes secrets. The probe collects none, but a program's log may contain one. */
export function withoutSecrets(text: string): string {
  return text
    .replaceAll(/-----BEGIN [A-Z ]*PRIVATE KEY-----[^]*?(-----END [A-Z ]*PRIVATE KEY-----|$)/g, "(a private key)")
    .replaceAll(/\beyJ[\w-]{10,}\.[\w-]{10,}\.[\w-]{10,}/g, "(a token)")
    .replaceAll(/\bLS0tLS1CRUdJTi[\w+/]+=*/g, "(a PEM file)")
    .replaceAll(/\b(Bearer|Basic) [\w.+/~-]{8,}=*/g, "$1 (a secret)")
    .replaceAll(/\/\/[^/@\s"']+:[^/@\s"']+@/g, "//(a password)@");
}
