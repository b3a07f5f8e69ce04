import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { bootstrapName, type InstallFolder, originalName } from "../../src/core/ipi/install-folder.ts";
import { stateFileName } from "../../src/core/ipi/installer-state.ts";
import { sampleMetadata, sampleText } from "../../src/core/sample/sample.ts";
import type { Files } from "./installer-store.ts";

export interface InstallFolderProps {
  /** Text of bootstrap.ign. @default - a sample of 4.18 */
  readonly bootstrapIgn?: string;
  /** The platform of the install config. @default aws */
  readonly platform?: string;
  /** More of the install config. @default - nothing */
  readonly installConfig?: object;
  /** More assets in the state. @default - none */
  readonly assets?: object;
}

const stateFile = (name: string, text: string) => ({
  Config: {},
  File: { Filename: name, Data: Buffer.from(text).toString("base64") },
});

const machineConfig = (role: string) =>
  `{"ignition":{"config":{"merge":[{"source":"https://api-int.sample.example.com:22623/config/${role}"}]},"version":"3.2.0"}}`;

/** openshift-install's state after "create ignition-configs", as far as it is read here. */
export function stateText({ bootstrapIgn = sampleText("4.18"), platform = "aws", ...more }: InstallFolderProps = {}) {
  return JSON.stringify({
    "*installconfig.InstallConfig": {
      config: { platform: { [platform]: {} }, ...more.installConfig },
      file: { Filename: "install-config.yaml", Data: "" },
    },
    "*bootstrap.Bootstrap": stateFile("bootstrap.ign", bootstrapIgn),
    "*machine.Master": stateFile("master.ign", machineConfig("master")),
    "*machine.Worker": stateFile("worker.ign", machineConfig("worker")),
    "*machine.Arbiter": { Config: null, File: null },
    "*machines.Master": {},
    "*manifests.Manifests": {},
    ...more.assets,
  });
}

/** What "openshift-install create ignition-configs" leaves in its folder. */
export function installFiles(props: InstallFolderProps = {}): Map<string, Buffer> {
  const { bootstrapIgn = sampleText("4.18") } = props;
  const files: [string, string][] = [
    ["bootstrap.ign", bootstrapIgn],
    ["master.ign", machineConfig("master")],
    ["worker.ign", machineConfig("worker")],
    ["metadata.json", JSON.stringify(sampleMetadata)],
    [".openshift_install_state.json", stateText(props)],
    ["auth/kubeadmin-password", "not a real one"],
  ];
  return new Map(files.map(([name, text]) => [name, Buffer.from(text)]));
}

export function writeFiles(folder: string, files: Files): string {
  for (const [name, bytes] of files) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), bytes);
  }
  return folder;
}

/** Every file of a folder, by its path in it. */
export function readFiles(folder: string, below = ""): Map<string, Buffer> {
  const files = new Map<string, Buffer>();
  for (const name of readdirSync(join(folder, below))) {
    const path = below === "" ? name : `${below}/${name}`;
    if (!statSync(join(folder, path)).isDirectory()) files.set(path, readFileSync(join(folder, path)));
    else for (const [inner, bytes] of readFiles(folder, path)) files.set(inner, bytes);
  }
  return files;
}

/** The same as `readInstallFolder` for files that are not on disk. */
export function folderOf(files: Files): InstallFolder {
  const top = [...files.keys()].map((name) => name.split("/")[0] ?? "");
  const state = files.get(stateFileName);
  const [bootstrapIgn, original] = [files.get(bootstrapName), files.get(originalName)];
  return {
    path: "ocp",
    names: [...new Set([...top, ...files.keys()])],
    ...(bootstrapIgn !== undefined && { bootstrapIgn }),
    ...(original !== undefined && { original }),
    ...(state !== undefined && { stateText: state.toString() }),
    machineConfigs: Object.fromEntries([...files].filter(([name]) => /^(master|worker|arbiter)\.ign$/.test(name))),
  };
}
