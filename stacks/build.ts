import type { PayloadContent } from "../constructs/shared/payload-file.ts";
import { type BootstrapPayload, makePayload } from "../src/core/bootstrap.ts";
import { aboutFile, type Problem, Problems, type Warning } from "../src/core/errors.ts";
import type { Tunnel } from "../src/core/konnectivity/options.ts";
import type { RequiredIngress } from "../src/core/konnectivity/required-ingress.ts";
import { exampleCode } from "../src/core/ignition/check.ts";
import { bootstrapIgnOf, readBootstrapIgn } from "../src/config/install-dir.ts";
import { inCloud, type Loaded } from "./load.ts";
import { configFormat } from "./platforms.ts";

/** A lab of this machine, which has its own payload. */
export interface LabInput {
  /** Its name on this machine. */
  readonly name: string;
  readonly description: string;
  /** The tunnel that its payload contains. */
  readonly tunnel: Tunnel;
  readonly payload: PayloadContent;
}

/** The payloads, and what was found out when they were built. */
export interface Built {
  /** From bootstrap.ign. */
  readonly payload: PayloadContent;
  /** The rule that must be open. @default - the tunnel is off, or there is no payload */
  readonly requiredIngress?: RequiredIngress;
  /** Public keys that the payload authorizes for core. @default - there is no payload */
  readonly sshKeys?: readonly string[];
  /** By the platform's name. */
  readonly labs: Readonly<Record<string, LabInput>>;
  readonly problems: readonly Problem[];
  readonly warnings: readonly Warning[];
}

/** Builds the payload from bootstrap.ign, and those of the labs. */
export function build({ config, installDir }: Loaded, now: Date): Built {
  const problems = new Problems();
  const { folder, shown, missing, hasBootstrapIgn } = installDir;
  const built = hasBootstrapIgn
    ? problems.attempt(() =>
        aboutFile(bootstrapIgnOf(folder), () => makePayload(readBootstrapIgn(folder), config.tunnel, now)),
      )
    : undefined;
  const labs = configFormat.platforms.flatMap(({ name, lab }): [string, LabInput][] => {
    const options = config.platforms[name];
    if (lab === undefined || options === undefined) return [];
    const tunnel = lab.ipi?.(options) === true ? config.ipiTunnel : config.tunnel;
    const payload = problems.attempt(() => toInput(lab.payload(options, tunnel, now)));
    return payload === undefined
      ? []
      : [[name, { name: lab.labName(options), description: lab.describe(options), tunnel, payload }]];
  });
  const destroyOnly: Warning = {
    code: "destroy-only",
    message: `${missing ? `The install folder ${shown} (installDir) does not exist` : `There is no bootstrap.ign in ${shown}`}: you can destroy what is deployed, but you cannot deploy.`,
  };
  return {
    payload: built === undefined ? { present: false, why: `there is no bootstrap.ign in ${shown}` } : toInput(built),
    requiredIngress: built?.firewall,
    sshKeys: built?.sshKeys,
    labs: Object.fromEntries(labs),
    problems: problems.found,
    warnings: [
      ...(hasBootstrapIgn === false && inCloud(config) ? [destroyOnly] : []),
      // A lab boots a payload of its own, whatever is in the install folder.
      ...(built?.warnings ?? []).filter(({ code }) => inCloud(config) || code !== exampleCode),
    ],
  };
}

const toInput = (
  built: Pick<BootstrapPayload, "text" | "sha512"> & { readonly example?: boolean },
): PayloadContent => ({
  present: true,
  text: built.text,
  sha512: built.sha512,
  ...(built.example === true && { example: true }),
});
