import { makePayload } from "../../src/core/bootstrap.ts";
import { readTunnel } from "../../src/core/konnectivity/options.ts";
import { type SampleProps, sampleText, type Shape } from "../../src/core/sample/sample.ts";

/** A payload for the sample cluster. */
export function samplePayload(shape: Shape, tunnel: Record<string, unknown> = {}, sample: SampleProps = {}): string {
  return makePayload(sampleText(shape, sample), readTunnel(tunnel), new Date("2026-11-16T12:00:00Z")).text;
}
