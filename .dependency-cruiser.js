// The direction of imports (docs/architecture.md), for every folder: `npm run imports`.
import { readdirSync } from "node:fs";
import { projectFile } from "./src/runtime/project-files.js";

/**
 * The folders of the tree, and what each may import beside itself and src/runtime. A path without a slash at the end is a
 * file. The picture in docs/architecture.md is drawn from this order.
 * @type {Record<string, readonly string[]>}
 */
export const mayImport = {
  "main.ts": ["stacks/", "constructs/", "src/config/", "src/files/", "src/core/"],
  "stacks/": ["constructs/", "src/config/", "src/files/", "src/core/"],
  "constructs/": ["src/config/", "src/files/", "src/core/"],
  "cli/": ["src/cli/"],
  "src/cli/": ["stacks/", "constructs/", "lab/", "src/cluster/", "src/config/", "src/files/", "src/core/"],
  "lab/": ["src/cluster/", "src/files/", "src/core/"],
  "src/cluster/": ["src/files/", "src/core/"],
  "src/config/": ["src/files/", "src/core/"],
  "src/files/": ["src/core/"],
  "src/core/": [],
  "src/runtime/": [],
  "scripts/": ["main.ts", "stacks/", "constructs/", "cli/", "lab/", "src/", ".dependency-cruiser.js"],
  "test/": ["main.ts", "stacks/", "constructs/", "cli/", "lab/", "scripts/", "src/", ".dependency-cruiser.js"],
};

/** Configuration of tools at the root. */
const toolConfiguration = "^(\\.dependency-cruiser\\.js|[^/]+\\.config\\.[jt]s)$";

/** @param {string} text */
const escaped = (text) => text.replaceAll(".", "\\.");
/** @param {readonly string[]} paths */
const anyOf = (paths) =>
  `^(${paths.map((path) => (path.endsWith("/") ? escaped(path) : `${escaped(path)}$`)).join("|")})`;

/** A file of the project, as opposed to a package or a part of Node.js. */
const ours = anyOf([...Object.keys(mayImport), "src/"]).replace(/\)$/, "|[^/]+\\.[jt]s$)");

const cdktf = "(^|/)node_modules/(cdktf|constructs|@cdktf)/";
const fileAccess = "^fs(/promises)?$";
const network = "^(child_process|dgram|dns|dns/promises|http|http2|https|net|tls)$|(^|/)node_modules/@kubernetes/";

/** Every folder of constructs/ but shared/ is a platform. */
const platform = `(${readdirSync(projectFile("constructs"))
  .filter((name) => name !== "shared")
  .map(escaped)
  .join("|")})`;

const directions = Object.entries(mayImport).map(([folder, allowed]) => ({
  name: `direction-${folder.replace(/\/$|\.ts$/, "").replaceAll("/", "-")}`,
  comment: `${folder} may import ${[...allowed, "src/runtime/"].join(", ")} and nothing else of the project: imports point one way (docs/architecture.md).`,
  severity: /** @type {const} */ ("error"),
  from: { path: anyOf([folder]) },
  to: { path: ours, pathNot: anyOf([folder, ...allowed, "src/runtime/"]) },
}));

/** @type {import("dependency-cruiser").IForbiddenRuleType[]} */
const rules = [
  {
    name: "no-place",
    comment: "Every folder has its place in the direction of imports: add it to the table in .dependency-cruiser.js.",
    from: { pathNot: [anyOf(Object.keys(mayImport)), toolConfiguration, "(^|/)node_modules/"] },
    to: { path: "." },
  },
  {
    name: "module-cycle",
    comment:
      "Modules that import each other in a circle cannot be read or tested alone: move what both need below both.",
    from: {},
    to: { circular: true },
  },
  {
    name: "folder-cycle",
    comment: "Folders that import each other in a circle are one folder: move what both need below both.",
    scope: "folder",
    from: {},
    to: { circular: true },
  },
  {
    name: "unresolved",
    comment: "An import that leads nowhere is invisible to the other rules: fix the path or install the package.",
    from: {},
    to: { couldNotResolve: true },
  },
  {
    name: "platforms-apart",
    comment: "Platforms never import each other: what two of them need goes to constructs/shared.",
    from: { path: `^(?:constructs|stacks)/${platform}(?:/|\\.ts$)` },
    to: { path: `^(?:constructs|stacks)/${platform}(?:/|\\.ts$)`, pathNot: "^(?:constructs|stacks)/$1(?:/|\\.ts$)" },
  },
  {
    name: "one-list-of-platforms",
    comment:
      "Only stacks/platforms.ts lists the platforms: a platform is one folder, one stack file and one line there.",
    from: {
      path: "^(main\\.ts|stacks/|constructs/shared/|src/)",
      pathNot: ["^stacks/platforms\\.ts$", `^stacks/${platform}\\.ts$`],
    },
    to: { path: `^(constructs|stacks)/${platform}(/|\\.ts$)` },
  },
  {
    name: "ignition-without-tunnel",
    comment: "src/core/ignition does not know what a tunnel is: it takes files to add and insertions to make.",
    from: { path: "^src/core/ignition/" },
    to: { path: "^src/core/konnectivity/" },
  },
  {
    name: "tunnel-without-ignition",
    comment: "src/core/konnectivity does not know what Ignition is: it gives files and insertions.",
    from: { path: "^src/core/konnectivity/" },
    to: { path: "^src/core/ignition/" },
  },
  {
    name: "core-is-pure",
    comment:
      "src/core has no cdktf, no file access and no network: src/runtime/project-files.js reads the texts that belong to the code.",
    from: { path: "^src/core/" },
    to: { path: [cdktf, fileAccess, network] },
  },
  {
    name: "config-without-cdktf",
    comment:
      "Reading a config must not load cdktf or a provider, not even by way of another module: that takes seconds.",
    from: { path: "^(constructs/[^/]+/config\\.ts$|src/config/)" },
    to: { path: cdktf, reachable: true },
  },
  {
    name: "provider-root",
    comment:
      "Import one resource (@cdktf/provider-<name>/lib/<resource>/index.js), never the whole provider: it costs seconds and a gigabyte per synth.",
    from: {},
    to: { path: "(^|/)node_modules/@cdktf/provider-[a-z]+/(lib/)?index\\." },
  },
  {
    name: "fakes-stay-in-the-lab",
    comment: "Only the lab's machines run its fakes, by lab/fakes/main.js; nothing but a test imports them.",
    from: { pathNot: "^(lab/fakes|test)/" },
    to: { path: "^lab/fakes/" },
  },
];

/** @type {import("dependency-cruiser").IConfiguration} */
export default {
  forbidden: [...directions, ...rules.map((rule) => ({ severity: /** @type {const} */ ("error"), ...rule }))],
  options: {
    doNotFollow: { path: "(^|/)node_modules/" },
    exclude: { path: "^(cdktf\\.out|test/fixtures)/" },
    // Types too: a folder that uses another's types knows that folder.
    tsPreCompilationDeps: true,
    enhancedResolveOptions: { exportsFields: ["exports"], conditionNames: ["import", "node", "default", "types"] },
  },
};
