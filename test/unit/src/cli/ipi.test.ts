import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { ipiCommand } from "../../../../src/cli/ipi.ts";
import { outputTo } from "../../../../src/cli/output.ts";
import { makePayload } from "../../../../src/core/bootstrap.ts";
import { readTunnel } from "../../../../src/core/konnectivity/options.ts";
import { sampleText, tunnelShapes } from "../../../../src/core/sample/sample.ts";
import { command, linesOf } from "../../../support/cli.ts";
import { installFiles, readFiles, writeFiles, type InstallFolderProps } from "../../../support/install-folder.ts";
import { createCluster, type Files } from "../../../support/installer-store.ts";
import { killAtWrite } from "../../../support/kill-at-write.ts";

const root = mkdtempSync(join(tmpdir(), "ipi-"));
afterAll(() => {
  rmSync(root, { recursive: true });
});

const newFolder = () => mkdtempSync(join(root, "ocp-"));
const installDir = (props?: InstallFolderProps) => writeFiles(newFolder(), installFiles(props));
const ipi = (...args: readonly string[]) => command("ipi", ...args);
const read = (folder: string, name: string) => readFileSync(join(folder, name), "utf8");
const modeOf = (folder: string, name: string) => (statSync(join(folder, name)).mode & 0o777).toString(8);
const original = sampleText("4.18");
const payloadWith = (tunnel: Record<string, unknown>, text = original) =>
  makePayload(text, readTunnel(tunnel), new Date()).text;
const payload = payloadWith({ port: 9591 });

function configFile(text: string): string {
  const file = join(newFolder(), "config.yaml");
  writeFileSync(file, text);
  return file;
}

const textsOf = (files: Files) => Object.fromEntries([...files].map(([name, bytes]) => [name, bytes.toString()]));
const textsIn = (folder: string) => textsOf(readFiles(folder));

/** What is in the folder of bootstrap.ign, half-written files too. */
function names(folder: string): string[] {
  return [...readFiles(folder).keys()]
    .filter((name) => name.startsWith(".bootstrap") || name.startsWith("bootstrap"))
    .sort();
}

