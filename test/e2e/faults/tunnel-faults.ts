import { agentName, socket, staticPodManifest } from "../../../src/core/konnectivity/names.ts";
import { waitFor } from "../../../lab/wait.ts";
import { agentPortOf } from "../../../lab/lab-view.ts";
import type { LabMachine } from "../../../lab/machine.ts";
import { type LoadedLab, processes } from "../load/loaded-lab.ts";
import { type Fault, quiet } from "./fault.ts";
import { refused, rogueAgents } from "./rogue-agent.ts";

const now = "date +%s%3N";
const whole = 2;

/** Another process of a program than before. */
async function again(machine: LabMachine, program: string, before: readonly string[]): Promise<void> {
  const isNew = () => processes(machine, program).some((pid) => !before.includes(pid));
  await waitFor(`another ${program}`, 60, isNew);
}

const nodes = ({ lab }: LoadedLab): [LabMachine, LabMachine] => {
  const [first, second] = lab.nodes;
  if (first === undefined || second === undefined) throw new Error("faults need a lab with two nodes");
  return [first, second];
};

/** Cuts a machine's link, at the machine that all links lead to, until `until` is over. When that began and ended. */
async function cutLink(
  center: LabMachine,
  machine: LabMachine,
  until: (at: number) => Promise<unknown>,
): Promise<{ at: number; undone: number }> {
  const link = (state: "down" | "up") => Number(center.must(`${now}; ip link set to-${machine.name} ${state}`));
  const at = link("down");
  let undone: number;
  try {
    await until(at);
  } finally {
    undone = link("up");
  }
  return { at, undone };
}

const agentPods = `$(/usr/bin/podman pod ps --quiet --filter name=${agentName})`;
/** By SIGKILL, and it stays away. */
const stopAgent = `/usr/bin/podman pod stop --time=0 ${agentPods} >/dev/null`;
const startAgent = `/usr/bin/podman pod start ${agentPods} >/dev/null`;

