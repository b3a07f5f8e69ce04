import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import type { ICruiseResult } from "dependency-cruiser";
import { afterAll, beforeAll, describe, expect, it, test } from "vitest";
import configuration from "../../.dependency-cruiser.js";
import { cruiseTree, importGraph } from "../../scripts/import-graph.ts";
import { withGenerated } from "../../scripts/mermaid.ts";
import { projectFile, readProjectText } from "../../src/runtime/project-files.js";

/** Rule, importing file, imported file or package. */
const refused: readonly (readonly [rule: string, from: string, to: string])[] = [
  ["direction-main", "main.ts", "src/cli/main.ts"],
  ["direction-stacks", "stacks/teardown.ts", "src/cli/main.ts"],
  ["direction-stacks", "stacks/bootstrap-stack.ts", "src/cluster/gate.ts"],
  ["direction-constructs", "constructs/shared/wait.ts", "stacks/inputs.ts"],
  ["direction-constructs", "constructs/local/machine.ts", "lab/layout.ts"],
  ["direction-cli", "cli/konnectivity-bootstrap.js", "scripts/setup.js"],
  ["direction-src-cli", "src/cli/verify.ts", "test/support/cli.ts"],
  ["direction-src-cli", "src/cli/lab.ts", "scripts/setup.js"],
  ["direction-lab", "lab/lab.ts", "src/config/state.ts"],
  ["direction-lab", "lab/images.js", "scripts/setup.js"],
  ["direction-src-cluster", "src/cluster/api.ts", "src/config/state.ts"],
  ["direction-src-cluster", "src/cluster/gate.ts", "lab/lab.ts"],
  ["direction-src-config", "src/config/stream.ts", "constructs/shared/wait.ts"],
  ["direction-src-files", "src/files/user-file.ts", "src/config/state.ts"],
  ["direction-src-core", "src/core/errors.ts", "src/files/private-folder.ts"],
  ["direction-src-core", "src/core/addresses.ts", "src/cli/output.ts"],
  ["direction-src-core", "src/core/releases.ts", "main.ts"],
  ["direction-src-runtime", "src/runtime/packages.js", "src/core/printable.ts"],
  ["direction-scripts", "scripts/demo.ts", "test/support/cli.ts"],
  ["no-place", "utils/anything.ts", "src/core/printable.ts"],
  ["module-cycle", "src/files/one.ts", "src/files/other.ts"],
  ["folder-cycle", "src/core/schema", "src/core/ignition"],
  ["unresolved", "src/core/shell-word.ts", "src/core/nowhere.ts"],
  ["platforms-apart", "constructs/aws/machine.ts", "constructs/google/machine.ts"],
  ["platforms-apart", "stacks/azure.ts", "constructs/aws/machine.ts"],
  ["platforms-apart", "stacks/azure.ts", "stacks/local.ts"],
  ["one-list-of-platforms", "stacks/inputs.ts", "constructs/aws/config.ts"],
  ["one-list-of-platforms", "src/cli/config.ts", "stacks/local.ts"],
  ["ignition-without-tunnel", "src/core/ignition/check.ts", "src/core/konnectivity/options.ts"],
  ["tunnel-without-ignition", "src/core/konnectivity/tunnel.ts", "src/core/ignition/pointer.ts"],
  ["core-is-pure", "src/core/ignition/record.ts", "cdktf"],
  ["core-is-pure", "src/core/package.ts", "node:fs"],
  ["core-is-pure", "src/core/ignition/serialize.ts", "node:https"],
  ["config-without-cdktf", "src/config/platform.ts", "cdktf"],
  ["config-without-cdktf", "constructs/google/config.ts", "@cdktf/provider-google/lib/compute-instance/index.js"],
  ["provider-root", "stacks/aws.ts", "@cdktf/provider-aws"],
  ["provider-root", "stacks/google.ts", "@cdktf/provider-google/lib/index.js"],
  ["fakes-stay-in-the-lab", "lab/roots.ts", "lab/fakes/oc.ts"],
];

const allowed: readonly (readonly [from: string, to: string])[] = [
  ["main.ts", "stacks/app.ts"],
  ["stacks/aws.ts", "constructs/aws/machine.ts"],
  ["stacks/platforms.ts", "constructs/aws/config.ts"],
  ["constructs/aws/payload-store.ts", "constructs/shared/wait.ts"],
  ["constructs/aws/machine.ts", "@cdktf/provider-aws/lib/vpc/index.js"],
  ["constructs/local/config.ts", "src/core/printable.ts"],
  ["src/cli/lab.ts", "lab/layout.ts"],
  ["src/core/time-limits.ts", "src/runtime/project-files.js"],
  ["src/config/state.ts", "src/core/printable.ts"],
  ["test/support/cli.ts", "lab/fakes/oc.ts"],
];

