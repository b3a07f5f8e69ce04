import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { inspect, makePayload } from "../../../../../src/core/bootstrap.ts";
import { UserError, type ProblemCode } from "../../../../../src/core/errors.ts";
import { readTunnel } from "../../../../../src/core/konnectivity/options.ts";
import { prepareFolder } from "../../../../../src/core/ipi/prepare.ts";
import { fixture, sampleText } from "../../../../../src/core/sample/sample.ts";
import { runs } from "../../../../support/damaged-config.ts";
import { folderOf, type InstallFolderProps, installFiles, stateText } from "../../../../support/install-folder.ts";
import { installInfoPath } from "../../../../support/installer-rewrite.ts";
import { createCluster, type Files } from "../../../../support/installer-store.ts";
import { problemsOf } from "../../../../support/problems.ts";

const now = new Date("2026-11-16T12:00:00Z");
const tunnel = readTunnel({ port: 9591 });
const stateName = ".openshift_install_state.json";
const original = sampleText("4.18");
const payloadOf = (text: string) => makePayload(text, tunnel, now).text;

const withFile = (name: string, text: string) => (files: Map<string, Buffer>) => files.set(name, Buffer.from(text));
const withoutFile = (name: string) => (files: Map<string, Buffer>) => files.delete(name);

/** The folder after its preparation. */
function prepared(files: Files): Files {
  const { payload, origin } = prepareFolder(folderOf(files), tunnel, now);
  return new Map([
    ...files,
    ["bootstrap.ign.original", origin.bytes] as const,
    ["bootstrap.ign", Buffer.from(payload.text)] as const,
  ]);
}

/** What would happen if nothing were refused: the payload in the place of bootstrap.ign. */
function forced(files: Files, time = now) {
  const text = String(files.get("bootstrap.ign"));
  return createCluster(new Map([...files, ["bootstrap.ign", Buffer.from(payloadOf(text))] as const]), { now: time });
}

describe("a prepared folder", () => {
  it("gives the machine the tunnel as it was built, and one more file", () => {
    const { bootstrap, machine = "", log } = createCluster(prepared(installFiles()), { now });
    expect(bootstrap).toBe("used");
    expect(log).toContain("Using Bootstrap Ignition Config loaded from target directory");
    expect(inspect(machine, "machine.ign")).toMatchObject({
      kind: "payload",
      sinceBuild: { rewritten: true, filesAdded: [installInfoPath] },
    });
  });

  it.each(["master.ign", "worker.ign"])("may lack %s, which the installer has in its state", (name) => {
    const files = installFiles();
    files.delete(name);
    expect(createCluster(prepared(files), { now }).bootstrap).toBe("used");
  });

  it("is consumed: a second run takes the payload from the state", () => {
    const after = createCluster(prepared(installFiles()), { now });
    expect([...after.files.keys()]).not.toContain("bootstrap.ign");
    expect(createCluster(after.files, { now })).toMatchObject({ bootstrap: "state", machine: after.machine });
  });
});

interface Refusal {
  readonly code: ProblemCode;
  readonly props?: InstallFolderProps;
  readonly change?: (files: Map<string, Buffer>) => unknown;
  /** What the installer would do. A text: it gives the machine a config without that. */
  readonly instead: "discarded" | "fails" | { readonly without: string };
}

