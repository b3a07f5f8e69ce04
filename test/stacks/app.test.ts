import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { stringify } from "yaml";
import { asStarted } from "../../src/cli/printed-commands.ts";
import { projectRoot } from "../../src/runtime/project-files.js";
import { readInputs } from "../../stacks/inputs.ts";
import { withoutConfig } from "../../stacks/load.ts";
import { runIn } from "../support/cli.ts";
import {
  changedExample,
  exampleOf,
  metadata,
  mistakesOf,
  Project,
  type ProjectProps,
  synthesize,
} from "../support/stacks.ts";

const { files } = exampleOf("aws");
const clouds = (...platforms: string[]) =>
  Object.assign({}, ...platforms.map((platform) => changedExample(platform))) as Record<string, unknown>;

let project: Project;
const projectWith = (config: object, props: ProjectProps = {}) => (project = new Project(config, { files, ...props }));
afterEach(() => {
  project.remove();
});

const payloads = () =>
  readdirSync(join(project.outdir, "stacks")).filter((stack) =>
    existsSync(join(project.outdir, "stacks", stack, "payload.ign")),
  );
const configure = (config: object) => {
  project.write("konnectivity.yaml", stringify({ installDir: "ocp", ...config }));
};
/** What the cdktf command prints for each stack. */
function annotations(): Record<string, string[]> {
  project.synth();
  const { stacks } = JSON.parse(readFileSync(join(project.outdir, "manifest.json"), "utf8")) as {
    stacks: Record<string, { annotations: { level: string; message: string }[] }>;
  };
  return Object.fromEntries(
    Object.entries(stacks).map(([name, stack]) => [name, stack.annotations.map(({ message }) => message)]),
  );
}
/** Runs cdktf.json's app for the project. */
const run = (program: string, ...args: string[]) =>
  spawnSync(program, args, {
    cwd: projectRoot,
    encoding: "utf8",
    env: {
      ...process.env,
      KONNECTIVITY_CONFIG: project.configFile,
      CDKTF_OUTDIR: project.outdir,
      CHECKPOINT_DISABLE: "1",
    },
  });

describe("what a synth writes outside its output folder", () => {
  const written = (path: string) => `Created for the state, outside the output folder: ${path}.`;
  const synth = () => synthesize(project.inputs(), project.outdir);

  it("is the state folder, and is said once", () => {
    projectWith(changedExample("aws"));
    expect(synth()).toEqual([written(".state")]);
    expect(readdirSync(join(project.folder, ".state")).sort()).toEqual([
      ...[".gitignore", "aws-bootstrap.tfstate", "aws-bootstrap.tfstate.backup", "aws-teardown.tfstate"],
      ...["aws-teardown.tfstate.backup", "cluster.json"],
    ]);
    const before = statSync(join(project.folder, ".state/cluster.json")).ino;
    expect(synth()).toEqual([]);
    expect(statSync(join(project.folder, ".state/cluster.json")).ino).toBe(before);
    expect(readdirSync(project.folder).sort()).toEqual(
      [".state", "cdktf.out", "coreos-stream.json", "konnectivity.yaml", "ocp"].sort(),
    );
  });

  it("is each file that is new in a state folder that exists", () => {
    projectWith(changedExample("aws"));
    mkdirSync(join(project.folder, ".state"));
    for (const name of [".gitignore", "aws-bootstrap.tfstate"]) project.write(`.state/${name}`, "");
    const names = ["aws-bootstrap.tfstate.backup", "aws-teardown.tfstate", "aws-teardown.tfstate.backup"];
    expect(synth()).toEqual([written([...names, "cluster.json"].map((name) => `.state/${name}`).join(", "))]);
    project.write("ocp/metadata.json", JSON.stringify({ ...metadata, clusterName: "renamed" }));
    expect(synth()).toEqual([written(".state/cluster.json")]);
  });

  it("is nothing where a deploy stops before it has a state", () => {
    projectWith(changedExample("aws"), { shape: "none" });
    expect(synth()).toEqual([]);
    const inputs = project.inputs();
    const payload = { present: true, text: "{}", sha512: "0".repeat(128), example: true } as const;
    expect(synthesize({ ...inputs, payload }, project.outdir)).toEqual([]);
    expect(existsSync(join(project.folder, ".state"))).toBe(false);
  });

  it("is printed by the app on stderr, and by the cdktf command with the annotations", () => {
    projectWith(changedExample("aws"));
    const { stdout, stderr } = run(process.execPath, "scripts/app.js");
    const shown = `${written(relative(projectRoot, join(project.folder, ".state")))}\n`;
    expect({ stdout, stderr }).toEqual({ stdout: "", stderr: shown });
    rmSync(join(project.folder, ".state"), { recursive: true });
    expect(annotations()["aws-bootstrap"]).toEqual([written(".state")]);
  });
});

