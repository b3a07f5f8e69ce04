import { z } from "zod";
import { makePayload } from "../../src/core/bootstrap.ts";
import type { Tunnel } from "../../src/core/konnectivity/options.ts";
import { ipFamilies, localNetworks } from "../../src/core/sample/networks.ts";
import { sampleText } from "../../src/core/sample/sample.ts";
import type { LabLayout } from "../../src/core/lab-layout.ts";
import { oneOf, pattern, integer } from "../../src/core/schema/fields.ts";

export const localSchema = z.strictObject(
  {
    name: pattern("a name (lower case letters, digits and -, at most 20)", /^[a-z]([a-z0-9-]{0,18}[a-z0-9])?$/)
      .default("local")
      .describe("The lab's name: another lab beside it has another."),
    nodes: integer(1, 3).default(1).describe("How many nodes the lab has; the first has the control plane too."),
    ipFamily: oneOf(...ipFamilies)
      .default("IPv4")
      .describe("Of the lab's machines, pods and services."),
  },
  { error: "an object" },
);
export type LocalConfig = z.output<typeof localSchema>;

/** What the local stack is made from. */
export interface LocalInputs extends LabLayout {
  readonly name: string;
  readonly payload: { readonly present: true; readonly text: string; readonly sha512: string };
}

/** The lab's payload is made from a sample: its machines have no images of a real release. */
export function resolveLocal({ name, nodes, ipFamily }: LocalConfig, tunnel: Tunnel, now: Date): LocalInputs {
  const { text, sha512 } = makePayload(sampleText("4.23", { networks: localNetworks[ipFamily] }), tunnel, now);
  return { name, nodes, ipFamily, payload: { present: true, text, sha512 } };
}
