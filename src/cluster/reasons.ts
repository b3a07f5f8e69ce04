/** Why an agent is not connected. */
export interface Reason {
  readonly code: ReasonCode;
  /** Quoted from the log. */
  readonly words: string;
}

/** What agents log, by its meaning; observed in the lab, unless docs/troubleshooting.md says otherwise. */
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

/** What an agent logs once it is connected: errors before that no longer matter. */
const connected = /successfully connected to new proxy server|"Start serving"/;
/** After the reason for a refused handshake, further lines say how the connection broke, so several are searched. */
const searchedErrors = 10;

/** The last reason in an agent's log. @returns undefined if there is none, or the agent has connected since */
export function lastReason(log: string): Reason | undefined {
  const lines = log.split("\n");
  const since = lines.slice(lines.findLastIndex((line) => connected.test(line)) + 1);
  const errors = since.filter((line) => /^[EW]\d{4} |err=/.test(line)).slice(-searchedErrors);
  for (const line of errors.reverse())
    for (const code of reasonCodes) {
      const [words] = patterns[code].exec(line) ?? [];
      if (words !== undefined) return { code, words };
    }
  return undefined;
}
