import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { parse, stringify } from "yaml";
import { afterAll, describe, expect, it } from "vitest";
import { readInputs } from "../../stacks/inputs.ts";
import type { Inputs } from "../../stacks/resolve.ts";
import { UserError } from "../../src/core/errors.ts";
import { templatesLeft } from "../../src/core/terraform-literal.ts";
import { decodeContents } from "../../src/core/ignition/contents.ts";
import { fileEntry, sampleConfig } from "../../src/core/sample/sample.ts";
import { filesIn } from "../support/invariants.ts";
import { changedExample, metadata, sampleStream, synthesize } from "../support/stacks.ts";

/** Terraform would evaluate both; escaped, both are texts. */
const marker = "${MARKER-1}%{MARKER-2}";
const escaped = "$${MARKER-1}%%{MARKER-2}";
const unescaped = /(?<!\$)\$\{MARKER-1|(?<!%)%\{MARKER-2/;

const clouds = ["aws", "azure", "google"] as const;
const everyPlatform = Object.assign(
  { local: {}, firewall: "external" },
  ...clouds.map((platform) => changedExample(platform, {}, { firewall: "external" })),
) as object;
const sharedState = { s3: { bucket: "states", region: "eu-central-1", keyPrefix: "prod" } };
const sharedConfig = {
  ...everyPlatform,
  ...{ state: sharedState, infrastructureName: metadata.infraID },
  aws: { ...(everyPlatform as { aws: object }).aws, region: "eu-central-1" },
  azure: { ...(everyPlatform as { azure: object }).azure, region: "westeurope", resourceGroupName: "sample-rg" },
  google: {
    ...(everyPlatform as { google: object }).google,
    region: "europe-west1",
    project: "sample-project",
    networkProject: "host-project",
  },
};
const wholeMetadata = { ...metadata, gcp: { ...metadata.gcp, networkProjectID: "host-project" } };

const ignition = sampleConfig("4.18", {
  platform: { baremetal: { apiVIPs: ["10.0.0.2"], ingressVIPs: ["10.0.0.3"] } },
});

const root = mkdtempSync(join(tmpdir(), "konnectivity-bootstrap-templates-"));
afterAll(() => {
  rmSync(root, { recursive: true });
});
let count = 0;

interface Planted {
  readonly config?: object;
  /** From the case's folder. */
  readonly configFile?: string;
  readonly workingDirectory?: string;
  readonly outdir?: string;
  /** null: there is none. */
  readonly metadata?: object | null;
  readonly saved?: object;
  readonly stream?: object;
  readonly bootstrapIgn?: object | null;
  /** Changes what was read. */
  readonly change?: (inputs: Inputs) => Inputs;
}

/** The code of all stacks, or the sentences that refuse the input. */
type Result = { readonly code: string } | { readonly refused: string };

/** @param onlyRead whether to stop before the stacks, which take most of the time */
function resultOf(input: Planted, onlyRead = false): Result {
  const folder = join(root, String(++count));
  const { configFile = "konnectivity.yaml", workingDirectory = ".", change = (inputs: Inputs) => inputs } = input;
  const file = join(folder, configFile);
  const outdir = join(folder, input.outdir ?? "cdktf.out");
  const write = (name: string, value: object) => {
    mkdirSync(dirname(join(dirname(file), name)), { recursive: true });
    writeFileSync(join(dirname(file), name), JSON.stringify(value));
  };
  for (const needed of [join(folder, workingDirectory), dirname(outdir), dirname(file)])
    mkdirSync(needed, { recursive: true });
  writeFileSync(file, stringify({ installDir: "ocp", ...(input.config ?? everyPlatform) }));
  write("coreos-stream.json", input.stream ?? (JSON.parse(sampleStream) as object));
  if (input.metadata !== null) write("ocp/metadata.json", input.metadata ?? wholeMetadata);
  if (input.saved !== undefined) write(".state/cluster.json", input.saved);
  if (input.bootstrapIgn !== null) write("ocp/bootstrap.ign", input.bootstrapIgn ?? ignition);
  try {
    const inputs = readInputs(file, new Date("2026-11-16T12:00:00Z"), {
      workingDirectory: join(folder, workingDirectory),
    });
    if (onlyRead) return { code: "" };
    synthesize(change(inputs), outdir);
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    expect(filesIn(folder).filter((name) => name.endsWith(".tf.json"))).toEqual([]);
    return { refused: error.message };
  }
  // The payload is a file that a cloud stores; of the manifest Terraform reads nothing.
  const files = filesIn(outdir).filter((name) => !/(^|\/)(payload\.ign|manifest\.json|\.gitignore)$/.test(name));
  expect(files.map((name) => name.replace(/^stacks\/|\/cdk\.tf\.json$/g, "")).sort()).toEqual(
    readdirSync(join(outdir, "stacks")).sort(),
  );
  return { code: files.map((name) => readFileSync(join(outdir, name), "utf8")).join("\n") };
}

/** What became of a marker. */
function outcomeOf(input: Planted): string {
  const result = resultOf(input);
  if ("refused" in result) return result.refused;
  expect(result.code).not.toMatch(unescaped);
  return result.code.includes("MARKER-") ? "escaped" : "not in the code";
}

type Path = readonly string[];
/** Every text in a value, by the way to it. */
function leavesOf(value: unknown, path: Path = []): Path[] {
  if (typeof value === "string") return [path];
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, part]) => leavesOf(part, [...path, key]));
}

