import { makePayload } from "../../constructs/bootstrap-payload.ts";
import { readTunnel } from "../../constructs/konnectivity/options.ts";
import { labFolder } from "../../lab/folder.ts";
import { ensureImages } from "../../lab/images.js";
import { Lab, labIsUp } from "../../lab/lab.ts";
import { labNetworks, sampleText, type Shape } from "../../lab/sample/sample.ts";

export interface TestLabProps {
  readonly name: string;
  /** @default 4.23 */
  readonly shape?: Shape;
  /** Image stores beside the usual one. */
  readonly images?: readonly string[];
  /** Options of the tunnel. */
  readonly tunnel?: unknown;
}

/** A lab for one test file: up, with the webhook in it. It dies with the tests. */
export async function labWith({ name, shape = "4.23", images = [], tunnel = {} }: TestLabProps): Promise<Lab> {
  const { text } = makePayload(sampleText(shape, { networks: labNetworks }), readTunnel(tunnel), new Date());
  const ignore = () => undefined;
  const lab = await Lab.up({
    name,
    folder: labFolder(name),
    payload: text,
    images: [ensureImages(), ...images],
    dieWithParent: true,
    say: ignore,
  });
  await labIsUp(lab, ignore);
  await lab.installWorkload();
  return lab;
}

export const removeLab = (name: string) => Lab.down(name, labFolder(name));
