import { describe, expect, it } from "vitest";
import { type LocalConfig, local } from "../../../../constructs/local/config.ts";
import { parseConfig } from "../../../../src/core/schema/parse.ts";
import { readTunnel } from "../../../../src/core/konnectivity/options.ts";
import { decodeContents } from "../../../../src/core/ignition/contents.ts";
import type { IgnitionConfig } from "../../../../src/core/ignition/config.ts";

const read = (value: unknown): LocalConfig => parseConfig(local.schema, value, "local");

describe("the local platform's config", () => {
  it("has a default for everything", () => {
    expect(read({})).toEqual({ name: "local", nodes: 1, ipFamily: "IPv4" });
  });

  it.each([
    [{ nodes: 4 }, "local.nodes is 4; expected"],
    [{ nodes: 0 }, "local.nodes is 0; expected"],
    [{ ipFamily: "ipv6" }, 'local.ipFamily is "ipv6"; expected'],
    [{ name: "Lab" }, 'local.name is "Lab"; expected'],
  ])("refuses %j", (value, words) => {
    expect(() => read(value)).toThrow(words);
  });

  it("has no payload with the installer's own tunnel", () => {
    expect(() => local.lab?.payload(read({}), "installer", new Date())).toThrow(
      "tunnel installer and local do not go together: the lab's bootstrap.ign is a sample",
    );
  });

  it.each(["IPv4", "IPv6"] as const)("makes a payload for %s", (ipFamily) => {
    const config = read({ nodes: 3, ipFamily });
    expect(local.resolve(config, {} as Parameters<typeof local.resolve>[1]).nodes).toBe(3);
    const payload = local.lab?.payload(config, readTunnel({}), new Date());
    const { files } = (JSON.parse(payload?.text ?? "") as IgnitionConfig).storage ?? {};
    const settings = files?.find(({ path }) => path.endsWith("/settings.sh"));
    expect(String(decodeContents(settings?.contents))).toContain(`TUNNEL_FAMILIES='${ipFamily === "IPv4" ? 4 : 6}'`);
  });
});
