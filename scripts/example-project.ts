import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parse, stringify } from "yaml";
import { configFormat } from "../stacks/platforms.ts";
import { sampleMetadata, sampleText } from "../src/core/sample/sample.ts";
import { projectFile, readProjectText } from "../src/runtime/project-files.js";

export const clusterID = "3e9f8b1c-5a0d-4c1e-9c55-7f1f0a3c8091";
export const metadata = {
  ...sampleMetadata,
  clusterID,
  aws: { region: "eu-central-1" },
  azure: { region: "westeurope", resourceGroupName: `${sampleMetadata.infraID}-rg`, cloudName: "AzurePublicCloud" },
  gcp: { region: "europe-west1", projectID: "sample-project" },
};

/** What `openshift-install coreos print-stream-json` prints, as far as anything here reads it. */
export const sampleStream = JSON.stringify({
  stream: "rhel-9.6",
  architectures: {
    x86_64: {
      images: {
        aws: { regions: { "eu-central-1": { release: "9.6", image: "ami-00000000000000864" } } },
        gcp: { release: "9.6", project: "rhcos-cloud", name: "rhcos-9-6-gcp-x86-64" },
      },
    },
    aarch64: {
      images: {
        aws: { regions: { "eu-central-1": { release: "9.6", image: "ami-00000000000000a64" } } },
        gcp: { release: "9.6", project: "rhcos-cloud", name: "rhcos-9-6-gcp-aarch64" },
      },
    },
  },
});

/** A user's folder with one config for every platform that has an example in docs. */
export interface ExampleProject {
  readonly folder: string;
  readonly configFile: string;
  readonly platforms: readonly string[];
}

/** Writes an install folder, a stream and a config with the options of all examples in docs. */
export function writeExampleProject(folder: string): ExampleProject {
  const withExample = configFormat.clouds
    .map(({ name }) => name)
    .filter((name) => existsSync(projectFile(exampleFile(name))));
  const options = withExample.map((platform) => {
    const example = parse(readProjectText(exampleFile(platform))) as Record<string, unknown>;
    return [platform, example[platform]] as const;
  });
  const config = {
    installDir: "ocp",
    stream: "coreos-stream.json",
    tags: { team: "platform" },
    ...Object.fromEntries(options),
  };
  mkdirSync(join(folder, "ocp"), { recursive: true });
  const configFile = join(folder, "konnectivity.yaml");
  for (const [path, text] of [
    [join(folder, "ocp/bootstrap.ign"), sampleText("4.18")],
    [join(folder, "ocp/metadata.json"), JSON.stringify(metadata)],
    [join(folder, "coreos-stream.json"), sampleStream],
    [configFile, stringify(config)],
  ] as const)
    writeFileSync(path, text, { mode: 0o600 });
  return { folder, configFile, platforms: withExample };
}

const exampleFile = (platform: string) => `docs/examples/${platform}.yaml`;
