import type { FirewallProgram } from "../../src/core/konnectivity/firewall-commands.ts";

/** Google's own command line: rules of the network. */
export const firewallCommands: FirewallProgram = ({ name, port, families, infraId }) => ({
  variables: [
    { name: "NETWORK", meaning: `the network of the cluster, like ${infraId}-network` },
    {
      name: "BOOTSTRAP_TAG",
      meaning: `a network tag of the bootstrap machine and no other, like ${infraId}-bootstrap`,
    },
  ],
  open: families.map(({ suffix, networks }) =>
    [
      `gcloud compute firewall-rules create ${name}${suffix} --network "$NETWORK" --direction INGRESS`,
      `--action ALLOW --rules tcp:${port} --source-ranges ${networks.join(",")} --target-tags "$BOOTSTRAP_TAG"`,
    ].join(" "),
  ),
  close: families.map(({ suffix }) => `gcloud compute firewall-rules delete ${name}${suffix} --quiet`),
});
