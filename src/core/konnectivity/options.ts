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
        "Whether the installation waits for a tunnel that cannot be set up. With false, the machine goes on without it after five minutes.",
      ),
    protocol: oneOf("grpc", "http-connect").default("grpc").describe("What the kube-apiserver speaks to the server."),
    transport: oneOf("unix-socket", "tcp")
      .default("unix-socket")
      .describe(
        "How the kube-apiserver reaches the server: a unix socket, or TCP 8090 on loopback with client certificates.",
      ),
    authentication: oneOf("mtls", "service-account-token", "none")
      .default("mtls")
      .describe("How an agent proves who it is."),
    acceptUnauthenticatedAgents: boolean()
      .default(false)
      .describe(
        "Must be true with `authentication: none`: whoever reaches the tunnel's port then receives the kube-apiserver's traffic.",
      ),
    address: z
      .string({ error: "detect, an IP address or a DNS name" })
      .refine((text) => text === "detect" || isDialable(text) || isDnsName(text), {
        error:
          "detect, an IP address that nodes can dial (no loopback, link-local or multicast; no brackets), or a DNS name in lower case",
      })
      .default("detect")
      .describe("Where agents dial: found on the node, an IP address, or a DNS name."),
    listenAddress: z
      .string({ error: "address, all or an IP address" })
      .refine((text) => text === "address" || text === "all" || isDialable(text), {
        error: "address, all, or an IP address of the machine",
      })
      .default("address")
      .describe(
        "Where the server listens for agents: the bootstrap address, every address, or another one of the machine's.",
      ),
    port: agentPortSchema.describe(
      "The TCP port on which the server listens for agents, and which they dial. A running machine keeps its own, and so does its rule.",
    ),
    image: z
      .union(
        [
          z.literal("release"),
          z.strictObject({
            server: imageReference.describe("Image of the server."),
            agent: imageReference.optional().describe("Image of the agents. Default: the server's."),
            binaryDirectory: pattern("an absolute path like /usr/bin", /^\/([\w.-]+(\/[\w.-]+)*)?$/)
              .optional()
              .describe("Folder of proxy-server and proxy-agent in the image. Default: by the image's name."),
          }),
        ],
        {
          error: ({ input }) =>
            input === "payload"
              ? "release, which was called payload in 0.1.0: write release"
              : "release, or an object with server (and agent, binaryDirectory)",
        },
      )
      .default("release")
      .describe("The proxy's image: of the release payload, or given."),
    agents: z
      .strictObject(
        {
          kind: oneOf("DaemonSet", "Deployment")
            .default("DaemonSet")
            .describe("One on every node, or a number of them."),
          replicas: integer(1, 100).optional().describe("How many agents a Deployment has. Default: 2."),
          hostNetwork: boolean()
            .default(false)
            .describe("Whether agents are in the nodes' network instead of the pods'."),
        },
        { error: "an object" },
      )
      .prefault({})
      .describe("The agents in the cluster."),
    certificates: z
      .strictObject(
        {
          keyAlgorithm: oneOf("ecdsa-p256", "rsa-2048", "rsa-3072").default("ecdsa-p256").describe("Of every key."),
          days: integer(1, 30).default(1).describe("How many days they live."),
        },
        { error: "an object" },
      )
      .prefault({})
      .describe("The tunnel's own certificates, made on the node."),
  },
  { error: "off, installer, or an object" },
);

removedOptions.add(tunnelOptionsSchema, {
  seLinuxOptions:
    "it was removed because it never had an effect: CRI-O clears the SELinux label of a container on the host network, and the server is one; delete it",
});

export type TunnelOptions = z.output<typeof tunnelOptionsSchema>;

/** `off`: a plain bootstrap machine. `installer`: openshift-install's own tunnel, unchanged. Unset: all defaults. */
export const tunnelSchema = z
  .union([z.literal("off"), z.literal("installer"), tunnelOptionsSchema], { error: "off, installer, or an object" })
  .prefault({})
  .describe(
    "The tunnel: docs/tunnel.md. `off`: a plain bootstrap machine. `installer`: the tunnel that openshift-install put into bootstrap.ign.",
  );
export type Tunnel = z.output<typeof tunnelSchema>;

/** Parses the `tunnel` part of a config by itself. */
export function readTunnel(value: unknown): Tunnel {
  return parseConfig(tunnelSchema, value ?? {}, "tunnel");
}
