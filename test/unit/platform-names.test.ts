import ts from "typescript";
import { describe, expect, it } from "vitest";
import { readProjectText } from "../../src/runtime/project-files.js";
import { configFormat, platformNames } from "../../stacks/platforms.ts";
import { projectFiles } from "../support/tree.ts";

const { clouds } = configFormat;

/** Every name of a cloud: its own, its provider's and its key in metadata.json. */
const cloudWords = new Set(
  clouds.flatMap(({ name, provider, metadata }) => [name, provider?.name ?? name, metadata?.key ?? name]),
);
const labs = platformNames.filter((name) => !clouds.some((cloud) => cloud.name === name));

/** Files outside the platforms' slices that may name one all the same, and why. */
const exceptions: Readonly<Record<string, string>> = {
  "stacks/platforms.ts": "the one list",
  "src/config/state.ts": "names Terraform's backends, which any platform can use",
  "constructs/shared/state-backend.ts": "the same",
  "src/cli/acceptance-rows.ts": "the rows of docs/not-proved.md, two of which are about one cloud",
  "src/core/lab-layout.ts": "the default name of a lab is also the name of the platform",
  "cli/konnectivity-bootstrap.js": "runs before the list can be loaded, and only saves time by the name",
};

/** The lab, its commands and its demo belong to the platform that is a lab. */
const labSlice = /^(lab\/|src\/cli\/lab\.ts$|scripts\/demo\.ts$)/;

/** What belongs to one platform: its folder and its stack. */
const isSlice = (file: string) =>
  platformNames.some((name) => new RegExp(`^(constructs|stacks)/${name}[/.]`).test(file));

const isCode = (file: string) =>
  /\.(ts|js|sh)$/.test(file) && (/^(stacks|constructs|src|cli|lab|scripts)\//.test(file) || !file.includes("/"));

/** The names of platforms in a file's code; comments do not count. */
function platformsIn(file: string, text: string): string[] {
  const tokens = file.endsWith(".sh") ? text.split("\n").map((line) => line.replace(/(^|\s)#.*/, "")) : tokensOf(text);
  return tokens.flatMap((token) => {
    // A word of its own, also in camel case: awsRegion, AzureFake, provider-google.
    const words = token.split(/[^a-zA-Z0-9]+|(?<=[a-z0-9])(?=[A-Z])/).map((word) => word.toLowerCase());
    const lab = labs.find((name) => namesLab(name).test(token));
    return [...words.filter((word) => cloudWords.has(word)), ...(lab === undefined ? [] : [lab])];
  });
}

/** A lab's name is a word of Terraform too (local state, local-exec): only the name as a text and stacks' names count. */
const namesLab = (name: string) => new RegExp(`^["'\`]${name}["'\`]$|\\b${name}-(\\*|bootstrap|teardown)`);

/** Identifiers, and texts with their quotes. */
function tokensOf(text: string): string[] {
  const source = ts.createSourceFile("x.ts", text, ts.ScriptTarget.Latest, true);
  const tokens: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isToken(node)) tokens.push(node.getText(source));
    ts.forEachChild(node, visit);
  };
  visit(source);
  return tokens;
}

describe("a platform's name", () => {
  const files = projectFiles().filter((file) => isCode(file) && !isSlice(file));
  const naming = (file: string) => new Set(platformsIn(file, readProjectText(file)));

  it("is nowhere in the code but in its slice and in the one list", () => {
    expect(files.length).toBeGreaterThan(100);
    const found = files
      .filter((file) => !(file in exceptions))
      .map(
        (file) => [file, [...naming(file)].filter((name) => !(labs.includes(name) && labSlice.test(file)))] as const,
      );
    expect(found.filter(([, names]) => names.length > 0)).toEqual([]);
  });

  it.each(Object.entries(exceptions))("is still in %s: %s", (file) => {
    expect(naming(file).size).toBeGreaterThan(0);
  });

  it.each([
    ["src/x.ts", 'if (platform === "aws") return;', ["aws"]],
    ["src/x.ts", "const azureRegion = 1;", ["azure"]],
    ["src/x.ts", "import { GoogleInputs } from '../x.ts';", ["google"]],
    ["src/x.ts", "metadata.gcp.region", ["gcp"]],
    ["src/x.ts", "`deploy 'local-*'`", ["local"]],
    ["src/x.ts", 'lab("local")', ["local"]],
    ["src/x.ts", 'provisioner("local-exec")', []],
    ["src/x.ts", "state.local.folder", []],
    ["src/x.ts", "// like aws.vpcId\n/** Google's */ const x = 1;", []],
    ["src/x.sh", "# on AWS\naws s3 ls # aws", ["aws"]],
    ["src/x.sh", "local name=$1", []],
  ])("is found in the code of %s: %s", (file, text, expected) => {
    expect(platformsIn(file, text)).toEqual(expected);
  });
});
