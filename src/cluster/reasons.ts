/** Why an agent is not connected. */
export interface Reason {
  readonly code: ReasonCode;
  /** The log's own words. */
  readonly words: string;
}

/** What agents log, by what it means; seen in the lab, except where docs/troubleshooting.md says otherwise. */
const patterns = {
  expired: /x509: certificate has expired or is not yet valid: current time \S+ is after \S+?(?=\\?")/,
  "not-yet-valid": /x509: certificate has expired or is not yet valid: current time \S+ is before \S+?(?=\\?")/,
  "unknown-ca": /x509: certificate signed by unknown authority/,
  "other-name":
    /x509: (?:certificate is valid for .*?, not \S+?(?=\\?")|cannot validate certificate for [^"\\]+|certificate is not valid for any names[^"\\]*)/,
  "certificate-refused": /remote error: tls: (?:certificate required|bad certificate|[^"\\]*certificate[^"\\]*)/,
  "token-refused":
    /code = Unauthenticated desc = [^"\\]+|Failed to (?:authenticate|validate) [^"\\]+|invalid bearer token/,
  "not-resolved": /dial tcp: lookup [^"\\]+/,
  refused: /dial tcp \S+ connect: connection refused/,
  "no-route": /dial tcp \S+ connect: (?:no route to host|network is unreachable)/,
  "no-answer": /dial tcp \S+ i\/o timeout|context deadline exceeded/,
} as const;
export type ReasonCode = keyof typeof patterns;
export const reasonCodes = Object.keys(patterns) as readonly ReasonCode[];

/** What an agent logs when it is connected: what came before it is over. */
const connected = /successfully connected to new proxy server|"Start serving"/;
/** Beside what it means, a refused handshake logs how the connection broke; so a few lines are looked at. */
const few = 10;

/** The reason that an agent's log gives last; nothing if it gives none, or was connected since. */
export function lastReason(log: string): Reason | undefined {
  const lines = log.split("\n");
  const since = lines.slice(lines.findLastIndex((line) => connected.test(line)) + 1);
  const errors = since.filter((line) => /^[EW]\d{4} |err=/.test(line)).slice(-few);
  for (const line of errors.reverse())
    for (const code of reasonCodes) {
      const [words] = patterns[code].exec(line) ?? [];
      if (words !== undefined) return { code, words };
    }
  return undefined;
}
