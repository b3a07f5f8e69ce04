import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { App, DataResource, TerraformStack } from "cdktf";
import { afterAll, expect, it } from "vitest";
import { StateBackup } from "../../constructs/azure/state-backup.ts";
import { addStateBackend, localStateBackup, protectLocalState } from "../../constructs/state-backend.ts";
import { runTerraform } from "../support/terraform.ts";

const folder = mkdtempSync(join(tmpdir(), "konnectivity-bootstrap-backup-"));
const stateFolder = join(folder, ".state");
afterAll(() => {
  rmSync(folder, { recursive: true });
});

/** What is in the state folder, all of it. */
const states = () =>
  readdirSync(stateFolder)
    .map((name) => readFileSync(join(stateFolder, name), "utf8"))
    .join();

it("after a destroy no state holds the secret any more", () => {
  const describeStack = (secret: string) => {
    const app = new App({ outdir: join(folder, "cdktf.out") });
    const stack = new TerraformStack(app, "sample-bootstrap");
    addStateBackend(stack, { state: { local: { folder: ".state" } }, stateFolder });
    const backup = new StateBackup(stack, "state-backup", { file: localStateBackup(stack, stateFolder) });
    new DataResource(stack, "account", { input: { secret }, dependsOn: [backup.removedLast] });
    app.synth();
  };
  const terraform = (...args: string[]) =>
    runTerraform([`-chdir=${join(folder, "cdktf.out/stacks/sample-bootstrap")}`, ...args]);
  protectLocalState(stateFolder, ["sample-bootstrap"]);
  describeStack("the first key");
  expect(terraform("init")).toMatchObject({ code: 0 });
  expect(terraform("apply", "-auto-approve")).toMatchObject({ code: 0 });
  describeStack("the second key");
  expect(terraform("apply", "-auto-approve")).toMatchObject({ code: 0 });
  expect(states()).toContain("the first key");
  expect(states()).toContain("the second key");
  expect(terraform("destroy", "-auto-approve")).toMatchObject({ code: 0 });
  expect(states()).not.toContain("key");
  expect(readdirSync(stateFolder)).toEqual([".gitignore", "sample-bootstrap.tfstate"]);
}, 120_000);