/** The other half of the cycles above. */
const cycles = [
  ["src/files/other.ts", "src/files/one.ts"],
  ["src/core/schema/fields.ts", "src/core/ignition/contents.ts"],
  ["src/core/ignition/bootkube.ts", "src/core/schema/parse.ts"],
] as const;

const key = (from: string, to: string) => `${from} → ${to}`;

describe("the rules", () => {
  const folder = mkdtempSync(join(tmpdir(), "konnectivity-bootstrap-imports-"));
  const found = new Map<string, string[]>();
  afterAll(() => {
    rmSync(folder, { recursive: true });
  });

  beforeAll(async () => {
    symlinkSync(projectFile("node_modules"), join(folder, "node_modules"));
    const imports = new Map<string, string[]>();
    const planted = [...refused.filter(([rule]) => rule !== "folder-cycle").map(([, ...edge]) => edge), ...allowed];
    for (const [from, to] of [...planted, ...cycles]) {
      imports.set(from, [...(imports.get(from) ?? []), to]);
      if (isFile(to) && !to.includes("nowhere") && !imports.has(to)) imports.set(to, []);
    }
    for (const [file, targets] of imports) {
      mkdirSync(join(folder, dirname(file)), { recursive: true });
      const lines = targets.map((to) => `import "${isFile(to) ? `./${relative(dirname(file), to)}` : to}";\n`);
      writeFileSync(join(folder, file), `${lines.join("")}export {};\n`);
    }
    const { summary } = await cruiseTree(folder);
    for (const { rule, from, to, unresolvedTo } of summary.violations) {
      const edge = key(from, asImported(from, to, unresolvedTo));
      found.set(edge, [...(found.get(edge) ?? []), rule.name]);
    }
  });

  it.each(refused)("%s: %s may not import %s", (rule, from, to) => {
    expect(found.get(key(from, to))).toContain(rule);
  });

  it.each(allowed)("%s may import %s", (from, to) => {
    expect(found.get(key(from, to))).toBeUndefined();
  });

  it("each say in a sentence what to do, and each has a case here", () => {
    const rules = configuration.forbidden ?? [];
    for (const { name, comment } of rules) expect(comment, name).toMatch(/^[A-Za-z].{40,}\.$/);
    const names = rules.map(({ name }) => name).filter((name) => name !== "direction-test");
    expect(new Set(refused.map(([rule]) => rule))).toEqual(new Set(names));
  });
});

describe("the tree", () => {
  let result: ICruiseResult;
  beforeAll(async () => {
    result = await cruiseTree();
  });

  it("follows the direction of imports, and has no cycles", () => {
    expect(result.summary.violations.map(({ rule, from, to }) => `${rule.name}: ${key(from, to)}`)).toEqual([]);
    expect(result.summary.totalCruised).toBeGreaterThan(200);
  });

  it("is drawn in docs/architecture.md as it is", () => {
    const page = readProjectText("docs/architecture.md");
    expect(page, "run `npm run docs:diagrams`").toBe(withGenerated(page, "import-graph", importGraph(result)));
  });
});

test("the picture leaves out arrows that follow from others, and puts all platforms in one", () => {
  const dependency = (resolved: string) => ({ resolved });
  const modules = [
    { source: "main.ts", dependencies: ["stacks/app.ts", "src/core/errors.ts"].map(dependency) },
    { source: "stacks/app.ts", dependencies: ["constructs/aws/config.ts"].map(dependency) },
    { source: "constructs/aws/config.ts", dependencies: ["src/core/errors.ts", "cdktf"].map(dependency) },
    { source: "test/support/cli.ts", dependencies: ["main.ts"].map(dependency) },
  ] as ICruiseResult["modules"];
  expect(importGraph({ modules }).split("\n")).toEqual([
    "```mermaid",
    "flowchart TD",
    '  constructs__platform_["constructs/‹platform›"] --> src_core["src/core"]',
    '  main_ts["main.ts"] --> stacks["stacks"]',
    '  stacks["stacks"] --> constructs__platform_["constructs/‹platform›"]',
    "```",
  ]);
});

/** As opposed to a package. */
const isFile = (name: string) => /^[\w-]+(\/[\w-]+)*\.[jt]s$/.test(name);

/** The target of a violation as it is listed above: a path from the root, or a package as it was imported. */
function asImported(from: string, to: string, imported: string | undefined): string {
  if (imported?.startsWith(".") === true) return join(dirname(from), imported);
  if (to.includes("node_modules/"))
    return imported ?? to.replace(/^.*node_modules\//, "").replace(/^cdktf\/.*/, "cdktf");
  return imported === undefined ? to : imported.replace(/^(?=[a-z]+$)/, "node:");
}
