import { distance as editDistance } from "fastest-levenshtein";
import { z } from "zod";
import { UserError, type Problem, problem } from "../errors.ts";

/** Options that an object had in an earlier version, with what to do about each. */
export const removedOptions = z.registry<Readonly<Record<string, string>>>();

/** Parses `value` by `schema`, or throws every mistake in it with its path, the value found and what was expected. */
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
  const problems = issues
    // That it is missing follows from the misspelling.
    .filter((issue) => !meant.includes(issue.path.join(".")))
    .flatMap((issue) => describeIssue(issue, schema, value, root));
  return [...new Map(problems.map((p) => [p.message, p])).values()];
}

/** The options that are missing because unknown keys probably mean them, like aws.vpcId. */
export function misspeltOptions(issues: readonly z.core.$ZodIssue[], schema: z.ZodType, value: unknown): string[] {
  return issues.flatMap((issue) => {
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
  const found = valueAt(value, issue.path);
  // A union's own message says nothing about a part of the object: ask the branch that is one.
  const branch =
    issue.code === "invalid_union" && typeof found === "object" && found !== null && !Array.isArray(found)
      ? issue.errors.find((issues) =>
          issues.every((inner) => inner.path.length > 0 || inner.code === "unrecognized_keys"),
        )
      : undefined;
  if (branch !== undefined)
    return branch.flatMap((inner) =>
      describeIssue({ ...inner, path: [...issue.path, ...inner.path] }, schema, value, root),
    );
  return [problem("option-invalid", { option: path(issue.path), found: show(found), expected: issue.message })];
}

function show(value: unknown): string {
  if (value === undefined) return "missing";
  const text = jsonOf(value);
  // Whoever takes the wrong half of a key pair must not find it in a log.
  if (text.includes("PRIVATE KEY")) return "a private key";
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}

/** An alias in YAML can make a value contain itself. */
function jsonOf(value: unknown): string {
  try {
    return JSON.stringify(value);
  } catch {
    return "something that contains itself";
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

/** The known name that was probably meant. @returns undefined if none is similar */
export function nearestTo(key: string, known: readonly string[]): string | undefined {
  const [nearest] = known
    .map((name) => ({ name, distance: editDistance(key.toLowerCase(), name.toLowerCase()) }))
    .filter(({ name, distance }) => distance <= Math.max(2, Math.floor(name.length / 3)))
    .sort((a, b) => a.distance - b.distance);
  return nearest?.name;
}

function hintFor(key: string, known: readonly string[]): string {
  const nearest = nearestTo(key, known);
  if (nearest !== undefined) return `; did you mean ${nearest}`;
  return known.length > 0 ? `; known here: ${known.join(", ")}` : "";
}