export const tunnelFaults: readonly Fault[] = [
  {
    name: "server killed",
    done: "the server is killed (`kill -9`)",
    recovered: "it is restarted with the same keys, and the agents reconnect",
    strike: async (lab) => {
      const before = processes(lab.lab.bootstrap, "proxy-server");
      const at = lab.killServer();
      await again(lab.lab.bootstrap, "proxy-server", before);
      await lab.agentsAre(whole);
      return { at };
    },
  },
  {
    name: "server away, stale socket",
    done: "the server's manifest is moved away and back, and the socket of a killed process is left in place",
    recovered: "the new server replaces the stale socket, and the agents reconnect",
    strike: async (lab) => {
      const { bootstrap } = lab.lab;
      const at = Number(bootstrap.must(`${now}; mv ${staticPodManifest} /opt/lab/server.yaml`));
      await waitFor("the server's end", 30, () => processes(bootstrap, "proxy-server").length === 0);
      // Whatever the old one left: a socket that nobody listens on.
      const leave = `require("net").createServer().listen(process.argv[1], () => process.kill(process.pid, "SIGKILL"))`;
      bootstrap.run(`rm -f ${socket.host}; node -e '${leave}' ${socket.host}`);
      bootstrap.must(`test -S ${socket.host}`);
      const undone = Number(bootstrap.must(`${now}; mv /opt/lab/server.yaml ${staticPodManifest}`));
      await lab.agentsAre(whole);
      return { at, undone };
    },
  },
  {
    name: "kube-apiserver killed",
    done: "the bootstrap kube-apiserver is killed (`kill -9`)",
    recovered: "it is restarted and connects to the same server. Server and agents are not affected",
    strike: async (lab) => {
      const { bootstrap } = lab.lab;
      const others = () => JSON.stringify([bootstrap, ...lab.lab.nodes].map((one) => one.run("pgrep 'proxy-'").stdout));
      const before = others();
      const at = lab.killKubeApiServer();
      await waitFor("the kube-apiserver", 60, () => lab.lab.request(bootstrap, "GET", "/readyz").code === 200);
      if (others() !== before) throw new Error("the server or an agent is another process than before");
      await lab.agentsAre(whole);
      return { at };
    },
  },
  {
    name: "only agent killed",
    done: "the only agent is killed (`kill -9`)",
    recovered: "it is restarted and reconnects",
    strike: async (lab) => {
      const [first, second] = nodes(lab);
      // Ends what is under way in it.
      const begun = Number(second.must(`${now}; ${stopAgent}`));
      await lab.agentsAre(1);
      const before = processes(first, "proxy-agent");
      const at = lab.killAgent(first);
      await again(first, "proxy-agent", before);
      await lab.agentsAre(1);
      second.must(startAgent);
      await lab.agentsAre(whole);
      return { at, begun };
    },
  },
  {
    name: "one of two agents dies",
    done: "one of two agents is killed and not restarted",
    recovered: "the server detects the closed connection and sends every call to the other agent",
    strike: async (lab, pulse) => {
      const [, second] = nodes(lab);
      const at = Number(second.must(`${now}; ${stopAgent}`));
      await lab.agentsAre(1);
      await quiet(pulse);
      second.must(startAgent);
      await lab.agentsAre(whole);
      return { at };
    },
  },
  {
    name: "link cut",
    done: "the bootstrap machine's link is cut until a call has failed, then restored",
    recovered: "established connections continue, and the others are opened again",
    strike: async (lab, pulse) => {
      const { node, bootstrap } = lab.lab;
      const cut = await cutLink(node, bootstrap, (at) =>
        pulse.waitFor("a failure", 60, (calls) => calls.some(({ sent, failure }) => sent > at && failure !== "")),
      );
      await lab.agentsAre(whole);
      return cut;
    },
  },
  {
    name: "8091 blocked",
    done: "port 8091 is closed to new connections while calls continue, then all agents are killed, and the port is opened after they have failed to reconnect",
    recovered: "established connections are not affected. Killed agents retry until the port is open",
    strike: async (lab, pulse) => {
      const { bootstrap } = lab.lab;
      const rule = `INPUT -p tcp --dport ${agentPortOf(lab.lab)} --syn -j DROP`;
      bootstrap.must(`iptables -I ${rule}`);
      const [first, second] = nodes(lab);
      let at: number;
      let undone: number;
      try {
        await quiet(pulse);
        bootstrap.must("iptables -Z INPUT");
        at = lab.killAgent(first);
        lab.killAgent(second);
        const knocked = () => Number(bootstrap.must("iptables -nvxL INPUT 1").trim().split(/\s+/)[0]);
        await waitFor("knocking agents", 60, () => knocked() >= whole);
        const since = Date.now();
        await pulse.waitFor("a failure", 60, (calls) =>
          calls.some(({ sent, failure }) => sent > since && failure.endsWith("No agent available")),
        );
      } finally {
        undone = Number(bootstrap.must(`${now}; iptables -D ${rule}`));
      }
      await lab.agentsAre(whole);
      return { at, undone };
    },
  },
  {
    name: "rogue agent dials",
    done: "agents without a certificate, with a foreign or expired certificate, and with a CA other than the server's keep trying to connect",
    recovered: "the server refuses them and is not affected",
    slow: true,
    strike: async (lab) => {
      const [node] = nodes(lab);
      const at = Date.now();
      const dialling = rogueAgents(lab.lab, refused);
      try {
        for (const agent of dialling) await agent.isRefused();
      } finally {
        for (const agent of dialling) agent.end();
      }
      await waitFor("the end of the rogue agents", 30, () => processes(node, "proxy-agent").length === 1);
      await lab.agentsAre(whole);
      return { at };
    },
  },
  {
    name: "node cut off",
    done: "the link of one of two nodes is cut until the server drops its agent, then restored",
    recovered:
      "gRPC's keepalive closes the dead connection. Until then, a call that uses it waits for the webhook's timeout. Afterwards the other agent gets all calls, and the first agent reconnects when its link is restored",
    slow: true,
    strike: async (lab) => {
      const [first, second] = nodes(lab);
      const cut = await cutLink(first, second, () => lab.agentsAre(1));
      await lab.agentsAre(whole);
      return cut;
    },
  },
  {
    name: "node's address changed",
    done: "one of two nodes gets another address",
    recovered: "its agent reconnects from the new address, and gRPC's keepalive closes the old connection",
    slow: true,
    strike: async (lab) => {
      const [first, second] = nodes(lab);
      const { nodeAddress, podNetwork, machineNetwork } = lab.lab.addresses;
      const prefix = machineNetwork.replace(/.*\//, "");
      const both = [nodeAddress(1), nodeAddress(31)] as const;
      const isFirst = second.run(`ip -o address show dev ens3 to ${both[0]}`).stdout !== "";
      const [from, to] = isFirst ? both : [both[1], both[0]];
      const line = [
        `${now}; ip address del ${from}/${prefix} dev ens3 && ip address add ${to}/${prefix} dev ens3`,
        // What a network plugin would do: the ways between the nodes' pods.
        `ip route replace ${podNetwork(0)} via ${nodeAddress(0)}`,
      ];
      const at = Number(second.must(line.join(" && ")));
      first.must(`ip route replace ${podNetwork(1)} via ${to}`);
      const peers = `ss -Htn state established 'sport = ${agentPortOf(lab.lab)}'`;
      await waitFor("the new address", 60, () => lab.lab.bootstrap.run(peers).stdout.includes(`${to}:`));
      await lab.agentsAre(whole);
      return { at };
    },
  },
];
