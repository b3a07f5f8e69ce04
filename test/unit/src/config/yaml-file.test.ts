import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { readYaml } from "../../../../src/config/yaml-file.ts";

const folder = mkdtempSync(join(tmpdir(), "yaml-file-"));
afterAll(() => {
  rmSync(folder, { recursive: true });
});

function find(text: string, option: string): string {
  const file = join(folder, "konnectivity.yaml");
  writeFileSync(file, text);
  const { position, exact } = readYaml(file, "check its name").find(option);
  expect(position.file).toBe(file);
  return `${position.line}:${position.column}${exact ? "" : " at most"}`;
}

describe("the position of an option", () => {
  const text = [
    "# a comment",
    "base: &base",
    "  vpcId: vpc-1",
    "tags:",
    "  kubernetes.io/cluster/x: owned",
    "  kubernetes: a",
    "aws: *base",
    "azure: { nodeSubnets: [10.0.0.0/16, fd00::/48] }",
    "local:",
  ].join("\n");

  it.each([
    ["the key of an option", "base.vpcId", "3:3"],
    ["an item of a list", "azure.nodeSubnets.1", "8:37"],
    ["a key with dots in it", "tags.kubernetes.io/cluster/x", "5:3"],
    ["a shorter key with the same beginning", "tags.kubernetes", "6:3"],
    ["an option behind an alias", "aws.vpcId", "3:3"],
    ["a key without a value", "local", "9:1"],
    ["the map that lacks the option", "aws.region", "7:1 at most"],
    ["the list that lacks the item", "azure.nodeSubnets.7", "8:10 at most"],
    ["the key whose value is missing", "local.name", "9:1 at most"],
    ["the beginning of the file's value for an option at the top", "installDir", "2:1 at most"],
    ["the beginning of the file's value for the whole config", "", "2:1"],
  ])("is that of %s", (_, option, expected) => {
    expect(find(text, option)).toBe(expected);
  });

  it("is the beginning of an empty file", () => {
    expect(find("", "aws.vpcId")).toBe("1:1 at most");
  });
});
