import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Transport } from "../src/cluster/probe.ts";
import type { Lab } from "./lab.ts";

/** How the probe runs on a lab's machines, except on a bootstrap machine that was removed. */
export function labTransports(lab: Lab): Transport[] {
  const machines = [lab.bootstrap, ...lab.nodes].filter(({ isRemoved }) => !isRemoved);
  return machines.map((machine) => ({
    machine: machine.name,
    command: machine.enter(["bash", "-s", "--"]),
    // A lab has no journal; bootkube's log is a file in the machine's folder.
    ...(machine === lab.bootstrap && {
      extraSections: () => ({ said: tunnelMessages(join(machine.folder, "bootkube.log")) }),
    }),
  }));
}

const tunnelMessages = (log: string) =>
  readFileSync(log, "utf8")
    .split("\n")
    .filter((line) => line.startsWith("konnectivity-bootstrap: "))
    .join("\n");
