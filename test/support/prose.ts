import ts from "typescript";
import { phrases } from "./phrases.ts";

/** A text for readers. */
export interface Prose {
  /** Where it is: a file, a page of help, an option. */
  readonly where: string;
  readonly text: string;
  /** @default 1 */
  readonly firstLine?: number;
}

/** One line for each phrase in these texts that must not come back: where it is, what it is, and what to write instead. */
export function phrasesIn(texts: readonly Prose[]): string[] {
  return texts.flatMap(({ where, text, firstLine = 1 }) =>
    phrases.flatMap(({ pattern, instead }) =>
      [...text.matchAll(new RegExp(pattern, `${pattern.flags}g`))].map(({ 0: found, index }) => {
        const line = firstLine + (text.slice(0, index).match(/\n/g)?.length ?? 0);
        return `${where}:${line}: "${found.replaceAll(/\s+/g, " ")}": write ${instead}`;
      }),
    ),
  );
}

/** The texts of several words in a module's code, without comments. A value in a template is shown as "…". */
export function textsInCode(where: string, code: string): Prose[] {
  const file = ts.createSourceFile(where, code, ts.ScriptTarget.Latest, true);
  const texts: Prose[] = [];
  const visit = (node: ts.Node): void => {
    const text = textOf(node);
    if (text !== undefined && /\S\s+\S/.test(text))
      texts.push({ where, text, firstLine: 1 + file.getLineAndCharacterOfPosition(node.getStart()).line });
    ts.forEachChild(node, visit);
  };
  visit(file);
  return texts;
}

function textOf(node: ts.Node): string | undefined {
  if (ts.isStringLiteral(node) || ts.isNoSubstitutionTemplateLiteral(node)) return node.text;
  if (!ts.isTemplateExpression(node)) return undefined;
  return [node.head.text, ...node.templateSpans.map(({ literal }) => `…${literal.text}`)].join("");
}
