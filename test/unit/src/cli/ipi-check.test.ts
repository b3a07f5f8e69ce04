import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, utimesSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import type { IgnitionConfig } from "../../../../src/core/ignition/config.ts";
import { namespace } from "../../../../src/core/konnectivity/names.ts";
import { sampleText } from "../../../../src/core/sample/sample.ts";
import { kubeconfigText, withApi } from "../../../support/api.ts";
import { command } from "../../../support/cli.ts";
import { installFiles, readFiles, writeFiles } from "../../../support/install-folder.ts";
import { createClusterLog, logLines } from "../../../support/installer-log.ts";
import { createCluster } from "../../../support/installer-store.ts";

const root = mkdtempSync(join(tmpdir(), "ipi-check-"));
afterAll(() => {
  rmSync(root, { recursive: true });
});

const check = (folder: string, ...args: readonly string[]) => command("ipi", "check", folder, ...args);
const write = (folder: string, name: string, text: string) => {
  writeFiles(folder, new Map([[name, Buffer.from(text)]]));
};
const logName = ".openshift_install.log";

const newFolder = () => writeFiles(mkdtempSync(join(root, "ocp-")), installFiles());

async function preparedFolder(): Promise<string> {
  const folder = newFolder();
  await command("ipi", "prepare", folder);
  return folder;
}

/** What "create cluster" leaves of a prepared folder, with its log. */
async function createdFolder(change: (folder: string) => void = () => undefined, ...more: string[]): Promise<string> {
  const folder = await preparedFolder();
  change(folder);
  const { files, log } = createCluster(readFiles(folder), { now: new Date() });
  rmSync(folder, { recursive: true });
  mkdirSync(folder);
  writeFiles(folder, files);
  write(folder, logName, `${createClusterLog(...log.map((line) => `  ${line}`))}${logLines(...more)}`);
  return folder;
}

it.each(["prepare", "restore", "check"])("ipi %s asks for the folder if it gets a file in it", async (word) => {
  const file = join(newFolder(), "bootstrap.ign");
  expect(await command("ipi", word, file)).toEqual({
    code: 1,
    stdout: "",
    stderr: `error: ${file} is a file: name its folder.\n`,
  });
});

