import { describe } from "vitest";
import { labCommand } from "../../../src/cli/lab.ts";
import { outputTo } from "../../../src/cli/output.ts";
import { labIsUp } from "../../../lab/lab.ts";
import { removeLab, startLab } from "../../support/lab.ts";
import { labProblems, testErrorCases } from "../../support/problems.ts";

const silent = outputTo({ write: () => true }, { write: () => true });

/** For every problem of a lab, actions that report it. */
const errorCases: Record<(typeof labProblems)[number], readonly (() => unknown)[]> = {
  "machine-not-there": [
    async () => {
      await startLab({ name: "stuck" });
      try {
        await labCommand(silent).parseAsync(["enter", "--name=stuck", "node-2", "ls", "-l"], { from: "user" });
      } finally {
        await removeLab("stuck");
      }
    },
  ],
  "machine-removed": [
    async () => {
      const lab = await startLab({ name: "stuck", ipi: true, ipFamily: "IPv6" });
      try {
        await labIsUp(lab, () => undefined);
        await lab.completeBootstrap();
        await labCommand(silent).parseAsync(["enter", "--name=stuck", "bootstrap"], { from: "user" });
      } finally {
        await removeLab("stuck");
      }
    },
  ],
  "installer-refuses": [() => startLab({ name: "stuck", ipi: true, payload: "root:x:0:0" })],
  "ignition-refuses": [() => startLab({ name: "stuck", payload: "root:x:0:0" })],
  "lab-stuck": [
    async () => {
      const lab = await startLab({ name: "stuck" });
      try {
        await labIsUp(lab, () => undefined, { seconds: 0 });
      } finally {
        await removeLab("stuck");
      }
    },
    async () => {
      const lab = await startLab({ name: "stuck" });
      try {
        lab.node.must("rm /opt/lab/kubeconfig");
        await lab.completeBootstrap();
      } finally {
        await removeLab("stuck");
      }
    },
  ],
};

describe("every problem of a lab", () => {
  testErrorCases(errorCases);
});
