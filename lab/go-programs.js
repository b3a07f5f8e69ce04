// Plain JavaScript without dependencies: scripts/setup.js uses it to build programs, and the lab and the tests to find them.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  accessSync,
  constants,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
} from "node:fs";
import { homedir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { projectFile } from "../src/runtime/project-files.js";

/**
 * A folder with a go.mod, and what is built there.
 * @typedef {object} GoProgram
 * @property {string} folder From the project's root.
 * @property {string} title What the user reads while it is built.
 * @property {string} firstTime How long that takes on two cores when nothing is downloaded or compiled yet.
 * @property {Readonly<Record<string, string>>} binaries The package that each binary is built from.
 * @property {string} ldflags For the linker.
 * @property {boolean} [cgo] Whether some of it is C, which needs gcc and the libraries' headers.
 */

/** No symbol table and no debug information: a third smaller. */
export const small = "-s -w";

/**
 * @param {string} version
 * @param {string} firstTime
 */
const proxy = (version, firstTime) => ({
  folder: `lab/components/proxy-${version}`,
  title: `proxy-server and proxy-agent ${version}`,
  firstTime,
  binaries: {
    "proxy-server": "sigs.k8s.io/apiserver-network-proxy/cmd/server",
    "proxy-agent": "sigs.k8s.io/apiserver-network-proxy/cmd/agent",
  },
  ldflags: small,
});

/**
 * Everything that set-up builds. The modules' versions are those of the folder's go.mod, their content that of its go.sum.
 * @satisfies {Record<string, GoProgram>}
 */
const programs = {
  "kubernetes-schema": {
    folder: "test/support/kubernetes-schema",
    title: "the Kubernetes schema checker",
    firstTime: "about two minutes",
    binaries: { "kubernetes-schema": "." },
    ldflags: "",
  },
  webhook: {
    folder: "lab/webhook",
    title: "the lab's webhook",
    firstTime: "half a minute",
    binaries: { webhook: "." },
    ldflags: small,
  },
  "installer-rewrite": {
    folder: "lab/installer-rewrite",
    title: "the program that rewrites bootstrap.ign like openshift-install",
    firstTime: "half a minute",
    binaries: { "installer-rewrite": "." },
    ldflags: small,
  },
  load: {
    folder: "test/e2e/load",
    title: "the load generator",
    firstTime: "half a minute",
    binaries: { load: "." },
    ldflags: small,
  },
  kubernetes: {
    folder: "lab/components/kubernetes",
    title: "kube-apiserver 1.36.0 and etcd 3.6.8",
    firstTime: "about six minutes",
    binaries: {
      "kube-apiserver": "k8s.io/kubernetes/cmd/kube-apiserver",
      etcd: "go.etcd.io/etcd/server/v3",
    },
    // Without a version, kube-apiserver reports v0.0.0-master+$Format, which clients cannot parse.
    ldflags: [
      small,
      "-X k8s.io/component-base/version.gitVersion=v1.36.0",
      "-X k8s.io/component-base/version.gitMajor=1",
      "-X k8s.io/component-base/version.gitMinor=36",
    ].join(" "),
  },
  "proxy-0.36.0": proxy("0.36.0", "about two minutes"),
  "proxy-0.31.4": proxy("0.31.4", "about three minutes"),
  "proxy-0.29.0": proxy("0.29.0", "about a minute"),
  "proxy-0.1.2": proxy("0.1.2", "about a minute"),
  "proxy-0.0.37": proxy("0.0.37", "about a minute"),
  ignition: {
    folder: "test/e2e/clouds/ignition",
    title: "Ignition 2.26.0",
    firstTime: "about three minutes",
    binaries: { ignition: "github.com/coreos/ignition/v2/internal" },
    ldflags: small,
    cgo: true,
  },
};

/** @typedef {keyof typeof programs} GoProgramName */

/** The proxy that the lab runs by default. */
export const currentProxy = "proxy-0.36.0";

/** Proxies of older releases: tests check which flags they accept. */
export const oldProxies = /** @type {const} */ (["proxy-0.31.4", "proxy-0.29.0", "proxy-0.1.2", "proxy-0.0.37"]);

/** @typedef {(typeof oldProxies)[number]} OldProxyName */

/** The programs in the lab's container images. */
export const labGoPrograms = /** @type {const} */ (["kubernetes", currentProxy, "webhook"]);

/** Programs that the user can provide with KONNECTIVITY_COMPONENTS. */
const components = new Set(["kubernetes", currentProxy]);

/**
 * Builds a Go program, unless this very source is built already, and says where its binaries are. Throws one sentence if
 * that fails. Not in a test, unless setup has built it: it takes longer than a test may.
 * @template {GoProgramName} Name
 * @param {Name} name
 * @returns {{ readonly [Binary in keyof (typeof programs)[Name]["binaries"]]: string }} each binary's path
 */
export function ensureGoProgram(name) {
  /** @type {GoProgram} */
  const program = programs[name];
  const binaries = Object.keys(program.binaries);
  const named = namedFolder(name);
  const folder = named === undefined ? ensureBuilt(name, program) : resolve(named);
  if (named !== undefined) for (const binary of binaries) mustBeExecutable(folder, binary);
  const paths = Object.fromEntries(binaries.map((binary) => [binary, join(folder, binary)]));
  return /** @type {{ [Binary in keyof (typeof programs)[Name]["binaries"]]: string }} */ (paths);
}

/**
 * The folder that the user says has a program. An empty variable counts as none, here and below (XDG base directory
 * specification).
 * @param {GoProgramName} name
 */
const namedFolder = (name) => (components.has(name) ? process.env.KONNECTIVITY_COMPONENTS || undefined : undefined);

/**
 * Whether ensureGoProgram would need Go for this program.
 * @param {GoProgramName} name
 */
export const mustBeBuilt = (name) => namedFolder(name) === undefined && !isBuilt(name);

/**
 * What the user reads about a program.
 * @param {GoProgramName} name
 */
export const titleOf = (name) => programs[name].title;

/**
 * Whether a Go program is built already, from this very source.
 * @param {GoProgramName} name
 */
export const isBuilt = (name) => isInCache(name, programs[name]);

/**
 * The same for a program that is not in the list above.
 * @param {string} name
 * @param {GoProgram} program
 */
export const isInCache = (name, program) => existsSync(inCache(`${name}-${digestOf(program)}`));

/**
 * Builds a program, in the list above or not, unless this very source is built already.
 * @param {string} name
 * @param {GoProgram} program
 * @returns {string} the folder with its binaries
 */
export const ensureBuilt = (name, program) =>
  cached(`${name}-${digestOf(program)}`, (unfinished) => {
    build(program, unfinished);
  });

/** @param {string} name */
const inCache = (name) => join(process.env.XDG_CACHE_HOME || join(homedir(), ".cache"), "konnectivity-bootstrap", name);

/**
 * A folder of the cache, created on first use. `make` fills another folder, which is renamed at the end, so the folder is never
 * incomplete: two processes can create it at once, and an interrupted one does not leave a partial result.
 * @param {string} name ends with a digest of the folder's inputs
 * @param {(unfinished: string) => void} make
 * @returns {string} the folder's path
 */
export function cached(name, make) {
  const finished = inCache(name);
  if (existsSync(finished)) return finished;
  mkdirSync(dirname(finished), { recursive: true });
  removeRemains(dirname(finished));
  const unfinished = mkdtempSync(`${finished}.${process.pid}.`);
  try {
    make(unfinished);
    renameSync(unfinished, finished);
  } catch (error) {
    rmSync(unfinished, { recursive: true, force: true });
    // Another process created it first.
    if (!existsSync(finished)) throw error;
  }
  return finished;
}

/**
 * Removes unfinished folders of processes that have ended: Ctrl-C leaves them behind.
 * @param {string} folder
 */
function removeRemains(folder) {
  for (const name of readdirSync(folder)) {
    const [, pid] = /\.(\d+)\.\w{6}$/.exec(name) ?? [];
    if (pid !== undefined && !existsSync(`/proc/${pid}`)) rmSync(join(folder, name), { recursive: true, force: true });
  }
}

/**
 * A new folder in the cache that does not outlive this process: what it leaves there is removed later.
 * @param {string} name
 */
export function temporaryFolder(name) {
  const parent = inCache(".");
  mkdirSync(parent, { recursive: true });
  removeRemains(parent);
  return mkdtempSync(join(parent, `${name}.${process.pid}.`));
}

/**
 * Adds a Go program to the cache that was not built here. The cache does not distinguish the two.
 * @param {GoProgramName} name
 * @param {string} folder contains its binaries, which are moved
 */
export function addToCache(name, folder) {
  /** @type {GoProgram} */
  const program = programs[name];
  cached(`${name}-${digestOf(program)}`, (unfinished) => {
    for (const binary of Object.keys(program.binaries)) renameSync(join(folder, binary), join(unfinished, binary));
  });
}

/**
 * @param {GoProgram} program
 * @param {string} into
 */
function build({ folder, title, firstTime, binaries, ldflags, cgo = false }, into) {
  console.error(`Building ${title} (${firstTime} the first time) …`);
  const start = Date.now();
  for (const [binary, source] of Object.entries(binaries)) {
    const go = spawnSync("go", ["build", "-ldflags", ldflags, "-o", join(into, binary), source], {
      cwd: projectFile(folder),
      env: {
        ...process.env,
        GOTOOLCHAIN: "local",
        GOWORK: "off",
        CGO_ENABLED: cgo ? "1" : "0",
        GOFLAGS: "-trimpath -buildvcs=false -mod=readonly",
      },
      stdio: ["ignore", "ignore", "pipe"],
      encoding: "utf8",
    });
    if (go.error !== undefined)
      throw new Error(`go cannot be started (${go.error.message}): install Go 1.26.2 or newer.`);
    if (go.status !== 0) {
      const reason = go.stderr.trim().split("\n").at(-1) || `signal ${go.signal}`;
      throw new Error(
        `Building ${binary} failed (${reason.trim()}): run "go build -o /dev/null ${source}" in ${projectFile(folder)} to see the error.`,
      );
    }
  }
  console.error(`Built ${title} in ${Math.round((Date.now() - start) / 1000)} s.`);
}

/**
 * @param {string} folder
 * @param {string} binary
 */
function mustBeExecutable(folder, binary) {
  const path = join(folder, binary);
  const is = `KONNECTIVITY_COMPONENTS is ${folder}, but`;
  if (!existsSync(path)) throw new Error(`${is} that folder has no ${binary}: add it, or unset the variable.`);
  try {
    accessSync(path, constants.X_OK);
    if (statSync(path).isFile()) return;
  } catch {
    // Reported below.
  }
  throw new Error(`${is} its ${binary} is not executable: make it executable, or unset the variable.`);
}

/**
 * The digest of a program's source, which is part of its name in the cache.
 * @param {GoProgram} program
 */
function digestOf({ folder, binaries, ldflags }) {
  const hash = createHash("sha256").update(JSON.stringify({ binaries, ldflags }));
  const sources = readdirSync(projectFile(folder)).filter((name) => /\.go$|^go\.(mod|sum)$/.test(name));
  for (const source of sources.sort()) hash.update(`${source}\0`).update(readFileSync(projectFile(folder, source)));
  return hash.digest("hex").slice(0, 16);
}
