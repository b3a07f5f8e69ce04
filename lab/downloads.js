// Plain JavaScript without dependencies, as lab/go-programs.js: set-up uses it to download programs that take minutes to build.
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { chmodSync, closeSync, createWriteStream, openSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { clearInterval, clearTimeout, setInterval, setTimeout } from "node:timers";
import { addToCache, mustBeBuilt, temporaryFolder, titleOf } from "./go-programs.js";
import { officialBinaries } from "./official-binaries.js";

/** @typedef {import("./go-programs.js").GoProgramName} GoProgramName */
/** @typedef {import("./official-binaries.js").Architecture} Architecture */
/** @typedef {import("./official-binaries.js").OfficialArchive} OfficialArchive */
/** @typedef {import("./official-binaries.js").OfficialImages} OfficialImages */
/** @typedef {import("./official-binaries.js").OfficialBinaries} OfficialBinaries */

/** Names a mirror, or switches downloads off. */
export const mirrorVariable = "KONNECTIVITY_DOWNLOAD_MIRROR";

/** The time limit for the first byte. Behind a firewall that drops packets, users must not wait longer. */
const secondsToFirstByte = 3;

/** A transfer that is slower than 1 kB/s for so long is cut off. */
const secondsOfStall = 15;

/** Far more than any of the files has: a server must not be able to fill the disk. */
const mostBytes = 1024 ** 3;

/** A registry converts a manifest that it does not know to be accepted, or refuses it. */
const acceptedTypes = [
  "application/vnd.oci.image.index.v1+json",
  "application/vnd.oci.image.manifest.v1+json",
  "application/vnd.docker.distribution.manifest.list.v2+json",
  "application/vnd.docker.distribution.manifest.v2+json",
  "*/*",
];

/** A download that did not succeed. The message is a part of a sentence, and names the host. */
class DownloadFailed extends Error {}

/** A transfer that broke off after it had begun: worth a second try. */
class CutOff extends DownloadFailed {}

/** A file that differs from the requested one. */
class WrongDigest extends DownloadFailed {
  /** @param {{ url: URL, expected: string, found: string }} facts */
  constructor({ url, expected, found }) {
    super(`${url.host}: wrong checksum`);
    this.sentence = `${url.origin}${url.pathname} has checksum ${found} instead of ${expected}, so it is not used.`;
  }
}

/**
 * Whether a program can be downloaded: it is published for this machine, and downloads are not switched off.
 * @param {GoProgramName} name
 * @param {OfficialBinaries} official
 */
export function isDownloadable(name, official = officialBinaries) {
  return official[name] !== undefined && architecture() !== undefined && readMirror() !== "off";
}

/**
 * Downloads Go programs that are published and not in the cache yet. What cannot be downloaded is
 * reported and left to be built. Nothing is used without its pinned checksum. Throws one sentence if the mirror's
 * address is wrong.
 * @param {readonly GoProgramName[]} names
 * @param {OfficialBinaries} official
 */
export async function downloadGoPrograms(names, official = officialBinaries) {
  const wanted = names.filter((name) => mustBeBuilt(name) && isDownloadable(name, official));
  if (wanted.length === 0) return;
  const progress = new Progress(wanted.map(titleOf));
  const results = await interruptible((signal) =>
    Promise.allSettled(wanted.map((name) => downloadOne(name, official[name], new Transfer(signal, progress)))),
  );
  progress.end(wanted.filter((_, index) => results[index]?.status === "fulfilled").map(titleOf));
  const errors = results.flatMap((result) =>
    result.status === "rejected" ? [/** @type {Error} */ (result.reason)] : [],
  );
  if (errors.length === 0) return;
  for (const error of errors) if (error instanceof WrongDigest) console.error(error.sentence);
  const reasons = new Set(errors.map(({ message }) => message));
  console.error(`Cannot download (${[...reasons].join("; ")}): building from source.`);
}

/**
 * Downloads one program beside the cache's entries, and adds it to them when it is complete.
 * @param {GoProgramName} name
 * @param {OfficialArchive | OfficialImages | undefined} official
 * @param {Transfer} transfer
 */
async function downloadOne(name, official, transfer) {
  const machine = architecture();
  if (official === undefined || machine === undefined)
    throw new DownloadFailed("nothing is published for this machine");
  const folder = temporaryFolder(name);
  try {
    await downloadInto(folder, official, machine, transfer);
    addToCache(name, folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * @param {string} folder
 * @param {OfficialArchive | OfficialImages} official
 * @param {Architecture} machine
 * @param {Transfer} transfer
 */
async function downloadInto(folder, official, machine, transfer) {
  if ("images" in official)
    await allOrFirstError(
      Object.entries(official.images).map(([binary, image]) =>
        downloadFromImage(join(folder, binary), binary, image, machine, transfer),
      ),
    );
  else await downloadFromArchive(folder, official, machine, transfer);
}

/**
 * @param {string} folder
 * @param {OfficialArchive} archive
 * @param {Architecture} machine
 * @param {Transfer} transfer
 */
async function downloadFromArchive(folder, { address, digests, binaries }, machine, transfer) {
  const partial = join(folder, "archive.partial");
  await transfer.file(address(machine), digests[machine], partial);
  for (const [binary, path] of Object.entries(binaries))
    if (!(await transfer.extract(partial, path, join(folder, binary))))
      throw new DownloadFailed(`${address(machine)} contains no ${path}`);
  rmSync(partial);
}

/**
 * Goes from the image's index to the manifest for this machine and to the layers, each by its digest: so the digest of the
 * index verifies all of them.
 * @param {string} into
 * @param {string} binary
 * @param {{ repository: string, digest: string }} image
 * @param {Architecture} machine
 * @param {Transfer} transfer
 */
async function downloadFromImage(into, binary, { repository, digest }, machine, transfer) {
  const partial = `${into}.partial`;
  /** @param {string} one */
  const manifest = async (one) => {
    await transfer.file(`${repository}/manifests/${one}`, one, partial);
    return JSON.parse(readFileSync(partial, "utf8"));
  };
  const { manifests = [] } = await manifest(digest);
  const forMachine = manifests.find(
    (/** @type {{ platform?: { os?: string, architecture?: string } }} */ { platform }) =>
      platform?.os === "linux" && platform.architecture === machine,
  );
  if (forMachine === undefined) throw new DownloadFailed(`${repository}@${digest} has no image for ${machine}`);
  const { layers = [] } = await manifest(forMachine.digest);
  // The program is in one of the last layers; the others are the base image.
  for (const layer of layers.reverse()) {
    await transfer.file(`${repository}/blobs/${layer.digest}`, layer.digest, partial);
    const found = await transfer.extract(partial, binary, into);
    rmSync(partial);
    if (found) return;
  }
  throw new DownloadFailed(`${repository}@${digest} contains no /${binary}`);
}

/** How files are fetched: by curl, which knows proxies (HTTPS_PROXY, NO_PROXY) and this machine's certificate authorities. */
class Transfer {
  #signal;
  #progress;

  /**
   * @param {AbortSignal} signal
   * @param {Progress} progress
   */
  constructor(signal, progress) {
    this.#signal = signal;
    this.#progress = progress;
  }

  /**
   * Downloads a file and checks it; a transfer that is cut off is tried a second time.
   * @param {string} address
   * @param {string} digest
   * @param {string} into
   */
  async file(address, digest, into) {
    const url = located(address);
    const [, sha256, sha512] = /^(?:(sha256):[0-9a-f]{64}|(sha512):[0-9a-f]{128})$/.exec(digest) ?? [];
    const algorithm = sha256 ?? sha512;
    if (algorithm === undefined) throw new DownloadFailed(`${url.host}: a manifest contains an invalid checksum`);
    let found;
    try {
      found = await this.#once(url, algorithm, into);
    } catch (error) {
      if (!(error instanceof CutOff)) throw error;
      this.#progress.say(`A download was interrupted (${error.message}): trying once more.`);
      found = await this.#once(url, algorithm, into);
    }
    if (found !== digest) throw new WrongDigest({ url, expected: digest, found });
  }

  /**
   * @param {URL} url
   * @param {string} algorithm
   * @param {string} into
   * @returns {Promise<string>} the digest of what came
   */
  async #once(url, algorithm, into) {
    // The settings are not arguments, which everybody on the machine can read: a mirror's address may contain a password.
    const curl = spawn("curl", ["--disable", "--config", "-"], { signal: this.#signal });
    const ended = new Promise((resolve, reject) => curl.once("error", reject).once("close", resolve));
    // It is awaited below; until then an error must not end the process.
    ended.catch(() => undefined);
    curl.stdin.on("error", () => undefined).end(settings(url));
    let said = "";
    curl.stderr.setEncoding("utf8").on("data", (text) => (said += text));
    let late = false;
    const timer = setTimeout(() => {
      late = true;
      curl.kill("SIGKILL");
    }, secondsToFirstByte * 1000);
    const hash = createHash(algorithm);
    const progress = this.#progress;
    let bytes = 0;
    try {
      await pipeline(
        curl.stdout,
        async function* (chunks) {
          for await (const chunk of chunks) {
            clearTimeout(timer);
            bytes += chunk.length;
            if (bytes > mostBytes) throw new DownloadFailed(`${url.host}: more than ${mostBytes} bytes`);
            hash.update(chunk);
            progress.received(chunk.length);
            yield chunk;
          }
        },
        createWriteStream(into),
      );
      const status = await ended;
      if (status === 0) return `${algorithm}:${hash.digest("hex")}`;
    } catch (error) {
      curl.kill("SIGKILL");
      // If curl cannot be started, or was stopped by the signal, that is why its output broke off.
      await ended.then(
        () => undefined,
        (cause) => {
          throw cause.code === "ENOENT" ? new DownloadFailed("curl is not installed") : cause;
        },
      );
      throw error;
    } finally {
      clearTimeout(timer);
    }
    if (late) throw new DownloadFailed(`${url.host}: no answer within ${secondsToFirstByte} seconds`);
    const reason = `${url.host}: ${reasonOf(said, url)}`;
    throw bytes > 0 ? new CutOff(reason) : new DownloadFailed(reason);
  }

  /**
   * Extracts one file from an archive as an executable program.
   * @param {string} archive
   * @param {string} path
   * @param {string} into
   * @returns {Promise<boolean>} false if the archive does not contain it
   */
  async extract(archive, path, into) {
    const output = openSync(into, "w", 0o700);
    try {
      const tar = spawn("tar", ["--extract", "--to-stdout", "--file", archive, "--", path], {
        signal: this.#signal,
        stdio: ["ignore", output, "pipe"],
      });
      let said = "";
      tar.stderr.setEncoding("utf8").on("data", (text) => (said += text));
      const status = await new Promise((resolve, reject) => tar.once("error", reject).once("close", resolve));
      if (status !== 0 && !said.includes("Not found in archive"))
        throw new DownloadFailed(`tar: ${said.trim().split("\n")[0]}`);
      if (status === 0) chmodSync(into, 0o755);
      else rmSync(into);
      return status === 0;
    } finally {
      closeSync(output);
    }
  }
}

/**
 * The settings of curl.
 * @param {URL} url
 */
const settings = (url) =>
  [
    `url = "${url.href}"`,
    "fail",
    "location",
    "max-redirs = 5",
    "silent",
    "show-error",
    // Pass on the first byte without delay.
    "no-buffer",
    // A mirror may have no TLS, because every file is verified.
    `proto = "=${readMirror() === undefined ? "https" : "http,https"}"`,
    "speed-limit = 1000",
    `speed-time = ${secondsOfStall}`,
    `header = "Accept: ${acceptedTypes.join(", ")}"`,
    "",
  ].join("\n");

/**
 * The error message of curl, without the host, which the caller adds.
 * @param {string} said
 * @param {URL} url
 */
function reasonOf(said, url) {
  const words = /^curl: \(\d+\) (.+)/m.exec(said)?.[1] ?? "curl was stopped";
  return words.replace(`: ${url.hostname}`, "");
}

/**
 * The mirror that the user has set; `off` disables downloads, and an empty variable counts as unset.
 * @returns {string | undefined}
 */
function readMirror() {
  const text = process.env[mirrorVariable] || undefined;
  if (text === undefined || text === "off") return text;
  if (!URL.canParse(text) || !/^https?:$/.test(new URL(text).protocol))
    throw new Error(`${mirrorVariable} is neither "off" nor a URL with http or https: correct it, or unset it.`);
  return text;
}

/**
 * Where a file is: in a mirror below the name of the host that it comes from.
 * @param {string} address
 */
function located(address) {
  const mirror = readMirror();
  return new URL(mirror === undefined ? address : address.replace(/^https:\//, mirror.replace(/\/+$/, "")));
}

/** @returns {Architecture | undefined} undefined if nothing is published for this machine */
function architecture() {
  if (process.platform !== "linux") return undefined;
  return process.arch === "x64" ? "amd64" : process.arch === "arm64" ? "arm64" : undefined;
}

/**
 * Waits for all, also if one fails: nothing may be written any more when the folder is removed.
 * @param {readonly Promise<void>[]} steps
 */
async function allOrFirstError(steps) {
  for (const result of await Promise.allSettled(steps)) if (result.status === "rejected") throw result.reason;
}

/**
 * Runs a step that Ctrl-C stops; then it removes what it began, and the process ends by the signal.
 * @template Result
 * @param {(signal: AbortSignal) => Promise<Result>} step
 */
async function interruptible(step) {
  const signals = /** @type {const} */ (["SIGINT", "SIGTERM", "SIGHUP"]);
  const controller = new AbortController();
  /** @type {NodeJS.Signals | undefined} */
  let received;
  const stop = (/** @type {NodeJS.Signals} */ signal) => {
    received = signal;
    controller.abort();
  };
  for (const signal of signals) process.on(signal, stop);
  try {
    return await step(controller.signal);
  } finally {
    for (const signal of signals) process.off(signal, stop);
    if (received !== undefined) process.kill(process.pid, received);
  }
}

/** Prints what is downloaded and, on a terminal, the progress. */
class Progress {
  #titles;
  #bytes = 0;
  #start = Date.now();
  /** @type {NodeJS.Timeout | undefined} */
  #timer;
  #begun = false;

  /** @param {readonly string[]} titles */
  constructor(titles) {
    this.#titles = titles;
  }

  /** @param {number} bytes */
  received(bytes) {
    this.#bytes += bytes;
    // Printed when the first byte arrives: without access to the internet, the user gets one line, not two.
    if (this.#begun) return;
    this.#begun = true;
    console.error(`Downloading ${this.#titles.join("; ")} …`);
    if (process.stderr.isTTY && !process.env.CI)
      this.#timer = setInterval(() => process.stderr.write(`\r${this.#figures()}\u001b[K`), 200);
  }

  /** @param {string} line */
  say(line) {
    this.#clear();
    console.error(line);
  }

  /** @param {readonly string[]} titles what was downloaded */
  end(titles) {
    clearInterval(this.#timer);
    this.#clear();
    if (titles.length > 0) console.error(`Downloaded ${titles.join("; ")}: ${this.#figures()}.`);
  }

  #clear() {
    if (this.#timer !== undefined) process.stderr.write("\r\u001b[K");
  }

  #figures() {
    return `${(this.#bytes / 1e6).toFixed(1)} MB in ${Math.round((Date.now() - this.#start) / 1000)} s`;
  }
}