describe("ipi prepare", () => {
  it("puts the payload in the place of bootstrap.ign, for its owner only, with the original's bytes beside it", async () => {
    const folder = installDir();
    const { code, stdout, stderr } = await ipi("prepare", folder);
    expect([code, stderr]).toEqual([0, ""]);
    expect(read(folder, "bootstrap.ign")).toBe(payload);
    expect(read(folder, "bootstrap.ign.original")).toBe(original);
    expect([modeOf(folder, "bootstrap.ign"), modeOf(folder, "bootstrap.ign.original")]).toEqual(["600", "600"]);
    expect(names(folder)).toEqual(["bootstrap.ign", "bootstrap.ign.original"]);
    expect(stdout).toContain("state     prepared");
    expect(stdout).toContain("port 9591");
    expect(stdout).toContain(`openshift-install create cluster --dir ${folder}`);
    expect(stdout).toContain(`npx konnectivity-bootstrap ipi check ${folder}`);
  });

  it.each(tunnelShapes)("leaves a folder of %s from which the installer takes the payload", async (shape) => {
    const folder = installDir({ bootstrapIgn: sampleText(shape) });
    expect(await ipi("prepare", folder)).toMatchObject({ code: 0 });
    expect(createCluster(readFiles(folder), { now: new Date() }).bootstrap).toBe("used");
  });

  it("reports errors in the config, in the folder and in its files at once", async () => {
    const folder = installDir();
    writeFileSync(join(folder, "install-config.yaml"), "{}");
    rmSync(join(folder, "metadata.json"), { force: true });
    spawnSync("mkfifo", [join(folder, "metadata.json")]);
    const config = configFile("tunnel:\n  port: 6443\n  porto: 1\n");
    const before = textsOf(new Map([["bootstrap.ign", readFileSync(join(folder, "bootstrap.ign"))]]));
    const { code, stderr } = await ipi("prepare", folder, "--config", config);
    expect(code).toBe(1);
    expect(stderr).toMatch(/config\.yaml:2:\d+: tunnel\.port is 6443;/);
    expect(stderr).toMatch(/tunnel\.porto is not an option/);
    expect(stderr).toContain("install-config.yaml exists, so");
    expect(stderr).toContain("metadata.json cannot be read: it is not a regular file");
    rmSync(join(folder, "metadata.json"));
    expect(read(folder, "bootstrap.ign")).toBe(before["bootstrap.ign"]);
    expect(names(folder)).toEqual(["bootstrap.ign"]);
  });

  it("says that the installer's own tunnel is on, also if the config says tunnel: installer", async () => {
    const folder = installDir({ bootstrapIgn: sampleText("4.23-gate-on") });
    const { stderr } = await ipi("prepare", folder, "--config", configFile("tunnel: installer\n"));
    expect(stderr).toContain("The installer's own tunnel is enabled");
  });

  it("uses konnectivity.yaml, and says so", async () => {
    const folder = installDir();
    process.env.KONNECTIVITY_CONFIG = configFile("tunnel:\n  port: 9601\n");
    try {
      const { stdout } = await ipi("prepare", folder);
      expect(stdout).toContain(`config    ${process.env.KONNECTIVITY_CONFIG}\n`);
      expect(stdout).toContain("port 9601");
    } finally {
      delete process.env.KONNECTIVITY_CONFIG;
    }
  });

  it("does not claim firewall rules where openshift-install creates none", async () => {
    const { stdout, stderr } = await ipi("prepare", installDir({ platform: "vsphere" }));
    expect([stdout, stderr].join("")).toContain("openshift-install creates none on vsphere");
  });

  it("leaves nothing behind a .gitignore that is a folder, and prints commands that run", async () => {
    const folder = join(newFolder(), "it's ~ a folder");
    mkdirSync(folder);
    writeFiles(folder, installFiles());
    mkdirSync(join(folder, ".gitignore"));
    const { code, stdout } = await ipi("prepare", folder);
    expect(code).toBe(0);
    const [, printed = ""] = /create cluster --dir (.*)\n/.exec(stdout) ?? [];
    expect(spawnSync("sh", ["-c", `printf %s ${printed}`], { encoding: "utf8" }).stdout).toBe(folder);
  });

  it("answers machines with all that it knows", async () => {
    const folder = installDir();
    const { stdout } = await ipi("prepare", folder, "--json");
    expect(JSON.parse(stdout)).toMatchObject({
      state: "prepared",
      cluster: { clusterName: "sample", infraID: "sample-x7k2p" },
      platform: "aws",
      release: "4.14-4.22",
      tunnel: { port: 9591, address: "detect" },
      payload: { file: join(folder, "bootstrap.ign"), bytes: payload.length },
      original: { file: join(folder, "bootstrap.ign.original"), bytes: original.length },
      firewall: { port: 9591 },
      next: { create: `openshift-install create cluster --dir ${folder}` },
      warnings: [],
    });
  });

  it("writes nothing when it is run again", async () => {
    const folder = installDir();
    await ipi("prepare", folder);
    const before = statSync(join(folder, "bootstrap.ign")).ino;
    const { code, stdout } = await ipi("prepare", folder);
    expect([code, linesOf(stdout)[0]]).toEqual([0, "state     already prepared: nothing was changed"]);
    expect(statSync(join(folder, "bootstrap.ign")).ino).toBe(before);
  });

  it("builds again from the original when the options have changed", async () => {
    const folder = installDir();
    await ipi("prepare", folder);
    const { code, stdout } = await ipi("prepare", folder, "--config", configFile("tunnel: { protocol: http-connect }"));
    expect([code, linesOf(stdout)[0]]).toEqual([
      0,
      "state     prepared: the payload was built again from the original",
    ]);
    expect(read(folder, "bootstrap.ign")).toBe(payloadWith({ protocol: "http-connect", port: 9591 }));
    expect(read(folder, "bootstrap.ign.original")).toBe(original);
  });

  it.each([
    ["", 9591],
    ["tunnel:\n  port:\n", 9591],
    ["tunnel: { address: 192.0.2.7 }", 9591],
    ["tunnel: { port: 9391 }", 9391],
    ["tunnel: { port: 8091 }", 8091],
  ])("with the config %j takes port %i", async (config, port) => {
    const folder = installDir();
    const { stdout } = await ipi("prepare", folder, "--json", "--config", configFile(config));
    expect(JSON.parse(stdout)).toMatchObject({ tunnel: { port } });
  });

  it("warns of a port that openshift-install does not open", async () => {
    const { stderr } = await ipi("prepare", installDir(), "--config", configFile("tunnel: { port: 8091 }"));
    expect(stderr).toMatch(/^warning: Port 8091 is outside 9000–9999/);
  });

  it("keeps changes of the user's own in bootstrap.ign, and says so", async () => {
    const edited = original.replace("bootkube.service", "mine.service");
    const folder = installDir();
    writeFileSync(join(folder, "bootstrap.ign"), edited);
    const { code, stderr } = await ipi("prepare", folder);
    expect(code).toBe(0);
    expect(stderr).toMatch(/^warning: bootstrap\.ign differs from what openshift-install wrote/);
    expect(read(folder, "bootstrap.ign.original")).toBe(edited);
  });

  it("gets the original from the state file when the payload was put there by hand", async () => {
    const folder = installDir();
    writeFileSync(join(folder, "bootstrap.ign"), payloadWith({}));
    expect(await ipi("prepare", folder)).toMatchObject({ code: 0 });
    expect(read(folder, "bootstrap.ign")).toBe(payload);
    expect(read(folder, "bootstrap.ign.original")).toBe(original);
  });

  it("keeps an original of an earlier bootstrap.ign under another name when openshift-install has written a new one", async () => {
    const folder = installDir();
    await ipi("prepare", folder);
    const newer = sampleText("4.18", { bytes: 5000 });
    writeFiles(folder, installFiles({ bootstrapIgn: newer }));
    writeFileSync(join(folder, "bootstrap.ign.original.1"), "older");
    const { code, stderr } = await ipi("prepare", folder);
    expect(code).toBe(0);
    expect(stderr).toContain(`the one that was kept before is now ${join(folder, "bootstrap.ign.original.2")}`);
    expect(read(folder, "bootstrap.ign.original.1")).toBe("older");
    expect(read(folder, "bootstrap.ign.original.2")).toBe(original);
    expect(read(folder, "bootstrap.ign.original")).toBe(newer);
    expect(read(folder, "bootstrap.ign")).toBe(payloadWith({ port: 9591 }, newer));
  });

  it.each([
    [
      "bootstrap.ign was edited after it was restored",
      (folder: string) => {
        writeFileSync(join(folder, "bootstrap.ign"), sampleText("4.18", { bytes: 9000 }));
      },
    ],
    [
      "the payload was edited",
      (folder: string) => {
        writeFileSync(join(folder, "bootstrap.ign"), payload.replace("progress.service", "mine.service"));
      },
    ],
    [
      "the original was edited",
      (folder: string) => {
        writeFileSync(join(folder, "bootstrap.ign.original"), original.replace("progress.service", "mine.service"));
      },
    ],
  ])("changes nothing when it is not certain which file is the original: %s", async (_, change) => {
    const folder = installDir();
    await ipi("prepare", folder);
    change(folder);
    const before = textsIn(folder);
    for (const step of ["prepare", "restore"]) {
      const { code, stderr } = await ipi(
        step,
        folder,
        ...(step === "prepare" ? ["--config", configFile("tunnel: { protocol: http-connect }")] : []),
      );
      expect(code).toBe(1);
      expect(linesOf(stderr)).toEqual([
        expect.stringMatching(/^error: \S+bootstrap\.ign is not the payload that was built from/),
      ]);
      expect(textsIn(folder)).toEqual(before);
    }
  });

  it("reports every reason at once, and writes nothing", async () => {
    const folder = installDir({ bootstrapIgn: sampleText("4.18", { version: "3.4.0" }), platform: "none" });
    writeFileSync(join(folder, "install-config.yaml"), "");
    writeFileSync(join(folder, "master.ign"), " ");
    mkdirSync(join(folder, "openshift"));
    const before = textsIn(folder);
    const { code, stdout, stderr } = await ipi("prepare", folder, "--config", configFile("tunnel: off"));
    expect([code, stdout]).toEqual([1, ""]);
    expect(linesOf(stderr)).toEqual(
      [
        /on platform none/,
        /install-config\.yaml exists/,
        /openshift exists/,
        /master\.ign differs/,
        /3\.4\.0/,
        /tunnel: off/,
      ].map((words) => expect.stringMatching(words) as unknown),
    );
    expect(textsIn(folder)).toEqual(before);
  });

  it("does not wait for a pipe in the place of a file", async () => {
    const folder = installDir();
    rmSync(join(folder, "worker.ign"));
    execFileSync("mkfifo", [join(folder, "worker.ign")]);
    const { code, stderr } = await ipi("prepare", folder);
    expect([code, stderr]).toEqual([
      1,
      `error: ${join(folder, "worker.ign")} cannot be read: it is not a regular file; use the folder in which "openshift-install create ignition-configs" ran.\n`,
    ]);
  });

  it("keeps what a link leads to", async () => {
    const [folder, elsewhere] = [installDir(), newFolder()];
    writeFileSync(join(elsewhere, "mine.ign"), original);
    rmSync(join(folder, "bootstrap.ign"));
    symlinkSync(join(elsewhere, "mine.ign"), join(folder, "bootstrap.ign"));
    expect(await ipi("prepare", folder)).toMatchObject({ code: 0 });
    expect(read(elsewhere, "mine.ign")).toBe(original);
    expect(read(folder, "bootstrap.ign")).toBe(payload);
  });

  it("keeps the files out of git, and warns if it cannot", async () => {
    const folder = installDir();
    execFileSync("git", ["init", "--quiet", folder]);
    await ipi("prepare", folder);
    writeFileSync(join(folder, "bootstrap.ign.original.1"), "");
    const status = () =>
      execFileSync("git", ["-C", folder, "status", "--porcelain", "--untracked-files=all"], { encoding: "utf8" });
    expect(status()).not.toContain("bootstrap.ign");
    writeFileSync(join(folder, ".gitignore"), "*.log\n");
    expect((await ipi("prepare", folder)).stderr).toMatch(
      /^warning: \S+\.gitignore exists and was not changed: add bootstrap\.ign\.original to it/,
    );
  });
});

