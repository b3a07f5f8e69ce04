import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { hostname, tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, describe, expect, it } from "vitest";
import { type Facts, factsSchema, statusFacts, verifyFacts } from "../../../../src/cli/acceptance-facts.ts";
import { identifyingTexts } from "../../../../src/cli/acceptance-names.ts";
import { resourcesIn, runProgram } from "../../../../src/cli/acceptance-program.ts";
import { newProgress, type Progress, readProgress, stepIds } from "../../../../src/cli/acceptance-progress.ts";
import { redactor, textsIn } from "../../../../src/cli/acceptance-redaction.ts";
import { hasPassed } from "../../../../src/cli/acceptance-report.ts";
import { rows, type RunFacts } from "../../../../src/cli/acceptance-rows.ts";
import { describeRemains, runSteps, writeReport } from "../../../../src/cli/acceptance-run.ts";
import { Declined, mustSucceed, type Session, type Step, steps } from "../../../../src/cli/acceptance-steps.ts";
import { readPartialConfig } from "../../../../src/config/config-file.ts";
import { problem, UserError } from "../../../../src/core/errors.ts";
import { projectRoot, readProjectText } from "../../../../src/runtime/project-files.js";
import { configFormat } from "../../../../stacks/platforms.ts";
import { sessionOf } from "../../../support/acceptance.ts";
import { withApi } from "../../../support/api.ts";
import { command, linesOf, run } from "../../../support/cli.ts";
import { changedExample, exampleOf, metadata, Project } from "../../../support/stacks.ts";

const root = mkdtempSync(join(tmpdir(), "acceptance-"));
afterAll(() => {
  rmSync(root, { recursive: true });
});
let count = 0;
const newFolder = () => {
  const folder = join(root, `run-${++count}`);
  mkdirSync(folder);
  return folder;
};

let project: Project | undefined;
afterEach(() => {
  project?.remove();
  project = undefined;
});
function awsSession(changes: Partial<Session> = {}, config = changedExample("aws")): Session {
  const { files } = exampleOf("aws");
  project = new Project(config, { files });
  const session = sessionOf(project, "aws", changes);
  mkdirSync(session.folder);
  return session;
}

const inAws: NonNullable<Facts["preflight"]> = {
  terraform: { program: "terraform", version: "1.11.4" },
  tunnel: "ours",
  release: "4.14-4.22",
  authentication: "mtls",
  port: 8091,
  firewall: "managed",
  machine: { region: "eu-central-1" },
  dockerWithGroups2: false,
};
const server: NonNullable<NonNullable<Facts["status"]>["server"]> = {
  ...{ tunnel: "ours", healthz: 200, readyz: 200, agents: 3, crio: true, egressSelector: true },
  ...{ selinux: "Enforcing", denials: 0, fips: false, openssl: "3.0.7" },
};
const carrying: NonNullable<Facts["status"]> = {
  ...{ state: "carries", findings: [], server, network: "OVNKubernetes" },
  pods: { ready: 3, all: 3, sccs: ["restricted-v2"] },
};
const complete: Facts = {
  preflight: inAws,
  deploy: { added: 16, providers: [{ name: "aws", version: "6.34.0" }] },
  plan: { changes: false },
  status: carrying,
  leftovers: { gone: 16, terminating: 0, left: 0, notLookedAt: 0 },
};
const allPassed = Object.fromEntries(stepIds.map((id) => [id, { state: "passed" as const, seconds: 1 }]));

