import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { stringify } from "yaml";
import { projectRoot } from "../../../src/runtime/project-files.js";
import { linesOf } from "../../support/cli.ts";
import { runIn } from "../../support/clone.ts";
import { changedExample, exampleOf, Project } from "../../support/stacks.ts";

const google = changedExample("google");
const project = new Project({ ...changedExample("aws"), ...google }, { files: exampleOf("aws").files });
afterAll(() => {
  project.remove();
});

const synth = (environment: NodeJS.ProcessEnv = {}) =>
  runIn(projectRoot, ["npx", "cdktf", "synth", "--output", project.outdir], {
    KONNECTIVITY_CONFIG: project.configFile,
    CHECKPOINT_DISABLE: "1",
    ...environment,
  });

it("the cdktf command removes the stack of a platform that is gone from the config, and prints a warning once", async () => {
  expect(await synth()).toMatchObject({ code: 0 });
  const stacks = () => readdirSync(join(project.outdir, "stacks"));
  expect(stacks()).toEqual(["aws-bootstrap", "aws-teardown", "google-bootstrap", "google-teardown"]);
  project.write("konnectivity.yaml", stringify({ installDir: "ocp", ...google }));
  rmSync(join(project.folder, "ocp/bootstrap.ign"));
  const { code, stdout, stderr } = await synth();
  expect(code).toBe(0);
  expect(stacks()).toEqual(["google-bootstrap", "google-teardown"]);
  const warnings = linesOf(stdout + stderr).filter((line) => line.includes("you cannot deploy"));
  expect(warnings).toEqual([
    expect.stringMatching(/WARN \[google-bootstrap\]: There is no bootstrap\.ign in /) as string,
  ]);
});

it("says that Terraform is missing, which a synth does not need", async () => {
  const { code, stdout, stderr } = await synth({ TERRAFORM_BINARY_NAME: "no-such-terraform" });
  expect(code).toBe(0);
  const warnings = linesOf(stdout + stderr).filter((line) => line.includes("The program no-such-terraform"));
  expect(warnings).toEqual([expect.stringMatching(/WARN \[google-bootstrap\]: .*: install Terraform 1\.10/) as string]);
});
