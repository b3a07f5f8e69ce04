import { describe, expect, it } from "vitest";
import {
  type Anchor,
  anchorNames,
  anchors,
  detectRelease,
  findAnchors,
  type Insertions,
  insertAtAnchors,
} from "../../../../../src/core/ignition/bootkube.ts";
import { linePlaces } from "../../../../../src/core/ignition/shell-structure.ts";
import { readTunnel } from "../../../../../src/core/konnectivity/options.ts";
import { renderTunnel } from "../../../../../src/core/konnectivity/tunnel.ts";
import type { Problem } from "../../../../../src/core/errors.ts";
import { bootkubeScript, type Shape, tunnelShapes } from "../../../../../src/core/sample/sample.ts";

const tunnel = readTunnel(undefined);
if (typeof tunnel === "string") throw new Error("the tunnel is on by default");
const nowhere = { machineNetworks: [], serviceNetworks: [], virtualAddresses: [] };
const { insertions }: { insertions: Insertions } = renderTunnel(tunnel, "4.14-4.22", nowhere);

function patch(script: string): string {
  const found = findAnchors(script, "4.14-4.22");
  if (Array.isArray(found)) throw new Error(found.map((p) => p.message).join("\n"));
  return insertAtAnchors(script, found, insertions);
}

const linesOf = (text: string) => text.split("\n").slice(0, -1);

describe.each(tunnelShapes)("bootkube.sh of %s", (shape, release) => {
  const script = bootkubeScript(shape);
  const patched = patch(script);

  it(`is recognized as release ${release}`, () => {
    expect(detectRelease(script, shape === "4.23")).toBe(release);
  });

  it.each(anchorNames)("gets the lines of %s once, right at its anchor", (name) => {
    const { line, place, depth } = anchors[name];
    const whole = place === "before" ? `${insertions[name]}${line}\n` : `${line}\n${insertions[name]}`;
    expect(patched.split(insertions[name])).toHaveLength(2);
    expect(patched.split(`\n${whole}`)).toHaveLength(2);
    const first = patched.slice(0, patched.indexOf(insertions[name])).split("\n").length - 1;
    const places = linePlaces(patched).slice(first, first + linesOf(insertions[name]).length);
    for (const found of places) expect(found).toMatchObject({ depth, text: false });
  });

  it("is otherwise unchanged", () => {
    let undone = patched;
    for (const name of anchorNames) undone = undone.replace(insertions[name], () => "");
    expect(undone).toBe(script);
  });

  it("has the lines in the order in which they run", () => {
    const starts = anchorNames.map((name) => patched.indexOf(insertions[name]));
    expect(starts).toEqual([...starts].sort((a, b) => a - b));
  });

  it("passes the flag to the render call", () => {
    const call = linesOf(patched.replaceAll("\\\n", "")).find((line) =>
      line.includes("cluster-kube-apiserver-operator render"),
    );
    const flags = linesOf(patched).filter((line) => line.includes("--config-override-files="));
    expect(flags).toHaveLength(1);
    expect(call).toContain(flags[0]?.trim().replace(" \\", ""));
    expect(call).toContain("--manifest-etcd-serving-ca=etcd-ca-bundle.crt");
  });
});

