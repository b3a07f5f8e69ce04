import { createPrivateKey, X509Certificate } from "node:crypto";
import { copyFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { projectFile } from "../../../src/runtime/project-files.js";
import { alone, ScratchNode } from "../../support/node.ts";
import { samplePayload } from "../../support/payload.ts";

const tls = "/opt/openshift/konnectivity-bootstrap/tls";
const serverAuth = "1.3.6.1.5.5.7.3.1";
const clientAuth = "1.3.6.1.5.5.7.3.2";
const issue = "konnectivity-bootstrap-setup.sh certificates 10.0.3.7";

const nodes: ScratchNode[] = [];
afterAll(() => {
  for (const node of nodes) node.remove();
});
function nodeWith(tunnel: Record<string, unknown> = {}): ScratchNode {
  const node = new ScratchNode(samplePayload("4.18", tunnel));
  nodes.push(node);
  return node;
}

const certificate = (node: ScratchNode, path: string) => new X509Certificate(node.read(`${tls}/${path}`));

describe.each([
  { keyAlgorithm: "ecdsa-p256", key: { type: "ec", size: "prime256v1" } },
  { keyAlgorithm: "rsa-2048", key: { type: "rsa", size: 2048 } },
  { keyAlgorithm: "rsa-3072", key: { type: "rsa", size: 3072 } },
])("certificates with $keyAlgorithm", ({ keyAlgorithm, key }) => {
  const node = nodeWith({ protocol: "http-connect", transport: "tcp", certificates: { keyAlgorithm } });
  beforeAll(() => {
    node.must(issue);
  });

  it.each([
    {
      folder: "serving",
      subject: "CN=konnectivity-server",
      usage: serverAuth,
      san: "IP Address:10.0.3.7",
      purpose: "sslserver",
    },
    { folder: "agent", subject: "CN=konnectivity-agent", usage: clientAuth, san: undefined, purpose: "sslclient" },
    {
      folder: "frontend",
      subject: "CN=konnectivity-server",
      usage: serverAuth,
      san: "IP Address:127.0.0.1",
      purpose: "sslserver",
    },
    { folder: "kube-apiserver", subject: "CN=kube-apiserver", usage: clientAuth, san: undefined, purpose: "sslclient" },
  ])("$folder is right", ({ folder, subject, usage, san, purpose }) => {
    const leaf = certificate(node, `${folder}/tls.crt`);
    const ca = certificate(node, `${folder}/ca.crt`);
    expect(leaf.subject).toBe(subject);
    expect(leaf.keyUsage).toEqual([usage]);
    expect(leaf.subjectAltName).toBe(san);
    expect(leaf.ca).toBe(false);
    expect(ca.ca).toBe(true);
    const secret = createPrivateKey(node.read(`${tls}/${folder}/tls.key`));
    expect(leaf.checkPrivateKey(secret)).toBe(true);
    expect(secret.asymmetricKeyType).toBe(key.type);
    expect(secret.asymmetricKeyDetails?.namedCurve ?? secret.asymmetricKeyDetails?.modulusLength).toBe(key.size);
    node.must(
      `openssl verify -x509_strict -purpose ${purpose} -CAfile ${tls}/${folder}/ca.crt ${tls}/${folder}/tls.crt`,
    );
  });

  it("live for a day and are signed with SHA-256", () => {
    const leaf = certificate(node, "serving/tls.crt");
    const hours = (Date.parse(leaf.validTo) - Date.parse(leaf.validFrom)) / 3_600_000;
    expect(hours).toBe(24);
    expect(node.must(`openssl x509 -in ${tls}/serving/tls.crt -noout -text`)).toMatch(
      /Signature Algorithm: \S*(?:sha256|SHA256)/,
    );
  });

  it("of the agents' side are not accepted on the kube-apiserver's side, nor the other way round", () => {
    for (const [ca, leaf] of [
      ["frontend", "agent"],
      ["serving", "kube-apiserver"],
    ])
      expect(node.run(`openssl verify -CAfile ${tls}/${ca}/ca.crt ${tls}/${leaf}/tls.crt`).status).not.toBe(0);
  });

  it("and keys are readable by root only, and no CA key is stored", () => {
    for (const file of node.files(tls))
      expect({ file, ...node.stat(file) }).toEqual({ file, mode: "0600", owner: "0:0" });
    expect(node.stat(tls).mode).toBe("0700");
    const cas = ["serving", "frontend"].map((folder) => certificate(node, `${folder}/ca.crt`));
    const everywhere = ["/opt", "/etc", "/var", "/tmp", "/run", "/root", "/usr/local"].flatMap((path) =>
      node.files(path),
    );
    const keys = everywhere.filter((file) => /BEGIN [A-Z ]*PRIVATE KEY/.test(node.read(file)));
    expect(keys).toHaveLength(4);
    for (const file of keys)
      for (const ca of cas) expect(ca.checkPrivateKey(createPrivateKey(node.read(file)))).toBe(false);
  });
});

describe("what is issued follows the options", () => {
  it.each([
    ["mtls over the socket", {}, ["agent", "serving"]],
    ["tokens", { authentication: "service-account-token" }, ["serving", "token-reviewer"]],
    ["no authentication", { authentication: "none", acceptUnauthenticatedAgents: true }, ["serving"]],
  ])("%s", (_, tunnel, folders) => {
    const node = nodeWith(tunnel);
    const signer = "/opt/openshift/tls/kube-control-plane-signer";
    node.must(
      `openssl req -x509 -newkey rsa:2048 -nodes -days 1 -subj /CN=signer -keyout ${signer}.key -out ${signer}.crt && ${issue}`,
    );
    expect([...new Set(node.files(tls).map((file) => file.split("/").at(-2)))].filter((f) => f !== "tls")).toEqual(
      folders,
    );
  });

  it.each([
    ["a name", { address: "bootstrap.example.com" }, "10.0.3.7", "DNS:bootstrap.example.com"],
    ["IPv6", {}, "fd00:1::7", "IP Address:FD00:1:0:0:0:0:0:7"],
  ])("%s in the certificate", (_, tunnel, address, san) => {
    const node = nodeWith(tunnel);
    node.must(`konnectivity-bootstrap-setup.sh certificates ${address}`);
    expect(certificate(node, "serving/tls.crt").subjectAltName).toBe(san);
  });

  it("the lifetime in days", () => {
    const node = nodeWith({ certificates: { days: 7 } });
    node.must(issue);
    const { validFrom, validTo } = certificate(node, "agent/tls.crt");
    expect((Date.parse(validTo) - Date.parse(validFrom)) / 86_400_000).toBe(7);
  });

  it.each([
    ["the CA", "-x509", "openssl could not make the CA konnectivity-signer:"],
    ["a key", "-out*request", "openssl could not make a key for konnectivity-server: not with me"],
    ["a certificate", " ca ", "openssl could not make a certificate for konnectivity-server: not with me"],
  ])("an openssl that refuses %s is an error, and nothing is left", (_, call, sentence) => {
    const node = nodeWith();
    node.program(
      "openssl",
      `case " $* " in *${call.replaceAll(" ", "\\ ")}*) echo "not with me" >&2; exit 1 ;; esac; exec /usr/bin/openssl "$@"`,
    );
    const { status, stderr } = node.run(issue);
    expect(status).toBe(1);
    expect(stderr).toContain(sentence);
    expect(stderr).toContain("not with me");
    expect(node.exists(tls)).toBe(false);
  });

  it("a missing address is an error", () => {
    expect(nodeWith().run("konnectivity-bootstrap-setup.sh certificates ''", "ip link set lo up")).toMatchObject({
      status: 1,
    });
  });
});

describe("run again", () => {
  const contents = (node: ScratchNode) => node.files(tls).map((file) => [file, node.read(file)]);

  it("it changes nothing", () => {
    const node = nodeWith();
    node.must(issue);
    const before = contents(node);
    expect(node.must(issue)).toBe("");
    expect(contents(node)).toEqual(before);
  });

  it("with another address it issues anew, all of it", () => {
    const node = nodeWith();
    node.must(issue);
    const before = new Map(contents(node).map(([file, text]) => [file, text]));
    node.must("konnectivity-bootstrap-setup.sh certificates 10.0.3.8");
    expect(certificate(node, "serving/tls.crt").subjectAltName).toBe("IP Address:10.0.3.8");
    for (const [file, text] of contents(node)) expect(before.get(file)).not.toBe(text);
  });

  it("after the certificates expired it issues anew", () => {
    const node = nodeWith();
    node.must(`faketime '-2 days' ${issue}`);
    const old = certificate(node, "serving/tls.crt");
    node.must(issue);
    const renewed = certificate(node, "serving/tls.crt");
    expect(Date.parse(old.validTo)).toBeLessThan(Date.now());
    expect(Date.parse(renewed.validTo)).toBeGreaterThan(Date.now());
  });
});

it("killed before any of its commands and run again, it ends right", () => {
  const node = nodeWith({ protocol: "http-connect", transport: "tcp" });
  copyFileSync(projectFile("test/support/kill-at.sh"), join(node.root, "opt/kill-at.sh"));
  // One entry into the machine for all of them; a line says what came of one kill.
  const output = node.must(`
    export BASH_ENV=/opt/kill-at.sh KILL_IN='konnectivity-bootstrap-setup.sh certificates' KILL_MARK=/run/mark KILL_DISK='${tls} ${tls}.new'
    KILL_AT=changes ${issue}
    for KILL_AT in $(sort -nu /run/mark); do
        rm -rf ${tls} ${tls}.new /run/mark
        KILL_AT=$KILL_AT ${alone(issue)} >/dev/null 2>&1
        [ -e /run/mark ] || { echo "not killed at $KILL_AT"; continue; }
        left=$(grep -rlE 'BEGIN [A-Z ]*PRIVATE KEY' /opt /etc /var /tmp /run 2>/dev/null | grep -v '\\.key$' || :)
        KILL_AT= ${issue} 2>/run/why || { echo "failed after $KILL_AT: $(cat /run/mark /run/why)"; continue; }
        result=right
        for pair in serving:sslserver agent:sslclient frontend:sslserver kube-apiserver:sslclient; do
            folder=${tls}/\${pair%%:*}
            openssl verify -purpose "\${pair##*:}" -CAfile $folder/ca.crt $folder/tls.crt >/dev/null 2>&1 || result=wrong
            [ "$(openssl pkey -in $folder/tls.key -pubout)" = "$(openssl x509 -in $folder/tls.crt -noout -pubkey)" ] || result=mixed
        done
        [ "$(ls ${tls} | wc -l)" = 5 ] || result=incomplete
        [ ! -e ${tls}.new ] || result=unclean
        echo "$result$left"
    done`);
  const results = output.trim().split("\n");
  expect(results.length).toBeGreaterThan(15);
  expect(new Set(results)).toEqual(new Set(["right"]));
}, 300_000);

describe("a TLS server that demands client certificates", () => {
  const node = nodeWith();
  /** Asks the server for a page with these s_client arguments; the answer, or why there is none. */
  const request = (prepare: string, client: string) =>
    node.run(`
      ${prepare}
      cd ${tls}
      openssl s_server -accept 127.0.0.1:8091 -cert serving/tls.crt -key serving/tls.key -CAfile serving/ca.crt -Verify 1 -verify_return_error -www -quiet >/run/server.log 2>&1 &
      server=$!
      for try in $(seq 50); do (: </dev/tcp/127.0.0.1/8091) 2>/dev/null && break; sleep 0.05; done
      printf 'GET / HTTP/1.0\\r\\n\\r\\n' | timeout 10 openssl s_client -connect 127.0.0.1:8091 -CAfile serving/ca.crt -verify_ip 10.0.3.7 -verify_return_error -quiet -ign_eof ${client} 2>&1 | tr -d '\\0'
      kill $server
      cat /run/server.log`).stdout;

  it("accepts the agent's, and the agent accepts the server", () => {
    expect(request(issue, "-cert agent/tls.crt -key agent/tls.key")).toContain("HTTP/1.0 200");
  });

  it.each([
    ["none", issue, "", "alert certificate required"],
    [
      "one of a foreign CA",
      `${issue}; rm -rf /run/foreign; cp -r ${tls}/agent /run/foreign; rm -rf ${tls}; ${issue}`,
      "-cert /run/foreign/tls.crt -key /run/foreign/tls.key",
      "alert unknown ca",
    ],
    [
      "a server's certificate as a client's",
      issue,
      "-cert serving/tls.crt -key serving/tls.key",
      "unsuitable certificate purpose",
    ],
    [
      "an expired one of the right CA",
      // The agent's certificate alone is made three days ago.
      `cat >/opt/programs/openssl <<'EOF'
#!/bin/sh
case " $* " in *" ca "*/agent/tls.crt*) exec faketime "-3 days" /usr/bin/openssl "$@" ;; esac
exec /usr/bin/openssl "$@"
EOF
chmod +x /opt/programs/openssl; rm -rf ${tls}; ${issue}; rm /opt/programs/openssl`,
      "-cert agent/tls.crt -key agent/tls.key",
      "certificate has expired",
    ],
  ])("refuses %s", (_, prepare, client, reason) => {
    const answer = request(prepare, client);
    expect(answer).not.toContain("HTTP/1.0 200");
    expect(answer).toContain(reason);
  });
});
