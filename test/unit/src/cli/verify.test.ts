import { mkdirSync } from "node:fs";
import { join, relative } from "node:path";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { kubeconfigText, withApi } from "../../../support/api.ts";
import { command } from "../../../support/cli.ts";
import { changedExample, exampleOf, metadata, Project } from "../../../support/stacks.ts";

let project: Project;
beforeEach(() => {
  project = new Project(changedExample("aws"), { files: exampleOf("aws").files });
  vi.stubEnv("KONNECTIVITY_CONFIG", project.configFile);
  vi.stubEnv("KUBECONFIG", "");
});
afterEach(() => {
  vi.unstubAllEnvs();
  project.remove();
});

/** A cluster whose bootstrap has ended. */
const cluster = {
  version: { gitVersion: "v1.31.4" },
  "configmaps/bootstrap": { data: { status: "complete" } },
  infrastructures: { status: { infrastructureName: metadata.infraID } },
  pods: { items: [] },
};

it("verifies the cluster of the configured cloud, by the kubeconfig that the teardown uses", async () => {
  await withApi(cluster, async (kubeconfig) => {
    vi.stubEnv("KUBECONFIG", kubeconfig);
    const { code, stdout, stderr } = await command("verify");
    expect({ code, stderr }).toEqual({ code: 0, stderr: `config    ${project.configFile}\n` });
    expect(stdout).toContain("Kubernetes v1.31.4");
    const json = await command("verify", "--json", "--kubeconfig", kubeconfig);
    expect(JSON.parse(json.stdout)).toMatchObject({ config: null, failed: 0 });
    expect(json.stderr).toBe("");
    expect(JSON.parse((await command("verify", "--json")).stdout)).toMatchObject({ config: project.configFile });
  });
});

it("says what to give if there is no kubeconfig", async () => {
  const kubeconfig = relative("", join(project.folder, "ocp/auth/kubeconfig"));
  const reason = `There is nothing to examine: ${kubeconfig} does not exist; use --kubeconfig or --name.`;
  expect(await command("verify")).toEqual({ code: 1, stdout: "", stderr: `error: ${reason}\n` });
});

it("refuses to end the bootstrap of a cloud's cluster", async () => {
  mkdirSync(join(project.folder, "ocp/auth"));
  project.write("ocp/auth/kubeconfig", kubeconfigText("http://127.0.0.1:1"));
  const { code, stderr } = await command("verify", "--finish");
  expect(code).not.toBe(0);
  expect(stderr).toMatch(/^error: --finish ends the bootstrap of a lab, but \S+ does not configure only a lab: /);
});