/** A copy in which these texts are others. */
function changed<T extends object>(value: T, paths: readonly Path[], change: (text: string) => string): T {
  const copy = structuredClone(value);
  for (const path of paths) {
    const last = path.at(-1) ?? "";
    const parent = path
      .slice(0, -1)
      .reduce((part, key) => part[key] as Record<string, unknown>, copy as Record<string, unknown>);
    parent[last] = change(String(parent[last]));
  }
  return copy;
}

/** The result of each path alone. Paths that are accepted together count as accepted. */
function resultsOf(paths: readonly Path[], read: (some: readonly Path[]) => Result): { path: Path; result: Result }[] {
  if (paths.length === 0) return [];
  const result = read(paths);
  if (paths.length === 1 || "code" in result) return paths.map((path) => ({ path, result }));
  const middle = Math.ceil(paths.length / 2);
  return [paths.slice(0, middle), paths.slice(middle)].flatMap((half) => resultsOf(half, read));
}

const placements = { alone: () => marker, "behind the value": (text: string) => `${text}${marker}` };

/**
 * Plants a marker in texts of a value: in all of them, and, where that is refused, in each half, down to a single text. Then
 * in all texts together that were accepted, so that the stacks are synthesized once.
 */
function plantIn<T extends object>(value: T, input: (changed: T) => Planted, skip = /^$/) {
  const paths = leavesOf(value).filter((path) => !skip.test(path.join(".")));
  return Object.entries(placements).map(([where, put]) => {
    const results = resultsOf(paths, (some) => resultOf(input(changed(value, some, put)), true));
    const accepted = results.flatMap(({ path, result }) => ("code" in result ? [path] : []));
    return {
      where,
      accepted: accepted.map((path) => path.join(".")),
      refusals: results.flatMap(({ path, result }) => ("refused" in result ? [[path.join("."), result.refused]] : [])),
      together: outcomeOf(input(changed(value, accepted, put))),
    };
  });
}

const clusterConfigPath = "/opt/openshift/manifests/cluster-config.yaml";
const clusterConfig = parse(
  decodeContents(ignition.storage?.files?.find(({ path }) => path === clusterConfigPath)?.contents).toString(),
) as { data: { "install-config": string } };
const withInstallConfig = (config: object) => {
  const text = stringify({ ...clusterConfig, data: { "install-config": stringify(config) } });
  return changedFile(clusterConfigPath, text);
};
const changedFile = (name: string, text: string) => ({
  ...ignition,
  storage: {
    files: ignition.storage?.files?.map((file) => (file.path === name ? fileEntry(name, text, 0o644) : file)),
  },
});

describe("Terraform evaluates no template from an input file:", () => {
  it.each([
    ["metadata.json", (value: object) => ({ metadata: value })],
    ["the saved metadata.json", (value: object) => ({ metadata: null, saved: value })],
  ])("%s", (_, input) => {
    for (const { accepted, refusals, together } of plantIn(wholeMetadata, input)) {
      // These are in no name: digits of a hash, a name that is compared, one that is only shown.
      expect(accepted).toEqual(["clusterName", "clusterID"]);
      expect(together).toBe("not in the code");
      for (const [path = "", sentence] of refusals)
        expect(sentence).toMatch(path === "azure.cloudName" ? /^azure\.cloudName is / : new RegExp(`(metadata|cluster)\\.json is not a metadata\\.json of openshift-install: ${path} is ".*"; expected a`)); // prettier-ignore
    }
  });

  it.each([
    ["aws", ["architectures.x86_64.images.aws.regions.eu-central-1.image"]],
    ["azure", []],
    ["google", ["architectures.x86_64.images.gcp.project", "architectures.x86_64.images.gcp.name"]],
  ])("the stream, %s", (platform, read) => {
    const config = changedExample(platform);
    for (const { refusals, together } of plantIn(JSON.parse(sampleStream) as object, (stream) => ({
      stream,
      config,
    }))) {
      expect(refusals.map(([path]) => path)).toEqual(read);
      for (const [, sentence] of refusals) expect(sentence).toContain("coreos-stream.json does not contain a");
      expect(together).toBe("not in the code");
    }
  });

  it("the install-config", () => {
    const config = parse(clusterConfig.data["install-config"]) as object;
    for (const { refusals, together } of plantIn(config, (value) => ({ bootstrapIgn: withInstallConfig(value) }))) {
      expect(refusals).toEqual([]);
      expect(together).toBe("not in the code");
    }
  });

  it("bootstrap.ign, whose ssh key is in Azure's code", () => {
    const plants = plantIn(ignition, (bootstrapIgn) => ({ bootstrapIgn }), /contents\.source$/);
    expect(plants.map(({ where, together }) => [where, together])).toEqual([
      ["alone", "not in the code"],
      ["behind the value", "escaped"],
    ]);
    for (const { accepted } of plants) expect(accepted).toContain("systemd.units.0.contents");
    expect(plants[1]?.accepted).toContain("passwd.users.0.sshAuthorizedKeys.0");
    expect(plants[0]?.refusals).toContainEqual([
      "passwd.users.0.sshAuthorizedKeys.0",
      "azure.sshKeyData is missing; expected an RSA or ED25519 public key (bootstrap.ign has none for core).",
    ]);
  });
});

