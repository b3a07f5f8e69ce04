import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DataResource } from "cdktf";
import { afterAll, expect, it } from "vitest";
import type { PayloadContent } from "../../../constructs/shared/payload-file.ts";
import { newApp } from "../../../stacks/app.ts";
import { BootstrapStack, type BootstrapStackProps } from "../../../stacks/bootstrap-stack.ts";
import { runTerraform } from "../../support/terraform.ts";

const folder = mkdtempSync(join(tmpdir(), "example-terraform-"));
const outdir = join(folder, "cdktf.out");
const state = join(folder, ".state/sample-bootstrap.tfstate");
// The destroy steps run it; none of them has a cluster to ask here.
writeFileSync(join(folder, "program.js"), "");
mkdirSync(join(folder, ".state"));
afterAll(() => {
  rmSync(folder, { recursive: true });
});

/** A stack with a machine. terraform_data is built in, so it needs no provider and no network. */
class SampleStack extends BootstrapStack {
  constructor(scope: ReturnType<typeof newApp>, props: BootstrapStackProps) {
    super(scope, "sample-bootstrap", { ...props, platform: "sample" });
    new DataResource(this, "machine", { input: { hash: this.payload.sha512 } });
  }
}

function describeStack(payload: PayloadContent): void {
  const app = newApp(outdir);
  new SampleStack(app, {
    payload,
    replaceMachine: false,
    state: { local: { folder: join(folder, ".state") } },
    steps: { program: join(folder, "program.js"), workingDirectory: folder, configArguments: [] },
  });
  app.synth();
}

/** Its boxes break sentences into lines. */
function terraform(...args: readonly string[]) {
  const { code, output } = runTerraform([`-chdir=${join(outdir, "stacks/sample-bootstrap")}`, ...args]);
  return { code, output: output.replace(/\n[│ ]*/g, " ").replace(/ +/g, " ") };
}

const real: PayloadContent = { present: true, text: "{}", sha512: "a".repeat(128) };
const example: PayloadContent = { ...real, sha512: "b".repeat(128), example: true };
const sentence =
  'Nothing can be deployed: the cluster in bootstrap.ign is a made-up example. Give the folder in which "openshift-install create ignition-configs" ran as installDir.';

it("stops the deploy of an example with one sentence before anything is created, and destroys all the same", () => {
  describeStack(example);
  expect(terraform("init")).toMatchObject({ code: 0 });
  const planned = terraform("plan");
  expect(planned.code).toBe(1);
  expect(planned.output.match(/Error:/g)).toHaveLength(1);
  expect(planned.output).toContain(sentence);
  expect(terraform("apply", "-auto-approve").code).toBe(1);
  expect(existsSync(state)).toBe(false);

  describeStack(real);
  expect(terraform("apply", "-auto-approve")).toMatchObject({ code: 0 });
  const deployed = readFileSync(state, "utf8");
  describeStack(example);
  expect(terraform("apply", "-auto-approve").output).toContain(sentence);
  expect(readFileSync(state, "utf8")).toBe(deployed);
  const destroyed = terraform("destroy", "-auto-approve");
  expect(destroyed).toMatchObject({ code: 0, output: expect.stringContaining("3 destroyed") as string });
}, 120_000);
