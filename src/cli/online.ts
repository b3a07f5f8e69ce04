import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Inputs } from "../../stacks/resolve.ts";
import { findProgram } from "../../stacks/terraform-program.ts";
import {
  type MirrorKind,
  mirrorManifest,
  pullSecretPath,
  readReleaseSource,
  type ReleaseSource,
  releaseScriptPath,
} from "../core/ignition/release.ts";
import type { FileEntry } from "../core/ignition/config.ts";
import { proxyImage, releaseImageName } from "../core/konnectivity/image.ts";
import { shellWord } from "../core/shell-word.ts";
import { timeLimit } from "../core/time-limits.ts";

/** What a registry says about the image of the tunnel. */
export interface OnlineResult {
  /** `unknown`: nobody answered. `not-asked`: there is nothing to ask. */
  readonly result: "found" | "missing" | "unknown" | "not-asked";
  /** The pull spec of the release. @default - the release was not asked */
  readonly release: string | null;
  /** The images that were found. */
  readonly images: readonly string[];
  /** A clause. @default - the result says everything */
  readonly reason: string | null;
}

export interface OnlineProps {
  readonly tunnel: Inputs["tunnel"];
  readonly architecture: Inputs["architecture"];
  /** Of bootstrap.ign. @default - there is none */
  readonly files?: readonly FileEntry[];
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Ends the question. */
  readonly signal: AbortSignal;
  /** How long `oc` may take for each question, in milliseconds. @default 60000, multiplied */
  readonly limit?: number;
}

const answer = (result: OnlineResult["result"], more: Partial<OnlineResult> = {}): OnlineResult => ({
  result,
  release: null,
  images: [],
  reason: null,
  ...more,
});

/** Asks with `oc` whether the machines find the image of the tunnel. Nothing that `oc` prints to stderr is passed on. */
export async function askOnline(props: OnlineProps): Promise<OnlineResult> {
  const { tunnel, files, environment } = props;
  if (tunnel === "off") return answer("not-asked", { reason: "the tunnel is off" });
  if (tunnel === "installer") return answer("not-asked", { reason: "the installer's own tunnel chooses its image" });
  if (files === undefined) return answer("not-asked", { reason: "there is no bootstrap.ign" });
  const source = readReleaseSource(files);
  const program = findProgram("oc", environment);
  if (program === undefined) return answer("unknown", { reason: "oc is not on the PATH" });
  return withPrivateFolder((folder) => {
    const ask = (args: readonly string[], kind: MirrorKind) =>
      outputOf(program, [...args, ...sourceOptions(source, kind, folder)], props);
    const { server, agent } = proxyImage(tunnel);
    return tunnel.image === "release" ? askRelease(source, ask) : askImages([server, agent], props, ask);
  });
}

/** One line about it. */
export function describeOnline({ result, release, images, reason }: OnlineResult): string {
  switch (result) {
    case "found":
      return release === null ? `the registry has ${images.join(" and ")}` : `the release has ${releaseImageName}`;
    case "missing":
      return `the release has no image ${releaseImageName}`;
    case "unknown":
      return `not known: ${reason ?? ""}`;
    case "not-asked":
      return `nothing to ask: ${reason ?? ""}`;
  }
}

type Ask = (args: readonly string[], kind: MirrorKind) => Promise<Answer>;

async function askRelease({ pullSpec, mirrorKind }: ReleaseSource, ask: Ask): Promise<OnlineResult> {
  if (pullSpec === undefined)
    return answer("unknown", { reason: `${releaseScriptPath} in bootstrap.ign names no release image` });
  const words = ["adm", "release", "info", "--image-for", releaseImageName, pullSpec];
  const { stdout, stderr, failure } = await ask(words, mirrorKind);
  if (failure === undefined && isReference(stdout.trim()))
    return answer("found", { release: pullSpec, images: [stdout.trim()] });
  if (stderr.includes(`no image tag "${releaseImageName}" exists`)) return answer("missing", { release: pullSpec });
  return answer("unknown", { release: pullSpec, reason: explain(failure, stderr, words) });
}

/**
 * Images of the user's own need not be in the release. Whether the machines can pull them is only known in their network, so
 * a registry that does not have one here may be another than there.
 */
async function askImages(images: readonly string[], { architecture }: OnlineProps, ask: Ask): Promise<OnlineResult> {
  const found: string[] = [];
  const platform = `linux/${architecture === "aarch64" ? "arm64" : "amd64"}`;
  for (const image of new Set(images)) {
    const words = ["image", "info", "--filter-by-os", platform, image];
    // This command of oc reads no other kind.
    const { stderr, failure } = await ask(words, "ImageContentSourcePolicy");
    if (failure !== undefined)
      return answer("unknown", { images: found, reason: `${image}: ${explain(failure, stderr, words)}` });
    found.push(image);
  }
  return answer("found", { images: found });
}

