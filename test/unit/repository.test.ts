import { spawnSync } from "node:child_process";
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { stringify } from "yaml";
import { projectFile } from "../../src/runtime/project-files.js";
import { command, program } from "../support/cli.ts";
import { changedExample, exampleOf, Project } from "../support/stacks.ts";

const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8);

/** The user's folder, which is a repository of theirs. */
let project: Project;
beforeEach(() => {
  const config = { ...changedExample("aws"), ...changedExample("azure") };
  project = new Project(config, { files: exampleOf("aws").files });
  git("init", "-q");
});
afterEach(() => {
  project.remove();
});

const inProject = (...path: string[]) => join(project.folder, ...path);
function git(...args: string[]): string[] {
  const env = { ...process.env, GIT_CONFIG_GLOBAL: "/dev/null", GIT_CONFIG_NOSYSTEM: "1" };
  const { status, stdout, stderr } = spawnSync("git", args, { cwd: project.folder, encoding: "utf8", env });
  expect(stderr + String(status)).toBe("0");
  return stdout.split("\n").filter((line) => line !== "");
}
/** What `git add -A` takes, without what the user put there. */
function staged(): string[] {
  git("add", "-A");
  return git("ls-files").filter((file) => !/^(konnectivity\.yaml|coreos-stream\.json|ocp\/.*)$/.test(file));
}

/** Runs a program of ours in the user's folder, in a process of its own. @returns what it prints to stderr */
function run(umask: string, file: string, ...args: string[]): string {
  const env = { ...process.env, KONNECTIVITY_CONFIG: project.configFile, CDKTF_OUTDIR: project.outdir };
  const line = ["-c", 'umask "$0"; exec "$@"', umask, process.execPath, file, ...args];
  const { status, stderr } = spawnSync("sh", line, { cwd: project.folder, encoding: "utf8", env });
  expect(status, stderr).toBe(0);
  return stderr;
}
const url = "https://files.example.com/payload.ign";
/** Without a process of its own. */
async function build(out: string): Promise<string> {
  const { code, stderr } = await command("payload", "build", inProject("ocp"), "--out", inProject(out), "--url", url);
  expect(code, stderr).toBe(0);
  return stderr;
}
/** Of a cluster that does not answer: the archive says so. */
function gather(umask: string): void {
  const kubeconfig = {
    "current-context": "c",
    contexts: [{ name: "c", context: { cluster: "c", user: "u" } }],
    clusters: [{ name: "c", cluster: { server: "https://127.0.0.1:1" } }],
    users: [{ name: "u", user: {} }],
  };
  project.write("ocp/kubeconfig", stringify(kubeconfig));
  run(umask, program, "gather", "--kubeconfig", "ocp/kubeconfig");
}
const archives = () => readdirSync(inProject("konnectivity-gather")).filter((name) => name.endsWith(".tar.gz"));

/** What Terraform and cdktf leave beside what is synthesized. */
function asDeployed(): void {
  for (const file of [
    ".state/.aws-bootstrap.tfstate.lock.info",
    ".state/aws-bootstrap.tfstate.1763208000.backup",
    "cdktf.out/stacks/aws-bootstrap/plan",
    "cdktf.out/stacks/aws-bootstrap/crash.log",
    "cdktf.out/stacks/aws-bootstrap/errored.tfstate",
    "cdktf.out/stacks/aws-bootstrap/.terraform.lock.hcl",
  ])
    project.write(file, "a secret");
}

describe.each(["000", "077"])("in a repository of the user's, with umask %s", (umask) => {
  it("git takes nothing that was made, and all of it is for its owner only", () => {
    run(umask, projectFile("scripts/app.js"));
    asDeployed();
    run(umask, program, "payload", "build", "ocp", "--out", "new/out", "--url", url);
    gather(umask);
    expect(existsSync(inProject("new/out/payload.ign"))).toBe(true);
    expect(archives()).toHaveLength(1);
    expect(staged()).toEqual([]);
    const stacks = ["aws-bootstrap", "aws-teardown", "azure-bootstrap", "azure-teardown"];
    const folders = [
      ...["cdktf.out", "cdktf.out/stacks", ".state", "new", "new/out", "konnectivity-gather"],
      ...stacks.map((name) => `cdktf.out/stacks/${name}`),
    ];
    expect(folders.map((folder) => [folder, modeOf(inProject(folder))])).toEqual(
      folders.map((folder) => [folder, "700"]),
    );
  });
});

