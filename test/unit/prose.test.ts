import { readdirSync } from "node:fs";
import { expect, it } from "vitest";
import { configJsonSchema, type SchemaNode } from "../../src/config/schema.ts";
import { startingFile } from "../../src/config/starting-file.ts";
import { projectFile, readProjectText } from "../../src/runtime/project-files.js";
import { configFormat } from "../../stacks/platforms.ts";
import { helpPages } from "../support/help.ts";
import { phrasesIn, type Prose, textsInCode } from "../support/prose.ts";

/** Files with one of these extensions in a folder and the folders in it. */
const filesIn = (folder: string, extensions: RegExp) =>
  readdirSync(projectFile(folder), { recursive: true, encoding: "utf8" })
    .filter((name) => extensions.test(name))
    .map((name) => `${folder}/${name}`)
    .sort();

const pageOf = (where: string): Prose => ({ where, text: readProjectText(where) });

function descriptionsIn({ description, properties = {}, anyOf = [], items }: SchemaNode, path: string): Prose[] {
  return [
    ...(description === undefined ? [] : [{ where: path, text: description }]),
    ...Object.entries(properties).flatMap(([name, node]) =>
      descriptionsIn(node, path === "" ? name : `${path}.${name}`),
    ),
    ...[...anyOf, ...(items === undefined ? [] : [items])].flatMap((node) => descriptionsIn(node, path)),
  ];
}

/** Every text that users and contributors read, by kind. The sentences of errors are checked with their cases, too. */
const kinds: Readonly<Record<string, () => Prose[] | Promise<Prose[]>>> = {
  pages: () =>
    ["README.md", "CONTRIBUTING.md", "SECURITY.md", "stacks/README.md", ...filesIn("docs", /\.md$/)].map(pageOf),
  "help texts": async () =>
    (await helpPages()).map(({ words, text }) => ({ where: ["help", ...words].join(" "), text })),
  "option descriptions": () => descriptionsIn(configJsonSchema(configFormat), ""),
  "files of config init": () =>
    configFormat.clouds.map(({ name }) => ({
      where: `config init ${name}`,
      text: startingFile(configFormat, name, "konnectivity.yaml"),
    })),
  "messages in the code": () =>
    ["src", "constructs", "stacks", "lab", "scripts"]
      .flatMap((folder) => filesIn(folder, /\.(ts|js)$/))
      .concat("main.ts", "cli/konnectivity-bootstrap.js")
      .flatMap((where) => textsInCode(where, readProjectText(where))),
};

it.each(Object.keys(kinds))("%s contain no phrase that must not come back", async (kind) => {
  const texts = (await kinds[kind]?.()) ?? [];
  expect(texts.map(({ text }) => text).join("").length).toBeGreaterThan(1000);
  expect(phrasesIn(texts).join("\n")).toBe("");
});

it("reports every phrase with its file, its line and what to write instead", () => {
  const text = "Fix the syntax.\nDo not mend\nit, whoever\nyou are, and mend\nno more.\n";
  expect(phrasesIn([{ where: "docs/x.md", text }]).sort()).toEqual([
    expect.stringMatching(/^docs\/x\.md:2: "mend": write \w/),
    expect.stringMatching(/^docs\/x\.md:3: "whoever": write \w/),
    expect.stringMatching(/^docs\/x\.md:4: "mend": write \w/),
  ]);
});

it("reads the texts of a module and not its comments", () => {
  const code = '// mend this\nimport "./x y.ts";\nconst a = `The ${name} goes`;\n\nconst b = ["a b", \'c\'];\n';
  expect(textsInCode("x.ts", code)).toEqual([
    { where: "x.ts", text: "./x y.ts", firstLine: 2 },
    { where: "x.ts", text: "The … goes", firstLine: 3 },
    { where: "x.ts", text: "a b", firstLine: 5 },
  ]);
});
