import { existsSync } from "node:fs";
import { isObject } from "../core/ignition/config.ts";
import { type Problem, type ProblemCode, problem, UserError } from "../core/errors.ts";
import { withIpiPort } from "../core/konnectivity/agent-port.ts";
import { readTunnel, type Tunnel } from "../core/konnectivity/options.ts";
import { hasTemplate } from "../core/terraform-literal.ts";
import { describeIssues, misspeltOptions } from "../core/schema/parse.ts";
import { type CommonConfig, type ConfigFormat, isPlatform, type RawConfig } from "./config-format.ts";
import { readYaml, type YamlFile } from "./yaml-file.ts";

/** A config file's values, with the defaults filled in. */
export interface Config extends CommonConfig {
  /** The tunnel of a machine that openshift-install creates. It has another default port. */
  readonly ipiTunnel: Tunnel;
  /** The options of each platform in it, by the platform's name. */
  readonly platforms: Readonly<Record<string, PlatformConfig>>;
}
export type PlatformConfig = Readonly<Record<string, unknown>>;

/** Reads a config file, or reports everything that is wrong with it. Without a file everything has its default. */
export function readConfig(format: ConfigFormat, file: string | undefined, advice?: string): Config {
  return useConfig(format, file, advice, (config) => config);
}

/** The same for one use of the config: if that throws problems with its values, they get their position in the file too. */
export function useConfig<T>(
  format: ConfigFormat,
  file: string | undefined,
  advice: string | undefined,
  use: (config: Config) => T,
): T {
  const { config, problems, locate } = readPartialConfig(format, file, advice);
  if (problems.length > 0) throw new UserError(...problems);
  try {
    return use(config);
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    throw new UserError(...error.problems.map(locate));
  }
}

/**
 * The name of a platform's lab on this machine; the default name if the config does not have the platform.
 * @returns undefined if the platform is a cloud
 */
export function labNameIn(format: ConfigFormat, { platforms }: Config, platform: string): string | undefined {
  const found = format.platforms.find(({ name }) => name === platform);
  return found?.lab?.labName(platforms[platform] ?? found.schema.parse({}));
}

/** A config file that may have errors: the rest of it can still be checked. */
export interface PartialConfig {
  /** Without the invalid values. Complete if there are no problems. */
  readonly config: Config;
  readonly problems: readonly Problem[];
  /** Options with invalid values, like aws.vpcId: any other problem with them follows from that. */
  readonly invalidOptions: readonly string[];
  /** Adds the position in the file to a problem with a value in it. */
  readonly locate: (found: Problem) => Problem;
}

/** @throws UserError if the file is not YAML at all */
export function readPartialConfig(
  format: ConfigFormat,
  file: string | undefined,
  advice = file !== undefined && existsSync(file)
    ? "check its name and its permissions"
    : "create it with `npx konnectivity-bootstrap config init <platform>`, or check its name",
): PartialConfig {
  const yaml = file === undefined ? undefined : readYaml(file, advice);
  const locate = (found: Problem) => (yaml === undefined ? found : withPosition(found, yaml));
  const value = isObject(yaml?.value) ? withoutBlanks(withBlankPlatforms(format, yaml.value)) : (yaml?.value ?? {});
  const result = format.schema.safeParse(value);
  const templates = templatesIn(value);
  if (result.success)
    return {
      config: toConfig(format, result.data, value),
      problems: templates.map(locate),
      invalidOptions: [],
      locate,
    };
  const { issues } = result.error;
  const described = describeIssues(issues, format.schema, value, "").map((one) => withPlatformName(format, one));
  const problems = [...described, ...templates].map(locate);
  if (!isObject(value)) throw new UserError(...problems);
  const paths = issues.flatMap((issue) =>
    issue.code === "unrecognized_keys" ? issue.keys.map((key) => [...issue.path, key]) : [issue.path],
  );
  const rest = withoutInvalid(format, value, paths);
  const config = withPlaceholders(format, toConfig(format, format.partialSchema.parse(rest), rest));
  // An unknown key affects only the option that it probably means.
  const invalid = issues.flatMap((issue) =>
    issue.code === "unrecognized_keys" ? [] : [issue.path.map(String).join(".")],
  );
  const invalidOptions = [...invalid, ...misspeltOptions(issues, format.schema, value)];
  return { config, problems, invalidOptions, locate };
}

/** Users may know a platform by openshift-install's name. */
function withPlatformName({ platforms }: ConfigFormat, found: Problem): Problem {
  if (found.code !== "option-unknown") return found;
  const [option = ""] = found.options ?? [];
  const platform = platforms.find(({ metadata }) => metadata?.key === option);
  return platform === undefined ? found : problem("option-unknown", { option, hint: `; use ${platform.name}` });
}

