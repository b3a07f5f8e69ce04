import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { readConfig, readPartialConfig } from "../../../../src/config/config-file.ts";
import { defineConfig } from "../../../../src/config/config-format.ts";
import { metadataOf } from "../../../../src/config/install-dir.ts";
import { known, metadataPart } from "../../../../src/config/metadata.ts";
import { definePlatform } from "../../../../src/config/platform.ts";
import { startingFile } from "../../../../src/config/starting-file.ts";
import { text } from "../../../../src/core/schema/fields.ts";

const moon = definePlatform({
  name: "moon",
  description: "The Moon.",
  schema: z.strictObject(
    {
      crater: text("a crater").describe("Where the machine is."),
      rover: text("a rover").optional().describe("What carries it."),
      lander: text("a lander").default("Eagle").describe("What brought it."),
    },
    { error: "an object with crater" },
  ),
  resolve: ({ crater }) => ({ crater }),
  provider: { name: "lunar", source: "example/lunar", versions: ">= 1.0.0, < 2.0.0" },
  metadata: { key: "luna", schema: metadataPart({ crater: known(text("a crater")) }) },
  placeholders: { crater: "" },
  usualOptions: ["rover"],
  usesStream: true,
  example: () => ({ options: { crater: "Tycho" } }),
});
const format = defineConfig([moon]);

const folder = mkdtempSync(join(tmpdir(), "config-format-"));
afterAll(() => {
  rmSync(folder, { recursive: true });
});
function fileWith(content: string): string {
  const file = join(folder, "konnectivity.yaml");
  writeFileSync(file, content);
  return file;
}

describe("the config of a platform", () => {
  it("is under the platform's name, with its defaults", () => {
    const { platforms, installDir } = readConfig(format, fileWith("moon: { crater: Tycho }\n"));
    expect(platforms).toEqual({ moon: { crater: "Tycho", lander: "Eagle" } });
    expect(installDir).toBe(".");
  });

  it("has the provider's tested versions, which the file can change", () => {
    expect(readConfig(format, undefined).providerVersions).toEqual({ lunar: ">= 1.0.0, < 2.0.0" });
    const changed = readConfig(format, fileWith("providerVersions: { lunar: 1.5.0 }\n"));
    expect(changed.providerVersions).toEqual({ lunar: "1.5.0" });
  });

  it.each([
    ["", { port: 9591 }],
    ["tunnel:\n  port:\n", { port: 9591 }],
    ["tunnel: { port: 8091, protocol: http-connect }\n", { port: 8091, protocol: "http-connect" }],
  ])("%j: has another port for a machine that openshift-install creates, unless it names one", (file, expected) => {
    const { tunnel, ipiTunnel } = readConfig(format, fileWith(file));
    expect(tunnel).toMatchObject({ port: 8091 });
    expect(ipiTunnel).toMatchObject(expected);
    const beside = readPartialConfig(format, fileWith(`${file}infrastructureName: 5\n`)).config;
    expect(beside).toMatchObject({ tunnel, ipiTunnel });
  });

  it("keeps what is valid in it beside an error, and has a placeholder for what it must have", () => {
    const { config, problems, invalidOptions } = readPartialConfig(
      format,
      fileWith("moon:\n  crater: 5\n  rover: A\n"),
    );
    expect(config.platforms).toEqual({ moon: { crater: "", rover: "A", lander: "Eagle" } });
    expect(invalidOptions).toEqual(["moon.crater"]);
    expect(problems).toMatchObject([{ options: ["moon.crater"], position: { line: 2, column: 3 } }]);
  });

  it("is the defaults if the key has no value", () => {
    const { problems } = readPartialConfig(format, fileWith("moon:\n"));
    expect(problems.map(({ message }) => message)).toEqual(["moon.crater is missing; expected a crater."]);
  });

  it("does not know any other platform", () => {
    const { problems } = readPartialConfig(format, fileWith("moo: {}\naws: {}\n"));
    expect(problems.map(({ message }) => message)).toEqual([
      "moo is not an option; did you mean moon.",
      expect.stringContaining("aws is not an option") as string,
    ]);
  });
});

it("a platform's part of metadata.json is read by its key", () => {
  const metadata = { clusterName: "a", infraID: "a-12345", luna: { crater: "Tycho" }, aws: { region: 5 } };
  writeFileSync(join(folder, "metadata.json"), JSON.stringify(metadata));
  expect(metadataOf(format, folder)).toEqual({ clusterName: "a", infraID: "a-12345", luna: { crater: "Tycho" } });
});

it("a starting file leaves required and usual options empty", () => {
  const lines = startingFile(format, "moon", "konnectivity.yaml").split("\n");
  expect(lines).toContain("stream: coreos-stream.json");
  for (const line of ["moon:", "  crater:", "  rover:", "  # lander: Eagle"]) expect(lines).toContain(line);
});
