import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { projectFile, readProjectText } from "../../src/runtime/project-files.js";
import { withApi } from "../support/api.ts";
import { command } from "../support/cli.ts";
import { clouds } from "../support/clouds.ts";
import { exampleOf, metadata, Project } from "../support/stacks.ts";

/*
 * Sample output in the pages is what the commands print. After a change of a command's output, update the pages with
 * UPDATE_SAMPLES=1 npx vitest run test/unit/docs-output.test.ts
 */
const update = process.env.UPDATE_SAMPLES === "1";

/** The cluster of the samples. Its bootstrap.ign contains no key and no certificate, so each run prints the same. */
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

/** Compares output with the code block of a page that begins like it, perhaps below a command line with a prompt. */
function expectSample(page: string, output: string): void {
  const file = projectFile(page);
  const lines = readFileSync(file, "utf8").split("\n");
  const start = lines.findIndex(
    (line, at) =>
      /^ {4,}\S/.test(line) && line.trim().startsWith(output.slice(0, 9)) && /^( +\$ .*)?$/.test(lines[at - 1] ?? ""),
  );
  expect(start, `the beginning of a sample in ${page}: ${output.slice(0, 9)}`).toBeGreaterThan(0);
  const [indent = ""] = /^ +/.exec(lines[start] ?? "") ?? [];
  const isCode = (at: number) => lines[at]?.startsWith(indent) === true;
  let end = start;
  while (isCode(end) || (lines[end] === "" && isCode(end + 1))) end += 1;
  // Pages shorten a long sha512.
  const wanted = output.trimEnd().replace(/^(sha512 +[0-9a-f]{64})[0-9a-f]{64}$/m, "$1…");
  if (update) {
    const block = wanted.split("\n").map((line) => (line === "" ? "" : indent + line));
    writeFileSync(file, lines.toSpliced(start, end - start, ...block).join("\n"));
  } else {
    const shown = lines.slice(start, end).map((line) => line.slice(indent.length));
    expect(shown.join("\n")).toBe(wanted);
  }
}

describe("sample output", () => {
  it.each(clouds)("of config check in docs/upi-%s.md is what it prints", async (platform) => {
    const { configFile } = projectOf(platform);
    const output = await outputOf("config", "check", "--config", configFile);
    const inClone = output.replaceAll(configFile, "konnectivity.yaml").replace(/^(next +)\S.*(?=npx cdktf)/m, "$1");
    expectSample(`docs/upi-${platform}.md`, inClone);
  });

  it.each(clouds)("of a deploy in docs/upi-%s.md names every output of the stack", (platform) => {
    const page = readProjectText(`docs/upi-${platform}.md`);
    const outputs = Object.keys(projectOf(platform).synth()[`${platform}-bootstrap`]?.output ?? {});
    expect(outputs.length).toBeGreaterThan(5);
    expect(outputs.filter((name) => !page.includes(`    ${name} = `) && !page.includes(`\`${name}\``))).toEqual([]);
  });

  it("of the payload's commands in docs/payload.md is what they print", async () => {
    const { folder } = projectOf("aws");
    const [installDir, out] = ["ocp", "out"].map((name) => join(folder, name)) as [string, string];
    const url = ["--url", "https://files.example.com/payload.ign"];
    const built = await outputOf("payload", "build", installDir, "--out", out, ...url);
    expectSample("docs/payload.md", built.replaceAll(out, "out").replaceAll(installDir, "ocp"));
    const inspected = await outputOf("payload", "inspect", join(out, "payload.ign"));
    expectSample("docs/payload.md", inspected.split("\n\n")[0] ?? "");
    const rule = await outputOf("payload", "firewall", installDir);
    expectSample("docs/payload.md", rule.replaceAll(installDir, "ocp"));
  });

  it("of the gate in docs/teardown.md and the UPI pages is what it prints", async () => {
    const gate = (objects: Readonly<Record<string, object>>) =>
      withApi(objects, (kubeconfig) => command("teardown", "gate", "aws", "--kubeconfig", kubeconfig));
    const { stdout: closed } = await gate({});
    const { stdout: open } = await gate({
      "/configmaps/bootstrap": { data: { status: "complete" } },
      "/etcds/cluster": { status: { conditions: [{ type: "EtcdBootstrapMemberRemoved", status: "True" }] } },
      "/kubeapiservers/cluster": { status: { nodeStatuses: [{ currentRevision: 1 }] } },
      "/infrastructures/cluster": { status: { controlPlaneTopology: "SingleReplica" } },
    });
    expectSample("docs/teardown.md", closed);
    for (const page of ["teardown", ...clouds.map((platform) => `upi-${platform}`)])
      expectSample(`docs/${page}.md`, open);
  });
});
