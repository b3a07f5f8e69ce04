import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { type File, getProcessor } from "sh-syntax";
import { projectFile } from "../../src/runtime/project-files.js";

/** The part of it that is used here: TypeScript knows it only together with a browser's other types. */
interface WebAssembly {
  readonly compile: (bytes: Uint8Array) => Promise<object>;
  readonly instantiate: (module: object, imports: object) => Promise<object>;
}
const { compile, instantiate } = (globalThis as unknown as { WebAssembly: WebAssembly }).WebAssembly;

const wasm = createRequire(projectFile("test/support/shell-parser.ts")).resolve("sh-syntax/main.wasm");
let compiled: Promise<object> | undefined;

/** mvdan/sh, compiled once: sh-syntax's own `parse` compiles it for every script. */
const parse = getProcessor(async (imports: object) => {
  compiled ??= compile(readFileSync(wasm));
  return instantiate(await compiled, imports);
}) as (script: string) => Promise<File>;

const marker = "inserted_command";

/**
 * For each line of a valid bash script, whether a command on a line of its own can be inserted before it at the top level,
 * according to mvdan/sh.
 */
export async function insertableLines(script: string): Promise<boolean[]> {
  const { Stmts: statements } = await parse(script);
  const answers: boolean[] = [];
  for (const index of script.replace(/\n$/, "").split("\n").keys()) {
    const isInside = statements.some(({ Pos, End }) => Pos.Line < index + 1 && index + 1 <= End.Line);
    // The end of a here-document is not always the end of its statement, so that only an attempt tells the rest.
    answers.push(!isInside && (await canInsert(script, index, statements.length)));
  }
  return answers;
}

/** Whether the inserted command becomes a statement of the script itself, and the only new one. */
export async function canInsert(script: string, index: number, statementsBefore: number): Promise<boolean> {
  try {
    const { Stmts: statements } = await parse(script.split("\n").toSpliced(index, 0, marker).join("\n"));
    const isMarker = ({ Pos, End }: (typeof statements)[number]) =>
      Pos.Line === index + 1 && End.Line === index + 1 && End.Col - Pos.Col === marker.length;
    return statements.length === statementsBefore + 1 && statements.some(isMarker);
  } catch {
    return false;
  }
}

/** How many statements a valid bash script has at its top level. */
export const countStatements = async (script: string): Promise<number> => (await parse(script)).Stmts.length;
