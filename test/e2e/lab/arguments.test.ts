import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { agentArguments } from "../../../src/core/konnectivity/agents.ts";
import { transports } from "../../../src/core/konnectivity/combinations.ts";
import { mounted, placeholders, socketFolder } from "../../../src/core/konnectivity/names.ts";
import { readTunnel } from "../../../src/core/konnectivity/options.ts";
import { flagsUnknownTo } from "../../../src/core/konnectivity/flags.ts";
import { serverArguments } from "../../../src/core/konnectivity/server-pod.ts";
import { renderTunnel } from "../../../src/core/konnectivity/tunnel.ts";
import { UserError } from "../../../src/core/errors.ts";
import { type Release, releases } from "../../../src/core/releases.ts";
import { LabMachine, removeMachines } from "../../../lab/machine.ts";
import { currentProxy, ensureGoProgram, type OldProxyName } from "../../../lab/go-programs.js";

type ProxyName = OldProxyName | typeof currentProxy;

/** Proxies whose flags are those of a class's image. */
const proxies: Record<Release, readonly ProxyName[]> = {
  "4.12-4.13": ["proxy-0.0.37"],
  // The image's own code is between these two.
  "4.14-4.22": ["proxy-0.1.2", "proxy-0.29.0", "proxy-0.31.4"],
  "4.23+": [currentProxy],
};

const folder = mkdtempSync(join(tmpdir(), "konnectivity-bootstrap-arguments-"));
const lab = `arguments${process.pid}`;
let machine: LabMachine;

beforeAll(async () => {
  machine = await LabMachine.start({ lab, name: "m", folder, dieWithParent: true });
  // What the manifests mount: certificates that fit each other, a token, and a kubeconfig that is read and not used.
  const tls = "openssl req -x509 -newkey EC -pkeyopt ec_paramgen_curve:P-256 -nodes -days 1 -subj /CN=proxy";
  machine.must(`mkdir -p ${socketFolder.host} ${mounted}/{serving,frontend,certs,token,token-reviewer} && cd ${mounted}/serving &&
    ${tls} -keyout tls.key -out tls.crt 2>/dev/null && cp tls.crt ca.crt && cp * ../frontend && cp * ../certs &&
    echo token >../token/token && cat >../token-reviewer/kubeconfig <<'EOF'
{apiVersion: v1, kind: Config, current-context: a, contexts: [{name: a, context: {cluster: a, user: a}}],
 clusters: [{name: a, cluster: {server: "https://127.0.0.1:6443"}}], users: [{name: a, user: {}}]}
EOF`);
});
afterAll(async () => {
  await removeMachines(lab);
  rmSync(folder, { recursive: true });
});

interface Start {
  readonly proxy: ProxyName;
  readonly binary: "proxy-server" | "proxy-agent";
  readonly args: readonly string[];
}

/** Everything that we ever render for a class, each argument list once. */
function argumentLists(release: Release): Pick<Start, "binary" | "args">[] {
  const lists = new Map<string, Pick<Start, "binary" | "args">>();
  const add = (binary: Start["binary"], args: readonly string[]) =>
    lists.set(JSON.stringify([binary, args]), { binary, args });
  for (const way of Object.keys(transports))
    for (const authentication of ["mtls", "service-account-token", "none"])
      for (const kind of ["DaemonSet", "Deployment"])
        for (const hostNetwork of [false, true])
          for (const listenAddress of ["address", "all"]) {
            const [protocol, transport] = way.split("/");
            const options = readTunnel({
              ...{ protocol, transport, authentication, listenAddress, agents: { kind, hostNetwork } },
              acceptUnauthenticatedAgents: authentication === "none",
            });
            if (typeof options === "string") continue;
            try {
              renderTunnel(options, release, { machineNetworks: [], serviceNetworks: [], virtualAddresses: [] });
            } catch (error) {
              // Not to be had with this class, or at all.
              if (error instanceof UserError) continue;
              throw error;
            }
            add("proxy-server", serverArguments(options).filter(knownIn(release)));
            add("proxy-agent", agentArguments(options).filter(knownIn(release)));
          }
  return [...lists.values()];
}

/** What the node leaves out if it cannot ask the image. */
const knownIn = (release: Release) => (arg: string) =>
  !flagsUnknownTo(release).includes(arg.slice(2).split("=")[0] ?? "");

/**
 * Starts a program alone, with an own network and an own folder for the socket, until it says on its health port that it
 * runs, or ends.
 * @returns what it said if it did not come to that
 */
function refusalOf({ proxy, binary, args }: Start): Promise<string | undefined> {
  const words = args.map((arg) =>
    arg
      .replace(placeholders.serverHost, "127.0.0.1")
      .replace(placeholders.listenAddress, "127.0.0.1")
      .replace(placeholders.agentKeepalive, "30s"),
  );
  const script = `ip link set lo up; mount -t tmpfs tmpfs ${socketFolder.host}; "$@" 2>&1 & program=$!
    until curl --silent --fail --max-time 1 http://127.0.0.1:2041/healthz >/dev/null; do
      kill -0 $program 2>/dev/null || { wait $program; exit 1; }; sleep 0.05; done; kill -KILL $program`;
  const alone = ["timeout", "60", "unshare", "--net", "--mount", "bash", "-c", script, "bash"];
  const [program = "", ...rest] = machine.enter([...alone, ensureGoProgram(proxy)[binary], ...words]);
  return new Promise((resolve) => {
    execFile(program, rest, { encoding: "utf8" }, (error, stdout, stderr) => {
      resolve(
        error === null ? undefined : (`${stdout}${stderr}`.split("\n").find((line) => /error/i.test(line)) ?? "ended"),
      );
    });
  });
}

/** A few at a time. */
async function refusalsOf(starts: readonly Start[]): Promise<string[]> {
  const waiting = [...starts];
  const refusals: string[] = [];
  const work = async () => {
    for (let one = waiting.pop(); one !== undefined; one = waiting.pop()) {
      const refusal = await refusalOf(one);
      if (refusal !== undefined) refusals.push(`${one.proxy} ${one.binary} ${one.args.join(" ")}: ${refusal}`);
    }
  };
  await Promise.all(Array.from({ length: 4 }, work));
  return refusals;
}

describe("a real proxy takes every argument list that we render for its release class", () => {
  it.each(releases)(
    "%s",
    async (release) => {
      const lists = argumentLists(release);
      const starts = proxies[release].flatMap((proxy) => lists.map((list) => ({ proxy, ...list })));
      expect(lists.length).toBeGreaterThan(10);
      expect(await refusalsOf(starts)).toEqual([]);
    },
    180_000,
  );

  it("and ends with an error if one flag is not its own, or two contradict each other", async () => {
    const [server] = argumentLists("4.23+").filter(({ binary }) => binary === "proxy-server");
    const [agent] = argumentLists("4.23+").filter(({ binary }) => binary === "proxy-agent");
    if (server === undefined || agent === undefined) throw new Error("nothing is rendered");
    const starts: Start[] = [
      { proxy: "proxy-0.29.0", ...server },
      { proxy: currentProxy, ...server, args: [...server.args, "--server-port=8090"] },
      { proxy: currentProxy, ...agent, args: [...agent.args, "--no-such-flag=1"] },
    ];
    const refusals = await refusalsOf(starts);
    expect(refusals).toHaveLength(3);
    expect(refusals.filter((one) => one.includes("unknown flag"))).toHaveLength(2);
    expect(refusals.join("\n")).toContain("server port should be set to 0 not 8090 for UDS");
  }, 60_000);
});
