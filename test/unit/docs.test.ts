import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { z } from "zod";
import { readConfig } from "../../src/config/config-file.ts";
import { readTunnel, tunnelSchema } from "../../src/core/konnectivity/options.ts";
import { configFormat } from "../../stacks/platforms.ts";
import { configJsonSchema } from "../../src/config/schema.ts";
import { specVersions } from "../../src/core/ignition/config.ts";
import { projectFile } from "../../src/runtime/project-files.js";
import { command } from "../support/cli.ts";
import { clouds } from "../support/clouds.ts";
import { installFiles, readFiles, writeFiles } from "../support/install-folder.ts";
import { createClusterLog } from "../support/installer-log.ts";
import { createCluster } from "../support/installer-store.ts";
import { exampleOf, Project } from "../support/stacks.ts";

const read = (file: string) => readFileSync(projectFile(file), "utf8");
const docs = readdirSync(projectFile("docs"))
  .filter((name) => name.endsWith(".md"))
  .map((name) => `docs/${name}`);
const pages = ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md", "stacks/README.md", ...docs];
const proseOf = (page: string) => read(page).replaceAll(/^ *```[\s\S]*?^ *```$/gm, "");

describe("docs", () => {
  it.each(pages)("%s links only to files and headings that exist", (page) => {
    const links = [...proseOf(page).matchAll(/\]\(([^):]+)\)/g)].map(([, link = ""]) => link);
    expect(links.filter((link) => !leadsSomewhere(page, link))).toEqual([]);
  });

  it("finds a link to a heading that does not exist", () => {
    expect(anchorsOf("docs/faq.md")).toContain("cdk-for-terraform-is-archived-why-this");
    expect(leadsSomewhere("docs/design.md", "#three-decisions")).toBe(true);
    expect(leadsSomewhere("docs/design.md", "#four-decisions")).toBe(false);
    expect(leadsSomewhere("docs/faq.md", "design.md#four-decisions")).toBe(false);
  });

  it.each(docs)("%s says first which kind of page it is", (page) => {
    expect(read(page)).toMatch(/^# [^\n]+\n\n\*(Task|Reference):\* [^\n]+\.\n\n/);
  });

  // The changes of past releases stay as they were written.
  it.each(pages.filter((page) => page !== "CHANGELOG.md"))("%s has no line above 120 characters", (page) => {
    // A diagram is shown as a picture. With the flag u, a dot is a whole character.
    const shown = read(page).replaceAll(/^```mermaid\n.*?^```$/gms, "");
    expect(shown.match(/^.{121,}$/gmu) ?? []).toEqual([]);
  });

  it("the example config is valid, and is all defaults as it says", () => {
    expect(readConfig(configFormat, projectFile("docs/examples/konnectivity.yaml")).tunnel).toEqual(readTunnel({}));
    expect(Object.keys((parse(read("docs/examples/konnectivity.yaml")) as { tunnel: object }).tunnel)).toEqual(
      Object.keys(readTunnel({})),
    );
  });

  it("docs/tunnel.md names every option", () => {
    const page = read("docs/tunnel.md");
    const options = optionPaths(z.toJSONSchema(tunnelSchema, { io: "input" }));
    expect(options.length).toBeGreaterThan(15);
    const names = (path: string) => page.includes(`\`${path}\``);
    expect(options.filter((path) => !names(path))).toEqual([]);
  });

  it.each(clouds)("docs/%s.md lists exactly the options, each with its default", (platform) => {
    const { properties = {} } = configJsonSchema(configFormat).properties?.[platform] ?? {};
    const items = optionItems(read(`docs/${platform}.md`));
    expect(items.flatMap(({ names }) => names).toSorted()).toEqual(Object.keys(properties).toSorted());
    const withDefault = Object.entries(properties).filter(([, { default: value }]) =>
      ["string", "number", "boolean"].includes(typeof value),
    );
    expect(withDefault.length).toBeGreaterThan(1);
    for (const [name, { default: value }] of withDefault)
      expect(items.find(({ names }) => names.includes(name))?.text).toContain(`(default: \`${String(value)}\``);
  });

  it("docs/configuration.md names every option that platforms share", () => {
    const page = read("docs/configuration.md");
    const { properties = {} } = configJsonSchema(configFormat);
    const kinds = Object.entries(properties.state?.properties ?? {});
    const options = [...Object.keys(properties), ...kinds.flatMap(([, kind]) => Object.keys(kind.properties ?? {}))];
    expect(options.length).toBeGreaterThan(20);
    expect(options.filter((option) => !page.includes(option))).toEqual([]);
  });

  it("docs/configuration.md shows the version ranges of the providers", () => {
    const page = read("docs/configuration.md").replaceAll(/\s+/g, " ");
    const providers = configFormat.platforms.flatMap(({ provider }) => provider ?? []);
    expect(providers.length).toBeGreaterThan(2);
    for (const { name, versions } of providers) expect(page).toContain(`\`${name}\` (default: \`${versions}\`)`);
  });

  it.each(clouds)("the example of %s is right, and docs/%s.md shows it", (platform) => {
    const { files } = exampleOf(platform);
    const project = new Project(read(`docs/examples/${platform}.yaml`), { files });
    try {
      expect(Object.keys(project.synth())).toEqual([`${platform}-bootstrap`, `${platform}-teardown`]);
      expect(project.inputs().warnings.filter(({ code }) => code === "open-to-the-world")).toEqual([]);
    } finally {
      project.remove();
    }
    expect(read(`docs/${platform}.md`)).toContain(`(examples/${platform}.yaml)`);
  });

  it("docs/troubleshooting.md names only findings that status has", () => {
    const names = [...read("docs/troubleshooting.md").matchAll(/^- Finding: `([a-z-]+)`$/gm)].map(
      ([, name = ""]) => name,
    );
    expect(names.length).toBeGreaterThan(10);
    const findings = ["diagnose", "agent-findings"].map((file) => read(`src/cluster/${file}.ts`)).join();
    expect(names.filter((name) => !findings.includes(`code: "${name}"`))).toEqual([]);
  });

  it("docs/ipi.md shows what ipi prepare and ipi check print", async () => {
    const folder = writeFiles(mkdtempSync(join(tmpdir(), "docs-")), installFiles());
    const run = async (name: string) =>
      withoutSizes((await command("ipi", name, folder)).stdout.replaceAll(folder, "ocp"));
    const created = () => {
      const { files, log } = createCluster(readFiles(folder), { now: new Date() });
      rmSync(folder, { recursive: true });
      writeFiles(folder, files);
      writeFileSync(join(folder, ".openshift_install.log"), createClusterLog(...log));
    };
    try {
      const [prepared = "", used = "", discarded = ""] = outputsIn("docs/ipi.md");
      expect(await run("prepare")).toMatch(asShown(prepared));
      created();
      expect(await run("check")).toMatch(asShown(used));
      rmSync(folder, { recursive: true });
      writeFiles(folder, installFiles());
      await run("prepare");
      writeFileSync(join(folder, "master.ign"), "{}");
      created();
      expect(await run("check")).toMatch(asShown(discarded));
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it("stacks/README.md names every file of its folder", () => {
    const files = readdirSync(projectFile("stacks")).filter((name) => name.endsWith(".ts"));
    expect(files.filter((name) => !read("stacks/README.md").includes(`\`${name}\``))).toEqual([]);
  });

  it("docs/payload.md names the spec versions that are known", () => {
    expect(read("docs/payload.md")).toContain(`known: ${specVersions[0]} to ${specVersions.at(-1) ?? ""}`);
  });
});

/** The items of a page's lists of options, each on one line, with the names that it begins with. */
function optionItems(page: string): { names: string[]; text: string }[] {
  const [, section = ""] = /^## Options below[^\n]*\n(.*?)\n## /ms.exec(page) ?? [];
  const items = section.split(/\n(?=- )|\n\n/).filter((item) => item.startsWith("- `"));
  return items.map((item) => {
    const text = item.replace(/\s+/g, " ");
    const [names = ""] = /^- `\w+`(, `\w+`)*/.exec(text) ?? [];
    return { names: [...names.matchAll(/\w+/g)].map(([name]) => name), text };
  });
}

function leadsSomewhere(page: string, link: string): boolean {
  const [file = "", anchor] = link.split("#");
  const target = file === "" ? page : join(dirname(page), file);
  return existsSync(projectFile(target)) && (anchor === undefined || anchorsOf(target).includes(anchor));
}

/** The anchors that GitHub gives to a page's headings. */
function anchorsOf(page: string): string[] {
  return [...proseOf(page).matchAll(/^#+ (.+)$/gm)].map(([, heading = ""]) =>
    heading
      .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1")
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}_ -]/gu, "")
      .replaceAll(" ", "-"),
  );
}

