import { defaultLabName } from "./lab-layout.ts";

/**
 * Options of the config that contradict each other, such as aws.vpcId: their names, or their names with their values.
 * Undefined: the value does not matter. Null: the option is missing.
 */
export type Options = readonly string[] | Readonly<Record<string, string | number | boolean | null | undefined>>;

const isList = (options: Options): options is readonly string[] => Array.isArray(options);
const namesOf = (options: Options) => (isList(options) ? options : Object.keys(options));

/** "a 1 and b 2"; if all but the first are names without values, they become a list: "a 1 and b, c". */
function listOptions(options: Options): string {
  const values = isList(options) ? options.map((name) => [name, undefined] as const) : Object.entries(options);
  const [first = "", ...others] = values.map(([name, value]) => {
    if (value === undefined) return name;
    return value === null ? `no ${name}` : `${name} ${value}`;
  });
  const onlyNames = values.slice(1).every(([, value]) => value === undefined);
  return [first, ...(onlyNames ? [others.join(", ")] : others)].filter((text) => text !== "").join(" and ");
}

/** The advice for scripts that no known release has. */
const unsupported = "this OpenShift release is not supported yet; report its version in an issue";

/**
 * Every error that the project can find in its input, by name. One sentence each: what is wrong, where, what to do.
 * The tests go through this list: a name without a test case fails them.
 */
