import { execFile } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it, vi } from "vitest";
import { stringify } from "yaml";
import { askOnline, type OnlineProps } from "../../../../src/cli/online.ts";
import { readTunnel } from "../../../../src/core/konnectivity/options.ts";
import { fileEntry, sampleText } from "../../../../src/core/sample/sample.ts";
import { command, program } from "../../../support/cli.ts";
import { interruptedAt } from "../../../support/interrupted.ts";
import { changedExample, exampleOf, Project } from "../../../support/stacks.ts";

const root = mkdtempSync(join(tmpdir(), "online-"));
afterAll(() => {
  rmSync(root, { recursive: true });
});

const release = `registry.example.com/release@sha256:${"0".repeat(64)}`;
const image = "quay.io/openshift-release-dev/ocp-v4.0-art-dev@sha256:1234";
const secret = '{"auths":{"registry.example.com":{"auth":"c2VjcmV0LXB1bGw="}}}';
const mirrors = {
  apiVersion: "config.openshift.io/v1",
  kind: "ImageDigestMirrorSet",
  metadata: { name: "image-digest-mirror" },
  spec: { imageDigestMirrors: [{ source: "registry.example.com", mirrors: ["mirror.example.com"] }] },
};
const files = [
  fileEntry("/root/.docker/config.json", secret, 0o600),
  fileEntry("/opt/openshift/manifests/image-digest-mirror-set.yaml", stringify(mirrors), 0o644),
];

/**
 * A folder for PATH with a fake of oc, a folder for temporary files, and what the fake was called with: its arguments, and
 * every file in the options with its mode. The fake asks no registry.
 */
function fakeOc(script: string) {
  const folder = mkdtempSync(join(root, "oc-"));
  const [bin, tmp, calls] = [join(folder, "bin"), join(folder, "tmp"), join(folder, "calls")];
  for (const one of [bin, tmp]) mkdirSync(one);
  const record = `echo "oc $*" >>${calls}
for word; do
  case $word in --*-config=* | --*-file=*) stat -c '%a' "\${word#*=}" >>${calls}; cat "\${word#*=}" >>${calls}; echo >>${calls} ;; esac
done`;
  writeFileSync(join(bin, "oc"), `#!/bin/sh\n${record}\n${script}\n`);
  chmodSync(join(bin, "oc"), 0o755);
  return {
    environment: { PATH: `${bin}:${process.env.PATH ?? ""}`, TMPDIR: tmp, KONNECTIVITY_CONFIG: "" },
    calls: () => (existsSync(calls) ? readFileSync(calls, "utf8").replaceAll(tmp, "TMP") : ""),
    left: () => readdirSync(tmp).filter((name) => name.startsWith("konnectivity-bootstrap-")),
  };
}

/** `config check --online` for a cluster on AWS. */
async function check(oc: ReturnType<typeof fakeOc>, tunnel: unknown = {}) {
  const project = new Project(changedExample("aws", {}, { tunnel }), { files: exampleOf("aws").files });
  project.write("ocp/bootstrap.ign", sampleText("4.18", { files }));
  const args = ["config", "check", "--online", "--config", project.configFile];
  for (const [name, value] of Object.entries(oc.environment)) vi.stubEnv(name, value);
  const [json, text] = [await command(...args, "--json"), await command(...args)];
  vi.unstubAllEnvs();
  project.remove();
  expect(json.stdout, json.stderr).toContain("aws-bootstrap");
  const { online, ok, errors } = JSON.parse(json.stdout) as Record<string, unknown>;
  const line = /^online {4}(.*)$/m.exec(text.stdout)?.[1];
  for (const printed of [json.stdout, json.stderr, text.stdout, text.stderr])
    expect(printed).not.toMatch(/c2VjcmV0|hunter2/);
  expect(oc.left()).toEqual([]);
  return { online, ok, errors, line, code: [json.code, text.code], stderr: text.stderr };
}

const unknown = (reason: RegExp, more: object = {}) => ({
  online: {
    result: "unknown",
    release,
    images: [],
    reason: expect.stringMatching(reason) as string,
    ...more,
  },
  ok: true,
  errors: [],
  code: [0, 0],
  stderr: "",
  line: expect.stringMatching(/^not known: /) as string,
});

