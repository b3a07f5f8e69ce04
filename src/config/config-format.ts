import { z } from "zod";
import { boolean, integer, oneOf, pattern, text } from "../core/schema/fields.ts";
import { tunnelSchema } from "../core/konnectivity/options.ts";
import { infraIdPattern, type MetadataSchema, metadataSchemaFor } from "./metadata.ts";
import type { Platform } from "./platform.ts";
import { stateSchema } from "./state.ts";
import { architectures } from "./stream.ts";

/** The user's files, as far as they depend on the platforms. */
export interface ConfigFormat {
  readonly platforms: readonly Platform[];
  /** The platforms for real clusters: all except the labs. */
  readonly clouds: readonly Platform[];
  /** Schema of the config file. */
  readonly schema: z.ZodType<RawConfig>;
  /** Without the platforms' required options, for a config with errors. */
  readonly partialSchema: z.ZodType<RawConfig>;
  readonly metadataSchema: MetadataSchema;
}

/** The options that every platform shares. */
export type CommonConfig = z.output<z.ZodObject<ReturnType<typeof commonShape>>>;

/** A config file as it is parsed: the platforms are among the other options. */
export type RawConfig = CommonConfig & Readonly<Record<string, unknown>>;

/** The format of the config file and of metadata.json for these platforms. */
export function defineConfig(platforms: readonly Platform[]): ConfigFormat {
  const common = commonShape(platforms);
  const error = `an object with the keys installDir, tunnel, ${platforms[0]?.name ?? ""}, …`;
  const schemaOf = (options: (platform: Platform) => z.ZodObject) =>
    z.strictObject(
      {
        ...common,
        ...Object.fromEntries(platforms.map((one) => [one.name, options(one).optional().describe(one.description)])),
      },
      { error },
    ) as unknown as z.ZodType<RawConfig>;
  return {
    platforms,
    clouds: platforms.filter(({ lab }) => lab === undefined),
    schema: schemaOf(({ schema }) => schema),
    partialSchema: schemaOf(({ schema }) => schema.partial()),
    metadataSchema: metadataSchemaFor(platforms),
  };
}

/** Whether a platform has this name. */
export function isPlatform(format: ConfigFormat, name: string): boolean {
  return format.platforms.some((platform) => platform.name === name);
}

const versionRange = pattern(
  'a version constraint like ">= 6.25.0, < 7.0.0"',
  /^\s*(=|!=|>=?|<=?|~>)?\s*\d+(\.\d+){0,2}(-[\w.]+)?\s*(,\s*(=|!=|>=?|<=?|~>)?\s*\d+(\.\d+){0,2}(-[\w.]+)?\s*)*$/,
);

/** The config file: one cluster, any number of platforms. Paths are relative to the file. */
const commonShape = (platforms: readonly Platform[]) => ({
  installDir: text("a folder")
    .default(".")
    .describe('The install folder, in which "openshift-install create ignition-configs" ran.'),
  infrastructureName: pattern(
    "an infra ID like prod-x7k2p (lower case letters, digits and -, at most 27)",
    infraIdPattern,
  )
    .optional()
    .describe("The cluster's infra ID. Default: the one in metadata.json."),
  stream: text("a file")
    .optional()
    .describe('File with the output of "openshift-install coreos print-stream-json", which names the machine image.'),
  architecture: oneOf(...architectures)
    .default("x86_64")
    .describe("Architecture of the bootstrap machine. The image and the machine type must match it."),
  tags: z
    .record(z.string(), z.string({ error: "a string" }), { error: "an object with string values" })
    .default({})
    .describe("Your own tags, for every resource that accepts tags or labels."),
  firewall: oneOf("managed", "external")
    .default("managed")
    .describe(
      "`managed`: the stack creates the firewall rules for the tunnel's port. `external`: it only outputs the required rule.",
    ),
  replaceMachine: boolean()
    .default(false)
    .describe("Whether a change of the payload or of a machine option replaces a running machine."),
  state: stateSchema,
  providerVersions: providerVersionsSchema(platforms),
  teardown: z
    .strictObject(
      {
        kubeconfig: text("a file")
          .optional()
          .describe(
            "The cluster's kubeconfig. Default: the environment's KUBECONFIG, or auth/kubeconfig in the install folder.",
          ),
        waitMinutes: integer(0, 240)
          .default(0)
          .describe("How long a destroy waits while the cluster still needs its bootstrap machine."),
      },
      { error: "an object with kubeconfig, waitMinutes" },
    )
    .prefault({})
    .describe("How a destroy checks whether the cluster still needs its bootstrap machine; see docs/teardown.md."),
  tunnel: tunnelSchema,
});

function providerVersionsSchema(platforms: readonly Platform[]) {
  const providers = platforms.flatMap(({ provider }) => (provider === undefined ? [] : [provider]));
  const shape = Object.fromEntries(
    providers.map(({ name, source, versions }) => [name, versionRange.default(versions).describe(source)]),
  );
  return z
    .strictObject(shape, { error: `an object with ${providers.map(({ name }) => name).join(", ")}` })
    .prefault({})
    .describe("Version constraints of the Terraform providers.");
}
