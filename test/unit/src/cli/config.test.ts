import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative, resolve } from "node:path";
import { afterAll, afterEach, describe, expect, it } from "vitest";
import { parse } from "yaml";
import { projectFile, projectRoot, readProjectText } from "../../../../src/runtime/project-files.js";
import { readInputs } from "../../../../stacks/inputs.ts";
import { configFormat } from "../../../../stacks/platforms.ts";
import { clouds } from "../../../support/clouds.ts";
import { configJsonSchema, type SchemaNode } from "../../../../src/config/schema.ts";
import { command, linesOf, run, runWith } from "../../../support/cli.ts";
import { changedExample, exampleOf, metadata, Project } from "../../../support/stacks.ts";

const root = mkdtempSync(join(tmpdir(), "config-"));
const { files } = exampleOf("aws");
const project = new Project(changedExample("aws"), { files });
afterAll(() => {
  rmSync(root, { recursive: true });
  project.remove();
});

const isCommentedOption = (line: string) => /^ *# +\w+:( |$)/.test(line);

/** What nobody but the user knows, by platform; and the infra ID, which metadata.json would say. */
const missing = {
  aws: [
    ...["vpcId", "masterSecurityGroupId", "workerSecurityGroupId", "", "region", "privateSubnet"],
    ...["internalApiTargetGroupArn", "internalServiceTargetGroupArn"],
  ],
  azure: ["nodeSubnets", "backendAddressPoolIds", "", "region"],
  google: ["zone", "clusterNetwork", "subnet", "", "project", "region", "instanceGroup"],
};

describe("config init", () => {
  it.each(clouds)("writes a file for %s that is YAML, says what is missing, and nothing else", async (platform) => {
    const file = join(root, `${platform}.yaml`);
    const made = await command("config", "init", platform, "--config", file);
    expect(made).toMatchObject({ code: 0, stderr: "" });
    expect(made.stdout).toContain("config check");
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const written = parse(readFileSync(file, "utf8")) as Record<string, Record<string, unknown>>;
    expect(Object.keys(written)).toEqual(["installDir", ...(platform === "azure" ? [] : ["stream"]), platform]);
    mkdirSync(join(root, "ocp"), { recursive: true });
    const { code, stdout, stderr } = await command("config", "check", "--config", file);
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    const options = linesOf(stderr).map(
      (line) =>
        /^error: (?:\S+:\d+:\d+: )?(\S+) is (missing|\S*ocp, which has no bootstrap\.ign); expected /.exec(line)?.[1],
    );
    expect(options.toSorted()).toEqual(
      [
        "installDir",
        ...missing[platform].map((option) => (option === "" ? "infrastructureName" : `${platform}.${option}`)),
      ].toSorted(),
    );
  });

  it.each(clouds)("explains every option of %s", async (platform) => {
    const file = join(root, `${platform}-explained.yaml`);
    await command("config", "init", platform, "--config", file);
    const lines = readFileSync(file, "utf8").split("\n");
    const properties = configJsonSchema(configFormat).properties?.[platform]?.properties ?? {};
    for (const [name, { description = "" }] of Object.entries(properties)) {
      const at = lines.findIndex((line) => new RegExp(`^  (# )?${name}:`).test(line));
      expect(at, name).toBeGreaterThan(0);
      expect(description.length, name).toBeGreaterThan(10);
      expect(lines[at - 1]).toBe(`  # ${description}`);
    }
  });

  it("names a schema that is there, and the file in the next command, wherever it writes", async () => {
    const file = join(root, "elsewhere/x.yaml");
    const { stdout } = await command("config", "init", "aws", "--config", file);
    const [line = ""] = readFileSync(file, "utf8").split("\n");
    const schema = resolve(dirname(file), line.replace("# yaml-language-server: $schema=", ""));
    expect(schema).toBe(projectFile("docs/konnectivity.schema.json"));
    expect(linesOf(stdout).at(-1)).toBe(`  npx konnectivity-bootstrap config check --config ${file}`);
  });

  it.each(clouds)(
    "shows defaults of %s in commented lines: each can be uncommented and changes nothing",
    async (platform) => {
      const folder = join(root, `${platform}-defaults`);
      await command("example", folder, "--platform", platform);
      const file = join(folder, "konnectivity.yaml");
      rmSync(file);
      await command("config", "init", platform, "--config", file);
      const { options = {} } =
        configFormat.clouds.find(({ name }) => name === platform)?.example("example-x7k2p") ?? {};
      const filled = readFileSync(file, "utf8").replaceAll(/^ {2}(\w+):$/gm, (line, key: string) => {
        const value = options[key];
        return value === undefined ? line : `  ${key}: ${JSON.stringify(value)}`;
      });
      const inputsOf = (text: string) => {
        writeFileSync(file, text);
        const { payload, ...inputs } = readInputs(file, new Date("2026-11-18T12:00:00Z"));
        return { ...inputs, payload: payload.present && payload.sha512 };
      };
      const before = inputsOf(filled);
      // A blank line ends an option.
      const blocks = filled.split("\n\n").filter((block) => block.split("\n").some(isCommentedOption));
      expect(blocks.length).toBeGreaterThan(15);
      for (const block of blocks) {
        const lines = block.split("\n").map((line) => (isCommentedOption(line) ? line.replace("# ", "") : line));
        expect({ block, inputs: inputsOf(filled.replace(block, lines.join("\n"))) }).toEqual({ block, inputs: before });
      }
    },
  );

  it("takes gcp for google, with a hint", async () => {
    const file = join(root, "gcp.yaml");
    expect(await command("config", "init", "gcp", "--config", file)).toMatchObject({
      code: 0,
      stdout: `Wrote ${file}. Fill it in, then run:\n  npx konnectivity-bootstrap config check --config ${file}\n`,
      stderr: "warning: gcp means google here.\n",
    });
    expect(parse(readFileSync(file, "utf8"))).toHaveProperty("google");
  });

  it("does not touch an existing file", async () => {
    const file = join(root, "there.yaml");
    writeFileSync(file, "mine");
    expect(await command("config", "init", "aws", "--config", file)).toEqual({
      code: 1,
      stdout: "",
      stderr: `error: ${file} already exists and was not changed: give another name with --config.\n`,
    });
    expect(readFileSync(file, "utf8")).toBe("mine");
  });

  it("refuses an unknown platform", async () => {
    const { code, stderr } = await command("config", "init", "vsphere", "--config", join(root, "x.yaml"));
    expect(code).toBe(2);
    expect(stderr).toContain("aws, azure, google");
    expect((await command("config", "init", "azur", "--config", join(root, "x.yaml"))).stderr).toContain(
      "(Did you mean azure?)",
    );
  });
});