const props = (oc: ReturnType<typeof fakeOc>, more: Partial<OnlineProps> = {}): OnlineProps => ({
  tunnel: readTunnel({}),
  architecture: "x86_64",
  files: [fileEntry("/usr/local/bin/release-image.sh", `RELEASE_IMAGE_DIGEST=${release}\n`, 0o555), ...files],
  environment: oc.environment,
  signal: new AbortController().signal,
  ...more,
});

describe("config check --online", () => {
  it("finds the image with the pull secret and the mirrors of the install folder", async () => {
    const oc = fakeOc(`echo ${image}`);
    expect(await check(oc)).toMatchObject({
      online: { result: "found", release, images: [image], reason: null },
      line: "the release has apiserver-network-proxy",
      code: [0, 0],
      stderr: "",
    });
    const [call = "", mode, content, otherMode, policy = ""] = oc.calls().split("\n");
    expect(call.replaceAll(/TMP\/konnectivity-bootstrap-\w+/g, "TMP")).toBe(
      `oc adm release info --image-for apiserver-network-proxy ${release} --registry-config=TMP/pull-secret.json --idms-file=TMP/mirrors.yaml`,
    );
    expect([mode, content, otherMode]).toEqual(["600", secret, "600"]);
    expect(JSON.parse(policy)).toMatchObject({ kind: mirrors.kind, spec: mirrors.spec });
  });

  it("fails if the release lacks it, and prints the result all the same", async () => {
    const oc = fakeOc(
      `echo 'error: no image tag "apiserver-network-proxy" exists in the release image Digest: sha256:00' >&2; exit 1`,
    );
    const message = `The release ${release} has no image apiserver-network-proxy, so that the set-up of the tunnel would fail: set tunnel.image to an image of the proxy, or \`tunnel: off\`.`;
    expect(await check(oc)).toMatchObject({
      online: { result: "missing", release, images: [] },
      ok: false,
      errors: [{ code: "release-image-missing", message }],
      line: "the release has no image apiserver-network-proxy",
      code: [1, 1],
      stderr: `error: ${message}\n`,
    });
  });

  it.each([
    ["error: unable to read image X: unauthorized: access to the requested resource", /^the registry refused the pull/],
    ["error: Get https://x/v2/: dial tcp: lookup x: no such host", /^this machine cannot reach the registry; to see/],
    ["error: Get https://x/v2/: x509: certificate signed by unknown authority", /^this machine does not trust/],
    ["error: unknown flag: --idms-file", /^this oc is too old or too new/],
    [
      "error: something else",
      /^oc ended with exit code 1; to see what oc says, run: oc adm release info --image-for apiserver-network-proxy registry/,
    ],
  ])("gives the cause in its own words: %s", async (said, reason) => {
    const online = await askOnline(props(fakeOc(`echo '${said}' >&2; exit 1`)));
    expect(online).toMatchObject({ result: "unknown", release, reason: expect.stringMatching(reason) as string });
  });

  it("only notes that the registry refuses", async () => {
    const oc = fakeOc("echo 'error: 401 unauthorized' >&2; exit 1");
    expect(await check(oc)).toMatchObject(unknown(/^the registry refused the pull secret/));
  });

  it("prints nothing that oc prints to stderr, such as a pull secret", async () => {
    const oc = fakeOc(`echo "error: 401 with password hunter2" >&2; for w; do cat "\${w#*=}" >&2; done; exit 1`);
    expect(await check(oc)).toMatchObject(unknown(/^the registry refused the pull secret/));
  });

  it("does not take what is no image for one", async () => {
    expect(await check(fakeOc("echo 'hunter2 is the password'"))).toMatchObject(unknown(/not an image/));
  });

  it("only notes that oc is not installed", async () => {
    const oc = fakeOc("exit 1");
    const environment = { ...oc.environment, PATH: mkdtempSync(join(root, "empty-")) };
    expect(await check({ ...oc, environment })).toMatchObject(unknown(/^oc is not on the PATH$/, { release: null }));
    expect(oc.calls()).toBe("");
  });

  it("asks for images of the config's own instead of the release's", async () => {
    const oc = fakeOc("true");
    const [server, agent] = [
      `registry.example.com/a@sha256:${"1".repeat(64)}`,
      `registry.example.com/b@sha256:${"2".repeat(64)}`,
    ];
    expect(await check(oc, { image: { server, agent } })).toMatchObject({
      online: { result: "found", release: null, images: [server, agent] },
      line: `the registry has ${server} and ${agent}`,
    });
    const calls = oc
      .calls()
      .split("\n")
      .filter((line) => line.startsWith("oc "));
    expect(calls).toHaveLength(4);
    expect(calls[0]).toMatch(
      /^oc image info --filter-by-os linux\/amd64 registry.example.com\/a@sha256:1+ --registry-config=\S+ --icsp-file=\S+$/,
    );
    const lacking = fakeOc(`case "$*" in *"${agent}"*) echo 'error: image: manifest unknown' >&2; exit 1 ;; esac`);
    expect(await check(lacking, { image: { server, agent } })).toMatchObject(
      unknown(/^\S+b@sha256:2+: the registry does not have it/, { release: null, images: [server] }),
    );
  });

  it("asks nothing if there is nothing to ask", async () => {
    const oc = fakeOc("true");
    const reason = "the tunnel is off";
    expect(await check(oc, "off")).toMatchObject({ online: { result: "not-asked", reason }, code: [0, 0] });
    for (const more of [{ tunnel: "installer" } as const, { files: undefined }])
      expect(await askOnline(props(oc, more))).toMatchObject({ result: "not-asked" });
    expect(oc.calls()).toBe("");
  });

  it("asks nobody without --online", async () => {
    const oc = fakeOc("true");
    const project = new Project(changedExample("aws"), { files: exampleOf("aws").files });
    vi.stubEnv("PATH", oc.environment.PATH);
    const { stdout } = await command("config", "check", "--config", project.configFile, "--json");
    vi.unstubAllEnvs();
    project.remove();
    expect(JSON.parse(stdout)).not.toHaveProperty("online");
    expect(oc.calls()).toBe("");
  });

  it("gives up if oc hangs, and ends what oc started", async () => {
    const oc = fakeOc("trap '' TERM INT; sleep 77 & echo $! >>$TMPDIR/pid; wait");
    const begin = Date.now();
    expect(await askOnline(props(oc, { limit: 1500 }))).toMatchObject({
      result: "unknown",
      reason: expect.stringMatching(/^oc did not end in time; /) as string,
    });
    expect(Date.now() - begin).toBeLessThan(10_000);
    const pid = readFileSync(join(oc.environment.TMPDIR, "pid"), "utf8").trim();
    await expect.poll(() => existsSync(`/proc/${pid}`) && !isZombie(pid)).toBe(false);
  });

  it("ends if oc prints without end", async () => {
    const oc = fakeOc("exec yes");
    expect(await askOnline(props(oc))).toMatchObject({
      result: "unknown",
      reason: expect.stringMatching(/^oc printed too much/) as string,
    });
  });

  it("deletes the pull secret if it is interrupted", async () => {
    const oc = fakeOc("sleep 1; echo asked >&2; touch $TMPDIR/asked; sleep 77");
    const project = new Project(changedExample("aws"), { files: exampleOf("aws").files });
    project.write("ocp/bootstrap.ign", sampleText("4.18", { files }));
    const args = [program, "config", "check", "--online", "--config", project.configFile];
    const child = execFile(process.execPath, args, { env: { ...process.env, ...oc.environment } });
    const waiting = setInterval(() => {
      if (oc.left().length === 0 || !existsSync(join(oc.environment.TMPDIR, "asked"))) return;
      clearInterval(waiting);
      child.kill("SIGINT");
    }, 50);
    const { code, said } = await interruptedAt(child, "never", () => undefined);
    clearInterval(waiting);
    project.remove();
    expect({ code, said }).toEqual({ code: 130, said: "" });
    expect(oc.left()).toEqual([]);
    expect(oc.calls()).toContain("600");
  });
});

const isZombie = (pid: string) => readFileSync(`/proc/${pid}/stat`, "utf8").includes(") Z ");