it("does not use a line of bootstrap.ign that is not an ssh key", () => {
  const users = [{ name: "core", sshAuthorizedKeys: [`ssh-rsa ${marker}`, `ssh-ed25519 AAAA${marker}`] }];
  expect(outcomeOf({ bootstrapIgn: { ...ignition, passwd: { users } } })).toBe(
    "azure.sshKeyData is missing; expected an RSA or ED25519 public key (bootstrap.ign has none for core).",
  );
});

describe("Terraform evaluates no template in the name of a file or folder:", () => {
  const config = sharedConfig;
  const refused = expect.stringContaining(", which cannot be used in Terraform code, because ") as string;
  const refusedState = expect.stringMatching(
    /^The path of the state is ".*MARKER-1.*", which cannot be used/,
  ) as string;
  it.each<[string, Planted, string]>([
    ["the config file's", { configFile: `k${marker}.yaml` }, "escaped"],
    ["the config file's, with a shared state", { config, configFile: `k${marker}.yaml` }, "escaped"],
    ["its folder's", { config, configFile: `it's "${marker}"/konnectivity.yaml` }, "escaped"],
    ["a missing install folder's", { config, configFile: `${marker}/k.yaml`, bootstrapIgn: null }, "escaped"],
    ["the working directory's", { config, workingDirectory: `${marker}/x` }, "escaped"],
    ["the output folder's", { outdir: `${marker}/cdktf.out` }, "not in the code"],
    ["the state folder's", { configFile: `${marker}/konnectivity.yaml` }, refusedState],
    ["one with a token of cdktf's", { config, configFile: `\${TfToken[TOKEN.0]}.yaml` }, refused],
    ["one with a list token of cdktf's", { config, configFile: "#{TfToken[TOKEN.0]}.yaml" }, refused],
    ["one with a number token of cdktf's", { config, configFile: "-1.8881545897087503e+289.yaml" }, refused],
    ["one that is not closed", { config, configFile: "${x.yaml" }, refused],
  ])("%s", (_, input, outcome) => {
    expect(outcomeOf(input)).toEqual(outcome);
  });

  it("the code contains the name, escaped", () => {
    const result = resultOf({ config, configFile: `k${marker}.yaml` });
    if ("refused" in result) throw new Error(result.refused);
    expect(result.code.replaceAll(/\s+/g, " ")).toContain(`"--config", "k${escaped}.yaml"`);
    expect(result.code).toContain(`KONNECTIVITY_CONFIG='k${escaped}.yaml' npx cdktf destroy`);
  });
});

describe("the final check of the code", () => {
  it.each<[string, (inputs: Inputs) => Inputs]>([
    ["a region", (inputs) => withAws(inputs, { region: marker })],
    ["a text in front", (inputs) => withAws(inputs, { vpcId: `x${marker}` })],
    ["a tag's name", (inputs) => ({ ...inputs, tags: { [marker]: "x" } })],
  ])("refuses code with a template that was neither checked nor escaped, and removes it: %s", (_, change) => {
    const sentences = outcomeOf({ config: changedExample("aws"), change }).split("\n");
    expect(sentences).toEqual([
      expect.stringContaining('Part of the input is "${MARKER-1}", which cannot be used in Terraform code, because '),
      expect.stringContaining('Part of the input is "%{MARKER-2}", which cannot be used in Terraform code, because '),
    ]);
  });

  it.each([
    [["a${x}b"], { a: ["1${x}b"] }, ["${x}b"]],
    [["a${x}b"], { a: ["1$${x}b"] }, []],
    [["%{x}"], { "k%{x}": 1 }, ["%{x}"]],
    [["%{x}"], { a: "%%{x} %{x}" }, ["%{x}"]],
    [["a/${x}/b"], { a: "../${x}/c" }, ["${x}"]],
    [["a${x}%{y}"], { a: "a${x}%%{y}" }, ["${x}"]],
    [["a${x}%{y}"], { a: "a$${x}%{y}" }, ["%{y}"]],
    [["a"], { a: "${own.reference}" }, []],
  ])("finds what is left of %j in %j", (outside, code, left) => {
    expect(templatesLeft(outside, code)).toEqual(left);
  });
});

/** With other values in what the AWS stack is made from. */
function withAws(inputs: Inputs, change: object): Inputs {
  const { aws } = inputs.platforms;
  return aws === undefined ? inputs : { ...inputs, platforms: { ...inputs.platforms, aws: { ...aws, ...change } } };
}
