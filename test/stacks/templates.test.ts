import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { stringify } from "yaml";
import { afterAll, describe, expect, it } from "vitest";
import { type Inputs, readInputs } from "../../constructs/config/inputs.ts";
import { InputError } from "../../constructs/problems.ts";
import { templatesLeft } from "../../constructs/terraform-literal.ts";
import { sampleDocument } from "../../lab/sample/sample.ts";
import { synthesize } from "../../stacks/app.ts";
import { filesIn } from "../support/invariants.ts";
import { changedExample, metadata, sampleStream } from "../support/stacks.ts";

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

const document = sampleDocument("4.18", {
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
  readonly remembered?: object;
  readonly stream?: object;
  readonly bootstrapIgn?: object | null;
  /** Changes what was read. */
  readonly change?: (inputs: Inputs) => Inputs;
}

/** The code of all stacks, or the sentences that refuse the input. */
type Result = { readonly code: string } | { readonly refused: string };

function resultOf(input: Planted): Result {
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
  if (input.remembered !== undefined) write(".state/cluster.json", input.remembered);
  if (input.bootstrapIgn !== null) write("ocp/bootstrap.ign", input.bootstrapIgn ?? document);
  try {
    const inputs = readInputs(file, new Date("2026-11-16T12:00:00Z"), join(folder, workingDirectory));
    synthesize(change(inputs), outdir);
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    expect(filesIn(folder).filter((name) => name.endsWith(".tf.json"))).toEqual([]);
    return { refused: error.message };
  }
  // The payload is a file that a cloud stores; of the manifest Terraform reads nothing.
  const files = filesIn(outdir).filter((name) => !/(^|\/)(payload\.ign|manifest\.json)$/.test(name));
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

describe("a template in the name of a file or folder is never one in the code:", () => {
  const config = sharedConfig;
  const refused = expect.stringContaining(", which cannot stand in Terraform code as it is: ") as string;
  const refusedState = expect.stringMatching(/^The path of the state is ".*MARKER-1.*", which cannot stand/) as string;
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

  it("it is a text of the same value there", () => {
    const result = resultOf({ config, configFile: `k${marker}.yaml` });
    if ("refused" in result) throw new Error(result.refused);
    expect(result.code.replaceAll(/\s+/g, " ")).toContain(`"--config", "k${escaped}.yaml"`);
    expect(result.code).toContain(`KONNECTIVITY_CONFIG='k${escaped}.yaml' npx cdktf destroy`);
  });
});

describe("the last check", () => {
  it.each<[string, (inputs: Inputs) => Inputs]>([
    ["a region", (inputs) => ({ ...inputs, ...(inputs.aws && { aws: { ...inputs.aws, region: marker } }) })],
    [
      "a text in front",
      (inputs) => ({ ...inputs, ...(inputs.aws && { aws: { ...inputs.aws, vpcId: `x${marker}` } }) }),
    ],
    ["a tag's name", (inputs) => ({ ...inputs, tags: { [marker]: "x" } })],
  ])("refuses code with a template that was neither checked nor escaped, and removes it: %s", (_, change) => {
    const sentences = outcomeOf({ config: changedExample("aws"), change }).split("\n");
    expect(sentences).toEqual([
      expect.stringContaining('A part of the input is "${MARKER-1}", which cannot stand in Terraform code as it is: '),
      expect.stringContaining('A part of the input is "%{MARKER-2}", which cannot stand in Terraform code as it is: '),
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
  ])("%j in %j", (outside, code, left) => {
    expect(templatesLeft(outside, code)).toEqual(left);
  });
});