const refusals: readonly Refusal[] = [
  { code: "installer-state-missing", change: withoutFile(stateName), instead: "fails" },
  { code: "installer-state-invalid", change: withFile(stateName, "{"), instead: "fails" },
  { code: "installer-state-invalid", change: withFile(stateName, "{}"), instead: "fails" },
  { code: "ipi-config-changed", change: withFile("master.ign", "{ }"), instead: "discarded" },
  { code: "ipi-config-changed", change: withFile("worker.ign", "{ }"), instead: "discarded" },
  { code: "ipi-config-changed", change: withFile("arbiter.ign", "{ }"), instead: "discarded" },
  { code: "ipi-input-present", change: withFile("install-config.yaml", "{}"), instead: "discarded" },
  { code: "ipi-input-present", change: withFile("manifests/mine.yaml", "{}"), instead: "discarded" },
  { code: "ipi-input-present", change: withFile("openshift/mine.yaml", "{}"), instead: "discarded" },
  { code: "ipi-input-present", change: withFile("templates/mine.yaml", "{}"), instead: "discarded" },
  {
    code: "ipi-input-present",
    change: withFile("tls/bound-service-account-signing-key.key", "a key"),
    instead: "discarded",
  },
  {
    code: "ipi-certificates-end",
    props: { bootstrapIgn: sampleText("4.18", { certificate: fixture("one-day.crt") }) },
    instead: "fails",
  },
  {
    code: "ipi-outside-spec",
    props: { bootstrapIgn: original.replace('{"ignition"', '{"kernelArguments":{"shouldExist":["debug"]},"ignition"') },
    instead: { without: "kernelArguments" },
  },
  {
    code: "ipi-outside-spec",
    props: { bootstrapIgn: original.replace('"overwrite":false', '"overwrite":"no"') },
    instead: "fails",
  },
  {
    code: "ipi-payload-too-large",
    props: { bootstrapIgn: sampleText("4.18", { bytes: 1_100_000 }) },
    instead: "fails",
  },
  { code: "ipi-upi-platform", props: { platform: "none" }, instead: "fails" },
  { code: "ipi-upi-platform", props: { platform: "external" }, instead: "fails" },
  { code: "bootstrap-in-place", props: { installConfig: { bootstrapInPlace: {} } }, instead: "fails" },
  { code: "ipi-cluster-exists", change: withFile(".clusterapi_output/envtest.kubeconfig", ""), instead: "fails" },
  { code: "ipi-cluster-exists", props: { assets: { "*cluster.Cluster": {} } }, instead: "fails" },
];

describe("what is refused", () => {
  it.each(refusals)("$code: the installer would otherwise lose the tunnel", ({ code, props, change, instead }) => {
    const files = installFiles(props);
    change?.(files);
    const time = code === "ipi-certificates-end" ? new Date("2026-11-17T04:00:00Z") : now;
    expect(problemsOf(() => prepareFolder(folderOf(files), tunnel, time)).map((one) => one.code)).toEqual([code]);
    // An hour later, where it is about time.
    const outcome = forced(files, new Date(time.getTime() + 3600_000));
    if (typeof instead === "string") expect(outcome.bootstrap).toBe(instead);
    else {
      expect(outcome.bootstrap).toBe("used");
      expect(outcome.machine).not.toContain(instead.without);
    }
  });

  it.each([
    ["4.23-gate-on", "ipi-own-tunnel"],
    ["bootstrap-in-place", "bootstrap-in-place"],
  ] as const)("a bootstrap.ign of %s", (shape, code) => {
    const files = installFiles({ bootstrapIgn: sampleText(shape) });
    expect(problemsOf(() => prepareFolder(folderOf(files), tunnel, now)).map((one) => one.code)).toEqual([code]);
  });

  it.each([
    "*agentconfig.AgentConfig",
    "*image.AgentImage",
    "*manifests.AgentManifests",
    "*workflow.AgentWorkflow",
    "*agent.OptionalInstallConfig",
  ])("an agent-based installation, by the asset %s in the state", (key) => {
    const files = installFiles({ assets: { [key]: {} } });
    expect(problemsOf(() => prepareFolder(folderOf(files), tunnel, now)).map((one) => one.code)).toEqual([
      "ipi-agent-based",
    ]);
  });

  it("is 900 kB, not less", () => {
    const room = 900_000 - payloadOf(original).length;
    const bootstrapIgn = (more: number) => original.replace('"contents":"[Service]', `$&${" ".repeat(room + more)}`);
    const codes = (more: number) =>
      problemsOf(() => prepareFolder(folderOf(installFiles({ bootstrapIgn: bootstrapIgn(more) })), tunnel, now)).map(
        (one) => one.code,
      );
    expect([codes(0), codes(1)]).toEqual([[], ["ipi-payload-too-large"]]);
  });

  it("never quotes the state file or bootstrap.ign", () => {
    const marker = "SECRET-MARKER";
    const hostile = [
      stateText({ platform: "aws" }).replace('"Config":{}', `"Config":"${marker}"`).slice(0, -1),
      `{"*bootstrap.Bootstrap":{"File":{"Data":"${marker}"}}}`,
      `{"*bootstrap.Bootstrap":"${marker}"}`,
    ];
    for (const text of hostile)
      for (const { message } of problemsOf(() =>
        prepareFolder(folderOf(new Map([...installFiles(), [stateName, Buffer.from(text)] as const])), tunnel, now),
      ))
        expect(message).not.toContain(marker);
  });
});

const often = <T>(usual: T, ...others: readonly T[]) =>
  fc.oneof({ weight: 8, arbitrary: fc.constant(usual) }, { weight: 2, arbitrary: fc.constantFrom(usual, ...others) });