describe("ipi check", () => {
  it("says that a folder is not prepared, and how to do it", async () => {
    const folder = newFolder();
    expect(await check(folder)).toEqual({
      code: 1,
      stdout: `payload   none: bootstrap.ign has no tunnel\n  → npx konnectivity-bootstrap ipi prepare ${folder}\n`,
      stderr: "",
    });
  });

  it("says why a folder cannot be prepared, with the reasons of ipi prepare", async () => {
    const folder = newFolder();
    rmSync(join(folder, ".openshift_install_state.json"));
    write(folder, "install-config.yaml", "{}");
    const { stderr } = await command("ipi", "prepare", folder);
    const reasons = stderr.match(/(?<=^error: ).+$/gm) ?? [];
    expect(reasons).toHaveLength(2);
    const { code, stdout } = await check(folder);
    expect(code).toBe(1);
    expect(stdout.match(/(?<=^wrong: ).+$/gm)).toEqual(reasons);
    expect(stdout).not.toContain("ipi prepare");
  });

  it("says that a folder is prepared, and the next command", async () => {
    const folder = await preparedFolder();
    expect(await check(folder)).toEqual({
      code: 0,
      stdout: `payload   in its place; "create cluster" has not read it yet\n  → openshift-install create cluster --dir ${folder}\n`,
      stderr: "",
    });
  });

  it("says that a payload was changed after it was built, before openshift-install reads it", async () => {
    const damage = (folder: string) => {
      const file = join(folder, "bootstrap.ign");
      const config = JSON.parse(readFileSync(file, "utf8")) as IgnitionConfig;
      const script = config.storage?.files?.find(({ path }) => path === "/usr/local/bin/konnectivity-bootstrap.sh");
      if (script === undefined) throw new Error("the payload has no script");
      script.contents = { source: "data:,echo" };
      write(folder, "bootstrap.ign", JSON.stringify(config));
    };
    const folder = await preparedFolder();
    damage(folder);
    const before = await check(folder);
    expect(before.stdout).toMatch(
      /^payload {3}changed after it was built.*\n\nwrong: \S+bootstrap\.ign was changed after/,
    );
    expect(before.code).toBe(1);
  });

  it("says that bootstrap.ign is missing, and how to bring it back", async () => {
    const folder = await preparedFolder();
    rmSync(join(folder, "bootstrap.ign"));
    expect(await check(folder)).toMatchObject({
      code: 1,
      stdout: `payload   none: there is no bootstrap.ign\n  → npx konnectivity-bootstrap ipi restore ${folder}\n`,
    });
    expect(await command("ipi", "restore", folder)).toMatchObject({ code: 0 });
    expect((await check(folder)).stdout).toContain(`→ npx konnectivity-bootstrap ipi prepare ${folder}`);
  });

  it("says what would make the installer discard the payload, before it does", async () => {
    const folder = await preparedFolder();
    write(folder, "master.ign", "{}");
    write(folder, "install-config.yaml", "{}");
    const { code, stdout } = await check(folder);
    expect(code).toBe(1);
    expect(stdout).toMatch(/\nwrong: \S+install-config\.yaml exists, so.*\n\nwrong: \S+master\.ign differs/);
    expect(stdout).not.toContain("→");
  });

  it("says that create cluster has not decided yet", async () => {
    const folder = await preparedFolder();
    write(folder, logName, createClusterLog());
    expect(await check(folder, "--json")).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('"undecided"') as string,
    });
  });

  it("does not take a log from before the preparation for the next run", async () => {
    const folder = await preparedFolder();
    write(
      folder,
      logName,
      createClusterLog("  Discarding the Bootstrap Ignition Config that was provided in the target directory because"),
    );
    utimesSync(join(folder, "bootstrap.ign"), new Date(), new Date("2026-11-18T15:00:02Z"));
    expect((await check(folder)).stdout).toMatch(/^payload {3}discarded by/);
    utimesSync(join(folder, "bootstrap.ign"), new Date(), new Date("2026-11-18T15:10:00Z"));
    expect((await check(folder)).stdout).toMatch(/^payload {3}in its place/);
  });

  it("says that the payload was taken, with the proof", async () => {
    const folder = await createdFolder();
    const { code, stdout } = await check(folder);
    expect(code).toBe(0);
    expect(stdout).toMatch(
      /^payload {3}used by "create cluster".*\nlog {7}Using Bootstrap Ignition Config loaded from target directory\nstate {5}the state file has the payload: \d+ bytes, sha512 [0-9a-f]{16}…\n$/,
    );
  });

  it("says that the payload was discarded, in time to stop, and what to do then", async () => {
    const discarded = (folder: string) => {
      write(folder, "master.ign", "{ }");
    };
    const folder = await createdFolder(discarded);
    const { code, stdout } = await check(folder);
    expect(code).toBe(1);
    expect(stdout).toContain('discarded by "create cluster"');
    expect(stdout).toContain("→ stop it with Ctrl-C before the machines boot");
    expect(stdout).not.toContain("destroy cluster");
    const later = await createdFolder(discarded, "Creating infrastructure resources...");
    expect((await check(later)).stdout).toContain(`→ openshift-install destroy cluster --dir ${later}`);
  });

  it("says that create cluster took a bootstrap.ign without a tunnel", async () => {
    const folder = await createdFolder((dir) => {
      write(dir, "bootstrap.ign", sampleText("4.18", { bytes: 4000 }));
    });
    expect(await check(folder)).toMatchObject({
      code: 1,
      stdout: expect.stringMatching(
        /^payload {3}not used: "create cluster" uses a bootstrap\.ign without a tunnel/,
      ) as string,
    });
  });

  it("goes by the state file where there is no log", async () => {
    const folder = await createdFolder();
    rmSync(join(folder, logName));
    expect(await check(folder)).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('used by "create cluster"') as string,
    });
  });
});

const pods = `/namespaces/${namespace}/pods`;
const complete = { "/configmaps/bootstrap": { data: { status: "complete" } } };
const noAgents = { [pods]: { items: [] }, "/events": { items: [] } };

