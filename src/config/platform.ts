import type { Options, Problem, Warning } from "../core/errors.ts";
import { problem } from "../core/errors.ts";
import type { Metadata } from "./metadata.ts";
import type { Architecture, Stream } from "./stream.ts";

export const platforms = ["aws", "azure", "google"] as const;
export type Platform = (typeof platforms)[number];

/** What a platform's part of the config is read with. */
export interface PlatformContext {
  readonly infraId: string;
  /** Of the install folder, or remembered from when it was there. @default - not known */
  readonly metadata?: Metadata;
  readonly architecture: Architecture;
  /** @default - none was given, or it cannot be read, which is told elsewhere */
  readonly stream?: Stream;
  readonly streamGiven: boolean;
  /** The machine's private IP address, if the config fixes it. */
  readonly fixedAddress?: string;
  /** The nodes' networks, as the install config has them; empty if that is not known. */
  readonly machineNetworks: readonly string[];
  /** Whether a rule for 8091 is made. */
  readonly opensTunnelPort: boolean;
  /** @default - there is none, or it could not be made, which is told elsewhere */
  readonly payload?: string;
  /** The user's own tags. */
  readonly tags: Readonly<Record<string, string>>;
  /** There is no bootstrap.ign: nothing can be deployed, but everything can be destroyed. */
  readonly destroyOnly: boolean;
  /** The state is not on this machine alone. */
  readonly sharedState: boolean;
  /** metadata.json cannot be read, which is told elsewhere. */
  readonly metadataDamaged: boolean;
  readonly report: (problem: Problem) => void;
  readonly warn: (warning: Warning) => void;
}

/** Says that options do not go together. */
export function refuse(context: PlatformContext, options: Options, reason: string): void {
  context.report(problem("combination-refused", { options, reason }));
}

/** Says that an option's value is none for this platform. */
export function invalid(context: PlatformContext, option: string, found: string, expected: string): void {
  context.report(problem("option-invalid", { option, found, expected }));
}

/** A value of the config, or else of metadata.json: region, project, … Without it nothing can even be destroyed. */
export function required(
  value: { readonly given: string | undefined; readonly ofMetadata: string | undefined },
  context: PlatformContext,
  path: string,
  expected: string,
): string {
  const { given, ofMetadata } = value;
  if (given !== undefined) return given;
  if (ofMetadata !== undefined && !context.sharedState) return ofMetadata;
  if (context.metadataDamaged) return "";
  const why =
    ofMetadata === undefined
      ? "metadata.json does not say it"
      : `with a shared state the config says it, so that any machine can destroy; metadata.json has ${ofMetadata}`;
  invalid(context, path, "missing", `${expected} (${why})`);
  return ofMetadata ?? "";
}

/** An image from the config or the stream. Destroying needs none. */
export function imageFor(
  given: string | undefined,
  context: PlatformContext,
  path: string,
  ofStream: (stream: Stream) => string,
  placeholder: string,
): string {
  if (given !== undefined) return given;
  if (context.stream !== undefined) return ofStream(context.stream);
  if (context.destroyOnly || context.streamGiven) return placeholder;
  invalid(
    context,
    path,
    "missing",
    'an image, or `stream`, a file with what "openshift-install coreos print-stream-json" prints',
  );
  return placeholder;
}

/** ssh or the journal open to the whole world is possible, as in the UPI templates, but not silently. */
export function warnOfWorld(path: string, network: string | undefined, context: PlatformContext): void {
  if (network?.endsWith("/0") !== true) return;
  context.warn({
    code: "open-to-the-world",
    message: `${path} is ${network}: whoever can reach the machine can knock there; give the network that you work from.`,
  });
}