describe("findAnchors", () => {
  const shape: Shape = "4.18";
  const script = bootkubeScript(shape);
  const lineOf = (name: Anchor) => anchors[name].line;
  const numberOf = (text: string, line: string) => text.split("\n").indexOf(line) + 1;
  const problemsOf = (text: string): readonly Problem[] => {
    const found = findAnchors(text, "4.14-4.22");
    return Array.isArray(found) ? found : [];
  };
  /** The script with an anchor's line replaced; a function, because "$" means something in a replacement text. */
  const withLine = (name: Anchor, lines: string) => script.replace(`\n${lineOf(name)}\n`, () => `\n${lines}\n`);
  const report = "this OpenShift release is not supported yet; report its version in an issue";

  it("accepts the samples", () => {
    expect(problemsOf(script)).toEqual([]);
  });

  it.each(anchorNames)("says that %s is missing, which line it looked for and what to do", (name) => {
    expect(problemsOf(withLine(name, name === "setup" ? "if true" : ":"))).toEqual([
      {
        code: "anchor-missing",
        message: `bootkube.sh has no line ${JSON.stringify(lineOf(name))} (anchor "${name}", detected release 4.14-4.22): ${report}.`,
      },
    ]);
  });

  it.each(anchorNames)("does not take a line that only looks like %s", (name) => {
    for (const similar of [`${lineOf(name)} `, ` ${lineOf(name)}`, `${lineOf(name)}\r`])
      expect(problemsOf(withLine(name, similar)).map(({ code }) => code)).toContain("anchor-missing");
  });

  it.each(anchorNames)("reports that %s exists twice, and where", (name) => {
    const line = lineOf(name);
    const closing = name === "setup" ? "\nthen\n:\nfi" : "";
    const twice = withLine(name, `${line}${closing}\n${line}`);
    const at = numberOf(twice, line);
    const again = at + 1 + closing.split("\n").length - 1;
    expect(problemsOf(twice)).toEqual([
      {
        code: "anchor-repeated",
        message: `bootkube.sh has the line ${JSON.stringify(line)} more than once (anchor "${name}", lines ${at}, ${again}): ${report}.`,
      },
    ]);
  });

  /** Lines put around an anchor's, and where it then is said to stand. */
  const wrappings: Record<string, readonly [string, string, string]> = {
    "an if": ["if true; then", "fi", "at nesting depth 1"],
    "a function": ["wrapped() {", "}", "at nesting depth 1"],
    "a loop": ["while true; do", "done", "at nesting depth 1"],
    "a subshell": ["(", ")", "at nesting depth 1"],
    "two of them": ["if true; then\n(", ")\nfi", "at nesting depth 2"],
    "a here-document": ["cat <<'NOTE'", "NOTE", "inside quoted text"],
    quotes: ["echo '", "'", "inside quoted text"],
  };
  describe.each(Object.entries(wrappings))("in %s", (_, [before, after, found]) => {
    // `setup` opens an if, which must stay whole, unless the wrapping makes it text.
    const names: Anchor[] = ["manifests", "cleanup"];
    it.each(names)("refuses %s and says so", (name) => {
      const wrapped = withLine(name, `${before}\n${lineOf(name)}\n${after}`);
      expect(problemsOf(wrapped)).toEqual([
        {
          code: "anchor-nested",
          message: `Line ${numberOf(wrapped, lineOf(name))} of bootkube.sh (anchor "${name}") is ${found}, but must be a command at nesting depth 0: ${report}.`,
        },
      ]);
    });
  });

  it("refuses setup in an if", () => {
    const block = /^if \[ ! -f kube-apiserver-bootstrap\.done \]\n.*?^fi\n/ms;
    const wrapped = script.replace(block, (text) => `if true; then\n${text}fi\n`);
    const codes = problemsOf(wrapped).map(({ code, message }) => [code, message.split('"')[1]]);
    // With it, the render call is one deeper too.
    expect(codes).toEqual([
      ["anchor-nested", "setup"],
      ["anchor-nested", "render"],
    ]);
  });

  it("refuses render at the top level", () => {
    const unnested = withLine("manifests", `a \\\n${lineOf("render")}\n\tb\n${lineOf("manifests")}`).replace(
      `${lineOf("render")}\n`,
      () => "",
    );
    expect(problemsOf(unnested)).toEqual([
      {
        code: "anchor-nested",
        message: expect.stringMatching(
          /^Line \d+ of bootkube\.sh \(anchor "render"\) is at nesting depth 0, but must be .* 1:/,
        ) as string,
      },
    ]);
  });

  // The lines would go into the middle of that command, or depend on it.
  it.each([
    ["a backslash", "sleep 1 \\"],
    ["&&", "true &&"],
    ["||", "false ||"],
    ["a pipe", "true |"],
  ])("refuses an anchor that continues the command before it, by %s", (_, before) => {
    for (const name of ["manifests", "cleanup"] as const)
      expect(problemsOf(withLine(name, `${before}\n${lineOf(name)}`)).map(({ code }) => code)).toEqual([
        "anchor-nested",
      ]);
  });

  it("names the anchor that comes too early", () => {
    const swapped = withLine("manifests", lineOf("cleanup")).replace(
      new RegExp(`${lineOf("cleanup")}(?![^]*${lineOf("cleanup")})`),
      () => lineOf("manifests"),
    );
    expect(problemsOf(swapped)).toEqual([
      { code: "anchor-order", message: `Anchor "cleanup" comes before anchor "manifests" in bootkube.sh: ${report}.` },
    ]);
  });

  it("reports all errors at once", () => {
    const many = withLine("cleanup", `if true; then\n${lineOf("cleanup")}\nfi`)
      .replace(lineOf("manifests"), () => `${lineOf("manifests")}\n${lineOf("manifests")}`)
      .replace(lineOf("render"), () => "\t\tother render \\")
      .replace("\n. /usr/local/bin/release-image.sh\n", "\n");
    expect(problemsOf(many).map(({ code }) => code)).toEqual([
      "bootkube-prerequisite-missing",
      "anchor-missing",
      "anchor-repeated",
      "anchor-nested",
    ]);
  });

  it("names what else the inserted lines need", () => {
    const bare = script
      .replace("\n. /usr/local/bin/release-image.sh\n", "\n")
      .replaceAll("record_service_stage_start", ":");
    expect(problemsOf(bare).map(({ message }) => message)).toEqual([
      expect.stringContaining("has no line `. /usr/local/bin/release-image.sh`, which defines image_for"),
      expect.stringContaining("has no call of record_service_stage_start, which records the stages"),
    ]);
  });

  it("names the line at which a truncated script is incomplete", () => {
    const at = numberOf(script, lineOf("render"));
    const cut = script.split("\n").slice(0, at).join("\n");
    expect(problemsOf(cut)).toEqual([
      {
        code: "bootkube-unbalanced",
        message: `bootkube.sh line ${numberOf(script, lineOf("setup"))}: "if" is never closed; if the script is truncated, run "openshift-install create ignition-configs" again, otherwise ${report}.`,
      },
    ]);
  });

  it("counts lines correctly after text that spans several lines", () => {
    const texts = ['x="$(date \\\n\t--utc)"\n', "x=$((1 +\n\t2))\n", "x='a\nb'\n", "cat <<EOF\na\nEOF\n"];
    for (const text of texts) {
      const longer = script.replace("\nmkdir --parents", () => `\n${text}mkdir --parents`);
      expect(problemsOf(longer), JSON.stringify(text)).toEqual([]);
    }
  });
});
