/** One thing that `status` reports about the tunnel. */
export interface Finding {
  readonly code: string;
  /** wrong: needs action. unknown: could not be examined. waiting: resolves by itself. note: good to know. */
  readonly kind: "wrong" | "unknown" | "waiting" | "note";
  readonly what: string;
  readonly advice: string;
}

export const expiredAdvice =
  "start the installation again, with more certificates.days; a bootstrap that is nearly done may get to its end with the agents it has";
