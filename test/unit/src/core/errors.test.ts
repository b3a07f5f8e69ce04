import { labFolder } from "../../../../lab/folder.ts";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, describe, expect, it, vi } from "vitest";
import { readConfig } from "../../../../src/config/config-file.ts";
import { findConfigFile } from "../../../../stacks/load.ts";
import { configFormat } from "../../../../stacks/platforms.ts";
import { amiIn } from "../../../../constructs/aws/config.ts";
import { imageIn } from "../../../../constructs/google/config.ts";
import { readState } from "../../../../src/files/terraform-state.ts";
import { replaceKeepingOriginal } from "../../../../src/files/keep-original.ts";
import { readUserFile, writeUserFiles } from "../../../../src/files/user-file.ts";
import { readInstallFolder } from "../../../../src/config/install-folder.ts";
import { readInstallDir } from "../../../../src/config/install-dir.ts";
import { readStream } from "../../../../src/config/stream.ts";
import type { Ended } from "../../../../src/cli/acceptance-program.ts";
import { newProgress, readProgress, saveProgress } from "../../../../src/cli/acceptance-progress.ts";
import {
  checkPreflight,
  mustBeGone,
  mustNotChange,
  mustPass,
  mustSucceed,
  notCarrying,
  type Session,
} from "../../../../src/cli/acceptance-steps.ts";
import { configCommand } from "../../../../src/cli/config.ts";
import { outputTo } from "../../../../src/cli/output.ts";
import type { Check } from "../../../../src/cli/doctor-checks.ts";
import { exampleCommand } from "../../../../src/cli/example.ts";
import { payloadCommand } from "../../../../src/cli/payload.ts";
import { labCommand } from "../../../../src/cli/lab.ts";
import { ipiCommand } from "../../../../src/cli/ipi.ts";
import { gatherCommand } from "../../../../src/cli/gather.ts";
import { statusCommand } from "../../../../src/cli/status.ts";
import { tunnelCommand } from "../../../../src/cli/tunnel.ts";
import { teardownCommand } from "../../../../src/cli/teardown.ts";
import { gateVariable } from "../../../../src/cluster/gate-override.ts";
import { checkOptions, verifyCommand } from "../../../../src/cli/verify.ts";
import { diagnose } from "../../../../src/cluster/diagnose.ts";
import { readKubeconfig } from "../../../../src/cluster/api.ts";
import { inspect, makePayload } from "../../../../src/core/bootstrap.ts";
import { readTunnel } from "../../../../src/core/konnectivity/options.ts";
import { anchors } from "../../../../src/core/ignition/bootkube.ts";
import type { FileEntry } from "../../../../src/core/ignition/config.ts";
import { type PointerProps, pointerTo } from "../../../../src/core/ignition/pointer.ts";
import { UserError, type ProblemCode, describeProblem, problem, problemCodes } from "../../../../src/core/errors.ts";
import { bootkubeScript, fileEntry, fixture, sampleConfig, sampleText } from "../../../../src/core/sample/sample.ts";
import { rewriteAsInstaller } from "../../../../lab/installer-rewrite.ts";
import { checkControllers } from "../../../../lab/machine.ts";
import { timeLimit, timeoutVariable } from "../../../../src/core/time-limits.ts";
import { readInputs } from "../../../../stacks/inputs.ts";
import { sessionOf } from "../../../support/acceptance.ts";
import { type InstallFolderProps, installFiles, writeFiles } from "../../../support/install-folder.ts";
import { kubeconfigText, withApi } from "../../../support/api.ts";
import { labProblems, provoke, testErrorCases } from "../../../support/problems.ts";
import { changedExample, exampleOf, metadata, Project, synthesize } from "../../../support/stacks.ts";

const now = new Date("2026-11-16T12:00:00Z");
const bootkubePath = "/usr/local/bin/bootkube.sh";
const folder = mkdtempSync(join(tmpdir(), "problems-"));
afterAll(() => {
  rmSync(folder, { recursive: true });
});

const make = (text: string, options?: unknown) => makePayload(text, readTunnel(options), now);

/** Builds from a sample with other files. */
const makeWith = (change: (files: FileEntry[]) => FileEntry[], options?: unknown) => {
  const config = sampleConfig("4.18");
  return make(JSON.stringify({ ...config, storage: { files: change(config.storage?.files ?? []) } }), options);
};

