import { createPrivateKey, X509Certificate } from "node:crypto";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { parse } from "yaml";
import { decodeContents } from "../../../../src/core/ignition/contents.ts";
import { type IgnitionConfig, parseIgnition } from "../../../../src/core/ignition/config.ts";
import { fixture } from "../../../../src/core/sample/sample.ts";
import { readInputs } from "../../../../stacks/inputs.ts";
import { configFormat, platformNames } from "../../../../stacks/platforms.ts";
import { command, linesOf } from "../../../support/cli.ts";
import { exampleOf, type StackJson, synthesize } from "../../../support/stacks.ts";

const root = mkdtempSync(join(tmpdir(), "example-"));
afterAll(() => {
  rmSync(root, { recursive: true });
});
let count = 0;
const newFolder = () => join(root, `example-${++count}`);
const example = (folder: string, platform: string) => command("example", folder, "--platform", platform);
const clouds = configFormat.clouds.map(({ name }) => name);
const warning = "warning: This bootstrap.ign is an example for a cluster that does not exist: it cannot be deployed.";

/** A file of the install folder's bootstrap.ign. */
function fileIn(folder: string, path: string): string {
  const config: IgnitionConfig = parseIgnition(readFileSync(join(folder, "ocp/bootstrap.ign"), "utf8"));
  const found = config.storage?.files?.find((file) => file.path === path);
  return decodeContents(found?.contents).toString("utf8");
}

/** The report's resource of a synthesized example. */
function reportOf(folder: string, platform: string): { lifecycle?: object } | undefined {
  const outdir = join(folder, "cdktf.out");
  synthesize(readInputs(join(folder, "konnectivity.yaml"), new Date()), outdir);
  const file = join(outdir, "stacks", `${platform}-bootstrap`, "cdk.tf.json");
  return (JSON.parse(readFileSync(file, "utf8")) as StackJson).resource.terraform_data?.report;
}

