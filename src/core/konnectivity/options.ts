import { z } from "zod";
import { isDialable } from "../addresses.ts";
import { oneOf, pattern, integer, boolean } from "../schema/fields.ts";
import { parseConfig, removedOptions } from "../schema/parse.ts";
import { releases } from "../releases.ts";
import { agentPortSchema } from "./agent-port.ts";

/**
 * Not only digits and dots, which is a mistyped address; not a word of listenAddress; not localhost, which is another
 * machine on every node.
 */
const isDnsName = (text: string) =>
  text.length <= 253 &&
  !/^([\d.]+|all|address|(.*\.)?localhost)$/.test(text) &&
  text.split(".").every((label) => /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/.test(label));

const imageReference = pattern(
  "an image reference with a registry, like registry.example.com/team/proxy@sha256:…",
  /^(?=.{1,255}$)[a-z0-9]([a-z0-9.-]*[a-z0-9])?(:\d{1,5})?(\/[a-z0-9]+([._-]+[a-z0-9]+)*)+(:\w[\w.-]{0,127})?(@sha256:[0-9a-f]{64})?$/,
);

const tunnelOptionsSchema = z.strictObject(
  {
    release: oneOf("auto", ...releases)
      .default("auto")
      .describe("The release whose flags are assumed if the machine cannot ask the proxy's image for its own."),
    required: boolean()
      .default(true)
      .describe(
        "Whether the installation waits for a tunnel that cannot be set up. With false, the machine continues without it after five minutes.",
      ),
    protocol: oneOf("grpc", "http-connect")
      .default("grpc")
      .describe("The protocol between the kube-apiserver and the server."),
    transport: oneOf("unix-socket", "tcp")
      .default("unix-socket")
      .describe(
        "How the kube-apiserver reaches the server: a unix socket, or TCP 8090 on loopback with client certificates.",
      ),
    authentication: oneOf("mtls", "service-account-token", "none")
      .default("mtls")
      .describe("How agents authenticate to the server: with client certificates, with tokens, or not at all."),
    acceptUnauthenticatedAgents: boolean()
      .default(false)
      .describe(
        "Required with `authentication: none`: anyone who can reach the tunnel's port can then receive the kube-apiserver's traffic.",
      ),
    address: z
      .string({ error: "detect, an IP address or a DNS name" })
      .refine((text) => text === "detect" || isDialable(text) || isDnsName(text), {
        error:
          "detect, an IP address that nodes can dial (no loopback, link-local or multicast; no brackets), or a DNS name in lower case",
      })
      .default("detect")
      .describe(
        "The address that agents dial: an IP address, a DNS name, or `detect`, which finds it on the bootstrap machine.",
      ),
    listenAddress: z
      .string({ error: "address, all or an IP address" })
      .refine((text) => text === "address" || text === "all" || isDialable(text), {
        error: "address, all, or an IP address of the machine",
      })
      .default("address")
      .describe(
        "Where the server listens for agents: the bootstrap address, all addresses, or another address of the machine.",
      ),
    port: agentPortSchema.describe(
      "The TCP port on which the server listens for agents. A running machine and its firewall rule keep the port that they have.",
    ),
    image: z
      .union(
        [
          z.literal("release"),
          z.strictObject({
            server: imageReference.describe("Image of the server."),
            agent: imageReference.optional().describe("Image of the agents. Default: the server's image."),
            binaryDirectory: pattern("an absolute path like /usr/bin", /^\/([\w.-]+(\/[\w.-]+)*)?$/)
              .optional()
              .describe(
                "Folder of proxy-server and proxy-agent in the image. Default: / for images of Kubernetes, otherwise /usr/bin.",
              ),
          }),
        ],
        {
          error: ({ input }) =>
            input === "payload"
              ? "release, which was named payload in 0.1.0"
              : "release, or an object with server (and agent, binaryDirectory)",
        },
      )
      .default("release")
      .describe("The image of the server and the agents. `release`: the one in the OpenShift release."),
    agents: z
      .strictObject(
        {
          kind: oneOf("DaemonSet", "Deployment")
            .default("DaemonSet")
            .describe("DaemonSet: one agent on every node. Deployment: a fixed number of agents."),
          replicas: integer(1, 100).optional().describe("Number of agents in a Deployment. Default: 2."),
          hostNetwork: boolean()
            .default(false)
            .describe("Whether agents use the host network instead of the pod network."),
        },
        { error: "an object" },
      )
      .prefault({})
      .describe("The agents in the cluster."),
    certificates: z
      .strictObject(
        {
          keyAlgorithm: oneOf("ecdsa-p256", "rsa-2048", "rsa-3072")
            .default("ecdsa-p256")
            .describe("Algorithm of all keys."),
          days: integer(1, 30).default(1).describe("How many days the certificates are valid."),
        },
        { error: "an object" },
      )
      .prefault({})
      .describe("The tunnel's own certificates, which the bootstrap machine creates."),
  },
  { error: "off, installer, or an object" },
);

removedOptions.add(tunnelOptionsSchema, {
  seLinuxOptions:
    "it was removed because it never had an effect: CRI-O clears the SELinux label of a container on the host network, and the server is one; delete it",
});

export type TunnelOptions = z.output<typeof tunnelOptionsSchema>;

/** `off`: no tunnel. `installer`: openshift-install's own tunnel, unchanged. Unset: all defaults. */
export const tunnelSchema = z
  .union([z.literal("off"), z.literal("installer"), tunnelOptionsSchema], { error: "off, installer, or an object" })
  .prefault({})
  .describe(
    "The tunnel; see docs/tunnel.md. `off`: no tunnel. `installer`: the tunnel that openshift-install added to bootstrap.ign.",
  );
export type Tunnel = z.output<typeof tunnelSchema>;

/** Parses the `tunnel` part of a config by itself. */
export function readTunnel(value: unknown): Tunnel {
  return parseConfig(tunnelSchema, value ?? {}, "tunnel");
}
