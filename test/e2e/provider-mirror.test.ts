import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { ProviderMirror } from "./clouds/providers.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "konnectivity-bootstrap-mirror-"));
  vi.stubEnv("XDG_CACHE_HOME", join(folder, "cache"));
  // Nothing is downloaded.
  vi.stubEnv("HTTPS_PROXY", "http://127.0.0.1:9");
  vi.stubEnv("CHECKPOINT_DISABLE", "1");
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true });
});

const terraform = process.env.TERRAFORM_BINARY_NAME ?? "terraform";
const inCache = () => readdirSync(join(folder, "cache/konnectivity-bootstrap"));
const minutesToBuild = 5;

/** Where a mirror has the provider: Terraform's own words for where it comes from, then version and machine. */
function placeOf(version: string): string {
  const project = join(folder, "project");
  mkdirSync(project);
  const needed = { google: { source: "hashicorp/google" } };
  writeFileSync(join(project, "main.tf.json"), JSON.stringify({ terraform: { required_providers: needed } }));
  const said = execFileSync(terraform, ["providers"], { cwd: project, encoding: "utf8" });
  const [, address = ""] = /provider\[([^\]]+)\]/.exec(said) ?? [];
  const machine = `linux_${process.arch === "x64" ? "amd64" : process.arch}`;
  return join(address, version, machine, `terraform-provider-google_v${version}_x5`);
}

/** The user's own settings name a mirror, which has the provider in this version. Terraform does not start it to get it. */
function userHasMirror(version: string): void {
  const file = join(folder, "mirror", placeOf(version));
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, "the user's provider", { mode: 0o755 });
  const settings = `provider_installation {\n  filesystem_mirror {\n    path = ${JSON.stringify(join(folder, "mirror"))}\n  }\n}\n`;
  writeFileSync(join(folder, "terraformrc"), settings);
  vi.stubEnv("TF_CLI_CONFIG_FILE", join(folder, "terraformrc"));
}

describe("the provider for the clouds' test", () => {
  it("comes from the user's own mirror, and nothing is built", () => {
    userHasMirror("6.50.0");
    const mirror = new ProviderMirror("google");
    expect(mirror.minutes()).toBe(0);
    const brought = readdirSync(mirror.ensure(), { recursive: true, withFileTypes: true }).filter((one) =>
      one.isFile(),
    );
    expect(brought.map((one) => readFileSync(join(one.parentPath, one.name), "utf8"))).toEqual(["the user's provider"]);
    expect(inCache()).toEqual(["mirror-google-6.50.0"]);
  });

  it("must be built if the user's mirror has another version only", () => {
    userHasMirror("6.49.0");
    expect(new ProviderMirror("google").minutes()).toBe(minutesToBuild);
    expect(inCache()).toEqual([]);
  });

  it("must be built if the user's settings are a file that is not there, and no registry can be reached", () => {
    vi.stubEnv("TF_CLI_CONFIG_FILE", join(folder, "missing"));
    expect(new ProviderMirror("google").minutes()).toBe(minutesToBuild);
    expect(inCache()).toEqual([]);
  });
});