describe("ipi restore", () => {
  it("puts the original's bytes back, and has nothing to do the next time", async () => {
    const folder = installDir();
    await ipi("prepare", folder);
    expect(await ipi("restore", folder)).toMatchObject({ code: 0, stderr: "" });
    expect(read(folder, "bootstrap.ign")).toBe(original);
    expect(names(folder)).toEqual(["bootstrap.ign"]);
    const { code, stdout } = await ipi("restore", folder, "--json");
    expect([code, JSON.parse(stdout)]).toEqual([
      0,
      {
        formatVersion: 1,
        ok: true,
        state: "nothing to restore",
        file: join(folder, "bootstrap.ign"),
        errors: [],
        warnings: [],
      },
    ]);
  });

  it("gets the original from the state file when it is not kept", async () => {
    const folder = installDir();
    await ipi("prepare", folder);
    rmSync(join(folder, "bootstrap.ign.original"));
    expect(await ipi("restore", folder)).toMatchObject({ code: 0 });
    expect(read(folder, "bootstrap.ign")).toBe(original);
  });

  it("puts the original back when bootstrap.ign was deleted", async () => {
    const folder = installDir();
    await ipi("prepare", folder);
    rmSync(join(folder, "bootstrap.ign"));
    expect((await ipi("prepare", folder)).stderr).toContain(`ipi restore ${folder}`);
    expect(await ipi("restore", folder)).toMatchObject({ code: 0 });
    expect(read(folder, "bootstrap.ign")).toBe(original);
  });

  it.each(["prepare", "restore"])("after create cluster has read it, %s says so and changes nothing", async (step) => {
    const folder = installDir();
    await ipi("prepare", folder);
    const after = createCluster(readFiles(folder), { now: new Date() }).files;
    rmSync(folder, { recursive: true });
    mkdirSync(folder);
    writeFiles(folder, after);
    const { code, stderr } = await ipi(step, folder);
    expect(code).toBe(1);
    expect(stderr).toContain(`has read it: run "npx konnectivity-bootstrap ipi check ${folder}" to see`);
    expect(textsIn(folder)).toEqual(textsOf(after));
  });

  it("leaves an original of an earlier bootstrap.ign alone", async () => {
    const folder = installDir();
    await ipi("prepare", folder);
    writeFiles(folder, installFiles({ bootstrapIgn: sampleText("4.18", { bytes: 5000 }) }));
    const before = textsIn(folder);
    const { code, stdout } = await ipi("restore", folder);
    expect(code).toBe(0);
    expect(stdout).toContain("belongs to an earlier bootstrap.ign and was not touched");
    expect(textsIn(folder)).toEqual(before);
  });
});

