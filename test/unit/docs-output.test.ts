import { afterAll, describe, expect, it } from "vitest";
import { join } from "node:path";
import { readProjectText } from "../../src/runtime/project-files.js";
import { clouds } from "../support/clouds.ts";
import { command } from "../support/cli.ts";
import { exampleOf, metadata, Project } from "../support/stacks.ts";

/** The cluster of the pages' sample output. Its bootstrap.ign has no key and no certificate, so each run prints the same. */
const cluster = JSON.parse(JSON.stringify(metadata).replaceAll("sample-x7k2p", "prod-x7k2p")) as typeof metadata;
const projects: Project[] = [];
afterAll(() => {
  for (const project of projects) project.remove();
});

function projectOf(platform: string): Project {
  const { files } = exampleOf(platform);
  const project = new Project(readProjectText(`docs/examples/${platform}.yaml`), {
    files,
    metadata: { ...cluster, clusterName: "prod" },
  });
  projects.push(project);
  return project;
}

async function outputOf(...words: readonly string[]): Promise<string> {
  const { code, stdout } = await command(...words);
  expect(code).toBe(0);
  return stdout;
}

/** As a block of code in a page. Pages shorten a long sha512. */
const asBlock = (output: string) =>
  output
    .trimEnd()
    .replace(/^(sha512 +[0-9a-f]{64})[0-9a-f]{64}$/m, "$1…")
    .split("\n")
    .map((line) => (line === "" ? "" : `    ${line}`))
    .join("\n");

describe("sample output", () => {
  it.each(clouds)("of config check in docs/upi-%s.md is what it prints", async (platform) => {
    const { configFile } = projectOf(platform);
    const output = await outputOf("config", "check", "--config", configFile);
    const inClone = output.replaceAll(configFile, "konnectivity.yaml").replace(/^(next +)\S.*(?=npx cdktf)/m, "$1");
    expect(readProjectText(`docs/upi-${platform}.md`)).toContain(asBlock(inClone));
  });

  it.each(clouds)("of the outputs in docs/upi-%s.md names them all", (platform) => {
    const page = readProjectText(`docs/upi-${platform}.md`);
    const outputs = Object.keys(projectOf(platform).synth()[`${platform}-bootstrap`]?.output ?? {});
    expect(outputs.length).toBeGreaterThan(5);
    expect(outputs.filter((name) => !page.includes(`    ${name} = `) && !page.includes(`\`${name}\``))).toEqual([]);
  });

  it("of the payload's commands in docs/payload.md is what they print", async () => {
    const page = readProjectText("docs/payload.md");
    const { folder } = projectOf("aws");
    const [installDir, out] = ["ocp", "out"].map((name) => join(folder, name)) as [string, string];
    const built = await outputOf(
      "payload",
      "build",
      installDir,
      "--out",
      out,
      "--url",
      "https://files.example.com/payload.ign",
    );
    expect(page).toContain(asBlock(built.replaceAll(out, "out").replaceAll(installDir, "ocp")));
    const inspected = await outputOf("payload", "inspect", join(out, "payload.ign"));
    expect(page).toContain(asBlock(inspected.split("\n\n")[0] ?? ""));
    expect(page).toContain(asBlock((await outputOf("payload", "firewall", installDir)).replaceAll(installDir, "ocp")));
  });
});
