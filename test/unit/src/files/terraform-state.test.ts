import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  hasResources,
  isStateLost,
  readState,
  stateBackupOf,
  stateFileOf,
} from "../../../../src/files/terraform-state.ts";

let folder: string;
let file: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "konnectivity-bootstrap-state-"));
  file = stateFileOf(folder, "aws-bootstrap");
});
afterEach(() => {
  rmSync(folder, { recursive: true });
});

/** In the form in which Terraform writes it. */
const stateText = (...resources: object[]) =>
  `${JSON.stringify({ version: 4, outputs: { ssh: { value: "ssh core@10.0.0.5" } }, resources }, undefined, 2)}\n`;
const instance = { mode: "managed", type: "aws_instance", name: "machine", instances: [{}] };

describe("a local state file", () => {
  it("has the addresses of managed resources with an instance, and outputs", () => {
    const others = [
      { ...instance, mode: "data" },
      { ...instance, name: "none", instances: [] },
    ];
    writeFileSync(file, stateText(instance, ...others));
    expect(readState(file)).toEqual({
      addresses: ["aws_instance.machine"],
      outputs: { ssh: { value: "ssh core@10.0.0.5" } },
    });
    expect(hasResources(file)).toBe(true);
  });

  it("may lack resources and outputs", () => {
    writeFileSync(file, "{}\n");
    expect(readState(file)).toEqual({ addresses: [], outputs: {} });
    expect(hasResources(file)).toBe(false);
  });

  it("has no resources after a destroy", () => {
    writeFileSync(file, stateText());
    expect(readState(file)?.addresses).toEqual([]);
    expect(hasResources(file)).toBe(false);
  });

  it.each([
    ["missing", undefined],
    ["empty", ""],
    ["blank", " \n"],
  ])("that is %s is no state", (_, text) => {
    if (text !== undefined) writeFileSync(file, text);
    expect(readState(file)).toBeUndefined();
    expect(hasResources(file)).toBe(false);
  });

  it("still has resources when it is truncated, although it cannot be read", () => {
    writeFileSync(file, stateText(instance).slice(0, -20));
    expect(hasResources(file)).toBe(true);
    expect(() => readState(file)).toThrow("is not complete JSON");
  });
});

describe("a state is lost", () => {
  it("when it is empty and its backup has resources", () => {
    writeFileSync(file, "");
    writeFileSync(stateBackupOf(file), stateText(instance));
    expect(isStateLost(file)).toBe(true);
  });

  it.each([
    ["there is no backup", "", undefined],
    ["its backup has no resources", "", stateText()],
    ["it is not empty", stateText(), stateText(instance)],
    ["it does not exist", undefined, stateText(instance)],
  ])("but not when %s", (_, text, backup) => {
    if (text !== undefined) writeFileSync(file, text);
    if (backup !== undefined) writeFileSync(stateBackupOf(file), backup);
    expect(isStateLost(file)).toBe(false);
  });
});