/** @param value what was parsed: it has no defaults */
function toConfig(format: ConfigFormat, raw: RawConfig, value: unknown): Config {
  const given = Object.entries(raw).filter(([key, value]) => isPlatform(format, key) && value !== undefined);
  const common = Object.entries(raw).filter(([key]) => !isPlatform(format, key));
  return {
    ...(Object.fromEntries(common) as CommonConfig),
    ipiTunnel: readTunnel(withIpiPort(isObject(value) ? value.tunnel : undefined)),
    platforms: Object.fromEntries(given) as Config["platforms"],
  };
}

/** Problems with a value in the file. Other problems only name an option that solves them. */
const aboutValues: readonly ProblemCode[] = ["option-unknown", "option-invalid", "combination-refused"];

/** Adds the position of the first option that the file contains, or else of the object that lacks the first option. */
function withPosition(found: Problem, yaml: YamlFile): Problem {
  if (found.position !== undefined || !aboutValues.includes(found.code)) return found;
  const places = (found.options ?? []).map((option) => yaml.find(option));
  const place = places.find(({ exact }) => exact) ?? places[0];
  return place === undefined ? found : { ...found, position: place.position };
}

/** Without the invalid values: an option of a platform alone, any other with everything that it is part of. */
function withoutInvalid(
  format: ConfigFormat,
  value: Record<string, unknown>,
  paths: readonly (readonly PropertyKey[])[],
): Record<string, unknown> {
  const rest = structuredClone(value);
  for (const [key, option] of paths.map((path) => path.map(String))) {
    const platform = key !== undefined && isPlatform(format, key) ? rest[key] : undefined;
    if (isObject(platform) && option !== undefined) Reflect.deleteProperty(platform, option);
    else if (key !== undefined) Reflect.deleteProperty(rest, key);
  }
  return rest;
}

/**
 * A config for a use that needs only some of its top-level keys: problems with the others do not matter. An unknown key
 * does, because it may be a misspelt one of these.
 */
export function onlyParts(partial: PartialConfig, parts: readonly string[]): PartialConfig {
  const matters = (option: string) => parts.includes(option.split(".")[0] ?? "");
  const problems = partial.problems.filter(
    ({ code, options = [] }) =>
      options.length === 0 ||
      options.some((option) => matters(option) || (code === "option-unknown" && !option.includes("."))),
  );
  return { ...partial, problems, invalidOptions: partial.invalidOptions.filter(matters) };
}

/** So that the rest of a platform can be checked; problems with these are left out. */
function withPlaceholders(format: ConfigFormat, config: Config): Config {
  const platforms = Object.entries(config.platforms).map(([name, options]) => {
    const placeholders = format.platforms.find((platform) => platform.name === name)?.placeholders ?? {};
    const missing = Object.entries(placeholders).filter(([option]) => options[option] === undefined);
    return [name, { ...options, ...Object.fromEntries(missing) }] as const;
  });
  return { ...config, platforms: Object.fromEntries(platforms) };
}

/** Terraform would evaluate these as expressions. */
function templatesIn(value: unknown, path = "", above: readonly unknown[] = []): Problem[] {
  if (typeof value === "string" && hasTemplate(value))
    return [
      problem("option-invalid", { option: path, found: JSON.stringify(value), expected: "a value without ${ and %{" }),
    ];
  if (typeof value !== "object" || value === null || above.includes(value)) return [];
  return Object.entries(value).flatMap(([key, part]) => {
    const at = path === "" ? key : `${path}.${key}`;
    return hasTemplate(key)
      ? [problem("option-invalid", { option: at, found: "a name with ${ or %{", expected: "a name without them" })]
      : templatesIn(part, at, [...above, value]);
  });
}

/** A platform's key without a value means the platform with its defaults. */
function withBlankPlatforms(format: ConfigFormat, value: Record<string, unknown>): Record<string, unknown> {
  const blank = format.platforms.filter(({ name }) => value[name] === null);
  return { ...value, ...Object.fromEntries(blank.map(({ name }) => [name, {}])) };
}

/** Any other key without a value means nothing. */
function withoutBlanks(value: Record<string, unknown>, above: readonly unknown[] = []): Record<string, unknown> {
  // An alias can make a value contain itself; that is reported where it is parsed.
  if (above.includes(value)) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, part]) => part !== null)
      .map(([key, part]) => [key, isObject(part) ? withoutBlanks(part, [...above, value]) : part]),
  );
}
