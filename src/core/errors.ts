import { defaultLabName } from "./lab-layout.ts";

/**
 * Options of the config that contradict each other, like aws.vpcId: their names, or their names with their values.
 * Undefined: the value does not matter. Null: the option is missing.
 */
export type Options = readonly string[] | Readonly<Record<string, string | number | boolean | null | undefined>>;

const isList = (options: Options): options is readonly string[] => Array.isArray(options);
const namesOf = (options: Options) => (isList(options) ? options : Object.keys(options));

/** "a 1 and b 2", and a list behind the first if it is of names only: "a 1 and b, c". */
function listOptions(options: Options): string {
  const values = isList(options) ? options.map((name) => [name, undefined] as const) : Object.entries(options);
  const [first = "", ...others] = values.map(([name, value]) => {
    if (value === undefined) return name;
    return value === null ? `no ${name}` : `${name} ${value}`;
  });
  const onlyNames = values.slice(1).every(([, value]) => value === undefined);
  return [first, ...(onlyNames ? [others.join(", ")] : others)].filter((text) => text !== "").join(" and ");
}

/**
 * Every error that the project can find in its input, by name. One sentence each: what is wrong, where, what to do.
 * The tests go through this list: a name without a test case fails them.
 */
const sentences = {
  // bootstrap.ign
  "ignition-not-json": (p: { detail: string }) =>
    `bootstrap.ign is not JSON (${p.detail}): run "openshift-install create ignition-configs" again.`,
  "ignition-version-missing": (p: { found: string }) =>
    `bootstrap.ign is not an Ignition config: ignition.version is ${p.found}; give the file that "openshift-install create ignition-configs" wrote.`,
  "ignition-malformed": (p: { where: string; expected: string; found: string }) =>
    `bootstrap.ign is damaged: ${p.where} is ${p.found} where Ignition wants ${p.expected}; run "openshift-install create ignition-configs" again.`,
  "ignition-spec-unknown": (p: { version: string; known: string }) =>
    `bootstrap.ign has Ignition spec version ${p.version}, which is not known here (known: ${p.known}); use a release of this project that knows it.`,
  "bootstrap-in-place": () =>
    "This is a bootstrap-in-place document (single node, live ISO): its two control planes never exist side by side, so there is nothing to tunnel to; use it as it is.",
  "installer-tunnel-on": () =>
    "The installer's own tunnel is switched on in this bootstrap.ign (feature gate): two tunnels would collide; set `tunnel: installer` to use that one, or create the Ignition configs without that feature gate.",
  "installer-tunnel-off": (p: { option: "tunnel"; found: "absent" | "off" }) =>
    `${p.option} is installer, but the installer's own tunnel is ${p.found === "absent" ? "not in this bootstrap.ign (openshift-install has it from 4.23 on)" : "switched off in this bootstrap.ign (feature gate)"}: leave ${p.option} out to get this project's, or create the Ignition configs with that feature gate.`,
  "already-built": (p: { version: string }) =>
    `This document is a payload that konnectivity-bootstrap ${p.version} made already: give the bootstrap.ign that openshift-install wrote.`,
  "path-taken": (p: { path: string }) =>
    `The document already has a file ${p.path}, which the tunnel needs for itself: remove it from the manifests or files that you added.`,

  // bootkube.sh
  "bootkube-missing": (p: { path: string }) =>
    `bootstrap.ign has no file ${p.path}: it is not the bootstrap machine's document (master.ign and worker.ign are others).`,
  "bootkube-repeated": (p: { path: string; count: number }) =>
    `bootstrap.ign has ${p.count} entries for ${p.path} where one is expected: run "openshift-install create ignition-configs" again.`,
  "bootkube-undecodable": (p: { path: string; reason: string }) =>
    `${p.path} in bootstrap.ign cannot be decoded: ${p.reason}; run "openshift-install create ignition-configs" again.`,
  "bootkube-unbalanced": (p: { line: number; detail: string }) =>
    `bootkube.sh line ${p.line}: ${p.detail}; the script is cut off or of a form that is not known here, so nothing was inserted.`,
  "bootkube-prerequisite-missing": (p: { what: string; why: string }) =>
    `bootkube.sh has no ${p.what}, which ${p.why}: this release is not known here; please report it with the release's version.`,
  "anchor-missing": (p: { anchor: string; line: string; release: string }) =>
    `Anchor "${p.anchor}" is not in bootkube.sh (looked like release ${p.release}): no line is exactly ${p.line}; this release is not known here, please report it with its version.`,
  "anchor-repeated": (p: { anchor: string; line: string; lines: string }) =>
    `Anchor "${p.anchor}" must match once in bootkube.sh but ${p.line} stands at lines ${p.lines}; this release is not known here, please report it with its version.`,
  "anchor-nested": (p: { anchor: string; line: number; found: string; wanted: string }) =>
    `Anchor "${p.anchor}" at line ${p.line} of bootkube.sh is ${p.found} but must be ${p.wanted}; this release is not known here, please report it with its version.`,
  "anchor-order": (p: { first: string; second: string }) =>
    `Anchor "${p.second}" stands before anchor "${p.first}" in bootkube.sh; this release is not known here, please report it with its version.`,

  // The config file
  "config-not-yaml": (p: { file: string; detail: string }) =>
    `${p.file} is not YAML that can be read: ${p.detail}; mend that place.`,
  "no-platform": (p: { platforms: readonly string[] }) =>
    `The config names no platform, so there is nothing to describe: add ${p.platforms.slice(0, -1).join(", ")} or ${p.platforms.at(-1) ?? ""} to it.`,
  "option-unknown": (p: { option: string; hint: string }) => `${p.option} is not an option${p.hint}.`,
  /** An empty option is the whole config. */
  "option-invalid": (p: { option: string; found: string; expected: string }) =>
    `${p.option === "" ? "The config" : p.option} is ${p.found}; expected ${p.expected}.`,
  "state-of-another-cluster": (p: { folder: string; saved: string; infraId: string }) =>
    `The state folder ${p.folder} holds the state of ${p.saved}, which is still deployed, and this is ${p.infraId}: destroy that one first, or give this cluster a state folder of its own (state.local.folder).`,
  "state-lost": (p: { file: string; backup: string }) =>
    `The state ${p.file} is empty although the one before it, ${p.backup}, has resources: Terraform was stopped while it wrote, and would now take everything for gone; copy the second over the first, and run the same command again.`,
  "state-damaged": (p: { file: string; backup: string }) =>
    `The state ${p.file} is not complete JSON: Terraform was stopped while it wrote; if ${p.backup} is complete, copy it over the file, and run the same command again.`,
  "state-is-link": (p: { file: string }) =>
    `The state ${p.file} is a link, and Terraform would write to whatever it leads to: put the file itself there, or give its folder as state.local.folder.`,
  "config-gone": (p: { file: string; folder: string }) =>
    `${p.file} is not there, but ${p.folder} holds what was deployed with it: bring it back, or name it by KONNECTIVITY_CONFIG; without it nothing can be destroyed.`,
  "combination-refused": (p: { options: Options; reason: string }) =>
    `${listOptions(p.options)} do not go together: ${p.reason}.`,
  "token-signer-missing": (p: { path: string }) =>
    `Token authentication needs a client certificate of its own for the server, and bootstrap.ign has no readable ${p.path} to sign it with: use \`authentication: mtls\`.`,
  "token-kubeconfig-unusable": (p: { path: string }) =>
    `Token authentication needs ${p.path} in bootstrap.ign with one server and its CA: use \`authentication: mtls\`.`,

  "template-refused": (p: { what: string; found: string }) =>
    `${p.what} is ${p.found}, which cannot stand in Terraform code as it is: Terraform or cdktf would take a part of it for an expression; give it another name.`,

  // The pointer
  "pointer-url-invalid": (p: { found: string }) =>
    `${p.found} is not a URL that a pointer can name: give https://…, s3://bucket/key or gs://bucket/object.`,
  "pointer-scheme-unknown": (p: { scheme: string }) =>
    `Ignition of the supported releases cannot fetch a payload by "${p.scheme}": use https, s3 or gs (http only on a network that you trust with every secret of the cluster).`,
  "pointer-option-not-honoured": (p: { setting: string; scheme: string; reason: string }) =>
    `${p.setting} has no effect for a ${p.scheme} source: ${p.reason}.`,
  "pointer-option-invalid": (p: { setting: string; found: string; expected: string }) =>
    `${p.setting} is ${p.found}; expected ${p.expected}.`,
  "pointer-option-without-url": (p: { flag: string }) =>
    `${p.flag} belongs to the pointer, which is only made with --url: add --url or leave it out.`,

  // Files
  "file-unreadable": (p: { file: string; reason: string; advice: string }) =>
    `${p.file} cannot be read: ${p.reason}; ${p.advice}.`,
  "file-unwritable": (p: { file: string; reason: string }) =>
    `${p.file} cannot be written: ${p.reason}; nothing was changed.`,
  "file-exists": (p: { file: string; advice: string }) =>
    `${p.file} is there already and was not touched: ${p.advice}.`,
  "metadata-invalid": (p: { file: string; detail: string }) =>
    `${p.file} is not the metadata.json that openshift-install writes: ${p.detail}; bring the file back as it was, or give another installDir.`,
  "stream-invalid": (p: { file: string }) =>
    `${p.file} is not a CoreOS stream: save what "openshift-install coreos print-stream-json" prints.`,
  "stream-lacks-image": (p: { file: string; what: string; option: string }) =>
    `${p.file} does not have ${p.what}: give one as ${p.option}.`,
  "not-a-payload": (p: { file: string }) =>
    `${p.file} is neither a pointer nor a payload with a tunnel of this project (with \`tunnel: off\` and \`tunnel: installer\` a payload is bootstrap.ign itself, as it is): give what "payload build" wrote.`,
  "payload-damaged": (p: { file: string; detail: string }) =>
    `${p.file} was changed after it was built: ${p.detail}; build it again.`,

  // The lab
  "root-needed": () => "The lab makes namespaces, mounts and control groups of its own: run this as root.",
  "lab-name-invalid": (p: { name: string }) =>
    `${p.name} cannot be the name of a lab: give lower case letters, digits and -, at most 20, beginning with a letter.`,
  "lab-not-running": (p: { name: string; platform: string }) =>
    `No lab named ${p.name} runs here: bring it up with \`npx cdktf deploy '${p.platform}-*'\`${p.name === defaultLabName ? "" : `, with ${p.platform}.name: ${p.name} in the config file`}.`,
  "machine-not-there": (p: { name: string; machine: string; nodes: number }) =>
    `The lab ${p.name} has no ${p.machine}: its machines are bootstrap and node-0${p.nodes === 1 ? "" : ` to node-${p.nodes - 1}`}.`,
  "machine-removed": (p: { name: string }) =>
    `The lab ${p.name} has no bootstrap machine any more: the fake of openshift-install removed it when the bootstrap had ended; its other machines are node-0 and so on.`,
  "ignition-refuses": (p: { detail: string; stack: string }) =>
    `Ignition does not take the payload, so no lab was made: ${p.detail}; give one that the stack ${p.stack} or \`payload build\` made.`,
  "installer-not-built": (p: { reason: string }) =>
    `A lab with \`ipi: true\` rewrites the payload with a program that has to be built first: ${p.reason}.`,
  "installer-refuses": (p: { reason: string }) =>
    `openshift-install could not read the payload, so no lab was made: ${p.reason}; give one that \`payload build\` made.`,
  "lab-stuck": (p: { name: string; reason: string; said: string; log: string }) =>
    `The lab ${p.name} is stuck: ${p.reason}; look into ${p.log}${p.said === "" ? "" : `, which ends with "${p.said}"`}, and around with \`npx konnectivity-bootstrap lab enter --name ${p.name} bootstrap\`.`,

  "controllers-missing": (p: { file: string }) =>
    `${p.file} is empty, so the lab's machines would get no controllers: in a container, start it with --cgroupns=host; elsewhere, enable the controllers there, as systemd does.`,
  "timeout-factor-invalid": (p: { variable: string; found: string }) =>
    `${p.variable} is ${p.found}; set it to a whole number from 1 to 100, which multiplies the time limits of the lab and of requests to a cluster, or unset it.`,

  // The teardown
  "gate-closed": (p: { waitsFor: string; variable: string }) =>
    `The cluster still needs its bootstrap machine, so nothing was touched: ${p.waitsFor}; run the same command again when that is over, or set ${p.variable} to the reason why the machine may go anyway.`,
  "gate-blind": (p: { reason: string; variable: string }) =>
    `Whether the cluster still needs its bootstrap machine cannot be known, so nothing was touched: ${p.reason}; give its kubeconfig (teardown.kubeconfig, or KUBECONFIG), or set ${p.variable} to the reason why the machine may go anyway.`,
  "cluster-another": (p: { server: string; found: string; wanted: string }) =>
    `${p.server} is the API of the cluster ${p.found}, not of ${p.wanted}, so nothing was touched: give the right kubeconfig (teardown.kubeconfig, or KUBECONFIG).`,
  "platform-not-configured": (p: { platform: string }) =>
    `${p.platform} is not in the config, so it is not known what to look for: put it back, or name the right config file with --config.`,
  "gate-reason-missing": (p: { variable: string }) =>
    `${p.variable} is set but says nothing, so nothing was touched: write into it why the machine may go although the gate is closed.`,
  "state-unreadable": (p: { stack: string; folder: string; reason: string }) =>
    `The state of ${p.stack} cannot be read: ${p.reason}; run \`npx cdktf synth\` and \`terraform -chdir=${p.folder} init\`, then try again.`,

  // verify, status and gather
  "lab-or-cluster": (p: { flag: string }) => `--name is a lab's and ${p.flag} is a real cluster's: give one of them.`,
  "machine-unclear": (p: { found: string }) =>
    `--ssh without a destination means the bootstrap machine that was deployed from here, and the state has ${p.found}: give one, like --ssh core@10.0.0.5.`,
  "verify-lab-only": (p: { flag: string }) => `${p.flag} is for the lab: leave it out with --kubeconfig.`,
  "kubeconfig-invalid": (p: { file: string; detail: string }) =>
    `${p.file} is not a kubeconfig that can be used: ${p.detail}; give the one in auth/ of the install folder.`,
  "cluster-unreachable": (p: { server: string; reason: string }) =>
    `${p.server} cannot be asked: ${p.reason}; check the kubeconfig, and the way to that address.`,

  // openshift-install create cluster
  "installer-state-missing": (p: { file: string }) =>
    `${p.file} does not exist, and without it openshift-install cannot create this cluster: give the folder in which "openshift-install create ignition-configs" ran, with everything that it wrote.`,
  "installer-state-invalid": (p: { file: string; detail: string }) =>
    `${p.file} is not the state that "openshift-install create ignition-configs" writes: ${p.detail}; run it again in a new folder.`,
  "ipi-config-changed": (p: { file: string }) =>
    `${p.file} differs from openshift-install's state file, and "create cluster" would then discard the tunnel: undo the change, or delete the file, because the state file has a copy.`,
  "ipi-input-present": (p: { file: string }) =>
    `${p.file} is in the install folder, and "openshift-install create cluster" would read it and discard the tunnel: move it to another folder, or run "openshift-install create ignition-configs" again if you need what it says.`,
  "ipi-certificates-end": (p: { count: string; path: string; ends: string }) =>
    `${p.count} in bootstrap.ign expired, or will within the hour, and the first one, ${p.path}, ends ${p.ends}: run "openshift-install create ignition-configs" again in a new folder.`,
  "ipi-spec-version": (p: { version: string; expected: string }) =>
    `bootstrap.ign has Ignition spec version ${p.version}, and openshift-install writes it again as ${p.expected}, without what that version does not know: give the bootstrap.ign that openshift-install wrote.`,
  "ipi-outside-spec": (p: { where: readonly string[]; more: number; spec: string }) =>
    `bootstrap.ign has what Ignition spec ${p.spec} does not know, and openshift-install would drop it or fail: remove ${p.where.join(", ")}${p.more === 0 ? "" : ` and ${p.more} more`}.`,
  "ipi-payload-too-large": (p: { bytes: number; limit: number }) =>
    `With the tunnel, bootstrap.ign has ${p.bytes} bytes, and above ${p.limit} it does not fit into the Secret by which openshift-install gives it to the machine: remove manifests or files that you added.`,
  "ipi-own-tunnel": () =>
    'The installer\'s own tunnel is switched on in this bootstrap.ign (feature gate), and nothing needs to be prepared: run "openshift-install create cluster" as usual.',
  "ipi-agent-based": (p: { found: string }) =>
    `This folder belongs to an agent-based installation (${p.found}), whose bootstrap.ign is made on the rendezvous host: there is no way to add a tunnel.`,
  "ipi-cluster-exists": (p: { found: string }) =>
    `openshift-install has already begun to create a cluster from this folder (${p.found}): begin in a new folder.`,
  "ipi-upi-platform": (p: { platform: string }) =>
    `openshift-install does not create machines on platform ${p.platform}: build the payload with "npx konnectivity-bootstrap payload build", and give it to your bootstrap machine.`,
  "ipi-without-tunnel": (p: { tunnel: string }) =>
    `The config says \`tunnel: ${p.tunnel}\`, so there is nothing to add to bootstrap.ign: leave out --config, or give options of a tunnel.`,
  "ipi-consumed": (p: { file: string; folder: string }) =>
    `${p.file} is gone because "openshift-install create cluster" has read it: see what became of it with "npx konnectivity-bootstrap ipi check ${p.folder}".`,
  "ipi-bootstrap-missing": (p: { file: string; advice: string }) => `${p.file} does not exist: ${p.advice}.`,
  "ipi-bootstrap-unknown": (p: { file: string; original: string; state: string }) =>
    `${p.file} is neither the payload that was built from ${p.original}, nor that file, nor what ${p.state} has, and nothing was changed: keep the one that you want as ${p.file} and move the other to another folder.`,
  "ipi-original-missing": (p: { file: string; original: string }) =>
    `${p.file} is a payload, and the bootstrap.ign that it was built from is neither in ${p.original} nor in openshift-install's state file: put it back, or run "openshift-install create ignition-configs" again in a new folder.`,
  "ipi-changed-meanwhile": (p: { file: string }) =>
    `${p.file} was changed by another program while this one ran, and was left as it is: run the same command again when openshift-install has ended.`,
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
  /** The options that it is about, like aws.vpcId. Left out if it is about something else. */
  readonly options?: readonly string[];
  /** Where in the config file. @default - it is about something else, or no file was read */
  readonly position?: Position;
}

export function problem<C extends ProblemCode>(code: C, ...parameters: Parameters<Sentences[C]>): Problem {
  const sentence = sentences[code] as (...p: Parameters<Sentences[C]>) => string;
  const { option, options } = (parameters[0] ?? {}) as { option?: string; options?: Options };
  const single = option === undefined ? undefined : [option];
  const names = options === undefined ? single : namesOf(options);
  return { code, message: sentence(...parameters), ...(names && { options: names }) };
}

/** A problem as it is printed: its sentence, after the place in the file as compilers write it. */
export function describeProblem({ message, position }: Problem): string {
  return position === undefined ? message : `${position.file}:${position.line}:${position.column}: ${message}`;
}

/** What the user can put right: everything that is wrong, at once. */
export class UserError extends Error {
  readonly problems: readonly Problem[];

  constructor(...problems: readonly Problem[]) {
    super(problems.map((p) => p.message).join("\n"));
    this.name = "UserError";
    this.problems = problems;
  }
}

/** What the user should know, although nothing is refused. */
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
}