describe("in a repository of the user's", () => {
  it("folders that were open are closed", () => {
    const folders = [".state", "cdktf.out", "cdktf.out/stacks", "cdktf.out/stacks/aws-teardown"].map((folder) =>
      inProject(folder),
    );
    for (const folder of folders) {
      mkdirSync(folder, { recursive: true });
      chmodSync(folder, 0o777);
    }
    // As 0.1.0 wrote it.
    project.write(".state/.gitignore", ".gitignore\n*.tfstate\n*.tfstate.*\ncluster.json\n");
    project.synth();
    asDeployed();
    expect(folders.map(modeOf)).toEqual(folders.map(() => "700"));
    expect(staged()).toEqual([]);
  });

  it("folders with files of theirs keep their mode, and git takes those files", async () => {
    project.write(
      "konnectivity.yaml",
      stringify({ installDir: "ocp", ...changedExample("aws"), state: { local: { folder: "." } } }),
    );
    for (const folder of ["cdktf.out", "out"]) {
      mkdirSync(inProject(folder));
      writeFileSync(inProject(folder, "theirs"), "");
    }
    const folders = [".", "cdktf.out", "out"].map((folder) => inProject(folder));
    for (const folder of folders) chmodSync(folder, 0o755);
    project.synth();
    await build("out");
    expect(folders.map(modeOf)).toEqual(["755", "755", "755"]);
    expect(modeOf(join(project.outdir, "stacks"))).toBe("700");
    expect(staged()).toEqual([
      ".gitignore",
      ...["cdktf.out", "out"].flatMap((folder) => [`${folder}/.gitignore`, `${folder}/theirs`]),
    ]);
  });

  it("a .gitignore of theirs is not changed, and payload build says what it lacks", async () => {
    for (const folder of [".", ".state", "cdktf.out", "konnectivity-gather"]) {
      mkdirSync(inProject(folder), { recursive: true });
      writeFileSync(inProject(folder, ".gitignore"), "theirs\n");
    }
    project.synth();
    gather("022");
    expect(await build(".")).toContain(
      ".gitignore exists and was not changed: add payload.ign and pointer.ign to it, or `git add -A` adds every secret of the cluster.\n",
    );
    for (const folder of [".", ".state", "cdktf.out", "konnectivity-gather"])
      expect(readFileSync(inProject(folder, ".gitignore"), "utf8")).toBe("theirs\n");
    for (const line of ["*.ign", "payload.ign\npointer.ign"]) {
      writeFileSync(inProject(".gitignore"), `theirs\n${line}\n`);
      expect(await build(".")).toBe("");
    }
  });

  it("a .gitignore of theirs that lacks the state is a warning, with the names that it lacks", () => {
    const config = { installDir: "ocp", ...changedExample("aws"), state: { local: { folder: "." } } };
    project.write("konnectivity.yaml", stringify(config));
    const warned = (...lines: string[]) => {
      project.write(".gitignore", lines.join("\n"));
      return run("022", projectFile("scripts/app.js"))
        .split("\n")
        .filter((line) => line.includes(".gitignore"));
    };
    const states = ["aws-bootstrap", "aws-teardown"].flatMap((stack) => [
      `${stack}.tfstate`,
      `${stack}.tfstate.backup`,
    ]);
    expect(warned("*.log")).toEqual([
      expect.stringContaining(`exists and was not changed: add ${[...states, "cluster.json"].join(" and ")} to it`),
    ]);
    expect(warned("/aws-*.tfstate", "cluster.json")).toEqual([
      expect.stringContaining("add aws-bootstrap.tfstate.backup and aws-teardown.tfstate.backup to it"),
    ]);
    expect(warned("*.tfstate", "*.tfstate.*", "cluster.json")).toEqual([]);
    expect(warned("*")).toEqual([]);
  });

  it("an archive that gather writes elsewhere is a warning unless git ignores it", () => {
    const out = () => {
      const stderr = run("022", program, "gather", "--kubeconfig", "ocp/kubeconfig", "--out", "theirs.tar.gz");
      rmSync(inProject("theirs.tar.gz"));
      return stderr;
    };
    gather("022");
    expect(out()).toContain(".gitignore does not exist: add theirs.tar.gz to it");
    writeFileSync(inProject(".gitignore"), "*.tar.gz\n");
    expect(out()).not.toContain(".gitignore");
  });

  it("a folder that others can write to is a warning, unless it is sticky", async () => {
    mkdirSync(inProject("out"));
    chmodSync(inProject("out"), 0o777);
    expect(await build("out")).toContain(
      `Other users can write to ${inProject("out")} and replace the files in it: run \`chmod go-w`,
    );
    chmodSync(inProject("out"), 0o1777);
    expect(await build("out")).toBe("");
  });

  it("what a killed payload build leaves half-written is ignored too", async () => {
    mkdirSync(inProject("out"));
    await build("out");
    writeFileSync(inProject("out/.payload.ign.partial"), "a secret");
    writeFileSync(inProject("out/theirs"), "");
    expect(staged()).toEqual(["out/.gitignore", "out/theirs"]);
  });
});

