import { type Document, parseDocument } from "yaml";
import { z } from "zod";
import { tunnelSchema } from "../core/konnectivity/options.ts";
import { isObject } from "../core/ignition/config.ts";
import { UserError, type Problem, problem } from "../core/errors.ts";
import { hasTemplate } from "../core/terraform-literal.ts";
import { awsSchema } from "../../constructs/aws/config.ts";
import { azureSchema } from "../../constructs/azure/config.ts";
import { oneOf, text, pattern, integer, boolean } from "../core/schema/fields.ts";
import { googleSchema } from "../../constructs/google/config.ts";
import { infraIdPattern } from "./metadata.ts";
import { describeIssues } from "../core/schema/parse.ts";
import { localSchema } from "../../constructs/local/config.ts";
import { platforms } from "./platform.ts";
import { stateSchema } from "./state.ts";
import { architectures } from "./stream.ts";
import { readUserFile } from "../files/user-file.ts";

const versionRange = pattern(
  'a version constraint like ">= 6.25.0, < 7.0.0"',
  /^\s*(=|!=|>=?|<=?|~>)?\s*\d+(\.\d+){0,2}(-[\w.]+)?\s*(,\s*(=|!=|>=?|<=?|~>)?\s*\d+(\.\d+){0,2}(-[\w.]+)?\s*)*$/,
);

/** The config file: one cluster, any number of platforms. Paths are relative to the file. */
export const configSchema = z.strictObject(
  {
    installDir: text("a folder")
      .default(".")
      .describe('Folder in which "openshift-install create ignition-configs" ran.'),
    infrastructureName: pattern(
      "an infra ID like prod-x7k2p (lower case letters, digits and -, at most 27)",
      infraIdPattern,
    )
      .optional()
      .describe("The cluster's infra ID. Default: metadata.json's."),
    stream: text("a file")
      .optional()
      .describe('File with what "openshift-install coreos print-stream-json" printed: names the machine image.'),
    architecture: oneOf(...architectures)
      .default("x86_64")
      .describe("The bootstrap machine's; the image's and the machine type's must be the same."),
    tags: z
      .record(z.string(), z.string({ error: "a text" }), { error: "an object of texts" })
      .default({})
      .describe("Your own tags (Google: labels), on everything that takes them."),
    firewall: oneOf("managed", "external")
      .default("managed")
      .describe("`external`: no rule for 8091 is made; the one that is needed is an output."),
    replaceMachine: boolean().default(false).describe("Whether a changed payload replaces a running machine."),
    state: stateSchema,
    providerVersions: z
      .strictObject(
        {
          aws: versionRange.default(">= 6.25.0, < 7.0.0").describe("hashicorp/aws"),
          azurerm: versionRange.default(">= 4.77.0, < 6.0.0").describe("hashicorp/azurerm"),
          google: versionRange.default(">= 6.50.0, < 7.0.0").describe("hashicorp/google"),
        },
        { error: "an object with aws, azurerm, google" },
      )
      .prefault({})
      .describe("Which versions of the Terraform providers are taken."),
    teardown: z
      .strictObject(
        {
          kubeconfig: text("a file")
            .optional()
            .describe("The cluster's kubeconfig. Default: KUBECONFIG's, or auth/kubeconfig in the install folder."),
          waitMinutes: integer(0, 240)
            .default(0)
            .describe("How long destroying waits for a cluster that still needs its bootstrap machine."),
        },
        { error: "an object with kubeconfig, waitMinutes" },
      )
      .prefault({})
      .describe("How the cluster is asked before its bootstrap machine is destroyed: docs/teardown.md."),
    tunnel: tunnelSchema,
    aws: awsSchema.optional().describe("Amazon Web Services: docs/aws.md."),
    local: localSchema.optional().describe("A lab on this machine: docs/lab.md."),
    azure: azureSchema.optional().describe("Microsoft Azure: docs/azure.md."),
    google: googleSchema.optional().describe("Google Cloud: docs/google.md."),
  },
  { error: "an object with the keys installDir, tunnel, aws, …" },
);
export type Config = z.output<typeof configSchema>;

/** Reads a config file, or says all that is wrong with it. Without a file everything has its default. */
export function readConfig(file: string | undefined, advice?: string): Config {
  const { config, problems } = readConfigAsFarAsPossible(file, advice);
  if (problems.length > 0) throw new UserError(...problems);
  return config;
}

/** A config file with mistakes in it: what is right in it can still be checked against the rest. */
export interface PartialConfig {
  /** Without the wrong values. Whole if there are no problems. */
  readonly config: Config;
  readonly problems: readonly Problem[];
  /** Options whose values are wrong, like aws.vpcId: what is said about them beside that is noise. */
  readonly wrong: readonly string[];
}