describe("without a config file", () => {
  it("a synth describes the lab, and says the same as config check", async () => {
    projectWith({});
    rmSync(project.configFile);
    const { status, stderr } = spawnSync(process.execPath, [join(projectRoot, "scripts/app.js")], {
      cwd: project.folder,
      encoding: "utf8",
      env: { ...process.env, KONNECTIVITY_CONFIG: "", CDKTF_OUTDIR: project.outdir },
    });
    expect(status).toBe(0);
    expect(stderr).toBe(
      `There is no config file: ${withoutConfig.stacks}; ${withoutConfig.advice}.\nCreated for the state, outside the output folder: .state.\n`,
    );
    expect(readdirSync(join(project.outdir, "stacks"))).toEqual(["local-bootstrap", "local-teardown"]);
    const { stdout } = await runIn(project.folder, { ...process.env, KONNECTIVITY_CONFIG: "" }, "config", "check");
    for (const said of Object.values(withoutConfig)) expect(stdout).toContain(asStarted(said, project.folder));
  });
});

describe("the app", () => {
  it("adds a platform's warning to that platform's stack, and a general one to the first", () => {
    projectWith(clouds("aws", "azure"));
    project.synth();
    const said = annotations();
    expect(said["azure-bootstrap"]?.join()).toContain("azure.pointer is sas");
    expect(said["aws-bootstrap"]).toEqual([]);
    rmSync(join(project.folder, "ocp/bootstrap.ign"));
    const without = annotations();
    expect(without["aws-bootstrap"]).toEqual([expect.stringContaining("you cannot deploy") as string]);
    expect(without["azure-bootstrap"]?.join()).not.toContain("you cannot deploy");
  });

  it("prints warnings and errors", () => {
    projectWith(clouds("azure"));
    const good = run(process.execPath, "scripts/app.js");
    expect(good.status).toBe(0);
    expect(good.stdout).toBe("");
    expect(good.stderr).toMatch(/^warning: azure\.pointer is sas.*\nwarning: The bootstrap machine's rules/);
    project.write("konnectivity.yaml", "tunnel: off\n");
    expect(run(process.execPath, "scripts/app.js")).toMatchObject({
      status: 1,
      stderr:
        "error: The config has no platform, so there is nothing to deploy: add aws, azure, google or local to it.\n",
    });
  });

  it("leaves no payload of a platform that is no longer in the config, nor of a deleted bootstrap.ign", () => {
    projectWith(clouds("aws", "google"));
    project.synth();
    expect(payloads()).toEqual(["aws-bootstrap", "google-bootstrap"]);
    configure(clouds("google"));
    project.synth();
    expect(payloads()).toEqual(["google-bootstrap"]);
    rmSync(join(project.folder, "ocp/bootstrap.ign"));
    project.synth();
    expect(payloads()).toEqual([]);
  });

  it("warns of a platform that is gone from the config and still deployed", () => {
    projectWith(clouds("aws", "google"));
    project.synth();
    project.write(".state/aws-bootstrap.tfstate", '{\n  "resources": [\n    {}\n  ]\n}\n');
    const codes = () => project.inputs().warnings.map(({ code }) => code);
    expect(codes()).not.toContain("platform-still-deployed");
    configure(clouds("google"));
    expect(annotations()["google-bootstrap"]?.join()).toContain("aws-bootstrap is still deployed, but aws is not in");
  });

  it("reports in one sentence that it cannot write", () => {
    projectWith(clouds("aws"));
    writeFileSync(join(project.folder, "cdktf.out"), "a file in the way");
    const { status, stderr } = run(process.execPath, "scripts/app.js");
    expect(status).toBe(1);
    expect(stderr).toMatch(
      /^error: .*cdktf\.out\/stacks cannot be written: part of the path is not a folder; nothing was changed\.\n$/,
    );
  });

  it("keeps a state out of a repository", () => {
    projectWith(clouds("aws"));
    project.synth();
    const git = (...args: string[]) => spawnSync("git", args, { cwd: project.folder, encoding: "utf8" }).stdout;
    git("init", "-q");
    writeFileSync(join(project.folder, ".state/.aws-bootstrap.tfstate.lock.info"), "");
    expect(git("status", "--porcelain", "--untracked-files=all")).not.toContain(".state");
  });

  it("accepts a platform without options", () => {
    projectWith({});
    project.write("konnectivity.yaml", "installDir: ocp\naws:\n");
    expect(() => project.inputs()).toThrow("aws.vpcId is missing");
  });

  it("quotes paths that a shell would split", () => {
    projectWith({ ...clouds("aws"), installDir: "my 'ocp' folder" });
    renameSync(join(project.folder, "ocp"), join(project.folder, "my 'ocp' folder"));
    expect(project.synth()["aws-bootstrap"]?.output.next?.value).toBe(
      "openshift-install wait-for bootstrap-complete --dir 'my '\\''ocp'\\'' folder'",
    );
  });

  it("reports an install folder that cannot be read, instead of a missing bootstrap.ign", () => {
    projectWith({ ...clouds("aws"), installDir: "circle" });
    const circle = join(project.folder, "circle");
    spawnSync("ln", ["-s", circle, circle]);
    expect(() => project.inputs()).toThrow("bootstrap.ign cannot be read: its symbolic links form a loop");
  });

  it("does not show a private key that was taken for a public one", () => {
    const label = ["OPENSSH", "PRIVATE", "KEY"].join(" ");
    const key = `-----BEGIN ${label}-----\nthis would be base64\n`;
    projectWith(changedExample("azure", { sshKeyData: key }));
    expect(() => project.inputs()).toThrow("azure.sshKeyData is a private key; expected an RSA or ED25519 public key");
  });

  it.each([
    ["an installDir that is none says nothing of what follows from it", { installDir: 5 }, ["installDir is 5"]],
    [
      "a name that Terraform would take for an expression",
      { tags: { "${foo}": "x" } },
      ["tags.${foo} is a name with", "a name that AWS does not accept"],
    ],
    ["a tag that is the machine's own", { tags: { "Konnectivity-Bootstrap-Made-Of": "x" } }, ["is a reserved name"]],
    [
      "a state that no backend would take",
      { state: { s3: { bucket: "UPPER case!", region: "nowhere", keyPrefix: "../x" } } },
      ["state.s3.bucket is", "state.s3.region is", "state.s3.keyPrefix is"],
    ],
  ])("%s", (_, rest, expected) => {
    const mistakes = mistakesOf(changedExample("aws", {}, rest), { files });
    expect(mistakes).toEqual(expected.map((part) => expect.stringContaining(part) as string));
  });

  it("accepts a cluster whose name begins with a digit, where the cloud does", () => {
    const named = { metadata: { ...metadata, infraID: "4prod-x7k2p" }, files };
    expect(mistakesOf(changedExample("aws"), named)).toEqual([]);
    expect(mistakesOf(changedExample("google"), named).join()).toContain("one that starts with a letter");
  });

  it("reports an unknown YAML tag", () => {
    expect(mistakesOf("installDir: !!js/function 'x'\n").join()).toContain("is not valid YAML");
  });

  it("names the config file in the command line for destroying, if it is not the usual one", () => {
    projectWith(clouds("aws"));
    expect(project.synth()["aws-bootstrap"]?.output.teardown?.value).toBe("npx cdktf destroy 'aws-*'");
    renameSync(project.configFile, join(project.folder, "my config.yaml"));
    const inputs = readInputs(join(project.folder, "my config.yaml"), new Date(), { workingDirectory: project.folder });
    synthesize(inputs, project.outdir);
    const text = readFileSync(join(project.outdir, "stacks/aws-bootstrap/cdk.tf.json"), "utf8");
    expect(text).toContain("KONNECTIVITY_CONFIG='my config.yaml' npx cdktf destroy 'aws-*'");
  });
});
