import { isOpenBetweenMachines, openBetweenMachines } from "../core/konnectivity/agent-port.ts";
import type { Facts, StatusFacts } from "./acceptance-facts.ts";
import type { StepId, StepResult } from "./acceptance-progress.ts";

export interface Answer {
  readonly verdict: "yes" | "no" | "not answered";
  /** Which check says so, or why none does. */
  readonly evidence: string;
}

/** A run, as far as it got. */
export interface RunFacts {
  readonly platform: string;
  readonly isLab: boolean;
  readonly results: Readonly<Partial<Record<StepId, StepResult>>>;
  readonly facts: Facts;
}

/** A row of docs/not-proved.md. */
interface Row {
  /** Its first column; a test compares them. */
  readonly id: string;
  readonly claim: string;
  readonly answer: (run: RunFacts) => Answer;
}

const yes = (evidence: string): Answer => ({ verdict: "yes", evidence });
const no = (evidence: string): Answer => ({ verdict: "no", evidence });
const open = (evidence: string): Answer => ({ verdict: "not answered", evidence });

const never = (why: string) => () => open(why);

/** A row that only a real cluster can answer. */
const inCloud = (answer: Row["answer"]) => (run: RunFacts) =>
  run.isLab ? open("the local platform has no cloud, no RHCOS and no OpenShift") : answer(run);

const notReached = open("the run did not get to the step status");

/** A row that the status of the tunnel answers, once a server or an agent was seen. */
const byStatus = (answer: (status: StatusFacts, run: RunFacts) => Answer) =>
  inCloud((run) => (run.facts.status === undefined ? notReached : answer(run.facts.status, run)));

/** A row that only the bootstrap machine itself can answer. */
const onMachine = (
  answer: (server: NonNullable<StatusFacts["server"]>, status: StatusFacts, run: RunFacts) => Answer,
) =>
  byStatus((status, run) =>
    status.server === undefined
      ? open("the bootstrap machine was not reached by ssh, or has no tunnel yet")
      : answer(status.server, status, run),
  );

const carries = ({ state }: StatusFacts) => state === "carries";
const notCarrying = (status: StatusFacts) =>
  open(`the tunnel does not carry: status says ${status.state}${list(status.findings)}`);
const list = (codes: readonly string[]) => (codes.length === 0 ? "" : ` (${codes.join(", ")})`);
const passed = ({ results }: RunFacts, ...steps: readonly StepId[]) =>
  steps.every((step) => results[step]?.state === "passed");
const unfinished = ({ results }: RunFacts, ...steps: readonly StepId[]) =>
  open(`not passed: ${steps.filter((step) => results[step]?.state !== "passed").join(", ")}`);
const releaseOf = ({ facts }: RunFacts) => facts.preflight?.release ?? "unknown";