const sentences = {
  // bootstrap.ign
  "ignition-not-json": (p: { detail: string }) =>
    `bootstrap.ign is not valid JSON (${p.detail}): run "openshift-install create ignition-configs" again.`,
  "ignition-version-missing": (p: { found: string }) =>
    `bootstrap.ign is not an Ignition config: ignition.version is ${p.found}; use the file that "openshift-install create ignition-configs" wrote.`,
  "ignition-malformed": (p: { where: string; expected: string; found: string }) =>
    `bootstrap.ign is damaged: ${p.where} is ${p.found}, expected ${p.expected}; run "openshift-install create ignition-configs" again.`,
  "ignition-spec-unknown": (p: { version: string; known: string }) =>
    `bootstrap.ign has Ignition spec version ${p.version}, which this release of konnectivity-bootstrap does not support (supported: ${p.known}); use a release that supports it.`,
  "bootstrap-in-place": () =>
    "This bootstrap.ign is for bootstrap-in-place (single node, live ISO), which needs no tunnel because its two control planes never run at the same time: use bootstrap.ign as it is.",
  "installer-tunnel-on": () =>
    "The installer's own tunnel is enabled in this bootstrap.ign (feature gate), and two tunnels would conflict: set `tunnel: installer` to use the installer's, or create the Ignition configs without that feature gate.",
  "installer-tunnel-off": (p: { option: "tunnel"; found: "absent" | "off" }) =>
    `${p.option} is installer, but the installer's own tunnel is ${p.found === "absent" ? "not in this bootstrap.ign (openshift-install has one from 4.23 on)" : "disabled in this bootstrap.ign (feature gate)"}: remove ${p.option} to use this project's tunnel, or create the Ignition configs with the feature gate enabled.`,
  "already-built": (p: { version: string }) =>
    `This file is already a payload, built by konnectivity-bootstrap ${p.version}: use the bootstrap.ign that openshift-install wrote.`,
  "path-taken": (p: { path: string }) =>
    `bootstrap.ign already contains ${p.path}, which the tunnel needs: remove it from the manifests or files that you added.`,

  // bootkube.sh
  "bootkube-missing": (p: { path: string }) =>
    `bootstrap.ign does not contain ${p.path}, so it is not the bootstrap machine's Ignition config: use bootstrap.ign, not master.ign or worker.ign.`,
  "bootkube-repeated": (p: { path: string; count: number }) =>
    `bootstrap.ign contains ${p.count} entries for ${p.path} instead of one: run "openshift-install create ignition-configs" again.`,
  "bootkube-undecodable": (p: { path: string; reason: string }) =>
    `${p.path} in bootstrap.ign cannot be decoded: ${p.reason}; run "openshift-install create ignition-configs" again.`,
  "bootkube-unbalanced": (p: { line: number; detail: string }) =>
    `bootkube.sh line ${p.line}: ${p.detail}; if the script is truncated, run "openshift-install create ignition-configs" again, otherwise ${unsupported}.`,
  "bootkube-prerequisite-missing": (p: { what: string; why: string }) =>
    `bootkube.sh has no ${p.what}, which ${p.why}: ${unsupported}.`,
  "anchor-missing": (p: { anchor: string; line: string; release: string }) =>
    `bootkube.sh has no line ${p.line} (anchor "${p.anchor}", detected release ${p.release}): ${unsupported}.`,
  "anchor-repeated": (p: { anchor: string; line: string; lines: string }) =>
    `bootkube.sh has the line ${p.line} more than once (anchor "${p.anchor}", lines ${p.lines}): ${unsupported}.`,
  "anchor-nested": (p: { anchor: string; line: number; found: string; wanted: string }) =>
    `Line ${p.line} of bootkube.sh (anchor "${p.anchor}") is ${p.found}, but must be ${p.wanted}: ${unsupported}.`,
  "anchor-order": (p: { first: string; second: string }) =>
    `Anchor "${p.second}" comes before anchor "${p.first}" in bootkube.sh: ${unsupported}.`,

  "release-image-missing": (p: { image: string; release: string | null }) =>
    `The release ${p.release ?? ""} has no image ${p.image}, so that the set-up of the tunnel would fail: set tunnel.image to an image of the proxy, or \`tunnel: off\`.`,

  // The config file
  "config-not-yaml": (p: { file: string; detail: string }) =>
    `${p.file} is not valid YAML: ${p.detail}; fix the syntax there.`,
  "no-platform": (p: { platforms: readonly string[] }) =>
    `The config has no platform, so there is nothing to deploy: add ${p.platforms.slice(0, -1).join(", ")} or ${p.platforms.at(-1) ?? ""} to it.`,
  "option-unknown": (p: { option: string; hint: string }) => `${p.option} is not an option${p.hint}.`,
  /** An empty option is the whole config. */
  "option-invalid": (p: { option: string; found: string; expected: string }) =>
    `${p.option === "" ? "The config" : p.option} is ${p.found}; expected ${p.expected}.`,
  "state-of-another-cluster": (p: { folder: string; saved: string; infraId: string }) =>
    `The state folder ${p.folder} contains the state of ${p.saved}, which is still deployed, but this cluster is ${p.infraId}: destroy ${p.saved} first, or set state.local.folder to another folder for this cluster.`,
  "state-lost": (p: { file: string; backup: string }) =>
    `The state file ${p.file} is empty, but its backup ${p.backup} contains resources: Terraform was interrupted while writing, and would now treat everything as deleted; copy the backup over the state file, and run the same command again.`,
  "state-damaged": (p: { file: string; backup: string }) =>
    `The state file ${p.file} is not complete JSON: Terraform was interrupted while writing; if ${p.backup} is complete, copy it over the state file, and run the same command again.`,
  "state-is-link": (p: { file: string }) =>
    `The state file ${p.file} is a symbolic link, and Terraform would write to its target: replace the link with the file, or set state.local.folder to the folder of its target.`,
  "config-gone": (p: { file: string; folder: string }) =>
    `${p.file} does not exist, but ${p.folder} contains the state of what was deployed with it: restore the file, or set KONNECTIVITY_CONFIG to its path; nothing can be destroyed without it.`,
  "combination-refused": (p: { options: Options; reason: string }) =>
    `${listOptions(p.options)} cannot be combined: ${p.reason}.`,
  "token-signer-missing": (p: { path: string }) =>
    `Token authentication needs a client certificate of its own for the server, and bootstrap.ign has no readable ${p.path} to sign it with: use \`authentication: mtls\`.`,
  "token-kubeconfig-unusable": (p: { path: string }) =>
    `Token authentication needs exactly one server and its CA in ${p.path} of bootstrap.ign: use \`authentication: mtls\`.`,

  "template-refused": (p: { what: string; found: string }) =>
    `${p.what} is ${p.found}, which cannot be used in Terraform code, because Terraform or cdktf would evaluate part of it as an expression: use another name.`,

  // The pointer
  "pointer-url-invalid": (p: { found: string; reason: string }) =>
    `${p.found} is not a valid payload URL, because it ${p.reason}: use https://host/path, s3://bucket/key or gs://bucket/object (http://host/path only on a network that you trust with every secret of the cluster).`,
  "pointer-scheme-unknown": (p: { scheme: string }) =>
    `Ignition cannot fetch a payload with "${p.scheme}" in the supported releases: use https, s3 or gs (http only on a network that you trust with every secret of the cluster).`,
  "pointer-option-not-honoured": (p: { setting: string; scheme: string; reason: string }) =>
    `${p.setting} has no effect with ${p.scheme}: ${p.reason}.`,
  "pointer-option-invalid": (p: { setting: string; found: string; expected: string }) =>
    `${p.setting} is ${p.found}; expected ${p.expected}.`,
  "pointer-option-without-url": (p: { flag: string }) =>
    `${p.flag} applies to the pointer, which is created only with --url: add --url, or remove ${p.flag}.`,

  // Files
  "file-unreadable": (p: { file: string; reason: string; advice: string }) =>
    `${p.file} cannot be read: ${p.reason}; ${p.advice}.`,
  "file-unwritable": (p: { file: string; reason: string }) =>
    `${p.file} cannot be written: ${p.reason}; nothing was changed.`,
  "file-exists": (p: { file: string; advice: string }) => `${p.file} already exists and was not changed: ${p.advice}.`,
  "folder-is-file": (p: { file: string }) => `${p.file} is a file: name its folder.`,
  "metadata-invalid": (p: { file: string; detail: string }) =>
    `${p.file} is not a metadata.json of openshift-install: ${p.detail}; restore the file, or set another installDir.`,
  "stream-invalid": (p: { file: string }) =>
    `${p.file} is not a CoreOS stream: save the output of "openshift-install coreos print-stream-json" to it.`,
  "stream-lacks-image": (p: { file: string; what: string; option: string }) =>
    `${p.file} does not contain ${p.what}: set ${p.option}.`,
  "not-a-payload": (p: { file: string }) =>
    `${p.file} is neither a pointer nor a payload with this project's tunnel: use a file that "payload build" wrote (with \`tunnel: off\` or \`tunnel: installer\`, the payload is an unchanged bootstrap.ign).`,
  "payload-damaged": (p: { file: string; detail: string }) =>
    `${p.file} was changed after it was built: ${p.detail}; build it again.`,

  // The lab
  "root-needed": () => "The lab creates namespaces, mounts and control groups: run this command as root.",
  "lab-name-invalid": (p: { name: string }) =>
    `${p.name} is not a valid lab name: use at most 20 lower case letters, digits and -, starting with a letter.`,
  "lab-not-running": (p: { name: string; platform: string }) =>
    `No lab named ${p.name} is running: start it with \`npx cdktf deploy '${p.platform}-*'\`${p.name === defaultLabName ? "" : `, with ${p.platform}.name: ${p.name} in the config file`}.`,
  "machine-not-there": (p: { name: string; machine: string; nodes: number }) =>
    `The lab ${p.name} has no machine ${p.machine}: its machines are bootstrap and node-0${p.nodes === 1 ? "" : ` to node-${p.nodes - 1}`}.`,
  "machine-removed": (p: { name: string }) =>
    `The lab ${p.name} no longer has a bootstrap machine, because its fake of openshift-install removed it at the end of the bootstrap: use node-0 or another node.`,
  "ignition-refuses": (p: { detail: string; stack: string }) =>
    `Ignition rejects the payload, so no lab was created: ${p.detail}; use a payload from the stack ${p.stack} or from \`payload build\`.`,
  "installer-not-built": (p: { reason: string }) =>
    `A lab with \`ipi: true\` needs a program that could not be built: ${p.reason}.`,
  "installer-refuses": (p: { reason: string }) =>
    `openshift-install cannot read the payload, so no lab was created: ${p.reason}; use a payload from \`payload build\`.`,
  "lab-stuck": (p: { name: string; reason: string; said: string; log: string }) =>
    `The lab ${p.name} is stuck: ${p.reason}; read ${p.log}${p.said === "" ? "" : `, which ends with "${p.said}"`}, and inspect the machine with \`npx konnectivity-bootstrap lab enter --name ${p.name} bootstrap\`.`,

  "controllers-missing": (p: { file: string }) =>
    `${p.file} is empty, so the lab's machines would have no cgroup controllers: start a container with --cgroupns=host; on a machine, enable the controllers, as systemd does.`,
  "timeout-factor-invalid": (p: { variable: string; found: string }) =>
    `${p.variable} is ${p.found}; set it to a whole number from 1 to 100, by which the time limits of the lab and of requests to a cluster are multiplied, or unset it.`,

  // The teardown
  "gate-closed": (p: { waitsFor: string; variable: string }) =>
    `The cluster still needs its bootstrap machine, so nothing was changed: the gate waits until ${p.waitsFor}; run the same command again later, or set ${p.variable} to the reason why the machine can be removed anyway.`,
  "gate-blind": (p: { reason: string; variable: string }) =>
    `It is not known whether the cluster still needs its bootstrap machine, so nothing was changed: ${p.reason}; set teardown.kubeconfig or KUBECONFIG to the cluster's kubeconfig, or set ${p.variable} to the reason why the machine can be removed anyway.`,
  "cluster-another": (p: { server: string; found: string; wanted: string }) =>
    `${p.server} is the API of the cluster ${p.found}, not of ${p.wanted}, so nothing was changed: set teardown.kubeconfig or KUBECONFIG to the kubeconfig of ${p.wanted}.`,
  "platform-not-configured": (p: { platform: string }) =>
    `${p.platform} is not in the config, so the resources to look for are unknown: add it again, or name the right config file with --config.`,
  "gate-reason-missing": (p: { variable: string }) =>
    `${p.variable} is set but empty, so nothing was changed: set it to the reason why the machine can be removed although the gate is closed.`,
  "state-unreadable": (p: { stack: string; folder: string; reason: string }) =>
    `The state of ${p.stack} cannot be read: ${p.reason}; run \`npx cdktf synth\` and \`terraform -chdir=${p.folder} init\`, then try again.`,

  // verify, status and gather
  "lab-or-cluster": (p: { flag: string }) =>
    `--name is for a lab and ${p.flag} is for a real cluster: use only one of them.`,
  "machine-unclear": (p: { found: string }) =>
    `--ssh without a destination means the bootstrap machine that was deployed from here, but the state has ${p.found}: name the machine, for example --ssh core@10.0.0.5.`,
  "subject-unknown": (p: { reason: string; flags: string }) =>
    `There is nothing to examine: ${p.reason}; use ${p.flags}.`,
  "finish-needs-lab": (p: { file: string }) =>
    `--finish ends the bootstrap of a lab, but ${p.file} does not configure only a lab: name the lab with --name, or remove --finish.`,
  "verify-lab-only": (p: { flag: string }) => `${p.flag} is only for a lab: remove it, or remove --kubeconfig.`,
  "kubeconfig-invalid": (p: { file: string; detail: string }) =>
    `${p.file} is not a valid kubeconfig: ${p.detail}; use the one in auth/ of the install folder.`,
  "cluster-unreachable": (p: { server: string; reason: string }) =>
    `The request to ${p.server} failed: ${p.reason}; check the kubeconfig, and that this machine can reach that address.`,

  // tunnel off and on
  "switch-unconfirmed": (p: { to: "off" | "on" }) =>
    `Switching the tunnel ${p.to} restarts the bootstrap kube-apiserver, and there is no terminal to ask on, so nothing was changed: add --yes, or --dry-run to see what would be done.`,
  "switch-refused": (p: { machine: string; reason: string }) =>
    `The tunnel of ${p.machine} cannot be switched, and nothing was changed: ${p.reason}.`,
  "switch-no-answer": (p: { machine: string; reason: string }) =>
    `Nothing was changed, because ${p.machine} cannot be examined: ${p.reason}; check that ssh connects to it without a password, as a user who can run sudo.`,
  "switch-unknown": (p: { machine: string; to: "off" | "on"; reason: string }) =>
    `It is not known whether the tunnel of ${p.machine} is ${p.to}: ${p.reason}; run the same command again, which completes what was begun.`,
  "switch-restored": (p: { machine: string; to: "off" | "on"; seconds: number; said: string }) =>
    `With the tunnel ${p.to}, the kube-apiserver of ${p.machine} was not ready within ${p.seconds} s, so everything is as before${p.said}: read its log (crictl logs) before you try again.`,
  "switch-not-ready": (p: { machine: string; seconds: number; said: string }) =>
    `The kube-apiserver of ${p.machine} was not ready within ${p.seconds} s, and is not ready with the former egress selector either${p.said}: on the machine, read crictl ps --all --name kube-apiserver and its log.`,

  // acceptance
  "acceptance-unprepared": (p: { lacks: string; advice: string }) =>
    `This machine lacks what the acceptance run needs (${p.lacks}), so nothing was created: ${p.advice}.`,
  "acceptance-example": () =>
    'The cluster in bootstrap.ign is a made-up example, so nothing was created: set installDir to the folder in which "openshift-install create ignition-configs" ran.',
  "acceptance-no-payload": (p: { reason: string }) =>
    `Nothing can be deployed, because ${p.reason}: set installDir to the folder in which "openshift-install create ignition-configs" ran.`,
  "acceptance-no-tunnel": (p: { option: "tunnel" }) =>
    `The config has \`${p.option}: off\`, so there is no tunnel to check: set options of a tunnel, or remove ${p.option}.`,
  "acceptance-gate-open": (p: { variable: string }) =>
    `${p.variable} is set, but the acceptance run checks that the gate decides by itself: unset it.`,
  "acceptance-deployed": (p: { stack: string; command: string }) =>
    `${p.stack} is already deployed, but the acceptance run starts with a deploy: destroy it first with \`${p.command}\`.`,
  "acceptance-progress-invalid": (p: { file: string }) =>
    `${p.file} is not the progress of an acceptance run of this version: start over with --restart, or use another folder with --out.`,
  "acceptance-another-cluster": (p: { folder: string; found: string; wanted: string }) =>
    `${p.folder} contains the acceptance run of ${p.found}, but this run is for ${p.wanted}: use another folder with --out, or start over with --restart.`,
  "acceptance-step-failed": (p: { what: string; reason: string; log: string }) =>
    `${p.what} failed: ${p.reason}; see its output in ${p.log}.`,
  "acceptance-plan-changes": (p: { stack: string; log: string }) =>
    `A second plan of ${p.stack} has changes, although nothing was changed: see the plan in ${p.log}.`,
  "acceptance-not-carrying": (p: { state: string; findings: string; minutes: number }) =>
    `The tunnel did not work within ${p.minutes} minutes (${p.state}${p.findings}): find the reason with \`status\`, then run the same command again.`,
  "acceptance-checks-failed": (p: { checks: string }) => `These checks of \`verify\` failed: ${p.checks}.`,
  "acceptance-nothing-checked": () => "No check of `verify` could run: set the cluster's kubeconfig with --kubeconfig.",
  "acceptance-left": (p: { count: number; command: string }) =>
    `${p.count} of the things that the deploy created still exist: run \`${p.command}\`.`,
  "acceptance-unseen": () =>
    "Nothing could be examined after the destroy, so something may still exist: check the cloud's console.",

  // openshift-install create cluster
  "installer-state-missing": (p: { file: string }) =>
    `${p.file} does not exist, and openshift-install cannot create this cluster without it: use the folder in which "openshift-install create ignition-configs" ran, with every file that it wrote.`,
  "installer-state-invalid": (p: { file: string; detail: string }) =>
    `${p.file} is not the state file that "openshift-install create ignition-configs" writes: ${p.detail}; run it again in a new folder.`,
  "ipi-config-changed": (p: { file: string }) =>
    `${p.file} differs from openshift-install's state file, so "create cluster" would discard the tunnel: undo the change, or delete the file, because the state file has a copy.`,
  "ipi-input-present": (p: { file: string }) =>
    `${p.file} exists, so "openshift-install create cluster" would read it and discard the tunnel: move it to another folder, or run "openshift-install create ignition-configs" again if you need its content.`,
  "ipi-certificates-end": (p: { count: number; path: string; ends: string }) =>
    `bootstrap.ign contains ${p.count === 1 ? "a certificate that is expired or expires" : `${p.count} certificates that are expired or expire`} within an hour (${p.count === 1 ? "" : "first "}${p.path}, ${p.ends}): run "openshift-install create ignition-configs" again in a new folder.`,
  "ipi-spec-version": (p: { version: string; expected: string }) =>
    `bootstrap.ign has Ignition spec version ${p.version}, but openshift-install would write it again as ${p.expected}, without what that version does not define: use the bootstrap.ign that openshift-install wrote.`,
  "ipi-outside-spec": (p: { where: readonly string[]; more: number; spec: string }) =>
    `bootstrap.ign contains what Ignition spec ${p.spec} does not define, and openshift-install would drop it or fail: remove ${p.where.join(", ")}${p.more === 0 ? "" : ` and ${p.more} more`}.`,
  "ipi-payload-too-large": (p: { bytes: number; limit: number }) =>
    `With the tunnel, bootstrap.ign has ${p.bytes} bytes, but only ${p.limit} fit into the Secret with which openshift-install passes it to the machine: remove manifests or files that you added.`,
  "ipi-own-tunnel": () =>
    'The installer\'s own tunnel is enabled in this bootstrap.ign (feature gate), so there is nothing to prepare: run "openshift-install create cluster" as usual.',
  "ipi-agent-based": (p: { found: string }) =>
    `This folder belongs to an agent-based installation (${p.found}), which creates its bootstrap.ign on the rendezvous host: a tunnel cannot be added to it.`,
  "ipi-cluster-exists": (p: { found: string }) =>
    `openshift-install has already started to create a cluster from this folder (${p.found}): start again in a new folder.`,
  "ipi-upi-platform": (p: { platform: string }) =>
    `openshift-install does not create machines on platform ${p.platform}: build the payload with "npx konnectivity-bootstrap payload build <install-dir> --out <dir>", and pass it to your bootstrap machine.`,
  "ipi-without-tunnel": (p: { tunnel: string }) =>
    `The config has \`tunnel: ${p.tunnel}\`, so there is nothing to add to bootstrap.ign: set options of a tunnel instead, or use another config file.`,
  "ipi-consumed": (p: { file: string; folder: string }) =>
    `${p.file} does not exist, because "openshift-install create cluster" has read it: run "npx konnectivity-bootstrap ipi check ${p.folder}" to see whether it used the tunnel.`,
  "ipi-bootstrap-missing": (p: { file: string; advice: string }) => `${p.file} does not exist: ${p.advice}.`,
  "ipi-bootstrap-unknown": (p: { file: string; original: string; state: string }) =>
    `${p.file} is not the payload that was built from ${p.original}, not a copy of that file and not the one in ${p.state}, so nothing was changed: keep the one that you want as ${p.file}, and move the other to another folder.`,
  "ipi-original-missing": (p: { file: string; original: string }) =>
    `${p.file} is a payload, but the bootstrap.ign that it was built from is neither in ${p.original} nor in openshift-install's state file: restore ${p.original}, or run "openshift-install create ignition-configs" again in a new folder.`,
  "ipi-changed-meanwhile": (p: { file: string }) =>
    `Another program changed ${p.file} while this command ran, so the file was left as it is: run the same command again after openshift-install has finished.`,
} satisfies Record<string, (parameters: never) => string>;

