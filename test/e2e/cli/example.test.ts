import { execFileSync } from "node:child_process";
import { chmodSync, chownSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { decodeContents } from "../../../src/core/ignition/contents.ts";
import { parseIgnition } from "../../../src/core/ignition/config.ts";
import { projectRoot } from "../../../src/runtime/project-files.js";
import { platformNames } from "../../../stacks/platforms.ts";
import { linesOf, program } from "../../support/cli.ts";
import { runIn } from "../../support/clone.ts";

const root = mkdtempSync(join(tmpdir(), "example-e2e-"));
afterAll(() => {
  rmSync(root, { recursive: true });
});

/** What users see who have no rights on this machine. */
const nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"];

it.each(platformNames)(
  "%s: the first and the last command that example prints run without rights",
  async (platform) => {
    const home = mkdtempSync(join(root, "user-"));
    chmodSync(root, 0o755);
    chownSync(home, 65534, 65534);
    const environment = { HOME: home, CHECKPOINT_DISABLE: "1", CI: "1" };
    const folder = join(home, "demo");
    const made = await runIn(
      projectRoot,
      [...nobody, "node", program, "example", folder, "--platform", platform],
      environment,
    );
    expect(made).toMatchObject({ code: 0, stderr: "" });
    const commands = linesOf(made.stdout).flatMap((line) => /^ {2}(\S.*)$/.exec(line)?.[1] ?? []);
    expect(commands).toHaveLength(5);
    // The unit tests run those between.
    for (const line of [commands[0] ?? "", commands[4] ?? ""]) {
      // The clone belongs to root: its output folder is closed, and npx, which makes a clone's program executable, fails.
      const words = line.endsWith("synth")
        ? `${line} --output ${join(home, "cdktf.out")}`
        : line.replace(/^npx konnectivity-bootstrap/, `node ${program}`);
      expect(await runIn(projectRoot, [...nobody, "sh", "-c", words], environment), line).toMatchObject({ code: 0 });
    }
    expect(readdirSync(join(home, "cdktf.out/stacks"))).toEqual([`${platform}-bootstrap`, `${platform}-teardown`]);
  },
  120_000,
);

it("has a CA that openssl accepts for the client's certificate", async () => {
  const folder = join(root, "demo");
  await runIn(projectRoot, ["node", program, "example", folder, "--platform", "aws"]);
  const { storage } = parseIgnition(readFileSync(join(folder, "ocp/bootstrap.ign"), "utf8"));
  const textOf = (path: string) =>
    decodeContents(storage?.files?.find((file) => file.path === path)?.contents).toString();
  const [, encoded = ""] = /client-certificate-data: (.+)/.exec(textOf("/opt/openshift/auth/kubeconfig")) ?? [];
  writeFileSync(join(root, "ca.crt"), textOf("/opt/openshift/tls/root-ca.crt"));
  writeFileSync(join(root, "client.crt"), Buffer.from(encoded, "base64"));
  const verified = execFileSync("openssl", ["verify", "-CAfile", join(root, "ca.crt"), join(root, "client.crt")]);
  expect(verified.toString()).toMatch(/client\.crt: OK\n$/);
});
