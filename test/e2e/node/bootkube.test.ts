import { execFileSync } from "node:child_process";
import { copyFileSync, cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { parse } from "yaml";
import { agentArguments } from "../../../src/core/konnectivity/agents.ts";
import { readTunnel } from "../../../src/core/konnectivity/options.ts";
import { serverArguments } from "../../../src/core/konnectivity/server-pod.ts";
import { projectFile } from "../../../src/runtime/project-files.js";
import { alone, network, ScratchNode } from "../../support/node.ts";
import { samplePayload } from "../../support/payload.ts";
import { type SampleProps, type Shape, tunnelShapes } from "../../../src/core/sample/sample.ts";

const home = "/opt/openshift/konnectivity-bootstrap";
const staticPod = "/etc/kubernetes/manifests/bootstrap-konnectivity-server.yaml";
const manifests = "/opt/openshift/manifests";

const nodes: ScratchNode[] = [];
afterAll(() => {
  for (const node of nodes) node.remove();
});

/** A machine whose podman answers like a release image and lets the render call leave its files. */
function nodeWith(shape: Shape, tunnel: Record<string, unknown> = {}, sample: SampleProps = {}): ScratchNode {
  const node = new ScratchNode(samplePayload(shape, tunnel, sample));
  nodes.push(node);
  node.program(
    "podman",
    `echo "podman $*" >>/var/podman.log
case " $* " in
*" --entrypoint "*) cat "/var/help/$(basename "$7")" ;;
*" image "*) echo "registry.example.com/\${*: -1}@sha256:0123" ;;
*"kube-apiserver-operator render"*)
    mkdir -p kube-apiserver-bootstrap/manifests
    echo config >kube-apiserver-bootstrap/config
    echo manifest >kube-apiserver-bootstrap/manifests/rendered.yaml
    ;;
*" start --tear-down-early"*)
    # What cluster-bootstrap would apply, before the clean-up takes it away.
    cp -r manifests /etc/kubernetes/manifests /var/applied/
    [ ! -e ${home}/tls ] || cp -r ${home}/tls /var/applied/
    ;;
esac`,
  );
  node.program("oc", 'echo "oc $*" >>/var/oc.log');
  node.must("mkdir -p /var/applied /var/help");
  for (const program of ["proxy-server", "proxy-agent"] as const) node.write(`/var/help/${program}`, helpOf(program));
  return node;
}

/** What the programs print as their help, as pflag does: of 4.23's code, without some flags. */
function helpOf(
  program: "proxy-server" | "proxy-agent",
  without: readonly string[] = [],
  deletesSockets = true,
): string {
  const options = readTunnel({});
  const tcpAndTokens = readTunnel({
    ...{ protocol: "http-connect", transport: "tcp", authentication: "service-account-token" },
    agents: { hostNetwork: true },
  });
  if (typeof options === "string" || typeof tcpAndTokens === "string") throw new Error("the tunnel is on");
  const argumentsOf = program === "proxy-server" ? serverArguments : agentArguments;
  const flags = [...argumentsOf(options), ...argumentsOf(tcpAndTokens)].map((arg) => arg.slice(2).split("=")[0] ?? "");
  return ["Usage:", "Flags:", "  -h, --help        help for it", ...new Set(flags)]
    .filter((flag) => !without.includes(flag))
    .map((flag) => {
      if (!/^[a-z]/.test(flag)) return flag;
      const isDefault = flag === "delete-existing-uds-file" && deletesSockets ? " (default true)" : "";
      return flag === "v"
        ? "  -v, --v Level     verbosity"
        : `      --${flag} string   text about --${flag}${isDefault}`;
    })
    .join("\n");
}

const signer = "/opt/openshift/tls/kube-control-plane-signer";

/** Gives the machine a real signer of client certificates; the sample's is text. */
function withSigner(node: ScratchNode): void {
  node.must(
    `openssl req -x509 -newkey rsa:2048 -nodes -days 1 -subj /OU=openshift/CN=kube-control-plane-signer \
       -addext keyUsage=critical,keyCertSign -keyout ${signer}.key -out ${signer}.crt`,
  );
}

/** The flags that OpenShift's code of 4.12 and 4.13 does not know. */
const bindAddresses = ["agent-bind-address", "server-bind-address", "health-bind-address", "admin-bind-address"];
const newestFlags = ["tls-min-version", "xfr-channel-size", "backend-dial-timeout", "graceful-shutdown-timeout"];
const applied = (node: ScratchNode, name: string) =>
  node.read(`/var/applied/manifests/bootstrap-konnectivity-${name}.yaml`);

const bootkube = "/usr/local/bin/bootkube.sh";
const ourStages = [
  "konnectivity-certs success",
  "konnectivity-server-bootstrap success",
  "konnectivity-agent-manifest success",
  "konnectivity-cleanup success",
];

describe.each(tunnelShapes)("bootkube.sh of %s with the tunnel in it", (shape) => {
  const node = nodeWith(shape);

  it("runs to its end, and records our four stages between its own", () => {
    node.must(bootkube);
    expect(node.stages()).toEqual([
      "resolve-images success",
      "cvo-bootstrap success",
      "etcd-bootstrap success",
      ...ourStages.slice(0, 2),
      "kube-apiserver-bootstrap success",
      "mco-bootstrap success",
      "wait-for-etcd success",
      ourStages[2],
      "cb-bootstrap success",
      "wait-for-ceo success",
      ourStages[3],
      "service success",
    ]);
    expect(node.exists("/opt/openshift/.bootkube.done")).toBe(true);
  });

  it("gave the render call our override file, once, and no flag was lost", () => {
    const [render = ""] = node
      .read("/var/podman.log")
      .split("\n")
      .filter((line) => line.includes("kube-apiserver-operator render"));
    expect(render.match(/--config-override-files=\S+/g)).toEqual([
      "--config-override-files=/assets/konnectivity-bootstrap/kube-apiserver-override.yaml",
    ]);
    expect(render).toContain("--manifest-etcd-serving-ca=");
    expect(render).toContain("--infra-config-file=");
    if (shape === "4.18" || shape === "4.23") expect(render).toContain("--operand-kubernetes-version=1.99.0");
  });

  it("filled in every value that only the node knows", () => {
    const applied = node.files("/var/applied").filter((file) => file.endsWith(".yaml"));
    expect(applied.length).toBeGreaterThan(6);
    for (const file of applied) expect(node.read(file)).not.toMatch(/@[A-Z_]+@/);
    const pod = parse(node.read("/var/applied/manifests/bootstrap-konnectivity-server.yaml")) as {
      spec: { containers: { image: string; args: string[] }[] };
    };
    expect(pod.spec.containers[0]?.image).toBe("registry.example.com/apiserver-network-proxy@sha256:0123");
    // The image decides, whatever the release.
    expect(pod.spec.containers[0]?.args).toContain("--agent-bind-address=10.0.3.7");
    const secret = parse(node.read("/var/applied/manifests/bootstrap-konnectivity-secret.yaml")) as {
      data: Record<string, string>;
    };
    for (const [key, file] of [
      ["ca.crt", "ca.crt"],
      ["tls.crt", "tls.crt"],
      ["tls.key", "tls.key"],
    ] as const)
      expect(Buffer.from(secret.data[key] ?? "", "base64").toString()).toBe(
        node.read(`/var/applied/tls/agent/${file}`),
      );
  });

  it("kept our manifests from the machine-config server, which had read its own by then", () => {
    expect(node.files("/etc/mcc/bootstrap").filter((file) => file.includes("konnectivity"))).toEqual([]);
  });

  it("left no key, no server and no partial file, and told the cluster to forget the rest without waiting", () => {
    const ours = ["/opt/openshift", "/etc/kubernetes"]
      .flatMap((path) => node.files(path))
      .filter((file) => /bootstrap-konnectivity|konnectivity-bootstrap|konnectivity-client|\/\.secret\./.test(file))
      .filter((file) => file !== `${home}/templates.yaml`);
    expect(ours.length).toBeGreaterThan(3);
    expect(ours.filter((file) => /\.key$|\/\.secret\.|\/tls\/|secret\.yaml$/.test(file) || file === staticPod)).toEqual(
      [],
    );
    const oc = node.read("/var/oc.log").trim().split("\n");
    expect(oc).toHaveLength(2);
    for (const line of oc) expect(line).toMatch(/--ignore-not-found --wait=false/);
    expect(oc[0]).toContain(
      "--namespace=openshift-bootstrap-konnectivity daemonset/konnectivity-agent secret/konnectivity-agent-certs",
    );
    expect(oc[1]).toContain("namespace/openshift-bootstrap-konnectivity");
  });
});

it("our part needs no program that RHCOS may lack", () => {
  const node = nodeWith("4.18");
  // bash, coreutils, grep, iproute2, jq (the record's), openssl: known to be there. No envsubst, python, awk or hostname.
  const there =
    "bash env cat cp mv rm mkdir touch base64 sha256sum timeout sleep date grep ip ss jq openssl chmod ls".split(" ");
  node.must(`mkdir /opt/rhcos && for name in ${there.join(" ")}; do ln -s "$(command -v $name)" /opt/rhcos/; done`);
  const { status, stderr } = node.run(`PATH=/opt/programs:/opt/rhcos ${bootkube}`);
  expect(stderr).not.toContain("command not found");
  expect(status).toBe(0);
});

describe("options reach the node", () => {
  it("a name is what agents dial; the server listens on the address", () => {
    const node = nodeWith("4.18", { address: "bootstrap.example.com" });
    node.must(bootkube);
    expect(node.read(`${manifests}/bootstrap-konnectivity-agents.yaml`)).toContain(
      "--proxy-server-host=bootstrap.example.com'\n",
    );
    expect(node.read("/var/applied/manifests/bootstrap-konnectivity-server.yaml")).toContain(
      "--agent-bind-address=10.0.3.7'\n",
    );
  });

  it("tcp: the kube-apiserver finds its client certificate where it mounts its configuration", () => {
    const node = nodeWith("4.18", { protocol: "http-connect", transport: "tcp" });
    node.program("oc", "cp -r /etc/kubernetes/bootstrap-configs /var/applied/");
    node.must(bootkube);
    const selector = parse(node.read("/var/applied/bootstrap-configs/bootstrap-egress-selector.yaml")) as {
      egressSelections: { connection: { transport?: { tcp: { tlsConfig: Record<string, string> } } } }[];
    };
    const files = Object.values(selector.egressSelections[0]?.connection.transport?.tcp.tlsConfig ?? {});
    expect(files).toHaveLength(3);
    for (const file of files) {
      const onHost = file.replace("/etc/kubernetes/config/", "/var/applied/bootstrap-configs/");
      expect(node.read(onHost)).toMatch(/^-----BEGIN /);
      expect(node.stat(onHost).mode).toBe("0600");
    }
    expect(node.exists("/etc/kubernetes/bootstrap-configs/konnectivity-client.key")).toBe(false);
  });

  it("token: the server has a client certificate of the cluster's signer, and no key of the admin's", () => {
    const node = nodeWith("4.18", { authentication: "service-account-token" });
    withSigner(node);
    node.must(bootkube);
    const reviewer = "/var/applied/tls/token-reviewer";
    interface Kubeconfig {
      readonly clusters: { cluster: Record<string, string> }[];
      readonly users: { user: Record<string, string> }[];
    }
    const kubeconfig = parse(node.read(`${reviewer}/kubeconfig`)) as Kubeconfig;
    const original = parse(node.read("/opt/openshift/auth/kubeconfig-loopback")) as Kubeconfig;
    expect(kubeconfig.clusters[0]?.cluster).toEqual(original.clusters[0]?.cluster);
    expect(kubeconfig.users[0]?.user).toEqual({ "client-certificate": "tls.crt", "client-key": "tls.key" });
    expect(node.stat(`${reviewer}/kubeconfig`).mode).toBe("0600");
    const shown = node.must(
      `openssl verify -CAfile ${signer}.crt -purpose sslclient ${reviewer}/tls.crt &&
       openssl x509 -in ${reviewer}/tls.crt -noout -subject -ext extendedKeyUsage`,
    );
    expect(shown).toMatch(
      /tls\.crt: OK\nsubject=CN = system:konnectivity-server\n[^]*TLS Web Client Authentication\n$/,
    );
    expect(node.read("/var/oc.log")).toContain(
      "clusterrolebinding/bootstrap-konnectivity-token-review clusterrole/bootstrap-konnectivity-token-review",
    );
  });

  it("the server's container sees the socket's folder, and nothing else of the kube-apiserver's configuration", () => {
    const node = nodeWith("4.18");
    node.must(bootkube);
    const folder = "/etc/kubernetes/bootstrap-configs/konnectivity";
    const { spec } = parse(applied(node, "server")) as { spec: { volumes: { hostPath: { path: string } }[] } };
    const paths = spec.volumes.map(({ hostPath }) => hostPath.path).filter((path) => path.startsWith("/etc/"));
    expect(paths).toEqual([folder]);
    expect(node.stat(folder)).toMatchObject({ mode: "0700", owner: "0:0" });
  });

  it("an image of one's own: the release payload is not asked", () => {
    const node = nodeWith("4.18", { image: { server: "registry.example.com/own/proxy:1" } });
    node.must(bootkube);
    expect(node.read("/var/podman.log")).not.toContain("apiserver-network-proxy");
    expect(node.read(`${manifests}/bootstrap-konnectivity-agents.yaml`)).toContain(
      "image: 'registry.example.com/own/proxy:1'\n",
    );
  });
});

describe("the image decides which flags it is given", () => {
  const networks = { machine: ["fd00:1::/48"], cluster: ["fd01::/48"], service: ["fd02::/112"] };
  const ipv6 = network(["fd00:1::7/64"]);
  const inImage = (program: string) =>
    `/usr/bin/${program} in registry.example.com/apiserver-network-proxy@sha256:0123`;

  it("asks server and agent once each, without a network, before the server's pod is there", () => {
    const node = nodeWith("4.18");
    node.must(bootkube);
    const asked = node
      .read("/var/podman.log")
      .split("\n")
      .filter((line) => line.includes("--help"));
    expect(asked).toEqual(
      ["proxy-server", "proxy-agent"].map(
        (program) =>
          `podman run --quiet --rm --network none --entrypoint /usr/bin/${program} registry.example.com/apiserver-network-proxy@sha256:0123 --help`,
      ),
    );
  });

  it.each<{
    shape: Shape;
    code: string;
    without: readonly string[];
    deletesSockets: boolean;
    host: string;
    ping: string;
  }>([
    { shape: "4.12", code: "4.14's", without: newestFlags, deletesSockets: true, host: "fd00:1::7", ping: "30s" },
    {
      ...{ shape: "4.18", code: "4.12's", without: [...newestFlags, ...bindAddresses], deletesSockets: false },
      ...{ host: "[fd00:1::7]", ping: "5m" },
    },
    {
      shape: "4.14",
      code: "upstream's 0.1.2",
      without: newestFlags,
      deletesSockets: false,
      host: "[fd00:1::7]",
      ping: "30s",
    },
    { shape: "4.13", code: "4.23's", without: [], deletesSockets: true, host: "fd00:1::7", ping: "30s" },
  ])(
    "gives $code code in a bootstrap.ign of $shape what it knows",
    ({ shape, without, deletesSockets, host, ping }) => {
      const node = nodeWith(shape, {}, { networks });
      for (const program of ["proxy-server", "proxy-agent"] as const)
        node.write(`/var/help/${program}`, helpOf(program, without, deletesSockets));
      const { status, stderr } = node.run(bootkube, ipv6);
      expect(status).toBe(0);
      const agents = applied(node, "agents");
      expect(agents).toContain(`'--proxy-server-host=${host}'\n`);
      expect(agents).toContain(`'--keepalive-time=${ping}'\n`);
      const server = applied(node, "server");
      for (const flag of [...newestFlags, ...bindAddresses.filter((one) => one !== "server-bind-address")])
        expect(server.includes(`'--${flag}=`), flag).toBe(!without.includes(flag));
      const leftOut = without.filter((flag) => flag !== "server-bind-address");
      for (const flag of leftOut)
        expect(stderr).toMatch(
          new RegExp(`^konnectivity-bootstrap: .* does not know.* --${flag}\\b.*: left out\\.$`, "m"),
        );
      expect(stderr.includes("listens on every address of the machine")).toBe(leftOut.includes("agent-bind-address"));
    },
  );

  it.each([
    ["proxy-server", "cluster-ca-cert", {}],
    ["proxy-agent", "agent-cert", {}],
    ["proxy-server", "authentication-audience", { authentication: "service-account-token" }],
    ["proxy-agent", "service-account-token-path", { authentication: "service-account-token" }],
  ] as const)("stops before the server is there if %s does not know --%s", (program, flag, tunnel) => {
    const node = nodeWith("4.18", tunnel);
    withSigner(node);
    node.write(`/var/help/${program}`, helpOf(program, [flag]));
    const { status, stderr } = node.run(bootkube);
    expect(status).not.toBe(0);
    expect(stderr).toContain(
      `konnectivity-bootstrap: ${inImage(program)} does not know --${flag}, which the tunnel needs: set tunnel.image to a newer image in the config, or tunnel: off, and create the machine again.`,
    );
    expect([
      node.exists(staticPod),
      node.exists("/etc/kubernetes/bootstrap-configs/bootstrap-egress-selector.yaml"),
    ]).toEqual([false, false]);
  });

  it("looks for the programs where an explicit image has them, and leaves nothing to the release", () => {
    const upstream = (name: string) => `registry.k8s.io/kas-network-proxy/${name}:v0.36.0@sha256:${"c".repeat(64)}`;
    const node = nodeWith("4.12", { image: { server: upstream("proxy-server"), agent: upstream("proxy-agent") } });
    node.must(bootkube);
    const log = node.read("/var/podman.log");
    for (const name of ["proxy-server", "proxy-agent"])
      expect(log).toContain(`--entrypoint /${name} ${upstream(name)} --help\n`);
    expect(applied(node, "server")).toContain("'--tls-min-version=VersionTLS12'");
  });

  it.each([
    ["is refused", "echo 'Error: unauthorized' >&2; exit 125", "status 125: Error: unauthorized"],
    ["does not print a help", "echo 'I am a teapot'", "status 0: I am a teapot"],
    ["does not come to an end", "trap '' TERM; while :; do sleep 0.1; done", "status 137: "],
  ])("goes by the release's class when the question %s", (_, body, said) => {
    for (const [shape, host, bound] of [
      ["4.12", "[fd00:1::7]", false],
      ["4.18", "fd00:1::7", true],
    ] as const) {
      const node = nodeWith(shape, {}, { networks });
      const question = 'exec /usr/bin/timeout --kill-after=0.2 0.3 "${@:3}"';
      node.program("timeout", `case "$*" in *podman*) ${question} ;; *) exec /usr/bin/timeout "$@" ;; esac`);
      const podman = node.read("/opt/programs/podman").replace(/cat "\/var\/help.*"/, `{ ${body}; }`);
      node.program("podman", podman);
      const { status, stderr } = node.run(bootkube, ipv6);
      expect(stderr).toContain(
        `konnectivity-bootstrap: could not ask ${inImage("proxy-server")} for its flags (${said}); assuming those of the release.`,
      );
      expect(status).toBe(0);
      expect(applied(node, "agents")).toContain(`'--proxy-server-host=${host}'\n`);
      expect(applied(node, "server").includes("--agent-bind-address=")).toBe(bound);
      expect(applied(node, "server")).not.toContain("--tls-min-version=");
      expect(applied(node, "server")).toContain("--cluster-ca-cert=");
    }
  });
});

describe("when something is wrong", () => {
  it("a release payload without the component says so, in the stage that fails", () => {
    const node = nodeWith("4.18");
    node.program(
      "podman",
      'case "${*: -1}" in apiserver-network-proxy) echo "error: no such image" >&2; exit 1 ;; *) echo image ;; esac',
    );
    const { status, stderr } = node.run(bootkube);
    expect(status).not.toBe(0);
    expect(stderr).toContain(
      "konnectivity-bootstrap: the release payload has no image apiserver-network-proxy, so there is no tunnel: set tunnel.image in the config, or tunnel: off, and create the machine again.",
    );
    expect(node.stages().slice(-2)).toEqual(["konnectivity-server-bootstrap failure", "service failure"]);
    expect(node.exists(staticPod)).toBe(false);
  });

  it("a release image that does not answer is tried again", () => {
    const node = nodeWith("4.18");
    node.program("podman", 'case " $* " in *apiserver-network-proxy* | *" cli "*) exit 125 ;; *) echo image ;; esac');
    expect(node.run(bootkube).stderr).toContain("konnectivity-bootstrap: the release image did not answer.");
  });

  it("an answer that is not an image never reaches a manifest", () => {
    const node = nodeWith("4.18");
    node.program(
      "podman",
      'case " $* " in *apiserver-network-proxy*) echo "Warning: a b c" ;; *" image "*) echo image ;; esac',
    );
    const { status, stderr } = node.run(bootkube);
    expect(status).not.toBe(0);
    expect(stderr).toContain("answered something that is not an image");
  });

  it("no address: the first stage fails and says why", () => {
    const node = nodeWith("4.18");
    const { status, stderr } = node.run(bootkube, "ip link set lo up");
    expect(status).not.toBe(0);
    expect(stderr).toContain("this machine has no address that the tunnel could use");
    expect(node.stages().slice(-2)).toEqual(["konnectivity-certs failure", "service failure"]);
  });

  it.each([
    ["hangs", "sleep 1000"],
    ["fails", "exit 1"],
    ["is not there", "exit 127"],
  ])("bootkube is done although the clean-up %s", (_, body) => {
    const node = nodeWith("4.18");
    node.program("systemd-run", `echo "systemd-run $*" >>/var/systemd.log; ${body === "sleep 1000" ? "exit 0" : body}`);
    const { status, stderr } = node.run(bootkube);
    expect(status).toBe(0);
    expect(node.read("/var/systemd.log")).toBe(
      "systemd-run --quiet --collect --no-block --unit=konnectivity-bootstrap-cleanup /usr/local/bin/konnectivity-bootstrap-setup.sh cleanup\n",
    );
    expect(stderr.includes("could not start the clean-up")).toBe(body.startsWith("exit"));
    expect(node.stages().at(-2)).toBe("konnectivity-cleanup success");
  });
});

describe("the clean-up", () => {
  const script = "/usr/local/bin/konnectivity-bootstrap-setup.sh";
  const cleanUp = `${script} cleanup`;
  /** A machine whose bootstrap has ended; its kube-apiserver serves while /var/serving exists. */
  function ended(oc = ""): ScratchNode {
    const node = nodeWith("4.18");
    node.program("systemd-run", "exit 0");
    node.must(bootkube);
    node.program("ss", "[ ! -e /var/serving ] || echo LISTEN");
    node.program(
      "oc",
      `${oc}\necho "oc $*" >>/var/oc.log; [ -e ${staticPod} ] && echo "server there" >>/var/oc.log; :`,
    );
    node.write("/var/oc.log", "");
    return node;
  }
  const log = (node: ScratchNode) => node.read("/var/oc.log").trim().split("\n");
  const deletions = (node: ScratchNode) => log(node).filter((line) => line.includes(" delete "));

  it("keeps agents, server and keys until the kube-apiserver has ended", () => {
    const node = ended();
    node.must(
      `touch /var/serving; (sleep 3; ls ${home}/tls/serving/tls.key; echo gone >>/var/oc.log; rm /var/serving) & ${cleanUp}`,
    );
    const lines = log(node).filter((line) => !line.includes(" get ") && line !== "server there");
    expect(lines[0]).toBe("gone");
    expect(deletions(node)).toHaveLength(2);
    expect([node.exists(staticPod), node.exists(`${home}/tls`), node.exists(`${home}/manifests`)]).toEqual([
      false,
      false,
      false,
    ]);
  }, 30_000);

  it.each(["EtcdBootstrapMemberRemoved", "EtcdBoostrapMemberRemoved"])(
    "deletes the agents at once when the cluster reports %s, and the server when nothing serves",
    (type) => {
      const conditions = JSON.stringify({ status: { conditions: [{ type, status: "True" }] } });
      const node = ended(
        `case "$*" in *" get --raw /apis/operator.openshift.io/v1/etcds/cluster") echo '${conditions}'; exit ;; esac`,
      );
      node.must(`touch /var/serving; (sleep 4; echo gone >>/var/oc.log; rm /var/serving) & ${cleanUp}`);
      expect(log(node)).toEqual([
        expect.stringContaining("daemonset/konnectivity-agent"),
        "server there",
        expect.stringContaining("namespace/openshift-bootstrap-konnectivity"),
        "server there",
        "gone",
      ]);
      expect(node.exists(staticPod)).toBe(false);
    },
    30_000,
  );

  it("waits no longer than its limit", () => {
    const node = ended();
    expect(node.read(script)).toContain("end=$((SECONDS + 150))");
    node.must(`sed -i 's/SECONDS + 150/SECONDS + 2/' ${script}; touch /var/serving; timeout 20 ${cleanUp}`);
    expect(deletions(node)).toHaveLength(2);
    expect(node.exists(staticPod)).toBe(false);
  }, 30_000);

  it("tries again while the API is away, refuses or answers wrongly", () => {
    const node = ended(`tries=$(cat /var/tries || echo 0); echo $((tries + 1)) >/var/tries
case $tries in 0) exit 1 ;; 1) echo Forbidden >&2; exit 1 ;; 2) echo '<html>'; exit 3 ;; esac`);
    node.must(cleanUp);
    expect(node.read("/var/tries")).toBe("5\n");
    expect(deletions(node)).toHaveLength(2);
  }, 30_000);

  it("says what it could not delete, and removes the rest", () => {
    const node = ended("exit 1");
    const { status, stderr } = node.run(`sed -i 's/SECONDS + 600/SECONDS + 1/' ${script}; ${cleanUp}`);
    expect(status).toBe(0);
    expect(stderr).toContain(
      "konnectivity-bootstrap: could not delete namespace/openshift-bootstrap-konnectivity: the teardown does, or run oc delete namespace/openshift-bootstrap-konnectivity\n",
    );
    expect(node.exists(staticPod)).toBe(false);
  }, 30_000);
});

describe("tunnel.required: false", () => {
  /** Time runs faster: the pauses between tries are short. */
  function notRequired(podman: string): ScratchNode {
    const node = nodeWith("4.18", { required: false });
    node.program("sleep", "exec /usr/bin/sleep 0.1");
    const ofReleases = node.read("/opt/programs/podman").split("\n").slice(1).join("\n");
    node.program("podman", `${podman}\n${ofReleases}`);
    return node;
  }
  const noImage = 'case " $* " in *" apiserver-network-proxy "*) exit 125 ;; esac';

  it("goes on without a tunnel after five tries, and says so once, for good", () => {
    const node = notRequired(noImage);
    const { status, stderr } = node.run(bootkube);
    expect(status).toBe(0);
    const sentence =
      "the tunnel could not be set up (5 tries in 0 minutes), and tunnel.required is false: this machine continues without it, for good. Its kube-apiserver reaches no webhook in the pod network.";
    expect(stderr.split("\n").filter((line) => line.includes(sentence))).toEqual([
      `konnectivity-bootstrap: ${sentence}`,
    ]);
    expect(node.read(`${home}/given-up`)).toBe(`${sentence}\n`);
    expect(node.read(`${home}/kube-apiserver-override.yaml`)).toBe("{}\n");
    expect(node.files("/var/applied").filter((file) => file.includes("konnectivity"))).toEqual([]);
    for (const left of [staticPod, `${home}/tls`, "/etc/kubernetes/bootstrap-configs/bootstrap-egress-selector.yaml"])
      expect(node.exists(left), left).toBe(false);
    expect(node.stages().filter((stage) => stage.startsWith("konnectivity"))).toEqual([
      "konnectivity-certs success",
      "konnectivity-server-bootstrap failure",
    ]);
    expect(node.stages().at(-1)).toBe("service success");
  });

  it("stays without it when bootkube.sh is started again and the reason is gone", () => {
    const node = notRequired(`[ -e /var/better ] || ${noImage.replace("case", "case")}
case " $* " in *" start --tear-down-early"*) [ -e /var/better ] || exit 1 ;; esac`);
    expect(node.run(bootkube).status).not.toBe(0);
    node.must(`touch /var/better; ${bootkube}`);
    expect(node.exists(staticPod)).toBe(false);
    expect(node.files("/var/applied").filter((file) => file.includes("bootstrap-konnectivity"))).toEqual([]);
  });

  it("keeps a tunnel that works at the third try", () => {
    const node = notRequired(`case " $* " in *" apiserver-network-proxy "*)
    echo >>/var/tries; [ "$(wc -l </var/tries)" -ge 3 ] || exit 125 ;; esac`);
    node.must(bootkube);
    expect(node.exists(`${home}/given-up`)).toBe(false);
    expect(applied(node, "server")).toContain("konnectivity-server");
  });

  it("does not give up on a tunnel with which the kube-apiserver is rendered already", () => {
    const node = notRequired(`[ ! -e /var/worse ] || ${noImage}`);
    node.must(`touch /opt/openshift/kube-apiserver-bootstrap.done /var/worse`);
    expect(node.run(bootkube).status).not.toBe(0);
    expect(node.exists(`${home}/given-up`)).toBe(false);
  });
});

it("keys that are issued again after cluster-bootstrap ran are reported, with what to do", () => {
  const node = nodeWith("4.18");
  node.program("systemd-run", "exit 0");
  expect(node.run(bootkube).stderr).not.toContain("issued again");
  const again = node.run(
    `konnectivity-bootstrap-setup.sh certificates 10.0.3.8 && konnectivity-bootstrap-setup.sh server && konnectivity-bootstrap-setup.sh agents`,
  );
  expect(again.stderr).toContain(
    `konnectivity-bootstrap: the keys were issued again, and the cluster may have the old ones: cluster-bootstrap creates objects and never updates them. If agents do not connect, run: oc --kubeconfig=/opt/openshift/auth/kubeconfig-loopback replace -f ${manifests}/bootstrap-konnectivity-secret.yaml -f ${manifests}/bootstrap-konnectivity-agents.yaml\n`,
  );
});

it.each([
  ["ours", 3],
  ["konnectivity-bootstrap-setup.sh certificates", 3],
  ["konnectivity-bootstrap-setup.sh server", 15],
  ["konnectivity-bootstrap-setup.sh agents", 10],
])(
  "%s, killed before any command and started again, ends right",
  (script, kills) => {
    const node = nodeWith("4.18");
    copyFileSync(projectFile("test/support/kill-at.sh"), join(node.root, "opt/kill-at.sh"));
    // Our part alone, as bootkube.sh calls it, without the installer's: otherwise most kills would hit that.
    node.program(
      "ours",
      `set -euoE pipefail
record_service_stage_start() { stage=$1; }
record_service_stage_success() { stage=; }
. /usr/local/bin/konnectivity-bootstrap.sh
tunnel_setup
tunnel_agents
[ "\${1:-}" = keep ] || tunnel_cleanup || :
echo finished`,
    );
    const output = node.must(`
    mkdir -p /etc/kubernetes/{manifests,bootstrap-configs}
    export BASH_ENV=/opt/kill-at.sh KILL_IN='${script}' KILL_MARK=/run/mark KILL_DISK='/opt/openshift /etc/kubernetes'
    KILL_AT=changes ours >/dev/null
    for KILL_AT in $(sort -nu /run/mark); do
        rm -rf ${home}/tls ${staticPod} ${manifests}/bootstrap-* /run/mark
        KILL_AT=$KILL_AT ${alone("ours")} >/dev/null 2>&1
        [ -e /run/mark ] || { echo "not killed at $KILL_AT"; continue; }
        [ "$(KILL_AT= ours keep 2>/run/why)" = finished ] || { echo "failed after $KILL_AT: $(cat /run/mark /run/why)"; continue; }
        result=right
        grep -l -E '@[A-Z_]+@' ${staticPod} ${manifests}/bootstrap-* && result=unfilled
        [ "$(ls ${manifests} | grep -c ^bootstrap-)" = 5 ] || result=incomplete
        [ "$(ls -A ${manifests} /etc/kubernetes/manifests /etc/kubernetes/bootstrap-configs | grep -c '^\\.secret')" = 0 ] || result=partial
        key=$(sed -n 's/^  tls.key: //p' ${manifests}/bootstrap-konnectivity-secret.yaml | tr -d "'" | base64 -d | openssl pkey -pubout)
        [ "$key" = "$(openssl x509 -in ${home}/tls/agent/tls.crt -noout -pubkey)" ] || result=mixed
        echo $result
    done`);
    const results = output.trim().split("\n");
    expect(results.length).toBeGreaterThanOrEqual(kills);
    expect(new Set(results)).toEqual(new Set(["right"]));
  },
  300_000,
);

/** The filters of `openshift-install gather bootstrap`, as facts about it say. */
const gather = `find . -name '*secret*' -print0 | xargs -0 rm -rf
find . -name '*kubeconfig*' -print0 | xargs -0 rm -rf
find . -name '*.key' -print0 | xargs -0 rm -rf
find . -name '.kube' -print0 | xargs -0 rm -rf`;

it.each([
  ["mtls", {}],
  ["tcp and tokens", { protocol: "http-connect", transport: "tcp", authentication: "service-account-token" }],
])("a gather in the middle of it takes no key along (%s)", (_, tunnel) => {
  const node = nodeWith("4.18", tunnel);
  withSigner(node);
  // The machine as it is while cluster-bootstrap runs.
  node.program(
    "podman",
    'case " $* " in *" start --tear-down-early"*) exit 1 ;; *" --entrypoint "*) exit 125 ;; *" image "*) echo "registry.example.com/x@sha256:0" ;; *render*) mkdir -p kube-apiserver-bootstrap/manifests; touch kube-apiserver-bootstrap/{config,manifests/x.yaml} ;; esac',
  );
  expect(node.run(bootkube).status).not.toBe(0);
  const copy = mkdtempSync(join(tmpdir(), "konnectivity-bootstrap-gather-"));
  try {
    for (const path of ["opt", "etc", "var"]) cpSync(join(node.root, path), join(copy, path), { recursive: true });
    const holdsKey = () =>
      execFileSync(
        "bash",
        ["-c", `grep -rlE 'BEGIN [A-Z ]*PRIVATE KEY|client-key-data|tls.key: .[^@]|LS0tLS1CRUdJTiB' opt etc var || :`],
        { cwd: copy, encoding: "utf8" },
      )
        .trim()
        .split("\n")
        .filter((file) => file !== "" && !file.startsWith("etc/ssl"));
    expect(holdsKey().length).toBeGreaterThan(3);
    execFileSync("bash", ["-c", gather], { cwd: copy });
    expect(holdsKey()).toEqual([]);
  } finally {
    rmSync(copy, { recursive: true });
  }
});
