import { spawnSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import { findAnchors, insertAtAnchors } from "../../../src/core/ignition/bootkube.ts";
import { readTunnel } from "../../../src/core/konnectivity/options.ts";
import { renderTunnel } from "../../../src/core/konnectivity/tunnel.ts";
import { bootkubeScript, tunnelShapes } from "../../../src/core/sample/sample.ts";
import { projectFile } from "../../../src/runtime/project-files.js";
import { render, textOf } from "../../support/tunnel.ts";

const tunnel = readTunnel(undefined);
if (typeof tunnel === "string") throw new Error("the tunnel is on by default");
const nowhere = { machineNetworks: [], serviceNetworks: [], virtualAddresses: [] };
const { insertions } = renderTunnel(tunnel, "4.14-4.22", nowhere);

function patch(script: string): string {
  const found = findAnchors(script, "4.14-4.22");
  if (Array.isArray(found)) throw new Error(found.map((p) => p.message).join("\n"));
  return insertAtAnchors(script, found, insertions);
}

describe.each(tunnelShapes)("bootkube.sh of %s, with our lines", (shape) => {
  const script = bootkubeScript(shape);
  const patched = patch(script);

  it("is still valid for bash", () => {
    const { status, stderr } = spawnSync("bash", ["-n"], { input: patched, encoding: "utf8" });
    expect([status, stderr]).toEqual([0, ""]);
  });

  it("has nothing for shellcheck to find that it did not have before", () => {
    expect(shellcheck(patched)).toEqual(shellcheck(script));
  });
});

/** What shellcheck says by its code and the line's text: line numbers move. The sample's own two remarks stay. */
function shellcheck(script: string): string[] {
  const { status, stdout } = spawnSync("shellcheck", ["--format=json", "-"], { input: script, encoding: "utf8" });
  expect(status, "0: nothing, 1: something; more: it did not run").toBeLessThan(2);
  const lines = script.split("\n");
  return (JSON.parse(stdout) as { code: number; line: number }[]).map(
    ({ code, line }) => `SC${code} ${lines[line - 1] ?? ""}`,
  );
}

it("shellcheck accepts the probe, the switch and the scripts of their tests", () => {
  const files = [
    "src/cluster/probe.sh",
    "src/cluster/switch.sh",
    "test/support/server-certificate.sh",
    "test/support/ssh-here.sh",
  ];
  const { status, stdout, stderr } = spawnSync(
    "shellcheck",
    files.map((file) => projectFile(file)),
    { encoding: "utf8" },
  );
  expect([status, stdout, stderr]).toEqual([0, "", ""]);
});

it("bash reads from the node's settings what they say", () => {
  const config = {
    address: "bootstrap.example.com",
    listenAddress: "2001:DB8::7",
    authentication: "service-account-token",
  };
  const text = textOf(render(config), "settings.sh");
  const print = 'eval "$(cat)"; for name in "${!TUNNEL_@}"; do echo "$name=${!name}"; done';
  const { stdout, stderr } = spawnSync("bash", ["--norc", "-euc", print], {
    input: text,
    encoding: "utf8",
    env: { PATH: process.env.PATH },
  });
  expect(stderr).toBe("");
  // Every line is NAME='value', and no value has a quote in it: a test of the settings looks.
  const written = text
    .trimEnd()
    .split("\n")
    .map((line) => line.replaceAll("'", ""));
  expect(stdout.trimEnd().split("\n").sort()).toEqual(written.sort());
});