describe("config check", () => {
  it("reports what would be created, and creates nothing", async () => {
    const { code, stdout, stderr } = await run("config", "check", "--config", project.configFile);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toContain(`cluster   ${metadata.infraID}\n`);
    expect(stdout).toContain("state     local, in .state beside the config file\n");
    expect(stdout).toMatch(/^aws-bootstrap: 16 resources$/m);
    expect(stdout).toMatch(/^ {2}aws_s3_bucket {2}sample-x7k2p-bootstrap-3e9f8b1c$/m);
    expect(stdout).toMatch(/^ {2}aws_instance {2}sample-x7k2p-bootstrap$/m);
    expect(readdirSync(project.folder).sort()).toEqual(["coreos-stream.json", "konnectivity.yaml", "ocp"]);
  });

  it("says that OpenShift's own rules admit a port, if they do", async () => {
    const hint = /^firewall {2}managed; the rules of OpenShift's UPI templates for 9000–9999 admit 9591 already/m;
    const checked = async (rest: object) => {
      const other = new Project(changedExample("aws", {}, rest), { files: exampleOf("aws").files });
      const { stdout } = await run("config", "check", "--config", other.configFile);
      other.remove();
      return stdout;
    };
    const stdout = await checked({ tunnel: { port: 9591 } });
    expect(stdout).toMatch(/^tunnel .* port 9591$/m);
    expect(stdout).toMatch(hint);
    for (const rest of [{}, { tunnel: { port: 8192 } }, { tunnel: { port: 9591 }, firewall: "external" }])
      expect(await checked(rest)).not.toMatch(/^firewall/m);
  });

  it("says of the local platform what it is", async () => {
    const file = join(root, "local.yaml");
    writeFileSync(file, "local: { name: mine, nodes: 2 }\n");
    const { code, stdout, stderr } = await command("config", "check", "--config", file);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toMatch(/\nlab {7}mine, nodes: 2, IPv4; with its own sample payload\n/);
    expect(stdout).not.toMatch(/^(cluster|payload)/m);
    expect(stdout).toContain("\nlocal-bootstrap: steps on this machine\n\nlocal-teardown: steps on this machine\n");
  });

  it("leaves out a stack that has nothing in it", async () => {
    const file = join(root, "local.yaml");
    writeFileSync(file, "local: { ipi: true }\n");
    const { code, stdout } = await command("config", "check", "--config", file);
    expect(code).toBe(0);
    expect(stdout).toMatch(/\nlab {7}local, nodes: 1, IPv4, as openshift-install create cluster; /);
    expect(stdout).toMatch(/^tunnel .*, port 9591$/m);
    expect(stdout).not.toContain("local-teardown");
  });

  it("needs no Terraform", async () => {
    const { code, stderr } = await runWith({ PATH: root }, "config", "check", "--config", project.configFile);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  });

  it("--json prints JSON", async () => {
    const { stdout } = await command("config", "check", "--json", "--config", project.configFile);
    expect(JSON.parse(stdout)).toMatchObject({
      cluster: metadata.infraID,
      warnings: [],
      stacks: {
        "aws-bootstrap": expect.arrayContaining([
          expect.objectContaining({ type: "aws_iam_role", name: "sample-x7k2p-bootstrap" }),
        ]) as object,
      },
    });
  });

  it("a platform is missing: it says which there are", async () => {
    const file = join(root, "none.yaml");
    writeFileSync(file, `installDir: ${join(project.folder, "ocp")}\n`);
    const { code, stderr } = await command("config", "check", "--config", file);
    expect(code).toBe(1);
    expect(stderr).toContain("add aws, azure, google or local to it");
  });

  it("ends with the next command", async () => {
    const last = async (file: string) => linesOf((await command("config", "check", "--config", file)).stdout).at(-1);
    expect(await last(project.configFile)).toBe(
      `next      KONNECTIVITY_CONFIG=${relative(projectRoot, project.configFile)} npx cdktf deploy 'aws-*'`,
    );
    const folder = join(root, "next");
    await command("example", folder, "--platform", "aws");
    expect(await last(join(folder, "konnectivity.yaml"))).toMatch(/ npx cdktf synth$/);
  });

  it("reports a misspelt option once, with the one that was meant", async () => {
    const file = join(root, "misspelt.yaml");
    const { aws } = changedExample("aws") as { aws: Record<string, unknown> };
    const { vpcId, internalApiTargetGroupArn, ...rest } = aws;
    const misspelt = { ...rest, vpcID: vpcId, internalApiTargetGroupARN: internalApiTargetGroupArn };
    writeFileSync(
      file,
      JSON.stringify({
        ...changedExample("aws"),
        installDir: join(project.folder, "ocp"),
        stream: join(project.folder, "coreos-stream.json"),
        aws: misspelt,
      }),
    );
    const { stderr } = await command("config", "check", "--config", file);
    expect(linesOf(stderr).map((line) => line.replace(/^error: \S+ /, ""))).toEqual([
      "aws.vpcID is not an option; did you mean vpcId.",
      "aws.internalApiTargetGroupARN is not an option; did you mean internalApiTargetGroupArn.",
    ]);
  });

  it("knows openshift-install's name of a platform", async () => {
    const file = join(root, "installer-name.yaml");
    writeFileSync(file, "gcp: {}\n");
    const { stderr } = await command("config", "check", "--config", file);
    expect(stderr).toContain("gcp is not an option; use google.");
  });

  it("prints line and column of every error in the config file", async () => {
    const file = join(root, "positions.yaml");
    const lines = [
      `installDir: ${join(project.folder, "ocp")}`,
      "tagz: {}",
      "tunnel:",
      "  transport: tcp",
      "aws:",
      "  masterSecurityGroupId: sg-0123456789abcdef0",
      "  vpcId: no-vpc",
      "  publicIp: true",
      "  bootstrapSecurityGroupIds: [sg-0123456789abcdef0, sg]",
      "  privateSubnet: subnet-0123456789abcdef0",
    ];
    writeFileSync(file, `${lines.join("\n")}\n`);
    const { stderr } = await command("config", "check", "--config", file);
    const found = linesOf(stderr).map((line) =>
      /^error: (?:\S+positions\.yaml:(\d+:\d+): )?([^;]+?) (?:is|cannot)/.exec(line),
    );
    expect(found.map((match) => match?.slice(1, 3))).toEqual([
      ["7:3", "aws.vpcId"],
      // The map that lacks it.
      ["5:1", "aws.workerSecurityGroupId"],
      ["9:53", "aws.bootstrapSecurityGroupIds.1"],
      ["2:1", "tagz"],
      // The first of the options that the file has.
      ["4:3", "tunnel.protocol grpc and tunnel.transport tcp"],
      ["10:3", "aws.privateSubnet and aws.publicIp true"],
      ["5:1", "aws.internalApiTargetGroupArn"],
      ["5:1", "aws.internalServiceTargetGroupArn"],
      ["5:1", "aws.rhcosAmi"],
    ]);
  });

  describe("an install folder that is not there", () => {
    const gone = { installDir: "opc", infrastructureName: metadata.infraID };
    const check = (config: object) => {
      project.write("gone.yaml", JSON.stringify(config));
      return command("config", "check", "--config", join(project.folder, "gone.yaml"));
    };
    const refusal = new RegExp(
      '^error: \\S+gone.yaml:1:\\d+: installDir is \\S*opc, which does not exist; expected the folder in which "openshift-install create ignition-configs" ran \\(only a destroy works without it, and nothing is deployed\\)\\.$',
    );
    const warning =
      /^warning: The install folder \S*opc \(installDir\) does not exist: you can destroy what is deployed, but you cannot deploy\.\n$/;
    afterEach(() => {
      rmSync(join(project.folder, "gone.yaml"));
      rmSync(join(project.folder, ".state"), { recursive: true, force: true });
    });

    it("is named and refused where nothing is deployed", async () => {
      const { code, stdout, stderr } = await check(changedExample("aws", {}, gone));
      expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
      expect(linesOf(stderr)).toEqual([expect.stringMatching(refusal) as string]);
    });

    it("is refused together with every other mistake, and without what follows from it", async () => {
      const { stderr } = await check(changedExample("aws", { vpcId: "no-vpc" }, { installDir: "opc" }));
      expect(stderr).toMatch(/^error: \S+gone\.yaml:1:\d+: aws\.vpcId is /m);
      expect(stderr).toMatch(/^error: \S+gone\.yaml:1:\d+: installDir is /m);
      expect(linesOf(stderr)).toHaveLength(2);
    });

    it("is a warning where something is deployed that can be destroyed without it", async () => {
      mkdirSync(join(project.folder, ".state"));
      project.write(".state/cluster.json", JSON.stringify(metadata));
      project.write(".state/aws-bootstrap.tfstate", '{\n  "resources": [\n    {}\n  ]\n}\n');
      const { code, stderr } = await check(changedExample("aws", {}, gone));
      expect(code).toBe(0);
      expect(stderr).toMatch(warning);
    });

    it("is a warning where the state is shared, whose content is not known here", async () => {
      const state = { s3: { bucket: "states", region: "eu-west-1", keyPrefix: "clusters/prod" } };
      const { code, stderr } = await check(changedExample("aws", { region: "eu-central-1" }, { ...gone, state }));
      expect(code).toBe(0);
      expect(stderr).toMatch(warning);
    });

    it("does not keep the stacks from being described, which destroying begins with", () => {
      project.write("gone.yaml", JSON.stringify(changedExample("aws", { region: "eu-central-1" }, gone)));
      expect(() => readInputs(join(project.folder, "gone.yaml"), new Date())).not.toThrow();
    });
  });

  it("refuses a state in the folder that the cdktf command clears, as a synth does", async () => {
    const file = join(project.folder, "cleared.yaml");
    const state = { local: { folder: join(process.cwd(), "cdktf.out/state") } };
    writeFileSync(file, JSON.stringify({ installDir: "ocp", ...changedExample("aws", {}, { state }) }));
    const { code, stderr } = await command("config", "check", "--config", file);
    rmSync(file);
    expect(code).toBe(1);
    expect(stderr).toContain("state.local.folder is a folder in the output folder; expected a folder outside it");
  });

  it("warns, and still succeeds", async () => {
    const file = join(project.folder, "warned.yaml");
    writeFileSync(
      file,
      JSON.stringify({ installDir: "ocp", ...changedExample("aws", { allowedBootstrapSshCidr: "0.0.0.0/0" }) }),
    );
    const { code, stderr } = await command("config", "check", "--config", file);
    rmSync(file);
    expect(code).toBe(0);
    expect(stderr).toMatch(/^warning: aws\.allowedBootstrapSshCidr is 0\.0\.0\.0\/0, so everyone who can reach/);
  });
});

describe("the JSON Schema", () => {
  const committed = readProjectText("docs/konnectivity.schema.json");

  it("is what `config schema` prints, and docs/ has it", async () => {
    const { stdout } = await command("config", "schema");
    expect(stdout).toBe(committed);
  });

  it("explains every option", () => {
    const unexplained = (node: SchemaNode, path: string): string[] => [
      ...(node.description === undefined && path !== "" ? [path] : []),
      ...[node, ...(node.anyOf ?? [])].flatMap((part) =>
        Object.entries(part.properties ?? {}).flatMap(([name, child]) => unexplained(child, `${path}.${name}`)),
      ),
    ];
    expect(unexplained(configJsonSchema(configFormat), "")).toEqual([]);
  });
});

it("an editor finds the schema by the first line of the examples", () => {
  for (const platform of clouds) {
    const example = projectFile(`docs/examples/${platform}.yaml`);
    const [line = ""] = readFileSync(example, "utf8").split("\n");
    const [, path = ""] = /^# yaml-language-server: \$schema=(\S+)$/.exec(line) ?? [];
    expect(existsSync(join(dirname(example), path)), platform).toBe(true);
  }
});
