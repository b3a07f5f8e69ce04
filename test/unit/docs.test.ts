import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname } from "node:path";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { z } from "zod";
import { readConfig } from "../../src/config/config-file.ts";
import { readTunnel, tunnelSchema } from "../../src/core/konnectivity/options.ts";
import { configFormat } from "../../stacks/platforms.ts";
import { configJsonSchema } from "../../src/config/schema.ts";
import { specVersions } from "../../src/core/ignition/config.ts";
import { projectFile } from "../../src/runtime/project-files.js";
import { clouds } from "../support/clouds.ts";
import { exampleOf, Project } from "../support/stacks.ts";

const read = (file: string) => readFileSync(projectFile(file), "utf8");
const pages = ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md", "stacks/README.md"].concat(
  readdirSync(projectFile("docs"))
    .filter((name) => name.endsWith(".md"))
    .map((name) => `docs/${name}`),
);

describe("docs", () => {
  it.each(pages)("%s links only to what is there", (page) => {
    const links = [...read(page).matchAll(/\]\(([^)#:]+)\)/g)].map(([, link = ""]) => link);
    expect(links.filter((link) => !existsSync(projectFile(dirname(page), link)))).toEqual([]);
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

  it.each(clouds)("docs/%s.md names every option", (platform) => {
    const page = read(`docs/${platform}.md`);
    const options = Object.keys(configJsonSchema(configFormat).properties?.[platform]?.properties ?? {});
    expect(options.length).toBeGreaterThan(10);
    expect(options.filter((option) => !page.includes(`\`${option}\``))).toEqual([]);
  });

  it("docs/configuration.md names every option that platforms share", () => {
    const page = read("docs/configuration.md");
    const { properties = {} } = configJsonSchema(configFormat);
    const kinds = Object.entries(properties.state?.properties ?? {});
    const options = [...Object.keys(properties), ...kinds.flatMap(([, kind]) => Object.keys(kind.properties ?? {}))];
    expect(options.length).toBeGreaterThan(20);
    expect(options.filter((option) => !page.includes(option))).toEqual([]);
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
    const names = [...read("docs/troubleshooting.md").matchAll(/^\|[^|]*\| `([a-z-]+)`:/gm)].map(
      ([, name = ""]) => name,
    );
    expect(names.length).toBeGreaterThan(10);
    const findings = ["diagnose", "agent-findings"].map((file) => read(`src/cluster/${file}.ts`)).join();
    expect(names.filter((name) => !findings.includes(`code: "${name}"`))).toEqual([]);
  });

  it("docs/payload.md names the spec versions that are known", () => {
    expect(read("docs/payload.md")).toContain(`known: ${specVersions[0]} to ${specVersions.at(-1) ?? ""}`);
  });
});

/** Every option, like agents.kind. */
function optionPaths(schema: z.core.JSONSchema._JSONSchema, prefix = ""): string[] {
  if (typeof schema === "boolean") return [prefix.slice(0, -1)];
  const properties = [schema, ...(schema.anyOf ?? [])].flatMap((s) =>
    typeof s === "boolean" ? [] : Object.entries(s.properties ?? {}),
  );
  if (properties.length === 0) return [prefix.slice(0, -1)];
  return properties.flatMap(([name, child]) => optionPaths(child, `${prefix}${name}.`));
}
