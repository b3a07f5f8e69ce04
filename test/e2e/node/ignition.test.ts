import { execFileSync, spawnSync, type SpawnSyncReturns } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { decodeContents } from "../../../src/core/ignition/contents.ts";
import type { IgnitionConfig } from "../../../src/core/ignition/config.ts";
import { projectFile } from "../../../src/runtime/project-files.js";
import { validateIgnition } from "../../support/ignition-validate.ts";
import { ScratchNode } from "../../support/node.ts";
import { samplePayload } from "../../support/payload.ts";
import { tunnelShapes } from "../../../src/core/sample/sample.ts";

describe("ignition-validate", () => {
  it("can fail", () => {
    expect(validateIgnition('{"ignition":{"version":"3.2.0"},"storage":{"bogus":1}}')).toContain("bogus");
  });

  it.each([
    ...tunnelShapes.map(([shape]) => [shape, {}] as const),
    ["4.18", { protocol: "http-connect", transport: "tcp", authentication: "service-account-token" }] as const,
    [
      "4.23",
      { agents: { kind: "Deployment", hostNetwork: true }, authentication: "none", acceptUnauthenticatedAgents: true },
    ] as const,
  ])("accepts the payload of %s with %o without a warning", (shape, tunnel) => {
    expect(validateIgnition(samplePayload(shape, tunnel))).toBe("");
  });
});

describe.each(tunnelShapes)("Ignition applies the payload of %s", (shape) => {
  const payload = samplePayload(shape);
  const ignition = JSON.parse(payload) as IgnitionConfig;
  const node = new ScratchNode(payload);
  afterAll(() => {
    node.remove();
  });

  it("and says that it is done", () => {
    expect(node.log).toContain("Ignition finished successfully");
  });

  it("and every file is there with its content, mode and owner", () => {
    const wanted = (ignition.storage?.files ?? []).filter(({ contents }) => contents !== undefined);
    expect(wanted.length).toBeGreaterThan(15);
    const found = wanted.map(({ path }) => ({ path, content: node.read(path), ...node.stat(path) }));
    expect(found).toEqual(
      wanted.map(({ path, mode = 0, contents }) => ({
        path,
        content: decodeContents(contents).toString("utf8"),
        mode: mode.toString(8).padStart(4, "0"),
        owner: "0:0",
      })),
    );
  });

  it("and every other file of the Ignition config is there too", () => {
    expect(node.read("/etc/motd")).toBe("This is the bootstrap node.\n");
    expect(node.read("/home/core/.ssh/authorized_keys.d/ignition")).toContain("core@example.com");
    expect(node.read("/etc/systemd/system/bootkube.service")).toContain("ExecStart=/usr/local/bin/bootkube.sh");
    expect(node.read("/etc/systemd/system-preset/20-ignition.preset")).toContain("enable progress.service");
  });

  it("and bash and shellcheck accept every script of ours and bootkube.sh as they landed", () => {
    const scripts = [
      "konnectivity-bootstrap.sh",
      "konnectivity-bootstrap-address.sh",
      "konnectivity-bootstrap-setup.sh",
      "bootkube.sh",
    ].map((name) => join(node.root, "usr/local/bin", name));
    for (const script of scripts) execFileSync("bash", ["-n", script]);
    // SC1091, SC2034: the installer's own part of bootkube.sh sources files that are only on the machine.
    expectAccepted(spawnSync("shellcheck", ["--exclude=SC1091,SC2034", ...scripts], { encoding: "utf8" }));
  });
});

it("shellcheck accepts the scripts in the tree", () => {
  const tree = projectFile("src/core/konnectivity/node");
  const scripts = readdirSync(tree).map((name) => join(tree, name));
  expect(scripts).toHaveLength(5);
  const support = projectFile("test/support/enter-node.sh");
  expectAccepted(spawnSync("shellcheck", ["--external-sources", ...scripts, support], { encoding: "utf8" }));
});

/** It complains of what it cannot read on stderr alone. */
function expectAccepted({ status, stdout, stderr }: SpawnSyncReturns<string>): void {
  expect({ status, stdout, stderr }).toEqual({ status: 0, stdout: "", stderr: "" });
}
