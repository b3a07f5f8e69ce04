import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { addressesIn, deployedMachine } from "../../../src/cli/deployed-state.ts";
import { runWith } from "../../support/cli.ts";
import { changedExample, exampleOf, metadata, Project } from "../../support/stacks.ts";
import { runTerraform } from "../../support/terraform.ts";

const { files } = exampleOf("aws");
let project: Project | undefined;
afterEach(() => {
  project?.remove();
});

/** What the bootstrap stack's state is to have. */
const deployed = {
  output: { ssh: { value: "ssh core@127.0.0.1" } },
  resource: { terraform_data: { report: { input: "something" } } },
};

/** Has the real Terraform make a state of it, in this folder. */
function apply(folder: string, more: object = {}): void {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "cdk.tf.json"), JSON.stringify({ ...deployed, ...more }));
  expect(runTerraform([`-chdir=${folder}`, "init"])).toMatchObject({ code: 0 });
  expect(runTerraform([`-chdir=${folder}`, "apply", "-auto-approve"])).toMatchObject({ code: 0 });
}

describe("what was deployed from here", () => {
  it("is in a local state: --ssh needs no destination", async () => {
    project = new Project(changedExample("aws"), { files });
    const backend = { local: { path: join(project.folder, ".state/aws-bootstrap.tfstate") } };
    apply(join(project.folder, "some/folder"), { terraform: { backend } });
    const inputs = project.inputs();
    expect(await deployedMachine(inputs)).toBe("core@127.0.0.1");
    expect(await addressesIn(inputs, "aws-bootstrap")).toEqual(["terraform_data.report"]);
    expect(await addressesIn(inputs, "aws-teardown")).toBeUndefined();
    // No ssh is there: what it says is about the machine that was meant.
    const env = { ...process.env, KONNECTIVITY_CONFIG: project.configFile, PATH: "/nowhere" };
    for (const words of [
      ["status", "--ssh"],
      ["status", "--ssh", "--json"],
    ])
      expect((await runWith(env, ...words)).stdout).toContain("core@127.0.0.1 cannot be checked: ");
  }, 60_000);

  it("is asked of Terraform where the state is shared, in the folder that cdktf.json names", async () => {
    const state = { s3: { bucket: "states", region: "eu-west-1", keyPrefix: "clusters/prod" } };
    const shared = { state, infrastructureName: metadata.infraID };
    project = new Project(changedExample("aws", { region: "eu-central-1" }, shared), { files });
    project.write("cdktf.json", JSON.stringify({ output: "elsewhere" }));
    const inputs = project.inputs();
    await expect(deployedMachine(inputs)).rejects.toThrow("terraform -chdir=elsewhere/stacks/aws-bootstrap init");
    // Not S3: only the folder is of interest here.
    apply(join(project.folder, "elsewhere/stacks/aws-bootstrap"));
    expect(await deployedMachine(inputs)).toBe("core@127.0.0.1");
    expect(await addressesIn(inputs, "aws-bootstrap")).toEqual(["terraform_data.report"]);
  }, 60_000);
});
