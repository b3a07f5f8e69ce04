import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, it } from "vitest";
import { command } from "../../../support/cli.ts";
import { changedExample, exampleOf, metadata, Project } from "../../../support/stacks.ts";

const { files } = exampleOf("aws");
let project: Project;
afterEach(() => {
  project.remove();
});

const report = (...args: string[]) =>
  command(
    ...["teardown", "report", "aws", "--config", project.configFile],
    ...["--kubeconfig", join(project.folder, "no-kubeconfig"), ...args],
  );

/** A local state of the bootstrap stack, with these resources. */
function deployed(...types: string[]): void {
  mkdirSync(join(project.folder, ".state"));
  const resources = types.map((type) => ({ mode: "managed", type, name: "x", instances: [{}] }));
  project.write(".state/aws-bootstrap.tfstate", JSON.stringify({ resources }, undefined, 2));
}

it("fails and says so if nothing could be examined", async () => {
  project = new Project(changedExample("aws"), { files });
  const { code, stdout, stderr } = await report();
  expect({ code, stderr }).toEqual({ code: 1, stderr: "" });
  expect(stdout).toMatch(
    /\nNothing could be looked at: something may be left\.\n0 gone, 0 terminating, 0 left, 2 not looked at\.\n$/,
  );
  const { code: jsonCode, stdout: json } = await report("--json");
  expect(jsonCode).toBe(1);
  expect(JSON.parse(json)).toMatchObject({
    ...{ ok: false, gone: 0, terminating: 0, left: 0, notLookedAt: 2 },
    results: [{ state: "not looked at" }, { state: "not looked at" }],
  });
});

it("passes if everything is gone, although the cluster's API does not answer", async () => {
  project = new Project(changedExample("aws"), { files });
  deployed();
  const { code, stdout } = await report();
  expect(code).toBe(0);
  expect(stdout).toMatch(/\n\n16 gone, 0 terminating, 0 left, 1 not looked at\.\n$/);
});

it("fails if something is left", async () => {
  project = new Project(changedExample("aws"), { files });
  deployed("aws_instance");
  const { code, stdout } = await report();
  expect(code).toBe(1);
  expect(stdout).toContain("left          aws_instance.x  (");
});

it("passes as Terraform's last step with a shared state: Terraform has removed the rest", async () => {
  const state = { s3: { bucket: "states", region: "eu-west-1", keyPrefix: "clusters/prod" } };
  const shared = { state, infrastructureName: metadata.infraID };
  project = new Project(changedExample("aws", { region: "eu-central-1" }, shared), { files });
  const { code, stdout } = await report("--last-step");
  expect(code).toBe(0);
  expect(stdout).toContain("16 gone, 0 terminating, 0 left, 1 not looked at.");
});
