import { distance as editDistance } from "fastest-levenshtein";
import { z } from "zod";
import { UserError, type Problem, problem } from "../errors.ts";

/** Options that an object had in an earlier version, with what to do about each. */
export const removedOptions = z.registry<Readonly<Record<string, string>>>();

/** Parses `value` by `schema`, or reports every error in it with its path, the value found and what was expected. */
export function parseConfig<S extends z.ZodType>(schema: S, value: unknown, root: string): z.output<S> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  throw new UserError(...describeIssues(result.error.issues, schema, value, root));
}

/** A sentence for each of zod's issues. */
export function describeIssues(
  issues: readonly z.core.$ZodIssue[],
  schema: z.ZodType,
  value: unknown,
  root: string,
): Problem[] {
  const meant = misspeltOptions(issues, schema, value);
  const problems = withoutUnions(issues, value)
    // A missing option whose name is misspelt is reported as misspelt only.
    .filter((issue) => !meant.includes(issue.path.join(".")) && !followsFrom(meant, issue))
    .flatMap((issue) => describeIssue(issue, schema, value, root));
  return [...new Map(problems.map((p) => [p.message, p])).values()];
}

/** Whether an object fails a check of its own because one of its options is misspelt. */
const followsFrom = (meant: readonly string[], { code, path }: z.core.$ZodIssue) =>
  code === "custom" && meant.some((option) => option.startsWith(`${path.join(".")}.`));

/** The options that are missing because unknown keys probably mean them, like aws.vpcId. */
export function misspeltOptions(issues: readonly z.core.$ZodIssue[], schema: z.ZodType, value: unknown): string[] {
  return withoutUnions(issues, value).flatMap((issue) => {
    if (issue.code !== "unrecognized_keys") return [];
    const known = knownKeys(schema, issue.path);
    const meant = issue.keys.flatMap((key) => nearestTo(key, known) ?? []).map((key) => [...issue.path, key]);
    return meant.filter((path) => valueAt(value, path) === undefined).map((path) => path.join("."));
  });
}

const valueAt = (value: unknown, path: readonly PropertyKey[]) =>
  path.reduce<unknown>(
    (parent, key) =>
      typeof parent === "object" && parent !== null ? (parent as Record<PropertyKey, unknown>)[key] : undefined,
    value,
  );

/** A union's own message does not describe errors inside an object, so the issues of the branch that takes objects replace it. */
function withoutUnions(issues: readonly z.core.$ZodIssue[], value: unknown): z.core.$ZodIssue[] {
  return issues.flatMap((issue) => {
    const found = valueAt(value, issue.path);
    if (issue.code !== "invalid_union" || typeof found !== "object" || found === null || Array.isArray(found))
      return [issue];
    const branch = issue.errors.find((inner) =>
      inner.every(({ path, code }) => path.length > 0 || code === "unrecognized_keys"),
    );
    if (branch === undefined) return [issue];
    const located = branch.map((inner) => ({ ...inner, path: [...issue.path, ...inner.path] }));
    return withoutUnions(located, value);
  });
}

function describeIssue(issue: z.core.$ZodIssue, schema: z.ZodType, value: unknown, root: string): Problem[] {
  const path = (keys: readonly PropertyKey[]) => [root, ...keys.map(String)].filter((key) => key !== "").join(".");
  if (issue.code === "unrecognized_keys") {
    const known = knownKeys(schema, issue.path);
    const removed = Object.assign(
      {},
      ...objectsAt(schema, issue.path).map((one) => removedOptions.get(one)),
    ) as Partial<Record<string, string>>;
    return issue.keys.map((key) => {
      const advice = removed[key];
      const hint = advice === undefined ? hintFor(key, known) : `; ${advice}`;
      return problem("option-unknown", { option: path([...issue.path, key]), hint });
    });
  }
  const found = show(valueAt(value, issue.path));
  return [problem("option-invalid", { option: path(issue.path), found, expected: issue.message })];
}

function show(value: unknown): string {
  if (value === undefined) return "missing";
  const text = jsonOf(value);
  // A private key that was given by mistake must not appear in a log.
  if (text.includes("PRIVATE KEY")) return "a private key";
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}

/** An alias in YAML can make a value contain itself. */
function jsonOf(value: unknown): string {
  try {
    return JSON.stringify(value);
  } catch {
    return "a value that contains itself";
  }
}

/** The keys that an object schema knows at a path. */
const knownKeys = (schema: z.core.$ZodType, path: readonly PropertyKey[]): string[] =>
  objectsAt(schema, path).flatMap((object) => Object.keys(object.shape));

/** The object schemas at a path, through optional, default and union layers. */
function objectsAt(schema: z.core.$ZodType, path: readonly PropertyKey[]): z.ZodObject[] {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodDefault || schema instanceof z.ZodPrefault)
    return objectsAt(schema.unwrap(), path);
  if (schema instanceof z.ZodUnion) return schema.options.flatMap((option) => objectsAt(option, path));
  if (!(schema instanceof z.ZodObject)) return [];
  const [key, ...rest] = path;
  if (key === undefined) return [schema];
  const child = (schema.shape as Record<PropertyKey, z.core.$ZodType | undefined>)[key];
  return child === undefined ? [] : objectsAt(child, rest);
}

const lengthened = (name: string, key: string) => Math.abs(name.length - key.length);

/** The known name that was probably meant. @returns undefined if none is similar */
export function nearestTo(key: string, known: readonly string[]): string | undefined {
  const [nearest] = known
    .map((name) => ({ name, distance: editDistance(key.toLowerCase(), name.toLowerCase()) }))
    .filter(({ name, distance }) => distance <= Math.max(2, Math.floor(name.length / 3)))
    // A name of the same length is more likely: two letters that changed places are two changes.
    .sort((a, b) => a.distance - b.distance || lengthened(a.name, key) - lengthened(b.name, key));
  return nearest?.name;
}

function hintFor(key: string, known: readonly string[]): string {
  const nearest = nearestTo(key, known);
  if (nearest !== undefined) return `; did you mean ${nearest}`;
  return known.length > 0 ? `; expected one of ${known.join(", ")}` : "";
}
