import { withoutSecrets } from "../cluster/gather.ts";
import { isIpAddress } from "../core/addresses.ts";

/** Removes from a text everything that names a cluster, an account, a machine or a person. */
export type Redact = (text: string) => string;

/** Texts that many messages contain and that identify nobody, although they look like a host name. */
const ourFiles = [
  ...["bootstrap.ign", "payload.ign", "metadata.json", "bootkube.sh", "konnectivity.yaml", "package-lock.json"],
  ...["kube-apiserver-config.yaml", "progress.json", "cdktf.json", "coreos-stream.json"],
];

/** Shorter values are parts of ordinary words. */
const shortest = 3;
/** A value that is at least so long is replaced inside a word too. */
const longEnough = 6;

/**
 * @param names values that are known to identify: of the config, metadata.json, the state and this machine
 */
export function redactor(names: readonly string[]): Redact {
  const known = [...new Set(names.map((name) => name.trim()))]
    .filter((name) => name.length >= shortest)
    // A name may be a part of another one.
    .sort((a, b) => b.length - a.length)
    .map((name) => {
      const literal = name.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&");
      return new RegExp(name.length >= longEnough ? literal : `(?<![\\w-])${literal}(?![\\w-])`, "gi");
    });
  return (text) =>
    withoutShapes(
      known.reduce(
        (redacted, pattern) => redacted.replaceAll(pattern, "<name>"),
        withoutReferences(withoutSecrets(text)),
      ),
    );
}

/** What has names in it, known ones and others. */
const withoutReferences = (text: string) =>
  text
    .replaceAll(/\b[a-z][a-z0-9+.-]*:\/\/[^\s"'`,;)]+/gi, "<url>")
    .replaceAll(/\barn:[^\s"'`,;)]+/gi, "<arn>")
    .replaceAll(/[\w.+-]+@[\w.-]+/g, "<user>");

/** What identifies by its shape alone, whatever is known. */
const withoutShapes = (text: string) =>
  text
    .replaceAll(/\b[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\b/gi, "<id>")
    .replaceAll(/(?<![\w.])[0-9a-f]*:[0-9a-f:.]*[0-9a-f:](?:\/\d{1,3})?/gi, (found) =>
      isIpAddress(found.split("/")[0] ?? "") ? "<address>" : found,
    )
    .replaceAll(/(?<![\w.])\d{1,3}(?:\.\d{1,3}){3}(?:\/\d{1,2}|:\d+)?(?!\w)/g, "<address>")
    // Cloud IDs, like i-0123456789abcdef0; account and project numbers; keys and hashes.
    .replaceAll(/\b[a-z]{1,10}-[0-9a-f]{8,}\b/gi, "<id>")
    .replaceAll(/\b\d{9,}\b/g, "<id>")
    .replaceAll(/[\w+/=-]{32,}/g, "<id>")
    .replaceAll(/(?<![\w<])(?:[A-Za-z]:\\|~?\/|\.{1,2}\/)[^\s"'`,;:)]+/g, "<path>")
    .replaceAll(/(?<![\w.])(?:[a-z0-9-]+\.)+[a-z][a-z0-9-]+(?::\d+)?\b/gi, (found) =>
      ourFiles.includes(found) ? found : "<host>",
    );

/** Every text in a value that came from a file of the user's: keys too, because tags have names. */
export function textsIn(value: unknown, above: readonly unknown[] = []): string[] {
  if (typeof value === "string") return [value];
  if (typeof value !== "object" || value === null || above.includes(value)) return [];
  return Object.values(value).flatMap((part) => textsIn(part, [...above, value]));
}
