import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { afterAll, describe, expect, it, vi } from "vitest";
import { parseProbe } from "../../../src/cluster/machine-status.ts";
import { runProbe } from "../../../src/cluster/probe.ts";
import { agentName } from "../../../src/core/konnectivity/names.ts";

const folder = mkdtempSync(join(tmpdir(), "konnectivity-bootstrap-probe-"));
afterAll(() => {
  rmSync(folder, { recursive: true });
});
const here = { machine: "here", command: ["bash", "-s", "--"] };

/** A fake crictl with one agent that has ended; the calls and the format of the output are CRI-O's. */
const crictl = `#!/usr/bin/env bash
case "$*" in
"ps --all --quiet --name ^${agentName}$") echo abc ;;
"inspect abc") echo '{"status":{"state":"CONTAINER_EXITED","image":{"image":"quay.io/x@sha256:1"}},"info":{"pid":0}}' ;;
"logs --tail 7 abc") echo 'E1116 x] err="dial tcp 10.0.0.10:8091: i/o timeout"' >&2 ;;
*) echo "crictl $*" >&2; exit 1 ;;
esac
`;

describe("the probe", () => {
  it("finds nothing on a machine without a tunnel", async () => {
    const probe = await runProbe(here, 7);
    if (!("sections" in probe)) throw new Error(probe.unreachable);
    expect([...probe.sections.keys()]).toEqual(["machine", "end"]);
    expect(parseProbe(probe.sections)).toMatchObject({ server: undefined, agents: [] });
  });

  it("asks crictl where it is installed", async () => {
    writeFileSync(join(folder, "crictl"), crictl);
    chmodSync(join(folder, "crictl"), 0o755);
    vi.stubEnv("PATH", `${folder}${delimiter}${process.env.PATH ?? ""}`);
    try {
      const probe = await runProbe(here, 7);
      if (!("sections" in probe)) throw new Error(probe.unreachable);
      expect(probe.sections.get("agent-1.container")).toBe("CONTAINER_EXITED quay.io/x@sha256:1");
      expect(parseProbe(probe.sections).agents).toMatchObject([{ runs: false, reason: { code: "no-answer" } }]);
    } finally {
      vi.unstubAllEnvs();
    }
  });
});