describe("ipi check with the folder's kubeconfig", () => {
  const inCluster = (objects: Readonly<Record<string, unknown>>, ...args: string[]) =>
    withApi(objects, async (kubeconfig) => {
      const folder = await createdFolder(undefined, "API v1.31.1 up");
      mkdirSync(join(folder, "auth"), { recursive: true });
      copyFileSync(kubeconfig, join(folder, "auth/kubeconfig"));
      return { folder, ...(await check(folder, ...args)) };
    });

  it("shows the agents", async () => {
    const pod = {
      metadata: { name: "konnectivity-agent-a" },
      spec: { nodeName: "node-0", containers: [{ name: "agent", readinessProbe: {} }] },
      status: {
        phase: "Running",
        conditions: [{ type: "Ready", status: "True" }],
        containerStatuses: [{ restartCount: 0 }],
      },
    };
    const { code, stdout } = await inCluster({ "/log": "", [pods]: { items: [pod] }, "/events": { items: [] } });
    expect(stdout).toContain("\ntunnel  the tunnel works\npod     konnectivity-agent-a on node-0: Running, ready");
    expect(code).toBe(0);
  });

  it("after the bootstrap says that nothing is left, and to delete the original", async () => {
    const { folder, code, stdout } = await inCluster({ ...complete, ...noAgents });
    expect(stdout).toContain("\nleft      nothing of the tunnel is left in the cluster\n");
    expect(stdout).toContain(
      `\noriginal  ${join(folder, "bootstrap.ign.original")} contains every secret of the cluster: delete it\n`,
    );
    expect(stdout).toContain("→ openshift-install removes the machine by itself");
    expect(stdout).not.toContain("cdktf");
    expect(code).toBe(0);
  });

  it("after the bootstrap says what is left, with the command that removes it", async () => {
    const { folder, code, stdout } = await inCluster({
      ...complete,
      ...noAgents,
      [`/namespaces/${namespace}?`]: undefined,
      "/daemonsets/": {},
    });
    expect(stdout).toContain("\nleft      daemonset/konnectivity-agent\n");
    expect(stdout).toContain(
      `→ npx konnectivity-bootstrap teardown sweep --kubeconfig ${join(folder, "auth/kubeconfig")}\n`,
    );
    expect(code).toBe(1);
  });

  it("answers machines with all of it", async () => {
    const { folder, stdout } = await inCluster({ ...complete, ...noAgents }, "--json");
    expect(JSON.parse(stdout)).toMatchObject({
      fine: true,
      stage: "taken",
      taken: { bytes: expect.any(Number) as number },
      run: { bootstrap: "used", apiUp: true },
      status: { state: "ended" },
      leftovers: expect.arrayContaining([{ state: "gone", what: `namespace/${namespace}` }]) as unknown,
      original: join(folder, "bootstrap.ign.original"),
    });
  });

  it("does not call it wrong that the API does not answer yet", async () => {
    const text = kubeconfigText("http://127.0.0.1:9");
    const early = await createdFolder();
    write(early, "auth/kubeconfig", text);
    expect(await check(early)).toMatchObject({ code: 0, stdout: expect.stringContaining("the request to ") as string });
    const later = await createdFolder(undefined, "API v1.31.1 up");
    write(later, "auth/kubeconfig", text);
    expect(await check(later)).toMatchObject({ code: 1 });
  });
});

describe("teardown sweep by kubeconfig alone", () => {
  it("needs neither a config file nor a platform", async () => {
    const deleted: string[] = [];
    const run = await withApi(
      (path) => (path.includes("/daemonsets/") ? { kind: "Status" } : undefined),
      (kubeconfig) => command("teardown", "sweep", "--kubeconfig", kubeconfig),
      ({ method, url }) => {
        if (method === "DELETE") deleted.push(url);
      },
    );
    expect(run).toMatchObject({ code: 0, stdout: "Deleted: daemonset/konnectivity-agent\n" });
    expect(deleted[0]).toContain(`/namespaces/${namespace}/daemonsets/konnectivity-agent`);
  });

  it("without a kubeconfig asks for the platform", async () => {
    const { code, stderr } = await command("teardown", "sweep");
    expect(code).toBe(2);
    expect(stderr).toContain("error: name the platform, or give --kubeconfig");
  });
});