describe("example", () => {
  it.each(platformNames)("for %s writes what every printed command accepts", async (platform) => {
    const folder = newFolder();
    const made = await example(folder, platform);
    expect(made).toMatchObject({ code: 0, stderr: "" });
    const own = linesOf(made.stdout).flatMap((line) => /^ {2}npx konnectivity-bootstrap (.+)$/.exec(line)?.[1] ?? []);
    expect(own.map((line) => line.split(" ").slice(0, 2).join(" "))).toEqual([
      "config check",
      "payload build",
      "payload inspect",
      "payload firewall",
    ]);
    for (const line of own) {
      const { code, stderr } = await command(...line.split(" "));
      expect({ line, code, errors: linesOf(stderr).filter((text) => !text.startsWith("warning: ")) }).toEqual({
        line,
        code: 0,
        errors: [],
      });
    }
    expect(reportOf(folder, platform)).toBeDefined();
  });

  it.each(clouds)(
    "for %s says in every command that the cluster is made up, and cannot be deployed",
    async (platform) => {
      const folder = newFolder();
      await example(folder, platform);
      const { stderr } = await command("config", "check", "--config", join(folder, "konnectivity.yaml"));
      expect(linesOf(stderr)).toContain(warning);
      expect(reportOf(folder, platform)?.lifecycle).toEqual({
        precondition: [
          {
            condition: expect.stringMatching(/^\$\{local\.payload_real_\w+\}$/) as string,
            error_message: expect.stringMatching(
              /^Nothing can be deployed: the cluster in bootstrap\.ign is a made-up example\. Give the folder /,
            ) as string,
          },
        ],
      });
    },
  );

  it("of a lab can be deployed, because it costs nothing", async () => {
    const folder = newFolder();
    const { stdout } = await example(folder, "local");
    expect(stdout).toContain("npx cdktf deploy 'local-*'");
    const checked = await command("config", "check", "--config", join(folder, "konnectivity.yaml"));
    expect(checked).toMatchObject({ code: 0, stderr: "" });
    expect(reportOf(folder, "local")).not.toHaveProperty("lifecycle");
  });

  it("makes new keys and certificates every time", async () => {
    const folders = [newFolder(), newFolder()];
    const kubeconfigs: { users: { user: Record<string, string> }[] }[] = [];
    for (const folder of folders) {
      await example(folder, "aws");
      kubeconfigs.push(
        parse(fileIn(folder, "/opt/openshift/auth/kubeconfig-loopback")) as (typeof kubeconfigs)[number],
      );
    }
    const [first = "", second = ""] = folders.map((folder) => fileIn(folder, "/opt/openshift/tls/root-ca.crt"));
    const decoded = kubeconfigs.map(({ users: [one] }) =>
      ["client-certificate-data", "client-key-data"].map((key) =>
        Buffer.from(one?.user[key] ?? "", "base64").toString(),
      ),
    );
    expect(first).not.toBe(second);
    expect(decoded[0]).not.toEqual(decoded[1]);
    expect(["long-lived.crt", "one-day.crt"].map(fixture)).not.toContain(first);
    const certificate = new X509Certificate(decoded[0]?.[0] ?? "");
    expect(certificate.checkIssued(new X509Certificate(first))).toBe(true);
    expect(certificate.checkPrivateKey(createPrivateKey(decoded[0]?.[1] ?? ""))).toBe(true);
    const keys = folders.map((folder) => readFileSync(join(folder, "ocp/bootstrap.ign"), "utf8"));
    const [key, otherKey] = keys.map((text) => /ssh-ed25519 [^"]+/.exec(text)?.[0]);
    expect(key).not.toBe(otherKey);
  });

  it("is for its owner only, and not for a repository", async () => {
    const folder = newFolder();
    await example(folder, "aws");
    const modeOf = (path: string) => (statSync(join(folder, path)).mode & 0o777).toString(8);
    for (const path of [".", "ocp"]) expect([path, modeOf(path)]).toEqual([path, "700"]);
    for (const path of ["konnectivity.yaml", "coreos-stream.json", "ocp/bootstrap.ign", "ocp/metadata.json"])
      expect([path, modeOf(path)]).toEqual([path, "600"]);
    expect(readFileSync(join(folder, ".gitignore"), "utf8")).toBe("*\n");
  });

  it("names a schema that is there", async () => {
    const folder = newFolder();
    await example(folder, "azure");
    const [line = ""] = readFileSync(join(folder, "konnectivity.yaml"), "utf8").split("\n");
    expect(existsSync(resolve(folder, line.replace(/^.*\$schema=/, "")))).toBe(true);
  });

  it("takes an empty folder, and refuses any other", async () => {
    const empty = newFolder();
    mkdirSync(empty);
    expect(await example(empty, "aws")).toMatchObject({ code: 0 });

    const full = newFolder();
    mkdirSync(full);
    writeFileSync(join(full, "mine"), "mine");
    expect(await example(full, "aws")).toEqual({
      code: 1,
      stdout: "",
      stderr: `error: ${full} already exists and was not changed: give a new folder, or an empty one.\n`,
    });
    expect(readdirSync(full)).toEqual(["mine"]);
    expect(await example(join(full, "mine"), "aws")).toMatchObject({ code: 1, stdout: "" });
    expect(readFileSync(join(full, "mine"), "utf8")).toBe("mine");
  });

  it("writes everything or nothing", async () => {
    const folder = join(root, "in-the-way");
    writeFileSync(folder, "");
    expect(await example(join(folder, "example"), "aws")).toMatchObject({ code: 1, stdout: "" });
    expect(statSync(folder).size).toBe(0);
    expect(dirname(folder)).toBe(root);
  });

  it("takes openshift-install's name of a platform, and says ours", async () => {
    const folder = newFolder();
    expect(await example(folder, "gcp")).toMatchObject({
      code: 0,
      stderr: "warning: gcp means google here.\n",
    });
    expect(parse(readFileSync(join(folder, "konnectivity.yaml"), "utf8"))).toHaveProperty("google");
  });

  it("suggests the platform that was meant", async () => {
    const { code, stderr } = await example(newFolder(), "awz");
    expect(code).toBe(2);
    expect(stderr).toContain("Allowed choices are aws, azure, google, local. (Did you mean aws?)");
  });

  it.each(clouds)("has the options of docs/examples/%s.yaml", (platform) => {
    const declared = configFormat.platforms.find(({ name }) => name === platform)?.example("prod-x7k2p").options;
    expect(exampleOf(platform).config[platform]).toEqual(declared);
  });
});