type Sentences = typeof sentences;
export type ProblemCode = keyof Sentences;
export const problemCodes = Object.keys(sentences) as readonly ProblemCode[];

/** A place in a file, both counted from 1. */
export interface Position {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

export interface Problem {
  readonly code: ProblemCode;
  /** One sentence, without the position. */
  readonly message: string;
  /** The options that it is about, like aws.vpcId or --name. Left out if it is about something else. */
  readonly options?: readonly string[];
  /** Where in the config file. @default - it is about something else, or no file was read */
  readonly position?: Position;
  /** The file or folder that it is about. @default - that of the position, or none */
  readonly file?: string;
}

/** What a sentence may be made from that a problem also has as a field. */
interface Facts {
  readonly option?: string;
  /** An option of the command line. */
  readonly flag?: string;
  readonly options?: Options;
  readonly file?: string;
  readonly folder?: string;
}

export function problem<C extends ProblemCode>(code: C, ...parameters: Parameters<Sentences[C]>): Problem {
  const sentence = sentences[code] as (...p: Parameters<Sentences[C]>) => string;
  const facts = (parameters[0] ?? {}) as Facts;
  const { option = facts.flag, options, file = facts.folder } = facts;
  const single = option === undefined ? undefined : [option];
  const names = options === undefined ? single : namesOf(options);
  return {
    code,
    message: sentence(...parameters),
    ...(names && { options: names }),
    ...(file !== undefined && { file }),
  };
}

/** A problem as it is printed: its position in the file, in the form that compilers use, and its sentence. */
export function describeProblem({ message, position }: Problem): string {
  return position === undefined ? message : `${position.file}:${position.line}:${position.column}: ${message}`;
}

/** Errors that the user can fix: everything that is wrong, at once. */
export class UserError extends Error {
  readonly problems: readonly Problem[];

