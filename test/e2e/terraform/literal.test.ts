import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { App, DataResource, LocalBackend, TerraformOutput, TerraformStack } from "cdktf";
import { afterAll, describe, expect, it, vi } from "vitest";
import { gateVariable } from "../../../src/cluster/gate-override.ts";
import { readInputs } from "../../../stacks/inputs.ts";
import { PayloadFile } from "../../../constructs/shared/payload-file.ts";
import { DestroyStep } from "../../../constructs/shared/destroy-step.ts";
import { literal } from "../../../src/core/terraform-literal.ts";
import { literalTexts as texts } from "../../support/literals.ts";
import { Project, synthesize } from "../../support/stacks.ts";
import { runTerraform } from "../../support/terraform.ts";

const folder = mkdtempSync(join(tmpdir(), "konnectivity-bootstrap-literal-"));
afterAll(() => {
  rmSync(folder, { recursive: true });
});

describe("a literal", () => {
  it("is the same text to Terraform in an output, an attribute, an error message and a step's command", () => {
    const app = new App({ outdir: join(folder, "cdktf.out") });
    const stack = new TerraformStack(app, "literals");
    new LocalBackend(stack, { path: join(folder, "state") });
    const known = new DataResource(stack, "known", { input: {} });
    new TerraformOutput(stack, "id", { value: known.id });
    const data = new DataResource(stack, "data", { input: { texts: texts.map((text) => literal(text, "it")) } });
    new TerraformOutput(stack, "attribute", { value: data.output });
    // In one text with a reference, as the outputs of a stack have them.
    texts.forEach((text, index) => new TerraformOutput(stack, `text-${index}`, { value: `${literal(text, "it")}|${known.id}` })); // prettier-ignore
    mkdirSync(join(folder, "w${x}"));
    const program = join(folder, "w${x}", "print${x}.js");
    writeFileSync(program, "console.log(JSON.stringify([process.cwd(), ...process.argv.slice(2)]))");
    new DestroyStep(stack, "step", { program, command: ["--", ...texts], workingDirectory: join(folder, "w${x}") });
    const payload = new PayloadFile(stack, "payload", {
      content: { present: false, why: "there is none in a${x}" },
    });
    app.synth();
    const terraform = (...args: string[]) =>
      runTerraform([`-chdir=${join(folder, "cdktf.out/stacks/literals")}`, ...args]);
    expect(terraform("init")).toMatchObject({ code: 0 });
    expect(terraform("apply", "-auto-approve")).toMatchObject({ code: 0 });
    const outputs = JSON.parse(terraform("output", "-json").output) as Record<string, { value: unknown }>;
    expect(outputs.attribute?.value).toEqual({ texts });
    for (const [index, text] of texts.entries())
      expect(outputs[`text-${index}`]?.value).toBe(`${text}|${String(outputs.id?.value)}`);
    const { code, output } = terraform("destroy", "-auto-approve");
    expect(code).toBe(0);
    const said = output.split("\n").find((line) => line.includes('(local-exec): ["/')) ?? "";
    expect(JSON.parse(said.slice(said.indexOf("[")))).toEqual([join(folder, "w${x}"), "--", ...texts]);

    data.lifecycle = { precondition: payload.preconditions };
    app.synth();
    expect(terraform("plan").output).toContain("Nothing can be deployed: there is none in a${x}.");
  });

  it("is what a step of destroying gets as its config file's name", () => {
    const project = new Project({}, { folder: join(folder, "project") });
    const name = `literal${process.pid}`;
    project.write("k${1}.yaml", `local: { name: ${name} }`);
    const inputs = readInputs(join(project.folder, "k${1}.yaml"), new Date(), { workingDirectory: project.folder });
    synthesize(inputs, project.outdir);
    const terraform = (...args: string[]) =>
      runTerraform([`-chdir=${join(project.outdir, "stacks/local-teardown")}`, ...args]);
    expect(terraform("init")).toMatchObject({ code: 0 });
    expect(terraform("apply", "-auto-approve")).toMatchObject({ code: 0 });
    vi.stubEnv(gateVariable, "a test");
    try {
      // The sweep reads the lab's name from that file.
      expect(terraform("destroy", "-auto-approve")).toMatchObject({
        code: 0,
        output: expect.stringContaining(`The lab ${name} does not run`) as string,
      });
    } finally {
      vi.unstubAllEnvs();
    }
  });
});