/** @throws UserError if the file is not YAML at all */
export function readConfigAsFarAsPossible(
  file: string | undefined,
  advice = "write one with `npx konnectivity-bootstrap config init <platform>`, or check its name",
): PartialConfig {
  const value = file === undefined ? {} : readYaml(file, advice);
  const result = configSchema.safeParse(value);
  const templates = templatesIn(value);
  if (result.success) return { config: result.data, problems: templates, wrong: [] };
  const { issues } = result.error;
  const problems = [...describeIssues(issues, configSchema, value, ""), ...templates];
  if (!isObject(value)) throw new UserError(...problems);
  const paths = issues.flatMap((issue) =>
    issue.code === "unrecognized_keys" ? issue.keys.map((key) => [...issue.path, key]) : [issue.path],
  );
  const rest = structuredClone(value);
  // An option of a platform goes alone, any other with all that it is part of.
  for (const [key, option] of paths.map((path) => path.map(String))) {
    const platform = (platforms as readonly (string | undefined)[]).includes(key) ? rest[key ?? ""] : undefined;
    if (isObject(platform) && option !== undefined) Reflect.deleteProperty(platform, option);
    else if (key !== undefined) Reflect.deleteProperty(rest, key);
  }
  const config = withPlaceholders(partialSchema.parse(rest) as Config);
  // A key that is not known hides nothing.
  const wrong = issues.flatMap((issue) =>
    issue.code === "unrecognized_keys" ? [] : [issue.path.map(String).join(".")],
  );
  return { config, problems, wrong };
}

/** Terraform would take these for expressions of its own. */
function templatesIn(value: unknown, path = "", above: readonly unknown[] = []): Problem[] {
  if (typeof value === "string" && hasTemplate(value))
    return [
      problem("option-invalid", { option: path, found: JSON.stringify(value), expected: "a text without ${ and %{" }),
    ];
  if (typeof value !== "object" || value === null || above.includes(value)) return [];
  return Object.entries(value).flatMap(([key, part]) => {
    const at = path === "" ? key : `${path}.${key}`;
    return hasTemplate(key)
      ? [problem("option-invalid", { option: at, found: "a name with ${ or %{", expected: "one without" })]
      : templatesIn(part, at, [...above, value]);
  });
}

/** So that the rest of a platform can be checked: what is said about these is left out. */
function withPlaceholders(config: Config): Config {
  const { azure, google } = config;
  return {
    ...config,
    ...(azure && {
      azure: {
        ...azure,
        nodeSubnets: blank(azure.nodeSubnets, []),
        backendAddressPoolIds: blank(azure.backendAddressPoolIds, []),
      },
    }),
    ...(google && {
      google: {
        ...google,
        zone: blank(google.zone, ""),
        clusterNetwork: blank(google.clusterNetwork, ""),
        subnet: blank(google.subnet, ""),
      },
    }),
  };
}

/** The types say that it is there; in a config with mistakes it need not be. */
const blank = <T>(value: T, placeholder: T): T => value ?? placeholder;

/** What is left of a platform when wrong values are gone need not be whole. */
const partialSchema = configSchema.extend({
  aws: awsSchema.partial().optional(),
  azure: azureSchema.partial().optional(),
  google: googleSchema.partial().optional(),
});

function readYaml(file: string, advice: string): unknown {
  const document = parseDocument(readUserFile(file, advice), { prettyErrors: true });
  const mistakes = [...document.errors, ...document.warnings].map((error) => {
    const [at] = error.linePos ?? [];
    const place = at === undefined ? "" : ` at line ${at.line}, column ${at.col}`;
    return problem("config-not-yaml", {
      file,
      detail: `${error.message.split("\n")[0]?.replace(/ at line.*$|; please use YAML.*$/, "") ?? ""}${place}`,
    });
  });
  if (mistakes.length > 0) throw new UserError(...mistakes);
  return toValue(file, document);
}

function toValue(file: string, document: Document): unknown {
  try {
    const value: unknown = document.toJS() ?? {};
    return isObject(value) ? withoutBlanks(withPlatforms(value)) : value;
  } catch (error) {
    // An alias of nothing is found only now.
    if (error instanceof ReferenceError)
      throw new UserError(problem("config-not-yaml", { file, detail: error.message }));
    throw error;
  }
}

function withPlatforms(value: Record<string, unknown>): Record<string, unknown> {
  const blank = [...platforms, "local"].filter((platform) => value[platform] === null);
  return { ...value, ...Object.fromEntries(blank.map((platform) => [platform, {}])) };
}

/** A key with nothing behind it says nothing; but a platform's says that it is wanted. */
function withoutBlanks(value: Record<string, unknown>, above: readonly unknown[] = []): Record<string, unknown> {
  // An alias can make a value contain itself; that is told where it is read.
  if (above.includes(value)) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, part]) => part !== null)
      .map(([key, part]) => [key, isObject(part) ? withoutBlanks(part, [...above, value]) : part]),
  );
}
