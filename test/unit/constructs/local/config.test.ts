import { describe, expect, it } from "vitest";
import { type LocalConfig, local } from "../../../../constructs/local/config.ts";
import { parseConfig } from "../../../../src/core/schema/parse.ts";
import { readTunnel } from "../../../../src/core/konnectivity/options.ts";
import { decodeContents } from "../../../../src/core/ignition/contents.ts";
import type { IgnitionConfig } from "../../../../src/core/ignition/config.ts";

const read = (value: unknown): LocalConfig => parseConfig(local.schema, value, "local");

const payloadOf = (config: LocalConfig, tunnel: unknown) =>
  local.lab?.payload(config, readTunnel(tunnel), new Date()).text ?? "";

/** The text of the file whose path ends so. */
function fileIn(payload: string, end: string): string {
  const { files } = (JSON.parse(payload) as IgnitionConfig).storage ?? {};
  return String(decodeContents(files?.find(({ path }) => path.endsWith(end))?.contents));
}

describe("the local platform's config", () => {
  it("has a default for everything", () => {
    expect(read({})).toEqual({ name: "local", nodes: 1, ipFamily: "IPv4", ipi: false });
  });

  it.each([
    [{ nodes: 4 }, "local.nodes is 4; expected"],
    [{ nodes: 0 }, "local.nodes is 0; expected"],
    [{ ipFamily: "ipv6" }, 'local.ipFamily is "ipv6"; expected'],
    [{ ipi: "yes" }, 'local.ipi is "yes"; expected true or false'],
    [{ name: "Lab" }, 'local.name is "Lab"; expected'],
  ])("refuses %j", (value, words) => {
    expect(() => read(value)).toThrow(words);
  });

  it("has no payload with the installer's own tunnel", () => {
    expect(() => local.lab?.payload(read({}), "installer", new Date())).toThrow(
      "tunnel installer and local cannot be combined: the lab's bootstrap.ign is a sample",
    );
  });

  it.each(["IPv4", "IPv6"] as const)("makes a payload for %s", (ipFamily) => {
    const config = read({ nodes: 3, ipFamily });
    expect(local.resolve(config, {} as Parameters<typeof local.resolve>[1]).nodes).toBe(3);
    expect(fileIn(payloadOf(config, {}), "/settings.sh")).toContain(`TUNNEL_FAMILIES='${ipFamily === "IPv4" ? 4 : 6}'`);
  });

  it("does not fake openshift-install without a tunnel", () => {
    expect(payloadOf(read({}), "off")).toContain("bootkube.sh");
    expect(() => payloadOf(read({ ipi: true }), "off")).toThrow(
      /^local\.ipi true and tunnel off cannot be combined: such a lab shows/,
    );
  });
});