/** Builds from a sample with another bootkube.sh. */
const makeWithScript = (change: (script: string) => string) =>
  makeWith((files) =>
    files.map((file) =>
      file.path === bootkubePath ? fileEntry(bootkubePath, change(bootkubeScript("4.18")), 0o555) : file,
    ),
  );

const pointer = (props: Partial<PointerProps>) =>
  pointerTo({ url: "https://store.example.com/p", sha512: "0".repeat(128), ...props });

/** A file of the user's, with this text. */
function userFile(name: string, text: string): string {
  const file = join(folder, name);
  writeFileSync(file, text);
  return file;
}

const config = (text: string) => readConfig(configFormat, userFile("config.yaml", text));

function installDir(name: string, metadata?: string): string {
  const dir = join(folder, name);
  mkdirSync(dir, { recursive: true });
  writeFileSync(join(dir, "bootstrap.ign"), sampleText("4.18"));
  if (metadata !== undefined) writeFileSync(join(dir, "metadata.json"), metadata);
  return dir;
}

const silent = outputTo({ write: () => true }, { write: () => true });
const command = (...args: string[]) => {
  payloadCommand(silent).parse(args, { from: "user" });
};

/** A new install folder, changed, and then prepared for "create cluster", or another step. */
function ipi(props: InstallFolderProps, change: (folder: string) => void = () => undefined, ...args: string[]): void {
  const dir = writeFiles(mkdtempSync(join(folder, "ipi-")), installFiles(props));
  change(dir);
  ipiCommand(silent).parse([...(args.length === 0 ? ["prepare"] : args), dir], { from: "user" });
}
const writeIn = (name: string, text: string) => (dir: string) => {
  mkdirSync(dirname(join(dir, name)), { recursive: true });
  writeFileSync(join(dir, name), text);
};
const removeIn = (name: string) => (dir: string) => {
  rmSync(join(dir, name));
};
const prepared = (dir: string) => {
  ipiCommand(silent).parse(["prepare", dir], { from: "user" });
};
const stateName = ".openshift_install_state.json";

const teardown = (...args: string[]) => teardownCommand(silent).parseAsync(args, { from: "user" });

const kubeconfigFor = (server: string) => userFile("some-kubeconfig", kubeconfigText(server));

/** With another user id than this process has. */
async function asUser(id: number, act: () => Promise<unknown>): Promise<void> {
  const spy = vi.spyOn(process, "getuid").mockReturnValue(id);
  try {
    await act();
  } finally {
    spy.mockRestore();
  }
}

/** Switches the tunnel off on a machine that has one, and answers then with these lines of bash. */
async function switchWith(lines: string): Promise<void> {
  const ssh = `#!/bin/bash\ncat >/dev/null\ncase "$*" in *" plan") echo state=on; echo end=yes ;; *) ${lines} ;; esac\n`;
  chmodSync(userFile("ssh", ssh), 0o755);
  vi.stubEnv("PATH", `${folder}:${process.env.PATH ?? ""}`);
  try {
    await tunnelCommand(silent).parseAsync(["off", "--yes", "--ssh=core@10.0.0.5"], { from: "user" });
  } finally {
    vi.unstubAllEnvs();
  }
}

/** As Terraform writes it. */
const deployedState = '{\n  "resources": [\n    {}\n  ]\n}\n';
function inProject(act: (project: Project) => void): void {
  const project = new Project(exampleOf("aws").config, { files: exampleOf("aws").files });
  try {
    act(project);
  } finally {
    project.remove();
  }
}

const onlyFile = (path: string) => (files: FileEntry[]) => files.filter((file) => file.path === path);

/** With Go nowhere on the search path, and nothing in the cache. */
const withoutGo = () => {
  vi.stubEnv("PATH", folder);
  vi.stubEnv("XDG_CACHE_HOME", join(folder, "cache"));
  try {
    rewriteAsInstaller("{}");
  } finally {
    vi.unstubAllEnvs();
  }
};

