import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Command } from "commander";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { createProgram } from "../../../../src/cli/main.ts";
import { formatVersion, outputTo } from "../../../../src/cli/output.ts";
import { projectFile } from "../../../../src/runtime/project-files.js";
import { withApi } from "../../../support/api.ts";
import { kubeconfigText } from "../../../support/api.ts";
import { command } from "../../../support/cli.ts";
import { installFiles, writeFiles } from "../../../support/install-folder.ts";
import { changedExample, exampleOf, Project } from "../../../support/stacks.ts";

const page = readFileSync(projectFile("docs/command-line.md"), "utf8");
const section = (title: string) => page.split(/^#+ /m).find((part) => part.startsWith(`${title}\n`)) ?? "";

describe("docs/command-line.md", () => {
  it("is a reference page with lines of at most 120 characters", () => {
    expect(page).toMatch(/^# .*\n\n\*Reference:\* /);
    expect(page.split("\n").filter((line) => line.length > 120)).toEqual([]);
  });

  it("names every command, with its arguments, and no other", () => {
    const silent = { write: () => true };
    const leaves = (of: Command, words: readonly string[]): { words: string; of: Command }[] =>
      of.commands.length === 0
        ? [{ words: words.join(" "), of }]
        : of.commands.flatMap((child) => leaves(child, [...words, child.name()]));
    const commands = leaves(createProgram(outputTo(silent, silent)), []);
    const named = [...section("Commands").matchAll(/`([a-z]+(?: [a-z]+)?)((?: [<[][\w-]+[>\]])*)`(?=[:,])/g)].map(
      ([, words = "", args = ""]) => ({ words, args }),
    );
    expect(named.map(({ words }) => words).sort()).toEqual(commands.map(({ words }) => words).sort());
    for (const { words, args } of named) {
      const of = commands.find((one) => one.words === words)?.of;
      const own = of?.registeredArguments.filter(({ variadic }) => !variadic) ?? [];
      expect(args.trim()).toBe(own.map((one) => (one.required ? `<${one.name()}>` : `[${one.name()}]`)).join(" "));
    }
  });

  it("names the version of the JSON", () => {
    const examples = [...page.matchAll(/```json\n(.*?)```/gs)].map(([, text = ""]) => JSON.parse(text) as object);
    expect(examples).toHaveLength(2);
    for (const example of examples) expect(example).toMatchObject({ formatVersion });
  });

  it("names every environment variable that the code reads, and no other", () => {
    const read = new Set(sources().flatMap((file) => variablesIn(readFileSync(file, "utf8"))));
    const named = [...section("Environment variables").matchAll(/^- `([A-Z_]+)`/gm)].map(([, name = ""]) => name);
    expect([...read].filter((name) => !(name in internal)).sort()).toEqual([...named].sort());
    expect(Object.keys(internal).filter((name) => !read.has(name))).toEqual([]);
  });
});

/** Variables that the project's own programs set for each other. */
const internal: Readonly<Record<string, string>> = {
  CDKTF_CONTINUE_SYNTH_ON_ERROR_ANNOTATIONS: "set by the cdktf command, which is recognized by it",
  FILES: "set by a destroy-time step for its own command",
  WAIT_SECONDS: "the same",
  TSX_TSCONFIG_PATH: "written only",
  TSX_DISABLE_CACHE: "written only",
};

function sources(): string[] {
  return ["src", "lab", "stacks", "constructs", "cli", "scripts"].flatMap((folder) =>
    readdirSync(projectFile(folder), { recursive: true, encoding: "utf8" })
      .filter((name) => /\.(ts|js)$/.test(name))
      .map((name) => join(projectFile(folder), name)),
  );
}

/** The environment is read as env.NAME or env[variable], or taken apart. */
function variablesIn(text: string): string[] {
  const environment = String.raw`(?:process\.env|environment|Environment)\b`;
  return [
    ...[...text.matchAll(new RegExp(String.raw`${environment}\??\.([A-Z][A-Z0-9_]+)\b`, "g"))].map((found) => found[1]),
    ...[...text.matchAll(new RegExp(String.raw`\{([^{}]*)\}(?:: | = )${environment}`, "g"))].flatMap(([, names = ""]) =>
      [...names.matchAll(/(?:^|,)\s*([A-Z][A-Z0-9_]+)\b/g)].map((found) => found[1]),
    ),
    ...[...text.matchAll(/Variable = "([A-Z][A-Z0-9_]+)"/g)].map((found) => found[1]),
  ].filter((name) => name !== undefined);
}

describe("the results that docs/command-line.md lists are those of", () => {
  const root = mkdtempSync(join(tmpdir(), "command-line-"));
  let project: Project;
  beforeAll(async () => {
    project = new Project(changedExample("aws"), { files: exampleOf("aws").files });
    const out = join(root, "out");
    await command("payload", "build", installDir(), "--out", out, "--url", "https://store.example.com/p");
    vi.stubEnv("KUBECONFIG", "");
  });
  afterAll(() => {
    vi.unstubAllEnvs();
    project.remove();
    rmSync(root, { recursive: true });
  });
  const installDir = () => join(project.folder, "ocp");
  const kubeconfig = () => join(root, "none");
  /** A kubeconfig whose API does not answer. */
  const silentCluster = () => {
    const file = join(root, "silent");
    writeFileSync(file, kubeconfigText("http://127.0.0.1:1"));
    return file;
  };

  /** The keys outside parentheses. */
  function documented(name: string): string[] {
    const item = section("Results")
      .replaceAll(/\n {2,}/g, " ")
      .split("\n")
      .find((line) => line.startsWith(`- \`${name}\`: `));
    const keys = (item ?? "").replace(/^- `[^`]*`: /, "").replace(/\. .*$/, "").replaceAll(/\([^)]*\)/g, ""); // prettier-ignore
    return [...new Set([...keys.matchAll(/`(\w+)`/g)].map(([, key = ""]) => key))];
  }

  const runs: readonly [name: string, args: () => string[], optional: readonly string[]][] = [
    ["config check", () => ["--config", project.configFile], ["online"]],
    ["config init", () => ["aws", "--config", join(root, "init.yaml")], []],
    ["payload build", () => [installDir(), "--out", join(root, "built")], []],
    ["payload inspect", () => [join(root, "out/payload.ign")], ["source", "hash", "totalTimeoutSeconds", "proxy", "caBundle"]], // prettier-ignore
    ["payload inspect", () => [join(root, "out/pointer.ign")], ["sha512", "record", "added", "addedBytes", "diff", "sinceBuild", "config", "differences"]], // prettier-ignore
    ["payload firewall", () => [installDir()], []],
    ["webhooks", () => [installDir()], []],
    ["ipi prepare", () => [writeFiles(mkdtempSync(join(root, "ocp-")), installFiles())], []],
    ["ipi check", () => [installDir()], []],
    ["ipi restore", () => [installDir()], ["bytes", "sha512", "stale"]],
    ["teardown report", () => ["aws", "--config", project.configFile, "--kubeconfig", kubeconfig()], []],
    ["teardown sweep", () => ["aws", "--config", project.configFile, "--kubeconfig", silentCluster()], []],
    ["doctor", () => ["--config", project.configFile], []],
    ["example", () => [join(root, "example"), "--platform", "aws"], []],
    ["--version", () => [], []],
  ];

  it.each(runs)("%s", async (name, args, optional) => {
    const { stdout } = await command(...name.split(" "), ...args(), "--json");
    expectKeys(name, stdout, optional);
  });

  it("status, gather, verify and teardown gate, with a cluster", async () => {
    await withApi(
      () => ({ items: [] }),
      async (file) => {
        const { stdout } = await command("status", "--kubeconfig", file, "--json");
        expectKeys("status", stdout, ["server"]);
        const gathered = await command("gather", "--kubeconfig", file, "--out", join(root, "a.tar.gz"), "--json");
        expectKeys("gather", gathered.stdout);
        expectKeys("verify", (await command("verify", "--kubeconfig", file, "--json")).stdout);
        const gate = await command("teardown", "gate", "aws", "--wait", "0", "--kubeconfig", file, "--json");
        expectKeys("teardown gate", gate.stdout);
      },
    );
  });

  function expectKeys(name: string, stdout: string, optional: readonly string[] = []): void {
    const own = Object.keys(JSON.parse(stdout) as object).filter(
      (key) => !["formatVersion", "ok", "errors", "warnings"].includes(key),
    );
    const keys = documented(name);
    expect(keys.length, name).toBeGreaterThan(0);
    expect([...own, ...optional].sort(), name).toEqual([...keys].sort());
  }
});
