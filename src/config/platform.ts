import type { z } from "zod";
import type { BootstrapPayload } from "../core/bootstrap.ts";
import type { Options, Problem, Warning } from "../core/errors.ts";
import { problem } from "../core/errors.ts";
import type { FirewallProgram } from "../core/konnectivity/firewall-commands.ts";
import type { Tunnel } from "../core/konnectivity/options.ts";
import type { Architecture, Stream } from "./stream.ts";

/** What the rest of the code needs to know about a platform. Its stack is in stacks/platforms.ts, which loads it on demand. */
export interface Platform<
  Name extends string = string,
  Schema extends z.ZodObject = z.ZodObject,
  Metadata extends z.ZodObject = z.ZodObject,
  Inputs = unknown,
> {
  /** Its key in the config file, and the first word of its stacks' names. */
  readonly name: Name;
  /** One sentence for the config file's schema. */
  readonly description: string;
  /** Its options. */
  readonly schema: Schema;
  /** Checks the options against everything else that is known, and fills in what the config leaves out. */
  resolve(config: z.output<Schema>, context: PlatformContext<z.output<Metadata>>): Inputs;
  /** @default - its stack needs no provider */
  readonly provider?: Provider;
  /** Its part of the metadata.json that openshift-install writes. @default - it has none */
  readonly metadata?: { readonly key: string; readonly schema: Metadata };
  /** Values for required options, so that the rest of a config with errors can be checked. @default - none is required */
  readonly placeholders?: Readonly<Partial<z.output<Schema>>>;
  /** Options that are not required but that most users set: `config init` leaves them empty. @default - none */
  readonly usualOptions?: readonly string[];
  /** Whether the machine's image can come from the CoreOS stream. @default false */
  readonly usesStream?: boolean;
  /** Commands that open the tunnel's port, for `payload firewall`. @default - it has no firewall that a program changes */
  readonly firewallCommands?: FirewallProgram;
  /** Region and size of its machine, which identify nobody: for the report of `acceptance`. @default - none */
  reportedFacts?(inputs: Inputs): Readonly<Record<string, string | number>>;
  /** Made-up values that make a complete config, for `example`: `config check` accepts them. */
  example(infraId: string): Example<z.input<Schema>, z.input<Metadata>>;
  /** @default - it is a cloud: the machine belongs to a real cluster and boots the payload from bootstrap.ign */
  readonly lab?: LabPlatform<z.output<Schema>>;
}

/** A Terraform provider. */
export interface Provider {
  /** Its name in Terraform code. */
  readonly name: string;
  readonly source: string;
  /** The tested versions: the default of providerVersions. */
  readonly versions: string;
}

/** A platform's part of an example. */
export interface Example<Options = unknown, Metadata = unknown> {
  readonly options: Options;
  /** Its part of metadata.json. @default - it has none */
  readonly metadata?: Metadata;
  /** The images of its machines in the CoreOS stream, for x86_64. @default - its image does not come from the stream */
  readonly images?: Readonly<Record<string, unknown>>;
}

/** A platform that runs a cluster of its own on this machine instead of joining a real one. */
export interface LabPlatform<Config> {
  /** The lab's name on this machine. */
  labName(config: Config): string;
  /** Whether a fake of openshift-install creates the machine: its tunnel has another default port. @default - no fake does */
  ipi?(config: Config): boolean;
  /** The payload that its bootstrap machine boots. */
  payload(config: Config, tunnel: Tunnel, now: Date): Pick<BootstrapPayload, "text" | "sha512">;
  /** What `config check` prints about it. */
  describe(config: Config): string;
}

/** Declares a platform; the types of its options and inputs follow from its schema and its `resolve`. */
export const definePlatform = <
  const Name extends string,
  Schema extends z.ZodObject,
  Inputs,
  Metadata extends z.ZodObject = z.ZodObject,
>(
  platform: Platform<Name, Schema, Metadata, Inputs>,
): Platform<Name, Schema, Metadata, Inputs> => platform;

