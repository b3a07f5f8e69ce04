import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { rewriteAsInstaller } from "../../../lab/installer-rewrite.ts";
import type { IgnitionConfig } from "../../../src/core/ignition/config.ts";
import { type Shape, specShape } from "../../../src/core/ignition/spec-3-2.ts";
import { ipiAgentPort } from "../../../src/core/konnectivity/agent-port.ts";
import { tunnelShapes } from "../../../src/core/sample/sample.ts";
import { command } from "../../support/cli.ts";
import { validateIgnition } from "../../support/ignition-validate.ts";
import { rewrittenByInstaller } from "../../support/installer-rewrite.ts";
import { ScratchNode } from "../../support/node.ts";
import { samplePayload } from "../../support/payload.ts";

const folder = mkdtempSync(join(tmpdir(), "konnectivity-bootstrap-rewrite-"));
afterAll(() => {
  rmSync(folder, { recursive: true });
});

const payloadOf = (shape: (typeof tunnelShapes)[number][0]) => samplePayload(shape, { port: ipiAgentPort });
const manifest = "/opt/openshift/manifests/openshift-install.yaml";

/** Every file on a machine, with its content, mode and owner. */
function filesOf(payload: string): Record<string, object> {
  const node = new ScratchNode(payload);
  try {
    // Ignition writes down when and from what it ran.
    const files = node.files("/").filter((path) => path !== "/etc/.ignition-result.json");
    return Object.fromEntries(files.map((path) => [path, { content: node.read(path), ...node.stat(path) }]));
  } finally {
    node.remove();
  }
}

describe.each(tunnelShapes)("the payload of %s, rewritten as openshift-install does it", (shape) => {
  const payload = payloadOf(shape);
  const rewritten = rewriteAsInstaller(payload);

  it("is another text, to which ignition-validate has nothing to say", () => {
    expect(rewritten).not.toBe(payload);
    expect(validateIgnition(rewritten)).toBe("");
  });

  it("becomes the same files on the machine, and the installer's one", () => {
    const { [manifest]: added, ...others } = filesOf(rewritten);
    expect(others).toEqual(filesOf(payload));
    expect(Object.keys(others).length).toBeGreaterThan(20);
    expect(added).toMatchObject({
      content: expect.stringMatching(/^kind: ConfigMap$[^]*^ {2}name: openshift-install$/m) as string,
      mode: "0644",
      owner: "0:0",
    });
  });

  it("is what the emulation for unit tests makes of it, but for the text of the installer's file", () => {
    const withoutManifest = (text: string) => {
      const config = JSON.parse(text) as IgnitionConfig;
      return JSON.stringify(config.storage?.files?.map((file) => (file.path === manifest ? manifest : file)));
    };
    expect(withoutManifest(rewrittenByInstaller(payload))).toBe(withoutManifest(rewritten));
  });

  it("is still a payload to inspect, with its port", async () => {
    const file = join(folder, "bootstrap.ign");
    writeFileSync(file, rewritten);
    const { code, stdout, stderr } = await command("payload", "inspect", "--json", file);
    expect(stderr).toBe("");
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      record: { options: { port: ipiAgentPort } },
      sinceBuild: { rewritten: true, filesAdded: [manifest] },
    });
  });
});

it("loses the keys that Ignition spec 3.2 does not have, without a word", () => {
  const config = JSON.parse(payloadOf("4.18")) as IgnitionConfig;
  const [file] = config.storage?.files ?? [];
  if (file === undefined) throw new Error("the sample has no file");
  const changed = {
    ...config,
    ignition: { ...config.ignition, version: "3.3.0" },
    // New in spec 3.3.
    kernelArguments: { shouldExist: ["panic=30"] },
    storage: { ...config.storage, files: [{ ...file, comment: "mine" }, ...(config.storage?.files ?? []).slice(1)] },
  };
  const rewritten = JSON.parse(rewriteAsInstaller(JSON.stringify(changed))) as IgnitionConfig;
  expect(rewritten.ignition.version).toBe("3.3.0");
  expect(rewritten).not.toHaveProperty("kernelArguments");
  expect(rewritten.storage?.files?.[0]).toEqual(file);
});

/** A value in which every key is set. */
function everyKey(shape: Shape): unknown {
  if (typeof shape === "string") return { text: "a", integer: 1, boolean: true }[shape];
  if (Array.isArray(shape)) return (shape as readonly Shape[]).map(everyKey);
  return Object.fromEntries(Object.entries(shape).map(([key, part]) => [key, everyKey(part)]));
}

it("keeps every key that `ipi prepare` takes for one of Ignition spec 3.2", () => {
  const config = everyKey(specShape) as IgnitionConfig;
  const rewritten = JSON.parse(rewriteAsInstaller(JSON.stringify(config))) as IgnitionConfig;
  expect(rewritten.storage?.files?.pop()).toMatchObject({ path: manifest });
  expect(rewritten).toEqual(config);
});

it("refuses what is not JSON, or not a config, in one sentence", () => {
  expect(() => rewriteAsInstaller("{")).toThrow(
    /^openshift-install cannot read the payload, so no lab was created: unexpected end of JSON input; use a payload from/,
  );
  expect(() => rewriteAsInstaller('{"storage":{"files":5}}')).toThrow("cannot unmarshal number");
});
