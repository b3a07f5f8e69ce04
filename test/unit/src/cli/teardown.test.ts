import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { withApi } from "../../../support/api.ts";
import { command, runIn } from "../../../support/cli.ts";
import { changedExample, exampleOf, metadata, Project } from "../../../support/stacks.ts";

const root = mkdtempSync(join(tmpdir(), "konnectivity-bootstrap-teardown-"));
const { files } = exampleOf("aws");
const project = new Project(changedExample("aws"), { files });
afterAll(() => {
  rmSync(root, { recursive: true });
  project.remove();
});
beforeEach(() => {
  vi.stubEnv("KUBECONFIG", "");
  vi.stubEnv("KONNECTIVITY_CONFIG", "");
});
afterEach(() => {
  vi.unstubAllEnvs();
});

/** A cluster that no longer needs the machine, with a DaemonSet of agents, by its infra ID. */
const clusterNamed = (infrastructureName: string) => (path: string) => {
  if (path.includes("/configmaps/bootstrap")) return { data: { status: "complete" } };
  if (path.includes("/etcds/"))
    return { status: { conditions: [{ type: "EtcdBootstrapMemberRemoved", status: "True" }] } };
  if (path.includes("/kubeapiservers/")) return { status: { nodeStatuses: [1, 2].map((currentRevision) => ({ currentRevision })) } }; // prettier-ignore
  if (path.includes("/infrastructures/")) return { status: { infrastructureName } };
  return path.includes("/daemonsets/") ? { kind: "Status" } : undefined;
};

/** Runs with the kubeconfig of such a cluster, in the install folder of another one if that is named. */
function inCluster<T>(infraId: string, act: (kubeconfig: string) => Promise<T>, folderOf?: string): Promise<T> {
  return withApi(clusterNamed(infraId), (kubeconfig) => {
    if (folderOf === undefined) return act(kubeconfig);
    const folder = mkdtempSync(join(root, "ocp-"));
    mkdirSync(join(folder, "auth"));
    writeFileSync(join(folder, "metadata.json"), JSON.stringify({ ...metadata, infraID: folderOf }));
    writeFileSync(join(folder, "auth/kubeconfig"), readFileSync(kubeconfig));
    return act(join(folder, "auth/kubeconfig"));
  });
}

const notChecked = (kubeconfig: string) =>
  `warning: The infra ID of the cluster is in neither a config file nor metadata.json, so it was not checked which cluster ${kubeconfig} belongs to.\n`;
const done = { gate: /^yes .*\nyes .*\nyes /, sweep: /^Deleted: daemonset\/konnectivity-agent\n$/ };

describe.each(["gate", "sweep"] as const)("teardown %s without a platform", (step) => {
  it("works with --kubeconfig alone, and says that the cluster was not checked", async () => {
    // A config file that is found says nothing about this kubeconfig.
    vi.stubEnv("KONNECTIVITY_CONFIG", project.configFile);
    await inCluster("another-a1b2c", async (kubeconfig) => {
      const { code, stdout, stderr } = await command("teardown", step, "--kubeconfig", kubeconfig);
      expect({ code, stderr }).toEqual({ code: 0, stderr: notChecked(kubeconfig) });
      expect(stdout).toMatch(done[step]);
    });
  });

  it("works with KUBECONFIG alone", async () => {
    const empty = mkdtempSync(join(root, "empty-"));
    await inCluster("another-a1b2c", async (kubeconfig) => {
      const environment = { ...process.env, KUBECONFIG: kubeconfig };
      const { code, stdout, stderr } = await runIn(empty, environment, "teardown", step);
      expect({ code, stderr }).toEqual({ code: 0, stderr: notChecked(kubeconfig) });
      expect(stdout).toMatch(done[step]);
    });
  });

  it("checks the cluster by the metadata.json of the install folder that has the kubeconfig", async () => {
    const run = (kubeconfig: string) => command("teardown", step, "--kubeconfig", kubeconfig);
    expect(await inCluster(metadata.infraID, run, metadata.infraID)).toMatchObject({ code: 0, stderr: "" });
    const { stdout, stderr } = await inCluster("another-a1b2c", run, metadata.infraID);
    expect(stdout).toBe("");
    expect(stderr).toContain(`is the API of the cluster another-a1b2c, not of ${metadata.infraID}`);
  });

  it("checks the cluster by a config file that is named with --config", async () => {
    const run = (kubeconfig: string) =>
      command("teardown", step, "--kubeconfig", kubeconfig, "--config", project.configFile);
    expect(await inCluster(metadata.infraID, run)).toMatchObject({ code: 0, stderr: "" });
    expect((await inCluster("another-a1b2c", run)).stderr).toContain("is the API of the cluster another-a1b2c");
  });

  it("is about the only platform of the config file, which is named", async () => {
    vi.stubEnv("KONNECTIVITY_CONFIG", project.configFile);
    await inCluster(metadata.infraID, async (kubeconfig) => {
      vi.stubEnv("KUBECONFIG", kubeconfig);
      const { code, stdout, stderr } = await command("teardown", step);
      expect({ code, stderr }).toEqual({ code: 0, stderr: `config    ${project.configFile}\n` });
      expect(stdout).toMatch(done[step]);
    });
    await inCluster("another-a1b2c", async (kubeconfig) => {
      vi.stubEnv("KUBECONFIG", kubeconfig);
      expect((await command("teardown", step)).stderr).toContain("is the API of the cluster another-a1b2c");
    });
  });

  it.each([
    ["does not exist", join(project.folder, "nope"), "it does not exist"],
    ["is a folder", project.folder, "it is a folder"],
  ])("fails if the file of --kubeconfig %s", async (_, kubeconfig, reason) => {
    const alone = await command("teardown", step, "--kubeconfig", kubeconfig);
    expect(alone).toEqual({
      code: 1,
      stdout: "",
      stderr: `error: ${kubeconfig} cannot be read: ${reason}; check --kubeconfig.\n`,
    });
    expect(await command("teardown", step, "aws", "--kubeconfig", kubeconfig, "--config", project.configFile)).toEqual(
      alone,
    );
  });

  it("asks for the platform if the config file has several, or there is neither", async () => {
    const both = new Project({ ...changedExample("aws"), local: {} }, { files });
    const several = await command("teardown", step, "--config", both.configFile);
    both.remove();
    const none = await command("teardown", step, "--no-config");
    for (const { code, stderr } of [several, none]) {
      expect(code).toBe(2);
      expect(stderr).toContain("error: name the platform, or give --kubeconfig\n");
    }
  });
});

it("teardown report takes the only platform of the config file", async () => {
  const kubeconfig = join(project.folder, "no-kubeconfig");
  const words = ["--config", project.configFile, "--kubeconfig", kubeconfig];
  const [named, found] = [await command("teardown", "report", "aws", ...words), await command("teardown", "report", ...words)]; // prettier-ignore
  expect(found.stdout).toContain("0 gone, 0 terminating, 0 left, 2 not looked at.");
  expect(found).toEqual(named);
  expect(await command("teardown", "report", "--no-config")).toMatchObject({ code: 2, stdout: "" });
});