/** What a platform's options are resolved with. */
export interface PlatformContext<Metadata = unknown> {
  readonly infraId: string;
  /** The platform's part of metadata.json, from the install folder or saved beside the state. @default - not known */
  readonly metadata?: Metadata;
  readonly architecture: Architecture;
  /** @default - none is given, or it cannot be read, which is reported elsewhere */
  readonly stream?: Stream;
  readonly streamGiven: boolean;
  /** The machine's private IP address. @default - the config does not fix it */
  readonly fixedAddress?: string;
  /** The nodes' networks, from the install config; empty if they are not known. */
  readonly machineNetworks: readonly string[];
  /** The tunnel's port, for which a rule is created. @default - none is */
  readonly tunnelPort?: number;
  /** Public keys that the payload authorizes for core. @default - there is no payload */
  readonly sshKeys?: readonly string[];
  /** The user's own tags. */
  readonly tags: Readonly<Record<string, string>>;
  /** There is no bootstrap.ign: a destroy works, a deploy does not. */
  readonly destroyOnly: boolean;
  /** Other machines use the same state. */
  readonly sharedState: boolean;
  /** metadata.json cannot be read, which is reported elsewhere. */
  readonly metadataDamaged: boolean;
  readonly report: (problem: Problem) => void;
  readonly warn: (warning: Warning) => void;
}

/** Reports that options contradict each other. */
export function refuse(context: PlatformContext, options: Options, reason: string): void {
  context.report(problem("combination-refused", { options, reason }));
}

/** Reports that an option's value does not fit this platform. */
export function invalid(context: PlatformContext, option: string, found: string, expected: string): void {
  context.report(problem("option-invalid", { option, found, expected }));
}

/** A value from the config, or else from metadata.json, such as the region. Even a destroy needs it. */
export function required(
  value: { readonly given: string | undefined; readonly ofMetadata: string | undefined },
  context: PlatformContext,
  option: string,
  expected: string,
): string {
  const { given, ofMetadata } = value;
  if (given !== undefined) return given;
  if (ofMetadata !== undefined && !context.sharedState) return ofMetadata;
  if (context.metadataDamaged) return "";
  const why =
    ofMetadata === undefined
      ? "metadata.json does not contain it"
      : `required with a shared state, so that a destroy works on any machine; metadata.json has ${ofMetadata}`;
  invalid(context, option, "missing", `${expected} (${why})`);
  return ofMetadata ?? "";
}

/** An image from the config or the stream. Destroying needs none. */
export function imageFor(
  given: string | undefined,
  context: PlatformContext,
  option: string,
  ofStream: (stream: Stream) => string,
  placeholder: string,
): string {
  if (given !== undefined) return given;
  if (context.stream !== undefined) return ofStream(context.stream);
  if (context.destroyOnly || context.streamGiven) return placeholder;
  invalid(
    context,
    option,
    "missing",
    'an image, or `stream`, a file with the output of "openshift-install coreos print-stream-json"',
  );
  return placeholder;
}

/**
 * Options of every cloud: who may connect to the machine beside the nodes.
 * @param network a kind of networks that the cloud's firewall takes
 */
export const accessOptions = <Network extends z.ZodType<string>>(network: () => Network) => ({
  allowedBootstrapSshCidr: network().optional().describe("The network that can connect with ssh (22). Default: none."),
  allowedBootstrapJournalCidr: network()
    .optional()
    .describe("The network that can read the journal (19531). Default: none."),
});

type AccessOption = keyof ReturnType<typeof accessOptions>;

/** ssh and the journal can be opened to everyone, as in the UPI templates, but with a warning. */
export function warnOfWorld(
  platform: string,
  config: Readonly<Partial<Record<AccessOption, string>>>,
  context: PlatformContext,
): void {
  for (const option of ["allowedBootstrapSshCidr", "allowedBootstrapJournalCidr"] as const) {
    const network = config[option];
    if (network?.endsWith("/0") !== true) continue;
    context.warn({
      code: "open-to-the-world",
      message: `${platform}.${option} is ${network}, so everyone who can reach the machine can connect: use the network from which you work.`,
    });
  }
}
