import { describe, expect, it } from "vitest";
import { lastCreateCluster } from "../../../../../src/core/ipi/install-log.ts";
import { createClusterLog, logLines } from "../../../../support/installer-log.ts";

const used = "Using Bootstrap Ignition Config loaded from target directory";
const ignitionConfigs = logLines("OpenShift Installer 4.18.1", "Fetching Kubeconfig Admin Client...", `  ${used}`);

describe("the last run of create cluster", () => {
  it.each([
    ["  Using Bootstrap Ignition Config loaded from target directory", "used"],
    ["  Using Bootstrap Ignition Config loaded from state file", "state"],
    [
      "  Discarding the Bootstrap Ignition Config that was provided in the target directory because its dependencies are dirty and it needs to be regenerated",
      "discarded",
    ],
    ["  Generating Bootstrap Ignition Config...", "generated"],
  ])("says by %j that bootstrap.ign is %s", (line, bootstrap) => {
    expect(lastCreateCluster(createClusterLog(line))).toMatchObject({
      bootstrap,
      decided: new Date("2026-11-18T15:00:03Z"),
      apiUp: false,
    });
  });

  it("is not decided by what is written in every case, or about another file", () => {
    const log = createClusterLog(
      "Consuming Bootstrap Ignition Config from target directory",
      "Using Master Ignition Config loaded from target directory",
    );
    expect(lastCreateCluster(log)).toEqual({
      creating: false,
      apiUp: false,
      destroysBootstrap: false,
      complete: false,
    });
  });

  it("is discarded, although it is generated then", () => {
    const log = createClusterLog(
      "  Discarding the Bootstrap Ignition Config that was provided in the target directory because",
      "  Generating Bootstrap Ignition Config...",
    );
    expect(lastCreateCluster(log)).toMatchObject({ bootstrap: "discarded" });
  });

  it("is none where only another command ran", () => {
    expect(lastCreateCluster("")).toBeUndefined();
    expect(lastCreateCluster(ignitionConfigs)).toBeUndefined();
    expect(lastCreateCluster(`${createClusterLog(used)}${ignitionConfigs}`)).toBeUndefined();
  });

  it("begins again with the next run", () => {
    const log = `${ignitionConfigs}${createClusterLog(used)}${createClusterLog()}`;
    expect(lastCreateCluster(log)).not.toHaveProperty("bootstrap");
  });

  it("goes on after its second start, and after commands that make nothing", () => {
    const waiting = logLines(
      "OpenShift Installer 4.18.1",
      "Waiting up to 20m0s for the Kubernetes API...",
      "API v1.31.1 up",
    );
    const ending = logLines(
      "Running: openshift-install wait-for install-complete",
      "OpenShift Installer 4.18.1",
      "Install complete!",
    );
    const log = `${createClusterLog(used, "Creating infrastructure resources...")}${waiting}${logLines("Destroying the bootstrap resources...")}${ending}`;
    expect(lastCreateCluster(log)).toMatchObject({
      bootstrap: "used",
      creating: true,
      apiUp: true,
      destroysBootstrap: true,
      complete: true,
    });
  });

  it("survives anything else in the log", () => {
    const odd = [
      "",
      "\u0000",
      'time="" level=debug msg="',
      'time="x" level=debug msg="Fetching Metadata..."',
      "x".repeat(100_000),
    ];
    expect(lastCreateCluster(odd.join("\n"))).toMatchObject({ creating: false });
    const noTime =
      'time="x" level=debug msg="Fetching Metadata..."\ntime="y" level=debug msg="  Generating Bootstrap Ignition Config..."\n';
    expect(lastCreateCluster(noTime)).not.toHaveProperty("decided");
  });
});
