import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { App, DataResource, TerraformStack } from "cdktf";
import { afterAll, describe, expect, it } from "vitest";
import { bootstrapIngress, checkPortOf, createRules } from "../../../constructs/shared/ingress.ts";
import { MachineSpec } from "../../../constructs/shared/machine-spec.ts";
import { PayloadFile } from "../../../constructs/shared/payload-file.ts";
import { addressOf } from "../../../constructs/shared/terraform-address.ts";
import { runTerraform } from "../../support/terraform.ts";

const folder = mkdtempSync(join(tmpdir(), "konnectivity-bootstrap-tunnel-port-"));
const stackFolder = join(folder, "cdktf.out/stacks/sample-bootstrap");
afterAll(() => {
  rmSync(folder, { recursive: true });
});

/** Describes a stack in which terraform_data plays the machine and the rule, as every cloud has them, and applies it. */
function deploy(tunnelPort: number, replaceMachine = false) {
  const app = new App({ outdir: join(folder, "cdktf.out") });
  const stack = new TerraformStack(app, "sample-bootstrap");
  stack.addOverride("terraform.backend.local", { path: join(folder, "terraform.tfstate") });
  const content = { present: true, text: String(tunnelPort), sha512: String(tunnelPort).repeat(32) } as const;
  const payload = new PayloadFile(stack, "payload", { content });
  const spec = new MachineSpec(stack, "spec", { payload, parts: { size: "large" }, replaceMachine });
  createRules(bootstrapIngress({ nodes: ["nodes"], tunnelPort }), (rule) => {
    const { port, keepsPort } = rule.ingress;
    const resource = new DataResource(stack, "rule", {
      input: { port: String(port) },
      ...(keepsPort && { lifecycle: spec.lifecycle(["input"]) }),
    });
    if (keepsPort) checkPortOf(spec, rule, `${addressOf(resource)}.output.port == "${port}"`);
    return resource.id;
  });
  const machine = new DataResource(stack, "machine", {
    input: { port: content.text, ...spec.tag },
    lifecycle: spec.lifecycle(["input"]),
  });
  spec.checkDriftOf(machine, "input");
  app.synth();
  expect(runTerraform([`-chdir=${stackFolder}`, "init", "-reconfigure"])).toMatchObject({ code: 0 });
  const { code, output } = runTerraform([`-chdir=${stackFolder}`, "apply", "-auto-approve"]);
  expect(code).toBe(0);
  return output.replace(/\n[│ ]*/g, " ").replace(/ +/g, " ");
}

interface State {
  readonly resources: readonly {
    readonly name: string;
    readonly instances: readonly { attributes: { input: { value: { port: string } } } }[];
  }[];
}

/** The ports of the rule and of the machine's payload, as they are deployed. */
function deployedPorts() {
  const { resources } = JSON.parse(readFileSync(join(folder, "terraform.tfstate"), "utf8")) as State;
  const portOf = (name: string) =>
    Number(resources.find((one) => one.name === name)?.instances[0]?.attributes.input.value.port);
  return { rule: portOf("rule"), machine: portOf("machine") };
}

describe("another port in the config", () => {
  it("leaves rule and machine as they are, and the plan says so", () => {
    deploy(8091);
    expect(deployedPorts()).toEqual({ rule: 8091, machine: 8091 });
    const output = deploy(9591);
    expect(output).toContain("A rule for the nodes' agents keeps the port that the machine was made with");
    expect(output).toContain("it is 9591 in the config now");
    expect(deployedPorts()).toEqual({ rule: 8091, machine: 8091 });
  });

  it("replaces both with replaceMachine, and nothing is reported then", () => {
    deploy(9591, true);
    expect(deployedPorts()).toEqual({ rule: 9591, machine: 9591 });
    expect(deploy(9591)).not.toContain("keeps the port");
    deploy(9592);
    expect(deployedPorts()).toEqual({ rule: 9591, machine: 9591 });
  });
});
