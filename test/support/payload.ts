import { makePayload } from "../../constructs/bootstrap-payload.ts";
import { readTunnel } from "../../constructs/konnectivity/options.ts";
import { type SampleProps, sampleText, type Shape } from "../../lab/sample/sample.ts";

/** A payload for the sample cluster. */
export function samplePayload(shape: Shape, tunnel: Record<string, unknown> = {}, sample: SampleProps = {}): string {
  return makePayload(sampleText(shape, sample), readTunnel(tunnel), new Date("2026-11-16T12:00:00Z")).text;
}