/** What may be in a folder, each independent of the others. */
const anyFolder = fc
  .record({
    platform: often("aws", "vsphere", "none"),
    bootstrapIgn: often(
      ...([original, sampleText("4.12"), sampleText("4.23"), sampleText("4.18", { version: "3.3.0" })] as const),
      ...[original.replace('{"ignition"', '{"x":1,"ignition"'), sampleText("4.18", { bytes: 950_000 })],
      sampleText("4.18", { certificate: fixture("one-day.crt") }),
    ),
    inPlace: fc.constantFrom("same", "same", "same", "payload", "payload", "edited", "missing", "not JSON"),
    kept: fc.constantFrom("none", "none", "same", "same", "other"),
    state: often("whole", "missing", "truncated", "no bootstrap.ign", "has the payload"),
    master: often("same", "changed", "missing"),
    worker: often("same", "changed", "missing"),
    arbiter: often("missing", "changed"),
    more: often(
      ...(["notes.txt", "auth/kubeconfig", ".openshift_install.log", "tls/mine.crt"] as const),
      ...["install-config.yaml", "manifests/a.yaml", "openshift/a.json", "templates/a.yml", "agent-config.yaml"],
      ...["tls/bound-service-account-signing-key.key", ".clusterapi_output/envtest.kubeconfig"],
    ),
    hour: fc.constantFrom(0, 0, 15, 17),
  })
  .map((made) => {
    const { bootstrapIgn, platform } = made;
    const inState = made.state === "has the payload" ? built(bootstrapIgn) : bootstrapIgn;
    const files = installFiles({ bootstrapIgn: inState, platform });
    const set = (name: string, text: string | undefined) =>
      text === undefined ? files.delete(name) : files.set(name, Buffer.from(text));
    const places = { same: bootstrapIgn, payload: built(bootstrapIgn), edited: edit(bootstrapIgn) };
    const other = { missing: undefined, "not JSON": "{" };
    set("bootstrap.ign", { ...places, ...other }[made.inPlace]);
    set("bootstrap.ign.original", { none: undefined, same: bootstrapIgn, other: edit(edit(bootstrapIgn)) }[made.kept]);
    for (const name of ["master", "worker", "arbiter"] as const) {
      if (made[name] !== "same") set(`${name}.ign`, made[name] === "changed" ? "{}" : undefined);
    }
    const state = String(files.get(stateName));
    if (made.state === "missing") set(stateName, undefined);
    if (made.state === "truncated") set(stateName, state.slice(0, -9));
    if (made.state === "no bootstrap.ign") set(stateName, state.replace("*bootstrap.Bootstrap", "*bootstrap.Other"));
    set(made.more, "mine");
    return { files: files, time: new Date(now.getTime() + made.hour * 3600_000) };
  });

const edit = (text: string) => text.replace('"contents":"[Service]', "$&\\n# mine");

/** The payload of a bootstrap.ign. */
function built(text: string): string {
  const known = payloads.get(text) ?? payloadOf(text);
  payloads.set(text, known);
  return known;
}
const payloads = new Map<string, string>();

describe("in any combination of a folder's contents", () => {
  it("what is accepted is what the installer takes, and what is refused is refused with a sentence", () => {
    const seen = { accepted: 0, refused: 0 };
    fc.assert(
      fc.property(anyFolder, ({ files, time }) => {
        let after: Files;
        try {
          const { payload, origin } = prepareFolder(folderOf(files), tunnel, time);
          after = new Map([...files, ["bootstrap.ign", Buffer.from(payload.text)] as const]);
          expect(inspect(payload.text, "payload.ign")).toMatchObject({ kind: "payload" });
          // Nothing is lost: the original is one of the files, or in the state.
          expect(
            [files.get("bootstrap.ign"), files.get("bootstrap.ign.original")].some((one) =>
              one?.equals(origin.bytes),
            ) || String(files.get(stateName)).includes(origin.bytes.toString("base64")),
          ).toBe(true);
          seen.accepted += 1;
        } catch (error) {
          if (!(error instanceof UserError)) throw error;
          expect(error.problems.length).toBeGreaterThan(0);
          seen.refused += 1;
          return;
        }
        const { bootstrap, machine = "" } = createCluster(after, { now: new Date(time.getTime() + 3600_000) });
        // From the state, where that has the same payload already.
        expect(["used", "state"]).toContain(bootstrap);
        expect(inspect(machine, "machine.ign")).toMatchObject({ kind: "payload" });
      }),
      runs(7, 250),
    );
    expect(seen.accepted).toBeGreaterThan(20);
    expect(seen.refused).toBeGreaterThan(20);
  });
});
