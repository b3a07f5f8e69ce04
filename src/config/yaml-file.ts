import { type Document, isAlias, isMap, isScalar, isSeq, LineCounter, type Node, parseDocument } from "yaml";
import { type Position, UserError, problem } from "../core/errors.ts";
import { readUserFile } from "../files/user-file.ts";

/** A YAML file's value, and where in the file its parts are. */
export interface YamlFile {
  readonly value: unknown;
  /**
   * Where an option is.
   * @param option like aws.vpcId
   * @returns the position of its key or list item; of the nearest part above it if the file does not have it
   */
  readonly find: (option: string) => { readonly position: Position; readonly exact: boolean };
}

/** @throws UserError if the file is not YAML */
export function readYaml(file: string, advice: string): YamlFile {
  const lineCounter = new LineCounter();
  const document = parseDocument(readUserFile(file, advice), { prettyErrors: true, lineCounter });
  const errors = [...document.errors, ...document.warnings].map((error) => {
    const [at] = error.linePos ?? [];
    const detail = error.message.split("\n")[0]?.replace(/ at line.*$|; please use YAML.*$/, "") ?? "";
    return {
      ...problem("config-not-yaml", { file, detail }),
      ...(at !== undefined && { position: { file, line: at.line, column: at.col } }),
    };
  });
  if (errors.length > 0) throw new UserError(...errors);
  return {
    value: toValue(file, document),
    find: (option) => {
      const { offset, exact } = offsetOf(document, option);
      const { line, col } = lineCounter.linePos(offset);
      return { position: { file, line, column: col }, exact };
    },
  };
}

function toValue(file: string, document: Document): unknown {
  try {
    return document.toJS() ?? {};
  } catch (error) {
    // An alias without an anchor is detected only here.
    if (error instanceof ReferenceError)
      throw new UserError(problem("config-not-yaml", { file, detail: error.message }));
    throw error;
  }
}

/** Follows the option's path from the root as far as the file contains it. */
function offsetOf(document: Document, option: string): { offset: number; exact: boolean } {
  let node: unknown = document.contents;
  let offset = startOf(node) ?? 0;
  let rest = option;
  while (rest !== "") {
    const step = stepInto(isAlias(node) ? node.resolve(document) : node, rest);
    if (step === undefined) return { offset, exact: false };
    offset = startOf(step.at) ?? offset;
    ({ node, rest } = step);
  }
  return { offset, exact: true };
}

const startOf = (node: unknown) => (node as Node | null | undefined)?.range?.[0];

/** One key or index further. A key can contain dots itself, like a tag's, so the longest one that fits is used. */
function stepInto(node: unknown, path: string): { at: unknown; node: unknown; rest: string } | undefined {
  const fits = (name: string) => path === name || path.startsWith(`${name}.`);
  const items = isMap(node)
    ? node.items.map(({ key, value }) => ({ name: String(isScalar(key) ? key.value : key), at: key, node: value }))
    : isSeq(node)
      ? node.items.map((item, index) => ({ name: String(index), at: item, node: item }))
      : [];
  const [found] = items.filter(({ name }) => fits(name)).sort((a, b) => b.name.length - a.name.length);
  return found === undefined ? undefined : { ...found, rest: path.slice(found.name.length + 1) };
}
