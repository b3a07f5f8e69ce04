import type { TunnelKind } from "../core/konnectivity/tunnel-names.ts";

/** One thing that `status` reports about the tunnel. */
export interface Finding {
  readonly code: string;
  /** wrong: needs action. unknown: could not be checked. waiting: resolves by itself. note: for information. */
  readonly kind: "wrong" | "unknown" | "waiting" | "note";
  readonly what: string;
  readonly advice: string;
}

/** The installer's own tunnel has no option for the lifetime of its certificates. */
export function expiredAdvice(tunnel: TunnelKind): string {
  const again =
    tunnel === "ours"
      ? "start the installation again, with a higher tunnel.certificates.days"
      : "start the installation again";
  return `${again}; a bootstrap that is nearly finished can still complete with the agents that are connected`;
}
