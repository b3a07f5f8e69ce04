import { describe, expect, it } from "vitest";
import { configJsonSchema, type SchemaNode } from "../../../../src/config/schema.ts";
import { configFormat } from "../../../../stacks/platforms.ts";
import { clouds } from "../../../support/clouds.ts";
import { changedExample, exampleOf, mistakesOf } from "../../../support/stacks.ts";

const root = configJsonSchema(configFormat);

/** The options of an object, whichever of its forms has them. */
const optionsOf = ({ properties, anyOf = [] }: SchemaNode): Readonly<Record<string, SchemaNode>> =>
  properties ?? anyOf.map(optionsOf).find((options) => Object.keys(options).length > 0) ?? {};

/** The path of every option, at any depth. */
function pathsIn(node: SchemaNode): string[][] {
  return Object.entries(optionsOf(node)).flatMap(([name, child]) => [
    [name],
    ...pathsIn(child).map((path) => [name, ...path]),
  ]);
}

/** A typo: two letters in the middle change places. */
function misspell(name: string): string {
  const at = Math.floor((name.length - 1) / 2);
  const [a = "", b = ""] = name.slice(at);
  return a === b ? `${name.slice(0, at)}${name.slice(at + 1)}` : `${name.slice(0, at)}${b}${a}${name.slice(at + 2)}`;
}

/** The config with a typo in one option, which keeps its value. */
function withTypo(config: object, [name = "", ...rest]: readonly string[]): object {
  const { [name]: value, ...others } = config as Record<string, unknown>;
  if (rest.length === 0) return { ...others, [misspell(name)]: value ?? "a value" };
  return { ...config, [name]: withTypo(typeof value === "object" && value !== null ? value : {}, rest) };
}

/** Objects that need some of their options, so that a typo in another one is the only error. */
const image = { server: "registry.example.com/team/proxy:1" };
const marketplaceImage = {
  publisher: "redhat",
  offer: "rh-ocp-worker",
  sku: "rh-ocp-worker",
  version: "413.92.2023101700",
};
const options: Readonly<Record<string, object>> = { azure: { marketplaceImage } };

describe("a typo in an option", () => {
  const ofPlatform = (platform: string) => pathsIn({ properties: { [platform]: optionsOf(root)[platform] ?? {} } });
  const isShared = (name: string) => !configFormat.platforms.some((one) => one.name === name);
  const shared = Object.entries(optionsOf(root)).filter(([name]) => isShared(name));
  const common = pathsIn({ properties: Object.fromEntries(shared) })
    // The options of a shared state need the others beside them.
    .filter(([first, kind, option]) => first !== "state" || kind === "local" || option === undefined);

  it.each(clouds)("is one error with a suggestion, in every option of %s", (platform) => {
    const { files } = exampleOf(platform);
    const config = { installDir: "ocp", ...changedExample(platform, options[platform], { tunnel: { image } }) };
    expect(mistakesOf(config, { files })).toEqual([]);
    const paths = [...ofPlatform(platform).filter((path) => path.length > 1), ...common];
    expect(paths.length).toBeGreaterThan(40);
    const found = paths.map((path) => [path.join("."), mistakesOf(withTypo(config, path), { files })]);
    const expected = paths.map((path) => {
      const name = path.at(-1) ?? "";
      const typo = [...path.slice(0, -1), misspell(name)].join(".");
      return [path.join("."), [`${typo} is not an option; did you mean ${name}.`]];
    });
    expect(found).toEqual(expected);
  });
});