describe("the rows of docs/not-proved.md", () => {
  it("are those of the page, each once", () => {
    const page = readProjectText("docs/not-proved.md");
    const onPage = [...page.matchAll(/^(?:\| |[-*#]+ )\**`([\w.-]+)`/gm)].map(([, id]) => id);
    expect(onPage.sort()).toEqual(rows.map(({ id }) => id).sort());
  });

  const verdicts = (facts: Facts, changes: Partial<RunFacts> = {}) => {
    const of = { platform: "aws", isLab: false, results: allPassed, facts, ...changes };
    return Object.fromEntries(rows.map(({ id, answer }) => [id, answer(of).verdict]));
  };
  const usual = {
    ...{ "lab-docker": "not answered", "lab-downloads": "not answered", selinux: "yes", scc: "yes" },
    ...{ "render-override": "yes", "bootkube-insertions": "yes", "openssl-1.1.1": "not answered" },
    ...{ "provider-versions": "yes", "cloud-apis": "yes", "azure-custom-data": "not answered" },
    ...{ "cloud-permissions": "yes", fips: "not answered", ovn: "yes", "image-arguments": "yes", "status-crio": "yes" },
    ...{ "ipi-create-cluster": "not answered", "installer-tunnel": "not answered", "open-ports": "not answered" },
    "firewall-commands": "not answered",
    ...{ "clean-up-unit": "not answered", "switch-crictl": "not answered", "online-check": "not answered" },
    opentofu: "not answered",
  };

  it("are answered by a run that passed on a cloud", () => {
    expect(verdicts(complete)).toEqual(usual);
    expect(factsSchema.parse(complete)).toEqual(complete);
  });

  const withServer = (changes: object): Facts => ({
    ...complete,
    status: { ...carrying, server: { ...server, ...changes } },
  });
  const withStatus = (changes: object): Facts => ({ ...complete, status: { ...carrying, ...changes } });
  const withPreflight = (changes: object): Facts => ({ ...complete, preflight: { ...inAws, ...changes } });
  const broken = { state: "broken", findings: ["server-down"] };
  const cases: [string, Facts, object, Partial<RunFacts>?][] = [
    ["SELinux denies", withServer({ denials: 2 }), { selinux: "no" }],
    ["SELinux is permissive", withServer({ selinux: "Permissive" }), { selinux: "not answered" }],
    ["the audit log is not known", withServer({ denials: undefined }), { selinux: "not answered" }],
    ["another SCC", withStatus({ pods: { ready: 1, all: 1, sccs: ["privileged"] } }), { scc: "no" }],
    ["no pods", withStatus({ pods: undefined }), { scc: "not answered" }],
    ["the override is lost", withServer({ egressSelector: false }), { "render-override": "no" }],
    ["OpenSSL 1.1.1", withServer({ openssl: "1.1.1k" }), { "openssl-1.1.1": "yes" }],
    [
      "OpenSSL 1.1.1, and the set-up failed",
      withStatus({
        state: "broken",
        findings: ["set-up-failed"],
        server: { ...server, openssl: "1.1.1k", healthz: 0 },
      }),
      { "openssl-1.1.1": "no" },
    ],
    [
      "a plan with changes",
      { ...complete, plan: { changes: true } },
      { "provider-versions": "no", "cloud-apis": "no" },
    ],
    [
      "something is left",
      { ...complete, leftovers: { gone: 15, terminating: 0, left: 1, notLookedAt: 0 } },
      { "cloud-apis": "no" },
    ],
    ["FIPS mode", withServer({ fips: true }), { fips: "yes" }],
    [
      "FIPS mode, and it does not carry",
      withStatus({ state: "broken", server: { ...server, fips: true } }),
      { fips: "not answered" },
    ],
    ["another pod network", withStatus({ network: "OpenShiftSDN" }), { ovn: "not answered" }],
    ["the server does not run", withStatus(broken), { "image-arguments": "no", ovn: "not answered" }],
    [
      "no ssh",
      withStatus({ server: undefined }),
      { selinux: "not answered", "status-crio": "not answered", ovn: "yes" },
    ],
    ["Azure", complete, { "azure-custom-data": "yes" }, { platform: "azure" }],
    [
      "the installer's own tunnel",
      { ...withServer({ tunnel: "installer" }), preflight: { ...inAws, tunnel: "installer" } },
      { "installer-tunnel": "yes", "bootkube-insertions": "not answered", "render-override": "not answered" },
    ],
    ["an external firewall and 9591", withPreflight({ firewall: "external", port: 9591 }), { "open-ports": "yes" }],
    ["an external firewall and 8091", withPreflight({ firewall: "external" }), { "open-ports": "not answered" }],
    [
      "a run that stopped before the destroy",
      { ...complete, leftovers: undefined },
      { "provider-versions": "not answered", "cloud-apis": "not answered", "cloud-permissions": "yes" },
      { results: { preflight: allPassed.preflight, deploy: allPassed.deploy, plan: allPassed.plan } },
    ],
  ];
  it.each(cases)("%s", (_, facts, expected, changes = {}) => {
    expect(verdicts(facts, changes)).toMatchObject(expected);
  });

  it("of a cloud are not answered by the local platform, and the lab's only in Docker", () => {
    const answered = (facts: Facts) =>
      Object.entries(verdicts(facts, { platform: "local", isLab: true })).filter(
        ([, verdict]) => verdict !== "not answered",
      );
    expect(answered(complete)).toEqual([]);
    expect(answered(withPreflight({ dockerWithGroups2: true }))).toEqual([["lab-docker", "yes"]]);
  });
});

describe("what the status says", () => {
  const collected = (machine: string, more: readonly (readonly [string, string])[] = []) => ({
    probes: [{ machine: "core@10.0.0.5", sections: new Map([["tunnel", "ours"], ["machine", machine], ...more]) }],
    cluster: undefined,
    status: {
      ...{ state: "carries" as const, agents: [], findings: [], cluster: undefined },
      server: { tunnel: "ours", healthz: 200, readyz: 200, agents: 2 },
    },
  });
  const factsOf = (...of: Parameters<typeof collected>) =>
    statusFacts(collected(...of) as never, "OVNKubernetes").server;

  it("is read from the machine", () => {
    const machine = "name=ip-10-0-0-5\nOpenSSL 1.1.1k  FIPS 25 Mar 2021\nselinux=Enforcing\nfips=1";
    const denied = 'type=AVC msg=audit(1.2:3): avc: denied { read } comm="proxy-server" name="tls.key"';
    const sections = [
      ["denials", `${denied}\nend`],
      ["container", "CONTAINER_RUNNING quay.io/x"],
      ["kube-apiserver-config", "  egress-selector-config-file:\n  - /x"],
    ] as const;
    expect(factsOf(machine, sections)).toEqual({
      ...{ tunnel: "ours", healthz: 200, readyz: 200, agents: 2, crio: true, egressSelector: true },
      ...{ selinux: "Enforcing", denials: 1, fips: true, openssl: "1.1.1k" },
    });
  });

  it("leaves out what a machine does not know, and what is no word", () => {
    const found = factsOf("selinux=\nfips=\nOpenSSL of prod.example.com", [["denials", "Error opening config file"]]);
    expect(found).toMatchObject({ fips: false, crio: false });
    for (const name of ["selinux", "denials", "openssl"]) expect(found).not.toHaveProperty(name);
    expect(factsOf("selinux=secret of prod.example.com")).not.toHaveProperty("selinux");
    expect(statusFacts(collected("") as never, "prod.example.com")).not.toHaveProperty("network");
  });

  it("merges the checks of both phases", () => {
    const before = [
      { id: "step-5", result: "passed" },
      { id: "step-6", result: "not looked at" },
    ] as const;
    const after = [
      { id: "step-5", result: "not looked at" },
      { id: "step-6", result: "failed" },
    ] as const;
    expect(verifyFacts([...before], after)).toEqual([before[0], after[1]]);
  });
});

describe("the report", () => {
  const names = {
    arn: "arn:aws:elasticloadbalancing:eu-central-1:210987654321:targetgroup/very-secret-group/0123456789abcdef",
    domain: "api.blue-whale.corp.example.org",
    user: "jane@blue-whale.corp.example.org",
    instance: "i-0abc123def4567890",
  };
  const config = changedExample(
    "aws",
    { vpcId: "vpc-0aaaaaaaaaaaaaaaa", internalApiTargetGroupArn: names.arn, bootstrapInstanceProfile: "whale-profile" },
    { tags: { "cost-center-whale": "department-42" }, infrastructureName: metadata.infraID },
  );

  /** Every value in the config and in metadata.json, and what a message may say in addition. */
  function identifying(session: Session): string[] {
    const { config: read } = readPartialConfig(configFormat, session.configFile);
    const own = [...textsIn(read.platforms), ...textsIn(read.tags), ...textsIn(session.inputs.metadata)];
    return [
      // The region is in the report, and the other is a word of the config's schema.
      ...own.filter((text) => !["eu-central-1", "AzurePublicCloud"].includes(text)),
      ...["cost-center-whale", session.inputs.infraId, session.folder, session.configFile ?? "", projectRoot],
      ...[hostname(), userInfo().homedir, "10.0.0.5", "10.0.0.0/16", "fd00::5", "210987654321", "s3://whale-bucket/x"],
      ...Object.values(names),
    ].filter((text) => text.length > 2);
  }

  it("contains no name, address, ID or path, whatever a reason says", () => {
    const session = awsSession({}, config);
    writeFileSync(session.kubeconfig ?? "", `clusters:\n- cluster:\n    server: https://${names.domain}:6443\n`);
    const secrets = identifying(session);
    expect(secrets.length).toBeGreaterThan(20);
    const reasons = [
      secrets.map((text) => `${text} cannot be used`).join("; "),
      secrets.map((text) => `(${text}), "${text}": x`).join(" "),
      `User ${names.user}; Bearer abcdefgh12345678; corp.example.org; 10.0.0.5:6443; [fd00::5]:6443; https://10.0.0.5/x?y=z`,
    ];
    const results = { ...allPassed, destroy: { state: "failed" as const, seconds: 3, reason: reasons.join(" ") } };
    const progress = { ...newProgress("aws", session.inputs.infraId, new Date()), results, facts: complete };
    writeReport(session, progress, redactor(identifyingTexts(session)));
    for (const file of ["report.md", "report.json"]) {
      const text = readFileSync(join(session.folder, file), "utf8");
      for (const secret of [...secrets, "corp.example.org", "abcdefgh12345678", "whale"])
        expect(text.toLowerCase(), `${file} of ${secret}`).not.toContain(secret.toLowerCase());
      expect(text).toContain("cannot be used");
      expect(text).toContain("eu-central-1");
      expect(statSync(join(session.folder, file)).mode & 0o777).toBe(0o600);
    }
    expect(readFileSync(join(session.folder, "report.md"), "utf8")).toMatch(
      /\n\d+ yes, 0 no, \d+ not answered\.\n[^]*\nRead this report before you attach it to an issue\. /,
    );
  });

  it.each([
    ["the API https://api.prod.example.com:6443/x says 403", "the API <url> says 403"],
    ["api-int.prod.example.com:6443 cannot be asked", "<host> cannot be asked"],
    ["dial tcp 10.0.0.5:6443, [fd00::5]:6443 and fd00:1::/64", "dial tcp <address>, [<address>]:6443 and <address>"],
    ["account 123456789012, i-0123456789abcdef0", "account <id>, <id>"],
    ["/home/jane/ocp/auth/kubeconfig and ~/x and ./y: no", "<path> and <path> and <path>: no"],
    ["core@10.0.0.5 did not answer", "<user> did not answer"],
    ["bootstrap.ign and metadata.json stay, 4.18 too", "bootstrap.ign and metadata.json stay, 4.18 too"],
    ["at 12:30:15 step-1 failed", "at 12:30:15 step-1 failed"],
  ])("redacts by shape: %s", (text, expected) => {
    expect(redactor([])(text)).toBe(expected);
  });

  it("replaces short names only as words", () => {
    expect(redactor(["web", "prod"])("web and website, prod-x and prod")).toBe("<name> and website, prod-x and <name>");
  });

  it("keeps a machine's or a user's text in its cell", () => {
    const session = awsSession();
    const reason = "one | two\nthree \u001b[31m";
    const results = { preflight: { state: "failed" as const, seconds: 0, reason } };
    writeReport(session, { ...newProgress("aws", "x", new Date()), results }, (text) => text);
    const text = readFileSync(join(session.folder, "report.md"), "utf8");
    expect(text).toContain("failed: one \\| two\\u000athree \\u001b[31m | 0 |\n");
  });
});

describe("the steps", () => {
  const stub = (id: Step["id"], act: Step["run"] = () => Promise.resolve(), continues?: boolean): Step => ({
    id,
    title: `title of ${id}`,
    run: act,
    ...(continues !== undefined && { continues }),
  });
  const fails = () => Promise.reject(new UserError(problem("acceptance-unseen")));
  const recorded = (session: Session) => readProgress(session.folder, { platform: "aws", cluster: "x" });
  const begun = () => newProgress("aws", "x", new Date());
  const states = ({ results }: Progress) => Object.entries(results).map(([id, { state }]) => `${id} ${state}`);

  it("are in the order of their results", () => {
    expect(steps.map(({ id }) => id)).toEqual(stepIds);
  });

  it("run one after the other, and each result is saved for its owner only", async () => {
    const session = awsSession();
    const after: unknown[] = [];
    const look: Step["run"] = (_, __, note) => {
      after.push(recorded(session)?.results);
      note({ plan: { changes: false } });
      return Promise.resolve();
    };
    const progress = await runSteps([stub("preflight"), stub("deploy", look), stub("plan")], session, begun());
    expect(states(progress)).toEqual(["preflight passed", "deploy passed", "plan passed"]);
    expect(after).toMatchObject([{ preflight: { state: "passed" } }]);
    expect(recorded(session)).toEqual(progress);
    expect(progress.facts).toEqual({ plan: { changes: false } });
    expect(statSync(join(session.folder, "progress.json")).mode & 0o777).toBe(0o600);
  });

  it("stop at one that fails, and continue there", async () => {
    const session = awsSession();
    let works = false;
    const ran: string[] = [];
    const all = [
      stub("preflight", () => Promise.resolve(void ran.push("preflight"))),
      stub("deploy", () => (works ? Promise.resolve() : fails())),
      stub("status", () => Promise.resolve(void ran.push("status"))),
    ];
    const first = await runSteps(all, session, begun());
    expect(states(first)).toEqual(["preflight passed", "deploy failed"]);
    works = true;
    const second = await runSteps(all, session, recorded(session) ?? begun());
    expect(states(second)).toEqual(["preflight passed", "deploy passed", "status passed"]);
    expect(ran).toEqual(["preflight", "status"]);
  });

  it("continue after a check that fails, and repeat it until the bootstrap has ended", async () => {
    const session = awsSession();
    const ran: string[] = [];
    const verify = stub(
      "verify",
      () => {
        ran.push("verify");
        return fails();
      },
      true,
    );
    const early = [stub("preflight"), verify, stub("complete", fails)];
    const first = await runSteps(early, session, begun());
    expect(states(first)).toEqual(["preflight passed", "verify failed", "complete failed"]);
    expect(hasPassed(first)).toBe(false);
    const late = [stub("preflight"), verify, stub("complete")];
    const second = await runSteps(late, session, first);
    await runSteps(late, session, second);
    expect(ran).toEqual(["verify", "verify"]);
  });

  it("stop without a result where the user does not agree", async () => {
    const said: string[] = [];
    const session = awsSession({ say: (text) => said.push(text) });
    const all = [stub("preflight"), stub("deploy", () => Promise.reject(new Declined())), stub("plan")];
    expect(states(await runSteps(all, session, begun()))).toEqual(["preflight passed"]);
    expect(said.join("")).toContain("Stopped before deploy: you did not agree.");
  });

  it("stop without a result where they are interrupted", async () => {
    const controller = new AbortController();
    const session = awsSession({ signal: controller.signal });
    const interrupted = stub("deploy", () => {
      controller.abort();
      return fails();
    });
    await expect(runSteps([stub("preflight"), interrupted], session, begun())).rejects.toThrow("aborted");
    expect(states(recorded(session) ?? begun())).toEqual(["preflight passed"]);
  });

  it("do not begin another one after an interrupt", async () => {
    const controller = new AbortController();
    const session = awsSession({ signal: controller.signal });
    const busy = stub("deploy", () => {
      controller.abort();
      return Promise.resolve();
    });
    await expect(runSteps([stub("preflight"), busy, stub("plan")], session, begun())).rejects.toThrow("aborted");
    expect(states(recorded(session) ?? begun())).toEqual(["preflight passed", "deploy passed"]);
  });

  it("ask before the deploy and the destroy, and run nothing if the answer is no", async () => {
    const asked: string[] = [];
    const session = awsSession({
      ask: (question) => {
        asked.push(question);
        return Promise.reject(new Declined());
      },
      environment: { PATH: "" },
    });
    for (const id of ["deploy", "destroy"] as const) {
      const step = steps.find((one) => one.id === id);
      await expect(step?.run(session, {}, () => undefined)).rejects.toThrow(Declined);
    }
    expect(asked).toEqual(["They cost money until they are destroyed. Deploy aws?", "Destroy aws?"]);
    expect(existsSync(join(session.folder, "deploy.log"))).toBe(false);
  });

  it("report what a step of a destroy says", () => {
    const output = "aws-teardown  terraform_data.gate (local-exec): error: The cluster still needs its machine.\n";
    expect(() => {
      mustSucceed({ showFailed: () => undefined }, "cdktf destroy", { code: 1, output }, "x.log");
    }).toThrow("cdktf destroy failed: The cluster still needs its machine; see its output in x.log.");
  });
});

describe("with a cluster's API alone", () => {
  const pod = (scc: string) => ({
    metadata: { name: "agent-x", annotations: { "openshift.io/scc": scc } },
    spec: { nodeName: "node-0", containers: [{ name: "konnectivity-agent", readinessProbe: {} }] },
    status: { phase: "Running", conditions: [{ type: "Ready", status: "True" }] },
  });
  const running = {
    "/pods?": { items: [pod("restricted-v2"), pod("<b>prod.example.com</b>")] },
    "/events": { items: [] },
    "/networks/cluster": { status: { networkType: "OVNKubernetes" } },
    "/daemonsets/": { spec: { template: { spec: { containers: [{ args: ["--agent-cert=/x"] }] } } } },
    "/version": { gitVersion: "v1.31.0" },
  };
  const ended = {
    "/configmaps/bootstrap": { data: { status: "complete" } },
    "/etcds/cluster": { status: { conditions: [{ type: "EtcdBootstrapMemberRemoved", status: "True" }] } },
    "/kubeapiservers/cluster": { status: { nodeStatuses: [{ currentRevision: 1 }, { currentRevision: 2 }] } },
    "/version": { gitVersion: "v1.31.0" },
    "/pods?": { items: [] },
  };
  const runStep = (id: Step["id"], objects: object, facts: Facts = {}) =>
    withApi(objects as Record<string, unknown>, async (kubeconfig) => {
      const noted: Facts = {};
      const step = steps.find((one) => one.id === id);
      await step?.run(awsSession({ kubeconfig }), facts, (found) => Object.assign(noted, found));
      return noted;
    });

  it("the status is read, and what an API may have invented is left out", async () => {
    expect((await runStep("status", running)).status).toEqual({
      ...{ state: "carries", findings: [], network: "OVNKubernetes" },
      pods: { ready: 2, all: 2, sccs: ["restricted-v2"] },
    });
  });

  it("the status fails if no agent is ready in time, and is reported all the same", async () => {
    await expect(runStep("status", { ...running, "/pods?": { items: [] } })).rejects.toThrow(
      /^The tunnel did not work within 0 minutes \(/,
    );
  });

  it("the checks of both phases are made", async () => {
    const { verify = [] } = await runStep("verify", running);
    const { verify: merged = [] } = await runStep("verify-end", ended, { verify });
    const results = (checks: typeof verify) => checks.filter(({ result }) => result === "passed").map(({ id }) => id);
    expect(results(verify)).toEqual(["step-1", "step-3", "security-5"]);
    expect(results(merged)).toEqual(["step-1", "step-3", "step-6", "security-5"]);
  });

  it("the end of the bootstrap is what the gate says", async () => {
    expect(await runStep("complete", ended)).toEqual({});
    const early = { ...ended, "/etcds/cluster": { status: { conditions: [] } } };
    await expect(runStep("complete", early)).rejects.toThrow(/^The cluster still needs its bootstrap machine/);
  });
});

describe("what remains", () => {
  const remains = (session: Session, results: Progress["results"]) =>
    describeRemains(
      session,
      { ...newProgress("aws", "x", new Date()), results },
      "npx konnectivity-bootstrap acceptance aws",
    );

  it("is nothing before the first step has passed", async () => {
    expect(await remains(awsSession(), {})).toBe(
      "Nothing was created.\nContinue: npx konnectivity-bootstrap acceptance aws\n",
    );
  });

  it("is what the state has, with the commands that continue and that remove it", async () => {
    const session = awsSession();
    mkdirSync(join(project?.folder ?? "", ".state"));
    const resources = [{ mode: "managed", type: "aws_instance", name: "x", instances: [{}] }];
    project?.write(".state/aws-bootstrap.tfstate", JSON.stringify({ resources }));
    const text = await remains(session, { preflight: { state: "passed", seconds: 1 } });
    expect(text).toContain(
      "These still exist:\n  aws_instance.x\nContinue: npx konnectivity-bootstrap acceptance aws\n",
    );
    expect(text).toMatch(/\nRemove: .*KONNECTIVITY_CONFIG=\S+ npx cdktf destroy 'aws-\*'\n.*KONNECTIVITY_OPEN_GATE/);
  });

  it("is not known if the state is damaged", async () => {
    const session = awsSession();
    mkdirSync(join(project?.folder ?? "", ".state"));
    project?.write(".state/aws-bootstrap.tfstate", "{");
    const text = await remains(session, { preflight: { state: "passed", seconds: 1 } });
    expect(text).toMatch(/^What still exists could not be found out: .*\.tfstate is not complete JSON/);
  });
});

describe("a program", () => {
  const script = (text: string) => ["sh", "-c", text] as const;
  const props = () => ({
    cwd: root,
    env: process.env,
    logFile: join(newFolder(), "x.log"),
    signal: new AbortController().signal,
  });

  it("is shown and logged without colours and spinners, for its owner only", async () => {
    let shown = "";
    const of = { ...props(), show: (text: string) => (shown += text) };
    const text =
      "\\033[31mred\\033[0m\\n\\342\\240\\213 Synthesizing\\n0 Stacks deploying     1 Stack done\\nApply complete! Resources: 4 added";
    const { code, output } = await runProgram({ ...of, command: script(`printf '${text}'; echo err >&2; exit 3`) });
    expect(code).toBe(3);
    expect(linesOf(shown).sort()).toEqual(["Apply complete! Resources: 4 added", "err", "red"]);
    expect(readFileSync(of.logFile, "utf8")).toBe(shown);
    expect(statSync(of.logFile).mode & 0o777).toBe(0o600);
    expect(resourcesIn(output)).toEqual({ added: 4, destroyed: 0 });
  });

  /** Runs a program that is interrupted when it says "ready". */
  async function interrupted(script: string, interruptChildren: boolean): Promise<string[]> {
    const controller = new AbortController();
    const { output } = await runProgram({
      ...props(),
      command: ["bash", "-c", script],
      interruptChildren,
      signal: controller.signal,
      show: (text) => {
        if (text.includes("ready")) controller.abort();
      },
    });
    return linesOf(output).filter((line) => line !== "ready");
  }

  it("is interrupted once, and ends in its own time", async () => {
    const script = 'trap "echo once" INT; echo ready; for i in 1 2 3 4 5 6 7 8; do sleep 0.2; done; echo done';
    expect(await interrupted(script, false)).toEqual(["once", "done"]);
  });

  it("is left alone while the programs that it runs are interrupted, each once", async () => {
    const child = 'trap "echo child" INT; echo ready; for i in 1 2 3 4 5 6 7 8; do sleep 0.2; done; echo saved';
    const script = `trap "echo parent" INT; bash -c '${child}'; echo waited`;
    expect(await interrupted(script, true)).toEqual(["child", "saved", "waited"]);
  });

  it("is interrupted itself when it runs no other", async () => {
    const script = 'trap "echo parent; exit" INT; echo ready; while :; do :; done';
    expect(await interrupted(script, true)).toEqual(["parent"]);
  });
});

describe("the command", () => {
  const out = () => ["--out", join(newFolder(), "out")];

  it("asks for --yes where nobody can answer, with exit code 2", async () => {
    const { code, stdout, stderr } = await run("acceptance", "local");
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(linesOf(stderr)).toEqual([
      "error: There is no terminal to ask for consent: give --yes to deploy and destroy without questions.",
      "(see --help)",
    ]);
  });

  it("prints the steps and what they cost, and does nothing", async () => {
    const inAws = await command("acceptance", "aws", "--dry-run");
    expect(inAws.code).toBe(0);
    expect(linesOf(inAws.stdout).filter((line) => /^\d/.test(line)).length).toBe(steps.length);
    expect(inAws.stdout).toContain("creates resources that your cloud charges for until the destroy; asks first");
    expect((await command("acceptance", "local", "--dry-run")).stdout).not.toContain("charges");
    const { stdout } = await command("acceptance", "aws", "--dry-run", "--json");
    const printed = JSON.parse(stdout) as { platform: string; steps: { id: string }[] };
    expect([printed.platform, ...printed.steps.map(({ id }) => id)]).toEqual(["aws", ...stepIds]);
  });

  it("refuses an example before anything is created, and reports that", async () => {
    const folder = newFolder();
    await command("example", join(folder, "example"), "--platform", "aws");
    const place = out();
    const config = join(folder, "example/konnectivity.yaml");
    const { code, stdout } = await command("acceptance", "aws", "--yes", "--config", config, ...place);
    expect(code).toBe(1);
    expect(stdout).toMatch(/failed in .*The cluster in bootstrap\.ign is a made-up example, so nothing was created/);
    expect(stdout).toContain("\nNothing was created.\nContinue: ");
    const report = readFileSync(join(place[1] ?? "", "report.md"), "utf8");
    expect(report).toContain("# Acceptance report: aws, not passed\n");
    expect(report).not.toContain("example-x7k2p");
    expect(existsSync(join(place[1] ?? "", "progress.json"))).toBe(false);
    expect(existsSync(join(folder, "example/.state"))).toBe(false);
  });

  it("reports everything that is missing at once, and a folder without bootstrap.ign once", async () => {
    const session = awsSession();
    rmSync(join(project?.folder ?? "", "ocp/bootstrap.ign"));
    const args = ["--config", session.configFile ?? "", "--kubeconfig", join(root, "no-kubeconfig"), ...out()];
    const { code, stdout } = await command("acceptance", "aws", "--yes", ...args);
    expect(code).toBe(1);
    expect(stdout.match(/bootstrap\.ign/g)?.length).toBe(1);
    expect(stdout).toContain("config file: installDir is ");
    expect(stdout).toContain(
      "no-kubeconfig cannot be read: it does not exist; give the cluster's kubeconfig with --kubeconfig.",
    );
  });

  it("prints the report alone with --json", async () => {
    const folder = newFolder();
    await command("example", join(folder, "example"), "--platform", "google");
    const config = join(folder, "example/konnectivity.yaml");
    const { code, stdout } = await command("acceptance", "gcp", "--yes", "--json", "--config", config, ...out());
    expect(code).toBe(1);
    const report = JSON.parse(stdout) as { steps: { state: string }[] };
    expect(report).toMatchObject({ format: 1, platform: "google", passed: false });
    expect(report.steps.map(({ state }) => state)).toEqual(["failed", ...steps.slice(1).map(() => "not run")]);
  });

  it("refuses options of a real cluster with the local platform", async () => {
    const { code, stderr } = await command("acceptance", "local", "--yes", "--ssh", "core@10.0.0.5", "--kubeconfig=x");
    expect(code).toBe(2);
    expect(linesOf(stderr)[0]).toBe("error: Leave out --kubeconfig and --ssh with local, which has no real cluster.");
  });

  it("refuses a platform that the config does not have", async () => {
    const folder = newFolder();
    writeFileSync(join(folder, "konnectivity.yaml"), "local: {}\n");
    const { code, stderr } = await command(
      "acceptance",
      "aws",
      "--yes",
      "--config",
      join(folder, "konnectivity.yaml"),
      ...out(),
    );
    expect(code).toBe(1);
    expect(linesOf(stderr)).toEqual([expect.stringMatching(/^error: aws is not in the config/) as string]);
  });
});