/** The outputs that a page shows below command lines with a prompt. */
const outputsIn = (page: string) =>
  [...read(page).matchAll(/^ {4}\$ npx konnectivity-bootstrap .*\n((?: {4}.*\n|\n(?= {4}))+)/gm)].map(
    ([, output = ""]) => withoutSizes(output.replaceAll(/^ {4}/gm, "")),
  );

/** Sizes and digests change with every payload. */
const withoutSizes = (text: string) => text.replaceAll(/\b\d{5,}\b/g, "SIZE").replaceAll(/[0-9a-f]{16}…/g, "DIGEST…");

/** The whole output. A line with nothing but an ellipsis stands for lines that are left out. */
const asShown = (shown: string) =>
  new RegExp(`^${shown.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&").replaceAll(/^…\n/gm, "(.+\\n)+")}$`);

/** Every option, like agents.kind. */
function optionPaths(schema: z.core.JSONSchema._JSONSchema, prefix = ""): string[] {
  if (typeof schema === "boolean") return [prefix.slice(0, -1)];
  const properties = [schema, ...(schema.anyOf ?? [])].flatMap((s) =>
    typeof s === "boolean" ? [] : Object.entries(s.properties ?? {}),
  );
  if (properties.length === 0) return [prefix.slice(0, -1)];
  return properties.flatMap(([name, child]) => optionPaths(child, `${prefix}${name}.`));
}