/** For every name, ways to provoke it. The type asks for a case, and so does the first test. */
const errorCases: Record<Exclude<ProblemCode, (typeof labProblems)[number]>, readonly (() => unknown)[]> = {
  "ignition-not-json": [() => make(""), () => make("{"), () => make("x"), () => make(`${sampleText("4.18")}x`)],
  "ignition-version-missing": [() => make("[]"), () => make("{}"), () => make('{"ignition":{"version":3}}')],
  "ignition-malformed": [
    () => make('{"ignition":{"version":"3.2.0"},"storage":[]}'),
    () => make('{"ignition":{"version":"3.2.0"},"storage":{"files":null}}'),
    () => make('{"ignition":{"version":"3.2.0"},"storage":{"files":[1,{},{"path":"/x","contents":1}]}}'),
  ],
  "ignition-spec-unknown": [() => make(sampleText("4.18", { version: "2.0.0\n" }))],
  "bootstrap-in-place": [() => make(sampleText("bootstrap-in-place"))],
  "installer-tunnel-on": [() => make(sampleText("4.23-gate-on"))],
  "installer-tunnel-off": [
    () => makePayload(sampleText("4.18"), "installer", now),
    () => makePayload(sampleText("4.23"), "installer", now),
  ],
  "already-built": [() => make(make(sampleText("4.18")).text)],
  "path-taken": [
    () => makeWith((files) => [...files, fileEntry("/usr/local/bin/konnectivity-bootstrap.sh", "", 0o555)]),
  ],
  "bootkube-missing": [() => makeWith(onlyFile("/etc/motd")), () => make('{"ignition":{"version":"3.2.0"}}')],
  "bootkube-repeated": [() => makeWith((files) => [...files, ...onlyFile(bootkubePath)(files)])],
  "bootkube-undecodable": [
    () => makeWith(() => [{ path: bootkubePath }]),
    () => makeWith(() => [{ path: bootkubePath, contents: { source: "data:,%ff" } }]),
    () => makeWith(() => [{ path: bootkubePath, contents: { source: "x" }, append: [{}] }]),
  ],
  "bootkube-unbalanced": [
    () => makeWithScript((script) => script.slice(0, 2000)),
    () => makeWithScript((script) => `${script}cat <<EOF\n`),
    () => makeWithScript((script) => `${script}fi\n`),
  ],
  "bootkube-prerequisite-missing": [() => makeWithScript((script) => script.replaceAll("release-image.sh", "x.sh"))],
  "anchor-missing": [() => makeWithScript((script) => script.replace(anchors.render.line, "\t\tx \\"))],
  "anchor-repeated": [() => makeWithScript((script) => `${script}${anchors.cleanup.line}\n`)],
  "anchor-nested": [
    () => makeWithScript((script) => script.replace(anchors.cleanup.line, "if true; then\n$&\nfi")),
    () => makeWithScript((script) => script.replace(anchors.cleanup.line, "cat <<EOF\n$&\nEOF")),
  ],
  "anchor-order": [
    () =>
      makeWithScript((script) =>
        script.replace(`${anchors.cleanup.line}\n`, "").replace("BOOTSTRAP_INPLACE", `${anchors.cleanup.line}\n$&`),
      ),
  ],
  "config-not-yaml": [
    () => config("tunnel: ["),
    () => config("a: 1\na: 2\n"),
    () => config("tunnel:\n\tprotocol: grpc\n"),
    () => config("--- 1\n--- 2\n"),
    () => config("tunnel: *nowhere\n"),
  ],
  "option-unknown": [
    () => readTunnel({ protocl: "grpc" }),
    () => readTunnel({ somethingElse: 1 }),
    () => readTunnel({ agents: { kinds: 1 } }),
    () => readTunnel({ image: { server: "registry.example.com/a", registry: 1 } }),
    () => config("tunel: off"),
  ],
  "option-invalid": [
    () => readTunnel({ protocol: "udp" }),
    () => readTunnel({ protocol: null, agents: [], certificates: { days: "1" }, image: {} }),
    () => readTunnel("on"),
    () => readTunnel({ address: "a\nb".repeat(50) }),
    () => config("[1, 2]"),
    () => config("5"),
    () => config("tunnel: on"),
  ],
  "state-of-another-cluster": [
    () => {
      inProject((project) => {
        project.synth();
        project.write(".state/aws-bootstrap.tfstate", deployedState);
        project.write("ocp/metadata.json", JSON.stringify({ ...metadata, infraID: "other-12345" }));
        project.inputs();
      });
    },
  ],
  "state-lost": [
    () => {
      inProject((project) => {
        project.synth();
        project.write(".state/aws-bootstrap.tfstate.backup", deployedState);
        project.synth();
      });
    },
  ],
  "state-damaged": [
    () => {
      inProject((project) => {
        project.write("aws.tfstate", deployedState.slice(0, -9));
        readState(join(project.folder, "aws.tfstate"));
      });
    },
  ],
  "state-is-link": [
    () => {
      inProject((project) => {
        project.synth();
        const file = join(project.folder, ".state/aws-bootstrap.tfstate");
        rmSync(file);
        symlinkSync("/dev/null", file);
        project.synth();
      });
    },
  ],
  "config-gone": [
    () => {
      inProject((project) => {
        project.synth();
        project.write(".state/aws-bootstrap.tfstate", deployedState);
        rmSync(project.configFile);
        findConfigFile({}, project.folder);
      });
    },
  ],
  "no-platform": [
    () => {
      const project = new Project({});
      try {
        project.synth();
      } finally {
        project.remove();
      }
    },
  ],
  "combination-refused": [
    () => make(sampleText("4.18"), { transport: "tcp" }),
    () => make(sampleText("4.18"), { authentication: "none" }),
    () => make(sampleText("4.18"), { acceptUnauthenticatedAgents: true }),
    () => make(sampleText("4.18"), { agents: { replicas: 2 } }),
  ],
  "token-signer-missing": [
    () => makeWith(onlyFile(bootkubePath), { authentication: "service-account-token" }),
    () =>
      makeWith(
        (files) => files.map((file) => (file.path.endsWith("-signer.key") ? fileEntry(file.path, "", 0o600) : file)),
        { authentication: "service-account-token" },
      ),
  ],
  "token-kubeconfig-unusable": [
    () => makeWith(onlyFile(bootkubePath), { authentication: "service-account-token" }),
    () =>
      makeWith(
        (files) => files.map((file) => (file.path.endsWith("-loopback") ? fileEntry(file.path, "{}", 0o600) : file)),
        { authentication: "service-account-token" },
      ),
    () =>
      makeWith((files) => files.map((file) => (file.path.endsWith("-loopback") ? { path: file.path } : file)), {
        authentication: "service-account-token",
      }),
  ],
  "pointer-url-invalid": [() => pointer({ url: "" }), () => pointer({ url: "a\nb" })],
  "pointer-scheme-unknown": [() => pointer({ url: "ftp://host/p" })],
  "pointer-option-not-honoured": [
    () => pointer({ url: "s3://bucket/p", totalTimeoutSeconds: 1, proxy: {} }),
    () => pointer({ url: "http://host/p", caBundle: "" }),
  ],
  "pointer-option-invalid": [
    () => pointer({ caBundle: "" }),
    () => pointer({ totalTimeoutSeconds: NaN }),
    () => pointer({ proxy: { http: "a\nb", https: "" } }),
  ],
  "pointer-option-without-url": [
    () => {
      command("build", installDir("plain"), "--out", join(folder, "out"), "--timeout", "3", "--http-proxy", "x");
    },
  ],
  "file-unreadable": [
    () => readUserFile(join(folder, "nothing"), "check it"),
    () => readUserFile(folder, "check it"),
    () => readInstallDir(configFormat, join(folder, "nowhere")),
    () => readConfig(configFormat, join(folder, "nothing")),
    () => {
      command("inspect", join(folder, "nothing"));
    },
  ],
  "file-unwritable": [
    () => {
      writeUserFiles([{ file: join(userFile("a-file", ""), "payload.ign"), text: "" }]);
    },
    () => {
      writeUserFiles([{ file: folder, text: "" }]);
    },
  ],
  "file-exists": [
    () => {
      configCommand(silent).parse(["init", "aws", "--config", userFile("there.yaml", "")], { from: "user" });
    },
  ],
  "folder-is-file": [() => readInstallFolder(userFile("not-a-folder", "{}"))],
  "metadata-invalid": ["", "[]", "{}", '{"clusterName":"a","infraID":5}'].map(
    (metadata) => () => readInstallDir(configFormat, installDir("with-metadata", metadata)),
  ),
  "template-refused": [
    () => {
      const aside = join(folder, "a${1}");
      mkdirSync(aside, { recursive: true });
      const project = new Project({ local: {} }, { folder: aside });
      synthesize(project.inputs(), join(folder, "aside.out"));
    },
  ],
  "stream-invalid": [() => readStream(userFile("stream.json", "x")), () => readStream(userFile("stream.json", "{}"))],
  "stream-lacks-image": [
    () => {
      const images = { aws: { regions: { "eu-central-1": { image: "not an ami" } } } };
      const stream = JSON.stringify({ architectures: { x86_64: { images } } });
      return amiIn(readStream(userFile("stream.json", stream)), "x86_64", "eu-central-1");
    },
    () => amiIn(readStream(userFile("stream.json", '{"architectures":{}}')), "x86_64", "eu-central-1"),
    () => imageIn(readStream(userFile("stream.json", '{"architectures":{"aarch64":{}}}')), "aarch64"),
  ],
  "not-a-payload": [() => inspect(sampleText("4.18"), "some.ign")],
  "root-needed": [
    () => asUser(1000, () => labCommand(silent).parseAsync(["up", "--payload", "p"], { from: "user" })),
    () => asUser(1000, () => labCommand(silent).parseAsync(["down"], { from: "user" })),
    () => asUser(1000, () => verifyCommand(silent).parseAsync(["--name=nothing"], { from: "user" })),
    () => asUser(1000, () => statusCommand(silent).parseAsync(["--name=nothing"], { from: "user" })),
  ],
  "lab-name-invalid": ["", "../x", "../../../../home", "/etc", "a/b", "A", "a".repeat(21)].map((name) => () => {
    labFolder(name);
  }),
  "lab-not-running": [
    () => asUser(0, () => labCommand(silent).parseAsync(["enter", "--name=nothing", "node-0"], { from: "user" })),
    () => asUser(0, () => verifyCommand(silent).parseAsync(["--name=nothing"], { from: "user" })),
  ],
  "installer-not-built": [withoutGo],
  "controllers-missing": [
    () => {
      checkControllers(dirname(userFile("cgroup.subtree_control", "\n")));
    },
  ],
  "timeout-factor-invalid": ["0", "101", "1.5", "-1", "1e1", "many"].map((value) => () => {
    vi.stubEnv(timeoutVariable, value);
    try {
      return timeLimit(1);
    } finally {
      vi.unstubAllEnvs();
    }
  }),
  "release-image-missing": [
    async () => {
      const project = new Project(exampleOf("aws").config, { files: exampleOf("aws").files });
      const said = 'error: no image tag "apiserver-network-proxy" exists in the release image Digest: sha256:0';
      writeFileSync(join(project.folder, "oc"), `#!/bin/sh\necho '${said}' >&2\nexit 1\n`, { mode: 0o755 });
      vi.stubEnv("PATH", `${project.folder}:${process.env.PATH ?? ""}`);
      try {
        await configCommand(silent).parseAsync(["check", "--online", "--config", project.configFile], { from: "user" });
      } finally {
        vi.unstubAllEnvs();
        project.remove();
      }
    },
  ],
  "gate-closed": [() => withApi({}, (kubeconfig) => teardown("gate", "aws", "--kubeconfig", kubeconfig))],
  "cluster-another": [
    () =>
      withApi({ infrastructures: { status: { infrastructureName: "other-12345" } } }, (kubeconfig) => {
        const config = userFile("mine.yaml", "infrastructureName: mine-12345\n");
        return teardown("gate", "aws", "--kubeconfig", kubeconfig, "--config", config);
      }),
  ],
  "platform-not-configured": [() => teardown("report", "aws", "--config", userFile("local.yaml", "local: {}\n"))],
  "gate-blind": [
    async () => {
      vi.stubEnv("KUBECONFIG", join(folder, "nothing"));
      try {
        await teardown("gate", "aws");
      } finally {
        vi.unstubAllEnvs();
      }
    },
    () => teardown("gate", "aws", "--kubeconfig", kubeconfigFor("https://127.0.0.1:1")),
  ],
  "gate-reason-missing": [
    async () => {
      vi.stubEnv(gateVariable, "");
      try {
        await teardown("gate", "aws");
      } finally {
        vi.unstubAllEnvs();
      }
    },
  ],
  "state-unreadable": [
    async () => {
      const s3 = { bucket: "states", region: "eu-west-1", keyPrefix: "p" };
      const shared = { state: { s3 }, infrastructureName: metadata.infraID };
      const project = new Project(changedExample("aws", { region: "eu-central-1" }, shared), {
        files: exampleOf("aws").files,
      });
      try {
        await teardown("report", "aws", "--config", project.configFile);
      } finally {
        project.remove();
      }
    },
  ],
  "lab-or-cluster": [
    () => statusCommand(silent).parseAsync(["--name=local", "--ssh=core@10.0.0.5"], { from: "user" }),
    () => gatherCommand(silent).parseAsync(["--name=local", "--kubeconfig=x"], { from: "user" }),
  ],
  "machine-unclear": [
    async () => {
      const { files } = exampleOf("aws");
      const project = new Project(changedExample("aws"), { files });
      vi.stubEnv("KONNECTIVITY_CONFIG", project.configFile);
      try {
        await statusCommand(silent).parseAsync(["--ssh"], { from: "user" });
      } finally {
        vi.unstubAllEnvs();
        project.remove();
      }
    },
  ],
  "subject-unknown": [
    async () => {
      const { files } = exampleOf("aws");
      const project = new Project(changedExample("aws"), { files });
      vi.stubEnv("KUBECONFIG", "");
      try {
        await statusCommand(silent).parseAsync(["--config", project.configFile], { from: "user" });
      } finally {
        vi.unstubAllEnvs();
        project.remove();
      }
    },
  ],
  "finish-needs-lab": [
    async () => {
      const { files } = exampleOf("aws");
      const project = new Project(changedExample("aws"), { files });
      try {
        await verifyCommand(silent).parseAsync(["--finish", "--config", project.configFile], { from: "user" });
      } finally {
        project.remove();
      }
    },
  ],
  "switch-unconfirmed": [() => tunnelCommand(silent).parseAsync(["off", "--ssh=core@10.0.0.5"], { from: "user" })],
  "switch-refused": [() => switchWith("echo refused=ended; echo end=yes")],
  "switch-no-answer": [
    () => tunnelCommand(silent).parseAsync(["on", "--yes", "--ssh=core@127.0.0.1.invalid"], { from: "user" }),
  ],
  "switch-unknown": [() => switchWith("exit 255")],
  "switch-restored": [() => switchWith("echo log=error; echo result=restored; echo end=yes")],
  "switch-not-ready": [() => switchWith("echo result=not-ready; echo end=yes")],
  "verify-lab-only": [
    () => {
      checkOptions({ kubeconfig: "kubeconfig", name: "local", finish: true });
    },
  ],
  "kubeconfig-invalid": ["", "[", "{}", "apiVersion: v1\nkind: Config\ncurrent-context: x\n"].map(
    (text) => () => readKubeconfig(userFile("kubeconfig", text)),
  ),
  "cluster-unreachable": [
    () => {
      // Nothing listens there.
      const kubeconfig = kubeconfigFor("https://127.0.0.1:1");
      return verifyCommand(silent).parseAsync(["--kubeconfig", kubeconfig], { from: "user" });
    },
  ],
  "payload-damaged": [
    () => {
      const { text } = make(sampleText("4.18"));
      const config = JSON.parse(text) as ReturnType<typeof sampleConfig>;
      const files = (config.storage?.files ?? []).filter(({ path }) => path !== bootkubePath);
      return inspect(JSON.stringify({ ...config, storage: { files } }), "some.ign");
    },
  ],
  "installer-state-missing": [
    () => {
      ipi({}, removeIn(stateName));
    },
  ],
  "installer-state-invalid": [
    ...[
      "",
      "[]",
      "{}",
      "{",
      '{"*bootstrap.Bootstrap":1}',
      '{"*bootstrap.Bootstrap":{"File":{"Data":"%"}}}',
      '{"*bootstrap.Bootstrap":{"File":{"Data":""}}}',
    ].map((text) => () => {
      ipi({}, writeIn(stateName, text));
    }),
  ],
  "ipi-config-changed": [
    () => {
      ipi({}, writeIn("master.ign", "{}"));
    },
    () => {
      ipi({}, writeIn("arbiter.ign", "{}"));
    },
  ],
  "ipi-input-present": [
    "install-config.yaml",
    "manifests/a.yaml",
    "openshift/a.yaml",
    "templates/a",
    "tls/bound-service-account-signing-key.key",
  ].map((name) => () => {
    ipi({}, writeIn(name, ""));
  }),
  "ipi-certificates-end": [
    () => {
      ipi({ bootstrapIgn: sampleText("4.18", { certificate: fixture("one-day.crt") }) });
    },
  ],
  "ipi-spec-version": [
    () => {
      ipi({ bootstrapIgn: sampleText("4.18", { version: "3.4.0" }) });
    },
  ],
  "ipi-outside-spec": [
    () => {
      ipi({ bootstrapIgn: sampleText("4.18").replace('{"ignition"', '{"kernelArguments":{},"ignition"') });
    },
    () => {
      ipi({
        bootstrapIgn: JSON.stringify({
          ...sampleConfig("4.18"),
          ...Object.fromEntries(["a", "b", "c", "d", "e", "f", "g"].map((key) => [key.repeat(100), 1])),
        }),
      });
    },
  ],
  "ipi-payload-too-large": [
    () => {
      ipi({ bootstrapIgn: sampleText("4.18", { bytes: 950_000 }) });
    },
  ],
  "ipi-own-tunnel": [
    () => {
      ipi({ bootstrapIgn: sampleText("4.23-gate-on") });
    },
  ],
  "ipi-agent-based": [
    () => {
      ipi({}, writeIn("agent-config.yaml", ""));
    },
    () => {
      ipi({ assets: { "*agentconfig.AgentConfig": {} } });
    },
  ],
  "ipi-cluster-exists": [
    () => {
      ipi({}, writeIn(".clusterapi_output/envtest.kubeconfig", ""));
    },
    () => {
      ipi({}, writeIn("terraform.cluster.tfstate", ""));
    },
    () => {
      ipi({ assets: { "*cluster.Cluster": {} } });
    },
  ],
  "ipi-upi-platform": [
    () => {
      ipi({ platform: "none" });
    },
    () => {
      ipi({ platform: "external" });
    },
  ],
  "ipi-without-tunnel": [
    () => {
      ipi({}, undefined, "prepare", "--config", userFile("off.yaml", "tunnel: off"));
    },
  ],
  "ipi-consumed": [
    () => {
      ipi({ bootstrapIgn: make(sampleText("4.18")).text }, removeIn("bootstrap.ign"));
    },
    () => {
      ipi(
        { bootstrapIgn: make(sampleText("4.18")).text },
        (dir) => {
          removeIn("bootstrap.ign")(dir);
          writeIn("bootstrap.ign.original", "{}")(dir);
        },
        "restore",
      );
    },
  ],
  "ipi-bootstrap-missing": [
    () => {
      ipi({}, removeIn("bootstrap.ign"));
    },
    () => {
      ipi({}, removeIn("bootstrap.ign"), "restore");
    },
    () => {
      ipi({}, (dir) => {
        prepared(dir);
        removeIn("bootstrap.ign")(dir);
      });
    },
  ],
  "ipi-bootstrap-unknown": [
    () => {
      ipi({}, (dir) => {
        prepared(dir);
        writeIn("bootstrap.ign", sampleText("4.14"))(dir);
      });
    },
  ],
  "ipi-original-missing": [
    () => {
      ipi({ bootstrapIgn: make(sampleText("4.18")).text });
    },
  ],
  "ipi-changed-meanwhile": [
    () => {
      replaceKeepingOriginal({
        file: userFile("a", "new"),
        before: Buffer.from("old"),
        after: Buffer.from(""),
        keptFile: join(folder, "b"),
        kept: Buffer.from("old"),
        keptIsStale: false,
      });
    },
  ],
  "acceptance-unprepared": [
    async () => {
      await preflight({}, {}, [{ name: "Terraform", ok: false, found: "not on the PATH", advice: "install it" }]);
    },
  ],
  "acceptance-example": [
    async () => {
      await exampleCommand(silent).parseAsync([join(folder, "example"), "--platform", "aws"], { from: "user" });
      const inputs = readInputs(join(folder, "example/konnectivity.yaml"), new Date());
      await preflight({}, { inputs });
    },
  ],
  "acceptance-no-payload": [
    async () => {
      await preflight({ shape: "none" });
    },
  ],
  "acceptance-no-tunnel": [
    async () => {
      await preflight({ rest: { tunnel: "off" } });
    },
  ],
  "acceptance-gate-open": [
    async () => {
      await preflight({}, { environment: { [gateVariable]: "case 7" } });
    },
  ],
  "acceptance-deployed": [
    async () => {
      const state = { resources: [{ mode: "managed", type: "aws_instance", name: "x", instances: [{}] }] };
      mkdirSync(join(folder, "state"), { recursive: true });
      userFile("state/aws-bootstrap.tfstate", JSON.stringify(state));
      await preflight({ rest: { state: { local: { folder: join(folder, "state") } } } });
    },
  ],
  "acceptance-progress-invalid": ["", "[]", JSON.stringify({ format: 1, facts: { deploy: { added: "all" } } })].map(
    (text) => () => {
      userFile("progress.json", text);
      return readProgress(folder, { platform: "aws", cluster: "mine-12345" });
    },
  ),
  "acceptance-another-cluster": [
    () => {
      saveProgress(folder, newProgress("aws", "other-12345", now));
      return readProgress(folder, { platform: "aws", cluster: "mine-12345" });
    },
  ],
  "acceptance-step-failed": [
    [1, ""],
    [null, ""],
    [1, "aws-teardown  gate (local-exec): error: The cluster still needs its bootstrap machine.\n"],
  ].map(([code, output]) => () => {
    const ended = { code, output } as Ended;
    mustSucceed({ showFailed: () => undefined }, "cdktf destroy", ended, "destroy.log");
  }),
  "acceptance-plan-changes": [
    () => {
      mustNotChange(["aws-bootstrap", "aws-teardown"], "plan.log");
    },
  ],
  "acceptance-not-carrying": [
    () => {
      throw notCarrying(
        diagnose({ machines: [], unreachable: [{ machine: "core@10.0.0.5", reason: "no route" }] }),
        60,
      );
    },
    () => {
      throw notCarrying(diagnose({ machines: [], unreachable: [] }), 1);
    },
  ],
  "acceptance-checks-failed": [
    () => {
      mustPass([
        { id: "step-1", result: "failed" },
        { id: "step-2", result: "failed" },
      ]);
    },
  ],
  "acceptance-nothing-checked": [
    () => {
      mustPass([{ id: "step-1", result: "not looked at" }]);
    },
  ],
  "acceptance-left": [
    () => {
      mustBeGone({ gone: 3, terminating: 0, left: 1, notLookedAt: 0 }, "npx cdktf destroy 'aws-*'");
    },
  ],
  "acceptance-unseen": [
    () => {
      mustBeGone({ gone: 0, terminating: 0, left: 0, notLookedAt: 2 }, "npx cdktf destroy 'aws-*'");
    },
  ],
};

