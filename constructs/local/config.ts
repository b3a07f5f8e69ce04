import { z } from "zod";
import { makePayload } from "../../src/core/bootstrap.ts";
import { problem, UserError } from "../../src/core/errors.ts";
import { ipFamilies, localNetworks } from "../../src/core/sample/networks.ts";
import { sampleText } from "../../src/core/sample/sample.ts";
import { defaultLabName, labNamePattern, type LabLayout } from "../../src/core/lab-layout.ts";
import { definePlatform } from "../../src/config/platform.ts";
import { boolean, oneOf, pattern, integer } from "../../src/core/schema/fields.ts";

const schema = z.strictObject(
  {
    name: pattern("a name (lower case letters, digits and -, at most 20)", labNamePattern)
      .default(defaultLabName)
      .describe("The lab's name: another lab beside it has another."),
    nodes: integer(1, 3).default(1).describe("How many nodes the lab has; the first has the control plane too."),
    ipFamily: oneOf(...ipFamilies)
      .default("IPv4")
      .describe("Of the lab's machines, pods and services."),
    ipi: boolean()
      .default(false)
      .describe(
        "Whether the bootstrap machine comes and goes as with `openshift-install create cluster`: docs/lab.md.",
      ),
  },
  { error: "an object" },
);
export type LocalConfig = z.output<typeof schema>;

/** What the local stack is made from. */
export interface LocalInputs extends LabLayout {
  readonly name: string;
}

const noInstallerTunnel = problem("combination-refused", {
  options: { tunnel: "installer", local: undefined },
  reason: "the lab's bootstrap.ign is a sample, without the installer's own tunnel; leave one of them out",
});

const nothingToInstall = problem("combination-refused", {
  options: { "local.ipi": true, tunnel: "off" },
  reason: "such a lab shows how a tunnel goes through `openshift-install create cluster`; leave one of them out",
});

export const local = definePlatform({
  name: "local",
  description: "A lab on this machine: docs/lab.md.",
  schema,
  resolve: (config: LocalConfig): LocalInputs => config,
  reportedFacts: ({ nodes, ipFamily }) => ({ nodes, ipFamily }),
  example: () => ({ options: { nodes: 1 } }),
  lab: {
    labName: ({ name }) => name,
    // From the sample: the lab has no images of a real release.
    payload: ({ ipFamily, ipi }, tunnel, now) => {
      if (tunnel === "installer") throw new UserError(noInstallerTunnel);
      if (tunnel === "off" && ipi) throw new UserError(nothingToInstall);
      return makePayload(sampleText("4.23", { networks: localNetworks[ipFamily] }), tunnel, now);
    },
    ipi: ({ ipi }) => ipi,
    describe: ({ name, nodes, ipFamily, ipi }) =>
      `${name}, nodes: ${nodes}, ${ipFamily}${ipi ? ", as openshift-install create cluster" : ""}; it makes a sample payload of its own`,
  },
});