const isReference = (text: string) => /^[A-Za-z0-9][\w.:/@-]*$/.test(text);

/** Causes by what oc prints about them. It may print credentials as well, so that its own words are not repeated. */
const causes: readonly (readonly [RegExp, string])[] = [
  [/unknown (?:flag|command)/, "this oc is too old or too new: it does not know an option"],
  [
    /unauthori[sz]ed|authentication required|forbidden|denied|\b40[13]\b/i,
    `the registry refused the pull secret (${pullSecretPath} in bootstrap.ign)`,
  ],
  [/x509|certificate|\btls:/i, "this machine does not trust the registry's certificate"],
  [/manifest unknown|not found|does not exist/i, "the registry does not have it, or does not show it"],
  [
    /no such host|dial tcp|connection refused|unreachable|timeout|deadline exceeded|proxyconnect|\bEOF\b/i,
    "this machine cannot reach the registry",
  ],
];

function explain(failure: string | undefined, stderr: string, words: readonly string[]): string {
  if (failure === undefined) return "oc printed something that is not an image";
  const known = failure === timedOut ? undefined : causes.find(([pattern]) => pattern.test(stderr));
  return `${known?.[1] ?? failure}; to see what oc says, run: oc ${words.map(shellWord).join(" ")}`;
}

/** The options with which `oc` pulls as the machines do, and the files that they name. */
function sourceOptions({ pullSecret, mirrors }: ReleaseSource, kind: MirrorKind, folder: string): string[] {
  const write = (name: string, content: string | Buffer) => {
    const file = join(folder, name);
    writeFileSync(file, content, { mode: 0o600 });
    return file;
  };
  // Without this option oc uses the operator's own credentials, which the machines do not have.
  const secret = write("pull-secret.json", pullSecret ?? '{"auths":{}}');
  const options = [`--registry-config=${secret}`];
  if (mirrors.length === 0) return options;
  const option = kind === "ImageContentSourcePolicy" ? "icsp-file" : "idms-file";
  // JSON is YAML, too.
  return [...options, `--${option}=${write("mirrors.yaml", JSON.stringify(mirrorManifest(kind, mirrors)))}`];
}

async function withPrivateFolder<T>(use: (folder: string) => Promise<T>): Promise<T> {
  // Node.js gives it the mode 0700.
  const folder = mkdtempSync(join(tmpdir(), "konnectivity-bootstrap-"));
  try {
    return await use(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

interface Answer {
  readonly stdout: string;
  readonly stderr: string;
  /** How it failed. @default - it succeeded */
  readonly failure?: string;
}

const timedOut = "oc did not end in time";
/** More than any answer. */
const enough = 1_000_000;

function outputOf(program: string, args: readonly string[], { signal, limit, environment }: OnlineProps) {
  return new Promise<Answer>((resolve, reject) => {
    if (signal.aborted) {
      reject(new Error("aborted"));
      return;
    }
    // A process group of its own: what oc starts, such as a credential helper, must not outlive it.
    const child = spawn(program, args, { stdio: ["ignore", "pipe", "pipe"], env: { ...environment }, detached: true });
    let [stdout, stderr] = ["", ""];
    let failure: string | undefined;
    const stop = (why: string) => {
      failure ??= why;
      if (child.pid === undefined) return;
      try {
        process.kill(-child.pid, "SIGKILL");
      } catch {
        // It has ended.
      }
    };
    const read = (before: string, part: string) => {
      if (before.length > enough) stop("oc printed too much");
      return before.length > enough ? before : before + part;
    };
    child.stdout.setEncoding("utf8").on("data", (part: string) => (stdout = read(stdout, part)));
    child.stderr.setEncoding("utf8").on("data", (part: string) => (stderr = read(stderr, part)));
    const timer = setTimeout(
      () => {
        stop(timedOut);
      },
      limit ?? timeLimit(60_000),
    );
    const abort = () => {
      stop("aborted");
    };
    signal.addEventListener("abort", abort);
    const end = (why?: string) => {
      clearTimeout(timer);
      signal.removeEventListener("abort", abort);
      const failed = failure ?? why;
      if (signal.aborted) reject(new Error("aborted"));
      else resolve({ stdout, stderr, ...(failed !== undefined && { failure: failed }) });
    };
    child.on("exit", () => {
      // What left the group may still hold the pipes.
      if (failure !== undefined) for (const stream of [child.stdout, child.stderr]) stream.destroy();
    });
    child.on("error", () => {
      end("oc cannot be started");
    });
    child.on("close", (code) => {
      end(code === 0 ? undefined : `oc ended with exit code ${String(code)}`);
    });
  });
}