describe("links", () => {
  it("in the state folder are refused, all at once, and what they lead to is left alone", () => {
    const target = inProject("target");
    writeFileSync(target, "theirs");
    chmodSync(target, 0o644);
    project.synth();
    const names = ["aws-bootstrap.tfstate", "azure-bootstrap.tfstate.backup"];
    for (const name of names) {
      rmSync(inProject(".state", name));
      symlinkSync(target, inProject(".state", name));
    }
    expect(() => project.synth()).toThrow(
      names
        .map(
          (name) =>
            `The state file ${inProject(".state", name)} is a symbolic link, and Terraform would write to its target: replace the link with the file, or set state.local.folder to the folder of its target.`,
        )
        .join("\n"),
    );
    expect([readFileSync(target, "utf8"), modeOf(target)]).toEqual(["theirs", "644"]);
  });

  it("that stand for our folders are followed, but not chmodded; nor are those that stand for a .gitignore", () => {
    for (const name of ["cdktf.out", ".state"]) {
      mkdirSync(inProject(`target-of-${name}`));
      chmodSync(inProject(`target-of-${name}`), 0o755);
      symlinkSync(`target-of-${name}`, inProject(name));
      symlinkSync("../nowhere", inProject(name, ".gitignore"));
    }
    project.synth();
    expect(["cdktf.out", ".state"].map((name) => modeOf(inProject(`target-of-${name}`)))).toEqual(["755", "755"]);
    expect(existsSync(inProject("nowhere"))).toBe(false);
  });
});

describe("the clone", () => {
  it("ignores what the README creates", () => {
    const folder = mkdtempSync(join(tmpdir(), "konnectivity-bootstrap-clone-"));
    try {
      copyFileSync(projectFile(".gitignore"), join(folder, ".gitignore"));
      const readme = readFileSync(projectFile("README.md"), "utf8");
      const named = (pattern: RegExp) => [...readme.matchAll(pattern)].map(([, name = ""]) => name);
      const folders = [...new Set([...named(/--dir (\S+)/g), ...named(/--out (\S+)/g)])];
      expect(folders).toEqual(["ocp", "out"]);
      const files = [
        ...folders.flatMap((name) => [`${name}/auth/kubeadmin-password`, `${name}/.openshift_install.log`]),
        ...named(/print-stream-json > (\S+)/g),
        "konnectivity-gather/konnectivity-gather-2026-11-16T12-00-00.tar.gz",
        "konnectivity-gather-2026-11-16T12-00-00.tar.gz",
      ];
      const check = (...names: string[]) =>
        spawnSync("git", ["check-ignore", "--no-index", ...names], { cwd: folder, encoding: "utf8" }).stdout.split(
          "\n",
        );
      spawnSync("git", ["init", "-q"], { cwd: folder });
      expect(check(...files)).toEqual([...files, ""]);
      expect(check("konnectivity.yaml", "test/fixtures/ocp/metadata.json", "docs/examples/aws.yaml")).toEqual([""]);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
