import { z } from "zod";
import { makePayload } from "../bootstrap-payload.ts";
import type { Tunnel } from "../konnectivity/options.ts";
import { labNetworks, sampleText } from "../../lab/sample/sample.ts";
import { textLike } from "./fields.ts";

export const localSchema = z.strictObject(
  {
    name: textLike("a name (lower case letters, digits and -, at most 20)", /^[a-z]([a-z0-9-]{0,18}[a-z0-9])?$/)
      .default("local")
      .describe("The lab's name: another lab beside it has another."),
  },
  { error: "an object" },
);
export type LocalConfig = z.output<typeof localSchema>;

/** What the local stack is made from. */
export interface LocalInputs {
  readonly name: string;
  readonly payload: { readonly present: true; readonly text: string; readonly sha512: string };
}

/** The lab's payload is made from a sample: its machines have no images of a real release. */
export function resolveLocal({ name }: LocalConfig, tunnel: Tunnel, now: Date): LocalInputs {
  const { text, sha512 } = makePayload(sampleText("4.23", { networks: labNetworks }), tunnel, now);
  return { name, payload: { present: true, text, sha512 } };
}