/** Every row of docs/not-proved.md, in its order, and how a run answers it. */
export const rows: readonly Row[] = [
  {
    id: "lab-docker",
    claim: "the lab runs in a Docker container on a host with control groups of version 2 only",
    answer: ({ isLab, facts: { preflight, status } }) => {
      if (!isLab) return open("only a run on the local platform answers it");
      if (preflight?.dockerWithGroups2 !== true)
        return open("this machine is not a Docker container on a host with control groups of version 2 only");
      if (status === undefined) return notReached;
      return carries(status) ? yes("status: the tunnel works, in a Docker container") : notCarrying(status);
    },
  },
  {
    id: "lab-downloads",
    claim: "set-up downloads kube-apiserver, etcd and Konnectivity",
    answer: never("this command uses the programs that are installed; the demo downloads them"),
  },
  {
    id: "selinux",
    claim: "SELinux lets the server's pod use the socket directory and the keys",
    answer: onMachine(({ selinux, denials, healthz, readyz }) => {
      if (selinux !== "Enforcing") return open(`SELinux is not enforcing there (${selinux ?? "unknown"})`);
      if (denials === undefined) return open("the machine's audit log could not be read");
      const seen = `SELinux is Enforcing, denials that concern the tunnel: ${denials}; /healthz says ${healthz}, /readyz ${readyz}`;
      if (denials > 0) return no(seen);
      return healthz === 200 ? yes(seen) : open(seen);
    }),
  },
  {
    id: "scc",
    claim: "the SCCs restricted-v2 and hostnetwork-v2 admit the agents",
    answer: byStatus(({ pods }) => {
      if (pods === undefined) return open("the cluster's API was not asked");
      if (pods.sccs.length === 0) return open("no pod of an agent names its SCC");
      const expected = pods.sccs.every((scc) => scc === "restricted-v2" || scc === "hostnetwork-v2");
      return (expected ? yes : no)(`the agents' pods were admitted by ${pods.sccs.join(", ")}`);
    }),
  },
  {
    id: "render-override",
    claim: "the operator's render merges our override",
    answer: onMachine(({ egressSelector, tunnel, healthz }, _, run) => {
      if (tunnel === "installer") return open("the installer's own tunnel has its own override");
      const release = `release class ${releaseOf(run)}`;
      if (egressSelector) return yes(`kube-apiserver-config.yaml names the egress selector, ${release}`);
      return healthz === 200
        ? no(`kube-apiserver-config.yaml does not name the egress selector, ${release}`)
        : open("bootkube.sh has not reached the tunnel");
    }),
  },
  {
    id: "bootkube-insertions",
    claim: "real bootkube.sh of each release takes the insertions",
    answer: inCloud((run) => {
      const { preflight, status } = run.facts;
      if (preflight === undefined) return unfinished(run, "preflight");
      if (preflight.tunnel === "installer") return open("with `tunnel: installer` nothing is inserted");
      const built = `the payload was built: every anchor matched once, release class ${releaseOf(run)}`;
      return status?.server?.healthz === 200 ? yes(`${built}; the server runs`) : yes(built);
    }),
  },
  {
    id: "openssl-1.1.1",
    claim: "OpenSSL 1.1.1 runs the PKI script",
    answer: onMachine(({ openssl, healthz }, status, { facts }) => {
      if (openssl?.startsWith("1.1.1") !== true) return open(`the machine has OpenSSL ${openssl ?? "unknown"}`);
      if (facts.preflight?.authentication !== "mtls") return open("the tunnel has no certificates for agents");
      if (status.findings.includes("set-up-failed")) return no(`OpenSSL ${openssl}: the tunnel's set-up failed`);
      return healthz === 200 ? yes(`OpenSSL ${openssl}; the server runs with its certificates`) : notCarrying(status);
    }),
  },
  {
    id: "provider-versions",
    claim: "the stacks work with every provider version of their range",
    answer: inCloud((run) => {
      const { deploy, plan } = run.facts;
      const used = deploy?.providers.map(({ name, version }) => `${name} ${version}`).join(", ") ?? "";
      if (used === "" || plan === undefined) return unfinished(run, "deploy", "plan");
      if (plan.changes) return no(`${used}: a second plan has changes`);
      return passed(run, "deploy", "plan", "destroy")
        ? yes(`deployed, planned again without changes and destroyed with ${used}`)
        : unfinished(run, "deploy", "plan", "destroy");
    }),
  },
  {
    id: "cloud-apis",
    claim: "the clouds' APIs behave as their fakes do",
    answer: inCloud((run) => {
      const { plan, leftovers } = run.facts;
      if (plan?.changes === true) return no("plan: a second plan has changes");
      if (leftovers !== undefined && leftovers.left > 0) return no(`leftovers: ${leftovers.left} left in the state`);
      return passed(run, "deploy", "plan", "destroy", "leftovers")
        ? yes("deploy passed, a second plan has no changes, destroy passed, and the state has nothing left")
        : unfinished(run, "deploy", "plan", "destroy", "leftovers");
    }),
  },
  {
    id: "azure-custom-data",
    claim: "Azure gives the machine its custom data",
    answer: byStatus((status, { platform }) => {
      if (platform !== "azure") return open("only a run on Azure answers it");
      return bootedPayload(status) ? yes(`status: ${bootEvidence(status)}`) : notCarrying(status);
    }),
  },
  {
    id: "cloud-permissions",
    claim: "clouds take names, sizes and permissions as they are written here",
    answer: byStatus((status, run) => {
      if (!passed(run, "deploy")) return unfinished(run, "deploy");
      return bootedPayload(status) ? yes(`deploy passed; status: ${bootEvidence(status)}`) : notCarrying(status);
    }),
  },
  {
    id: "fips",
    claim: "a FIPS-mode host accepts all algorithms",
    answer: onMachine(({ fips }, status) => {
      if (!fips) return open("the bootstrap machine is not in FIPS mode");
      return carries(status) ? yes("the machine is in FIPS mode; status: the tunnel works") : notCarrying(status);
    }),
  },
  {
    id: "ovn",
    claim: "agents' pods reach the bootstrap machine from OVN-Kubernetes' pod network",
    answer: byStatus((status) => {
      if (status.network === undefined) return open("the cluster's API does not say which pod network it has");
      if (status.network !== "OVNKubernetes") return open(`the pod network is ${status.network}`);
      return carries(status) ? yes(`the pod network is OVNKubernetes; ${agentEvidence(status)}`) : notCarrying(status);
    }),
  },
  {
    id: "image-arguments",
    claim: "the images' binaries accept every argument",
    answer: byStatus((status, run) => {
      if (carries(status)) return yes(`server and agents run, release class ${releaseOf(run)}`);
      return status.findings.includes("server-down") ? no("status: the server does not run") : notCarrying(status);
    }),
  },
  {
    id: "status-crio",
    claim: "status and gather read containers and logs of CRI-O, and bootkube's journal",
    answer: onMachine(({ crio }) =>
      crio ? yes("status found the server's container in CRI-O") : open("status found no container in CRI-O"),
    ),
  },
  {
    id: "ipi-create-cluster",
    claim: "a whole openshift-install create cluster with a prepared folder",
    answer: never("this command deploys the stacks; `ipi check` answers it"),
  },
  {
    id: "installer-tunnel",
    claim: "tunnel: installer works with a real bootstrap.ign of 4.23 or newer",
    answer: onMachine(({ tunnel }, status, { facts }) => {
      if (facts.preflight?.tunnel !== "installer") return open("the config does not say `tunnel: installer`");
      if (tunnel !== "installer") return no("status did not find the installer's own tunnel on the machine");
      return carries(status) ? yes("status: the installer's own tunnel carries") : notCarrying(status);
    }),
  },
  {
    id: "open-ports",
    claim: `OpenShift's own rules for ${openBetweenMachines.from}–${openBetweenMachines.to} admit agents to tunnel.port`,
    answer: byStatus((status, { facts: { preflight } }) => {
      if (preflight?.firewall !== "external" || !isOpenBetweenMachines(preflight.port))
        return open("the config does not combine `firewall: external` with such a port");
      return carries(status) ? yes(`status: the tunnel works by port ${preflight.port}`) : notCarrying(status);
    }),
  },
  {
    id: "firewall-commands",
    claim: "the commands of payload firewall --format azure and google work",
    answer: never("this command does not run them"),
  },
  {
    id: "clean-up-unit",
    claim: "the clean-up outlives bootkube under systemd, and ends before openshift-install deletes the machine",
    answer: never("this command does not read the unit's state"),
  },
  {
    id: "switch-crictl",
    claim: "tunnel off and tunnel on restart the kube-apiserver with crictl",
    answer: never("this command does not switch the tunnel"),
  },
  {
    id: "online-check",
    claim: "config check --online asks a real registry with oc",
    answer: never("this command does not ask the registry"),
  },
  {
    id: "opentofu",
    claim: "OpenTofu deploys and destroys the stacks",
    answer: (run) => {
      if (run.facts.preflight?.terraform?.program !== "tofu") return open("only a run with OpenTofu answers it");
      return passed(run, "deploy", "plan", "destroy", "leftovers")
        ? yes("deploy and destroy passed with OpenTofu")
        : unfinished(run, "deploy", "plan", "destroy", "leftovers");
    },
  },
];

/** The machine has booted with its payload: nothing else brings a tunnel. */
const bootedPayload = (status: StatusFacts) => status.server !== undefined || carries(status);
const bootEvidence = (status: StatusFacts) =>
  status.server === undefined ? agentEvidence(status) : "the tunnel is on the machine, so it booted with the payload";
const agentEvidence = ({ server, pods }: StatusFacts) =>
  server === undefined
    ? `${pods?.ready ?? 0} of ${pods?.all ?? 0} agents' pods are ready`
    : `the server has ${server.agents} agents`;
