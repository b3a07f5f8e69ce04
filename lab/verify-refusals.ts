import { hostOf } from "./addresses.ts";
import type { Lab } from "./lab.ts";
import type { Server } from "./lab-view.ts";
import { timeLimit } from "../src/core/time-limits.ts";
import { failed, type CheckResult, passed } from "../src/cluster/verify.ts";

/** The credentials of an agent that must be refused. */
export type Proof = "no" | "foreign";

/** The alerts with which servers of all releases reject a missing or invalid certificate; the last only with TLS 1.2. */
const refusals: readonly string[] = ["certificate required", "bad certificate", "unknown ca", "handshake failure"];

/** The agent ID of an attempt without a valid token, which the server logs. */
export const verifierId = "konnectivity-bootstrap-verify";

/** Dials as an agent without a certificate, or with one of another CA. */
export function refusesCertificate({ node, addresses }: Lab, { agentPort }: Server, which: Proof): CheckResult {
  // The key exists only in the shell's memory. With TLS 1.3 the handshake ends before the server has verified the
  // certificate, so openssl must wait for the alert.
  const key =
    "openssl req -x509 -newkey EC -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout - -days 1 -subj /CN=konnectivity-agent";
  const dial = (version: string) =>
    node.run(
      [
        which === "foreign" ? `pem=$(${key} 2>/dev/null) &&` : "",
        `timeout ${timeLimit(5)} openssl s_client -connect ${hostOf(addresses.bootstrap)}:${agentPort} -alpn h2 ${version} -ign_eof`,
        which === "foreign" ? `-cert <(echo "$pem") -key <(echo "$pem")` : "",
        "</dev/null",
      ].join(" "),
    );
  const heard: string[] = [];
  for (const [version, option] of [
    ["TLS 1.3", "-tls1_3"],
    ["TLS 1.2", "-tls1_2"],
  ] as const) {
    const { stdout, stderr } = dial(option);
    if (!stdout.includes("CONNECTED")) return failed(`${version}: no connection: ${reasonOf(stderr)}`);
    const alert = /alert ([a-z ]+):/.exec(stderr)?.[1];
    if (alert === undefined) return failed(`${version}: the server accepted the connection`);
    if (which === "foreign" && alert === "certificate required") return failed(`${version}: no certificate was sent`);
    if (!refusals.includes(alert)) return failed(`${version}: unexpected alert, ${alert}`);
    heard.push(`${version}: ${alert}`);
  }
  return passed(`alert, ${heard.join(", ")}`);
}

/** Dials as an agent without a token, or with an invalid one: the TLS handshake succeeds, and the server refuses the call. */
export function refusesToken({ node, addresses }: Lab, { agentPort }: Server, which: Proof): CheckResult {
  const { stdout } = node.run(
    [
      `curl --silent --insecure --http2 --max-time ${timeLimit(10)} --output /dev/null --dump-header - --request POST`,
      `--header 'content-type: application/grpc' --header 'te: trailers' --header 'agentid: ${verifierId}'`,
      which === "foreign" ? "--header 'authorization: Bearer foreign'" : "",
      `https://${hostOf(addresses.bootstrap)}:${agentPort}/AgentService/Connect`,
    ].join(" "),
  );
  const header = (name: string) => new RegExp(`^${name}: (.*)$`, "im").exec(stdout)?.[1]?.trim();
  if (header("serverid") !== undefined) return failed(`an agent with ${which} token was accepted`);
  const status = header("grpc-status");
  if (status === undefined || status === "0") return failed("the server did not reject a call without a valid token");
  return passed(`agents use tokens; with ${which} token: "${header("grpc-message") ?? ""}"`);
}

/** The readable part of an error of openssl. */
export function reasonOf(stderr: string): string {
  const lines = stderr.split("\n").filter(Boolean);
  return (
    lines
      .find((line) => /error \d+ at|Connection refused|timed out/.test(line))
      ?.replace(/^.*?(error \d+ at|Connection refused|timed out)/, "$1") ??
    lines.at(-1) ??
    "no reason given"
  );
}