  constructor(...problems: readonly Problem[]) {
    super(problems.map((p) => p.message).join("\n"));
    this.name = "UserError";
    this.problems = problems;
  }
}

/** Runs a step that is about one file: its problems name that file, unless they are about another one or about options. */
export function aboutFile<T>(file: string, step: () => T): T {
  try {
    return step();
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    throw new UserError(
      ...error.problems.map((one) => (one.file === undefined && one.options === undefined ? { ...one, file } : one)),
    );
  }
}

/** Something that the user should know, but that stops nothing. */
export interface Warning {
  readonly code: string;
  /** The platform whose stack it is about. @default - all of them */
  readonly platform?: string;
  readonly message: string;
}

/** Collects problems, so that one error does not hide the others. */
export class Problems {
  readonly found: Problem[] = [];

  add(...problems: readonly Problem[]): void {
    this.found.push(...problems);
  }

  /** The result of a step, or undefined if it throws problems, which are collected. */
  attempt<T>(step: () => T): T | undefined {
    try {
      return step();
    } catch (error) {
      if (!(error instanceof UserError)) throw error;
      this.add(...error.problems);
      return undefined;
    }
  }

  /** The same for a step that takes time. */
  async attemptAsync<T>(step: () => Promise<T>): Promise<T | undefined> {
    try {
      return await step();
    } catch (error) {
      if (!(error instanceof UserError)) throw error;
      this.add(...error.problems);
      return undefined;
    }
  }
}