describe("killed at any change of the disk", () => {
  const silent = () => outputTo({ write: () => true }, { write: () => true });
  const runIpi =
    (...args: readonly string[]) =>
    () => {
      ipiCommand(silent()).parse(args, { from: "user" });
    };
  const config = () => configFile("tunnel: { protocol: http-connect }");
  const other = payloadWith({ protocol: "http-connect", port: 9591 });
  const newer = sampleText("4.18", { bytes: 5000 });
  const cases: [string, (folder: string) => void, (folder: string) => string[], string, string[]][] = [
    ["prepare", () => undefined, (folder) => ["prepare", folder], payload, [original, payload]],
    [
      "prepare with other options",
      (folder) => {
        runIpi("prepare", folder)();
      },
      (folder) => ["prepare", folder, "--config", config()],
      other,
      [payload, other],
    ],
    [
      "prepare with a stale original",
      (folder) => {
        runIpi("prepare", folder)();
        writeFiles(folder, installFiles({ bootstrapIgn: newer }));
      },
      (folder) => ["prepare", folder],
      payloadWith({ port: 9591 }, newer),
      [newer, payloadWith({ port: 9591 }, newer)],
    ],
    [
      "prepare without the original",
      (folder) => {
        writeFileSync(join(folder, "bootstrap.ign"), payload);
      },
      (folder) => ["prepare", folder, "--config", config()],
      other,
      [payload, other],
    ],
    [
      "restore",
      (folder) => {
        runIpi("prepare", folder)();
      },
      (folder) => ["restore", folder],
      original,
      [original, payload],
    ],
    [
      "restore from the state file",
      (folder) => {
        runIpi("prepare", folder)();
        rmSync(join(folder, "bootstrap.ign.original"));
      },
      (folder) => ["restore", folder],
      original,
      [original, payload],
    ],
  ];

  it.each(cases)(
    "%s leaves every file whole and the original in one of them; the next run completes it",
    (title, begin, args, end, whole) => {
      let at = 0;
      for (let killed = true; killed; at += 1) {
        const folder = installDir();
        begin(folder);
        const before = new Set(
          [...readFiles(folder)]
            .filter(([name]) => name.startsWith("bootstrap.ign"))
            .map(([, bytes]) => bytes.toString()),
        );
        const words = args(folder);
        ({ killed } = killAtWrite(at, runIpi(...words)));
        const files = readFiles(folder);
        const context = `${title}, killed at change ${at}`;
        expect(whole, context).toContain(String(files.get("bootstrap.ign")));
        const left = [...files]
          .filter(([name]) => name.startsWith("bootstrap.ign"))
          .map(([, bytes]) => bytes.toString());
        // Payloads can be built again; anything else that existed still exists, or is in openshift-install's state.
        for (const text of before)
          if (!text.includes("konnectivity-bootstrap/record.json")) expect(left, context).toContain(text);
        if (killed) runIpi(...words)();
        const ended = readFiles(folder);
        expect(String(ended.get("bootstrap.ign")), context).toBe(end);
        expect(
          [...ended.keys()].filter((name) => name.endsWith(".partial")),
          context,
        ).toEqual([]);
        // From there, the way back leads to the original.
        runIpi("restore", folder)();
        expect(read(folder, "bootstrap.ign"), context).toBe(title.includes("stale") ? newer : original);
      }
      expect(at).toBeGreaterThan(title.startsWith("restore") ? 1 : 6);
    },
  );
});