/** What `acceptance` refuses before it creates anything. */
async function preflight(
  { shape, rest }: { shape?: "none"; rest?: object },
  changes: Partial<Session> = {},
  needed: readonly Check[] = [],
): Promise<void> {
  const { files } = exampleOf("aws");
  const project = new Project(changedExample("aws", {}, rest), { files, ...(shape !== undefined && { shape }) });
  try {
    await checkPreflight(sessionOf(project, "aws", changes), { needed });
  } finally {
    project.remove();
  }
}

describe("a problem with options", () => {
  it.each([
    [problem("option-invalid", { option: "a.b", found: "1", expected: "2" }), ["a.b"], "a.b is 1; expected 2."],
    [problem("option-invalid", { option: "", found: "1", expected: "2" }), [""], "The config is 1; expected 2."],
    [problem("option-unknown", { option: "a", hint: "" }), ["a"], "a is not an option."],
    [
      problem("combination-refused", { options: ["a", "b"], reason: "r" }),
      ["a", "b"],
      "a and b cannot be combined: r.",
    ],
    [
      problem("combination-refused", { options: { a: false, b: undefined, c: undefined }, reason: "r" }),
      ["a", "b", "c"],
      "a false and b, c cannot be combined: r.",
    ],
    [
      problem("combination-refused", { options: { a: "x", b: undefined, c: true }, reason: "r" }),
      ["a", "b", "c"],
      "a x and b and c true cannot be combined: r.",
    ],
    [
      problem("combination-refused", { options: { a: 1, b: null }, reason: "r" }),
      ["a", "b"],
      "a 1 and no b cannot be combined: r.",
    ],
    [problem("root-needed"), undefined, problem("root-needed").message],
  ])("has them as a field, and its sentence is made from them: %j", (found, options, message) => {
    expect([found.options, found.message]).toEqual([options, message]);
  });

  it("is printed after its position", () => {
    const found = problem("option-unknown", { option: "a", hint: "" });
    expect(describeProblem(found)).toBe("a is not an option.");
    const position = { file: "konnectivity.yaml", line: 12, column: 3 };
    expect(describeProblem({ ...found, position })).toBe("konnectivity.yaml:12:3: a is not an option.");
  });
});

describe("every problem", () => {
  it("has a case here, or with a lab in test/e2e/lab/errors.test.ts", () => {
    expect([...Object.keys(errorCases), ...labProblems].sort()).toEqual([...problemCodes].sort());
    for (const [code, acts] of Object.entries(errorCases)) expect(acts.length, code).toBeGreaterThan(0);
  });

  testErrorCases(errorCases);

  it("is reported even for a config that contains itself", async () => {
    expect(await provoke(() => config("tunnel: &itself\n  protocol: *itself\n"))).toHaveLength(1);
  });

  it("is part of the error's message, all of them", () => {
    try {
      readTunnel({ protocol: "x", transport: "y" });
      expect.unreachable();
    } catch (error) {
      expect(error).toBeInstanceOf(UserError);
      const { problems, message, name } = error as UserError;
      expect(name).toBe("UserError");
      expect(message.split("\n")).toEqual(problems.map((found) => found.message));
      expect(problems).toHaveLength(2);
    }
  });
});
