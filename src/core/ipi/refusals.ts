import { join } from "node:path";
import { certificatesEndingBefore } from "../ignition/certificates.ts";
import type { IgnitionConfig } from "../ignition/config.ts";
import { installerSpecVersion, outsideSpec } from "../ignition/spec-3-2.ts";
import { type Problem, problem } from "../errors.ts";
import { type InstallFolder } from "./install-folder.ts";
import { type InstallerState, machineConfigNames, stateFileName } from "./installer-state.ts";

/** The key for service account tokens, which ccoctl creates for clusters that use the cloud's own identities. */
export const signingKey = "tls/bound-service-account-signing-key.key";

/** What openshift-install creates bootstrap.ign from. If one exists, it reads it again and then discards bootstrap.ign. */
const inputs = ["install-config.yaml", "manifests", "openshift", "templates", signingKey];

/** What `openshift-install agent create …` reads or writes. */
const ofAgentInstaller = ["agent-config.yaml", "cluster-manifests", "rendezvousIP"];

/** What openshift-install leaves where it creates infrastructure: its Cluster API's folder, or Terraform's state. */
const ofCreatedCluster = /^(\.clusterapi_output|terraform(\..*)?\.tfstate)$/;

/** The platforms on which openshift-install creates no machine. */
const upiPlatforms = ["none", "external"];

/** A Secret has at most 1 MiB, and openshift-install still adds to the payload. */
export const maxPayloadBytes = 900_000;

const hour = 3600_000;

/** Why "create cluster" would discard a bootstrap.ign from this folder, or fail, whatever the bootstrap.ign is. */
export function folderProblems(
  { path, names, machineConfigs }: InstallFolder,
  state: InstallerState | undefined,
): Problem[] {
  const agent = ofAgentInstaller.find((name) => names.includes(name)) ?? state?.agentAsset;
  if (agent !== undefined) return [problem("ipi-agent-based", { found: agent })];
  const created = names.find((name) => ofCreatedCluster.test(name));
  const exists = created ?? (state?.clusterCreated === true ? stateFileName : undefined);
  const isChanged = (name: (typeof machineConfigNames)[number]) => {
    const onDisk = machineConfigs[name];
    // openshift-install reads a missing one from the state file, so that is not a change.
    return onDisk !== undefined && state !== undefined && state.machineConfigs[name]?.equals(onDisk) !== true;
  };
  return [
    ...(exists === undefined ? [] : [problem("ipi-cluster-exists", { found: join(path, exists) })]),
    ...(state !== undefined && upiPlatforms.includes(state.platform)
      ? [problem("ipi-upi-platform", { platform: state.platform })]
      : []),
    ...(state?.bootstrapInPlace === true ? [problem("bootstrap-in-place")] : []),
    ...inputs
      .filter((name) => names.includes(name))
      .map((name) => problem("ipi-input-present", { file: join(path, name) })),
    ...machineConfigNames.filter(isChanged).map((name) => problem("ipi-config-changed", { file: join(path, name) })),
  ];
}

/** What "create cluster" would lose of a bootstrap.ign, or refuse. */
export function configProblems(config: IgnitionConfig, now: Date): Problem[] {
  const { version } = config.ignition;
  const outside = outsideSpec(config).map(({ where }) => where);
  const ending = certificatesEndingBefore(config.storage?.files ?? [], new Date(now.getTime() + hour));
  const [first] = ending;
  const shown = 5;
  return [
    ...(version === installerSpecVersion
      ? []
      : [problem("ipi-spec-version", { version, expected: installerSpecVersion })]),
    ...(outside.length === 0
      ? []
      : [
          problem("ipi-outside-spec", {
            where: outside.slice(0, shown).map(brief),
            more: Math.max(0, outside.length - shown),
            spec: installerSpecVersion,
          }),
        ]),
    ...(first === undefined
      ? []
      : [
          problem("ipi-certificates-end", {
            count: ending.length,
            path: first.path,
            ends: first.ends.toISOString(),
          }),
        ]),
  ];
}

/** The length of a key has no limit. */
const brief = (where: string) => (where.length > 80 ? `${where.slice(0, 80)}…` : where);
