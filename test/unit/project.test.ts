import { spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { parse } from "yaml";
import { projectFile, readProjectText } from "../../src/runtime/project-files.js";
import { globToRegExp, projectFiles } from "../support/tree.ts";

interface Rule {
  readonly matchManagers?: readonly string[];
  readonly matchFileNames?: readonly string[];
  readonly matchPackageNames?: readonly string[];
}

describe("renovate.json", () => {
  const { ignorePaths, packageRules, automerge } = JSON.parse(readProjectText("renovate.json")) as {
    readonly ignorePaths: readonly string[];
    readonly packageRules: readonly Rule[];
    readonly automerge: boolean;
  };

  it("merges nothing automatically", () => {
    expect(automerge).toBe(false);
    expect(packageRules.filter((rule) => "automerge" in rule)).toEqual([]);
  });

  it("names only files that exist", () => {
    const patterns = [...ignorePaths, ...packageRules.flatMap(({ matchFileNames = [] }) => matchFileNames)];
    const files = projectFiles();
    expect(patterns.length).toBeGreaterThan(5);
    expect(
      patterns.filter(
        (pattern) => !pattern.includes("node_modules") && !files.some((file) => globToRegExp(pattern).test(file)),
      ),
    ).toEqual([]);
  });

  it("leaves the old proxies alone", () => {
    const ignored = ignorePaths.map(globToRegExp);
    const modules = projectFiles("lab/components").filter((file) => file.endsWith("go.mod"));
    expect(modules.filter((file) => !ignored.some((pattern) => pattern.test(file)))).toEqual([
      "lab/components/kubernetes/go.mod",
    ]);
  });

  it("names only packages that are used", () => {
    const manifests = projectFiles().filter((file) => /(^|\/)(package\.json|go\.mod|requirements\.txt)$/.test(file));
    const words = new Set(manifests.flatMap((file) => readProjectText(file).split(/[\s"'=:,]+|npm:|@(?=\d)/)));
    const names = packageRules.flatMap(({ matchPackageNames = [] }) => matchPackageNames);
    const used = (name: string) => [...words].some((word) => globToRegExp(name.replace(/^!/, "")).test(word));
    expect(names.filter((name) => !used(name))).toEqual([]);
  });
});

describe.each(["CHANGELOG.md", "CONTRIBUTING.md", "docs/architecture.md", "renovate.json"])("%s", (page) => {
  it("names only paths that exist", () => {
    const files = projectFiles();
    const word = String.raw`[\w.*-]|<platform>`;
    const paths = [...readProjectText(page).matchAll(new RegExp(`\`((?:${word})+(?:/(?:${word})+)+)/?\``, "g"))].map(
      ([, path = ""]) => path.replaceAll("<platform>", "aws"),
    );
    const exists = (path: string) =>
      files.some((file) => new RegExp(`${globToRegExp(path).source.slice(0, -1)}(/|$)`).test(file));
    // 0.2.0 moved these, and the page says where they were.
    const moved = page === "CHANGELOG.md" ? /^constructs\/(config|payload|konnectivity)$/ : /^$/;
    expect(paths.filter((path) => !exists(path) && !moved.test(path))).toEqual([]);
  });
});

describe("the tree in docs/architecture.md", () => {
  it("shows every folder at the top, in constructs and in src", () => {
    const [, tree = ""] = /## The tree\s+```\n([\s\S]+?)\n```/.exec(readProjectText("docs/architecture.md")) ?? [];
    const shown = new Set([...tree.matchAll(/(?<=^|[ /])[\w-]+(?=\/)/gm)].map(([name]) => name));
    const folders = projectFiles().flatMap((file) => {
      const [top = "", below = "", rest] = file.split("/");
      if (top.startsWith(".") || below === "") return [];
      return (top === "constructs" || top === "src") && rest !== undefined ? [top, below] : [top];
    });
    expect([...new Set(folders)].filter((name) => !shown.has(name))).toEqual([]);
  });
});

describe("the package", () => {
  it("contains only what exists, and no tests", () => {
    const { files } = JSON.parse(readProjectText("package.json")) as { files: string[] };
    const all = projectFiles();
    // The release makes a copy of package-lock.json under this name.
    const listed = files.filter((name) => name !== "npm-shrinkwrap.json");
    const exists = (name: string) => all.some((file) => globToRegExp(name).test(file) || file.startsWith(`${name}/`));
    expect(listed.filter((name) => !exists(name))).toEqual([]);
    expect(listed.filter((name) => name.startsWith("test"))).toEqual([]);
  });
});

describe("the issue forms", () => {
  const forms = projectFiles(".github/ISSUE_TEMPLATE").filter((file) => !file.endsWith("config.yml"));

  it.each(forms)("%s has a unique id and a label for every field", (file) => {
    const { name, description, body } = parse(readProjectText(file)) as {
      readonly name: string;
      readonly description: string;
      readonly body: readonly { type: string; id?: string; attributes: { label?: string; value?: string } }[];
    };
    expect([name, description]).not.toContain(undefined);
    const fields = body.filter(({ type }) => type !== "markdown");
    expect(fields.filter(({ id, attributes }) => id === undefined || attributes.label === undefined)).toEqual([]);
    expect(new Set(fields.map(({ id }) => id)).size).toBe(fields.length);
  });

  it("warn against attaching secrets", () => {
    expect(readProjectText(".github/ISSUE_TEMPLATE/bug.yml")).toContain("Never attach `bootstrap.ign`");
  });
});

describe("scripts/release-notes.js", () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "konnectivity-bootstrap-release-"));
    for (const file of ["scripts/release-notes.js", "src/runtime/project-files.js"])
      cpSync(projectFile(file), join(folder, file));
    writeFileSync(join(folder, "package.json"), JSON.stringify({ type: "module", version: "1.2.0" }));
  });
  afterEach(() => {
    rmSync(folder, { recursive: true });
  });

  function run(tag: string, changelog: string): string {
    writeFileSync(join(folder, "CHANGELOG.md"), `# Changes\n\n${changelog}`);
    const script = join(folder, "scripts/release-notes.js");
    const { status, stdout, stderr } = spawnSync(process.execPath, [script, tag], { encoding: "utf8" });
    return `${String(status)} ${stdout}${stderr}`;
  }

  it.each(["## 1.2.0", "## 1.2.0 (2026-11-18)"])("prints the version's section under %s", (heading) => {
    expect(run("v1.2.0", `${heading}\n\n- New.\n\n### Renamed\n\n- Old.\n\n## 1.1.0\n\n- Older.\n`)).toBe(
      "0 - New.\n\n### Renamed\n\n- Old.\n",
    );
  });

  it("refuses a tag that is not the package's version", () => {
    expect(run("v1.1.0", "## 1.2.0\n\n- New.\n")).toBe(
      '1 error: The tag is "v1.1.0", but package.json has version 1.2.0: use the tag v1.2.0.\n',
    );
  });

  it.each(["", "## 1.2.0\n", "## 1.2.0-rc.1\n\n- New.\n"])("refuses a version without a section: %j", (changelog) => {
    expect(run("v1.2.0", changelog)).toBe('1 error: CHANGELOG.md has no section "## 1.2.0": add one.\n');
  });

  it("refuses a version that is called unreleased", () => {
    expect(run("v1.2.0", "## 1.2.0 (unreleased)\n\n- New.\n")).toBe(
      "1 error: CHANGELOG.md says that 1.2.0 is unreleased: replace that with the date.\n",
    );
  });
});
