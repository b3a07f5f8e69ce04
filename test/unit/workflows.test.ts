import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { readProjectText } from "../../src/runtime/project-files.js";
import { globToRegExp, projectFiles } from "../support/tree.ts";

interface Step {
  readonly uses?: string;
  readonly run?: string;
  readonly with?: Record<string, unknown>;
}
interface Job {
  readonly needs?: string;
  readonly permissions?: Record<string, string>;
  readonly "timeout-minutes"?: number;
  readonly steps: readonly Step[];
}
interface Workflow {
  readonly permissions: Record<string, string>;
  readonly concurrency: object;
  readonly jobs: Record<string, Job>;
}

const read = (path: string) => parse(readProjectText(path)) as Workflow;
const workflows = projectFiles(".github/workflows");
const stepsOf = (workflow: Workflow) => Object.values(workflow.jobs).flatMap(({ steps }) => steps);

describe.each(workflows)("%s", (path) => {
  const text = readProjectText(path);
  const workflow = read(path);
  const steps = stepsOf(workflow);

  it("pins every action to a commit and names its version", () => {
    const uses = [...text.matchAll(/\buses:.*$/gm)].map(([line]) => line);
    expect(uses.length).toBe(steps.filter((step) => step.uses !== undefined).length);
    expect(uses.filter((line) => !/^uses: [\w.-]+(\/[\w.-]+)+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/.test(line))).toEqual([]);
  });

  it("pins an action to the same commit everywhere", () => {
    const pins = workflows.flatMap((file) => stepsOf(read(file)).map(({ uses = "" }) => uses));
    const commits = new Map(pins.map((uses) => uses.split("@") as [string, string]));
    expect(
      pins.filter((uses) => uses !== "" && !uses.endsWith(`@${commits.get(uses.split("@")[0] ?? "") ?? ""}`)),
    ).toEqual([]);
  });

  it("leaves no credentials in the checkout", () => {
    const checkouts = steps.filter(({ uses }) => uses?.startsWith("actions/checkout@"));
    expect(checkouts.length).toBeGreaterThan(0);
    expect(checkouts.filter((step) => step.with?.["persist-credentials"] !== false)).toEqual([]);
  });

  it("runs only npm scripts that exist", () => {
    const { scripts } = JSON.parse(readProjectText("package.json")) as { scripts: Record<string, string> };
    const names = steps
      .flatMap(({ run = "" }) => [...run.matchAll(/\bnpm (?:run (?:--silent )?([\w:-]+)|(test)\b)/g)])
      .map(([, name, test]) => name ?? test ?? "");
    expect(names.length).toBeGreaterThan(0);
    expect(names.filter((name) => !(name in scripts))).toEqual([]);
  });

  it("runs only programs that exist", () => {
    const scripts = steps.flatMap(({ run = "" }) => [...run.matchAll(/\bnode (\S+)/g)].map(([, file = ""]) => file));
    const files = projectFiles();
    expect(scripts.filter((file) => !files.includes(file))).toEqual([]);
  });

  it("keys its caches by files that exist", () => {
    const patterns = [...text.matchAll(/hashFiles\(([^)]*)\)/g)].flatMap(([, list = ""]) =>
      [...list.matchAll(/'([^']+)'/g)].map(([, pattern = ""]) => pattern),
    );
    const files = projectFiles();
    expect(patterns.filter((pattern) => !files.some((file) => globToRegExp(pattern).test(file)))).toEqual([]);
  });

  it("ends jobs that hang and runs that are superseded", () => {
    expect(Object.values(workflow.jobs).filter((job) => job["timeout-minutes"] === undefined)).toEqual([]);
    expect(workflow.concurrency).toBeDefined();
  });
});

describe("test.yml", () => {
  const { permissions, jobs } = read(".github/workflows/test.yml");

  it("runs the fast tests first, then those with real programs, then the clouds", () => {
    const stages = Object.entries(jobs).map(([name, { needs, steps }]) => [name, needs, steps.at(-1)?.run]);
    expect(stages).toEqual([
      ["unit", undefined, "npm test"],
      ["e2e", "unit", "npm run test:e2e"],
      ["clouds", "e2e", "npm run test:clouds"],
    ]);
  });

  it("may only read", () => {
    expect(permissions).toEqual({ contents: "read" });
    expect(Object.values(jobs).filter((job) => job.permissions !== undefined)).toEqual([]);
  });
});

describe("release.yml", () => {
  const { permissions, jobs } = read(".github/workflows/release.yml");

  it("lets no job that runs npm code write", () => {
    expect(permissions).toEqual({});
    const withNpm = Object.values(jobs).filter(({ steps }) => steps.some(({ run }) => run?.includes("npm ")));
    expect(withNpm.map((job) => job.permissions)).toEqual([{ contents: "read" }]);
  });
});
