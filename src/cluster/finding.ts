import type { TunnelKind } from "../core/konnectivity/tunnel-names.ts";

/** One thing that `status` reports about the tunnel. */
export interface Finding {
  readonly code: string;
  /** wrong: needs action. unknown: could not be examined. waiting: resolves by itself. note: good to know. */
  readonly kind: "wrong" | "unknown" | "waiting" | "note";
  readonly what: string;
  readonly advice: string;
}

/** The installer's own tunnel has no option for how long its certificates live. */
export function expiredAdvice(tunnel: TunnelKind): string {
  const again =
    tunnel === "ours" ? "start the installation again, with more certificates.days" : "start the installation again";
  return `${again}; a bootstrap that is nearly done may get to its end with the agents it has`;
}
