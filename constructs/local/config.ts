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
      .describe("The lab's name. Labs that run at the same time need different names."),
    nodes: integer(1, 3).default(1).describe("Number of nodes. The first one also runs the control plane."),
    ipFamily: oneOf(...ipFamilies)
      .default("IPv4")
      .describe("IP family of the lab's machines, pods and services."),
    ipi: boolean()
      .default(false)
      .describe(
        "Whether the bootstrap machine is created and removed as by `openshift-install create cluster`; see docs/lab.md.",
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
  reason: "the lab's bootstrap.ign is a sample without the installer's own tunnel; remove one of them",
});

const nothingToInstall = problem("combination-refused", {
  options: { "local.ipi": true, tunnel: "off" },
  reason: "such a lab shows how `openshift-install create cluster` handles a tunnel; remove one of them",
});

export const local = definePlatform({
  name: "local",
  description: "A lab on this machine; see docs/lab.md.",
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
      `${name}, nodes: ${nodes}, ${ipFamily}${ipi ? ", as openshift-install create cluster" : ""}; with its own sample payload`,
  },
});
