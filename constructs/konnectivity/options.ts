import { z } from "zod";
import { isDialable } from "../addresses.ts";
import { oneOf, textLike, wholeNumber, yesOrNo } from "../config/fields.ts";
import { parseConfig } from "../config/parse.ts";
import { releases } from "../release.ts";

/** Only digits and dots: a mistyped address, not a name. The words are listenAddress's; nobody else's localhost is ours. */
const isDnsName = (text: string) =>
  text.length <= 253 &&
  !/^([\d.]+|all|address|(.*\.)?localhost)$/.test(text) &&
  text.split(".").every((label) => /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/.test(label));

const imageReference = textLike(
  "an image reference with a registry, like registry.example.com/team/proxy@sha256:…",
  /^(?=.{1,255}$)[a-z0-9]([a-z0-9.-]*[a-z0-9])?(:\d{1,5})?(\/[a-z0-9]+([._-]+[a-z0-9]+)*)+(:\w[\w.-]{0,127})?(@sha256:[0-9a-f]{64})?$/,
);

const tunnelOptionsSchema = z.strictObject(
  {
    /** The release whose proxy image runs; decides which flags it is given. */
    release: oneOf("auto", ...releases).default("auto"),
    /** What the kube-apiserver speaks to the server. */
    protocol: oneOf("grpc", "http-connect").default("grpc"),
    /** How the kube-apiserver reaches the server: a unix socket, or TCP 8090 on loopback with client certificates. */
    transport: oneOf("unix-socket", "tcp").default("unix-socket"),
    /** How an agent proves who it is. */
    authentication: oneOf("mtls", "service-account-token", "none").default("mtls"),
    /** Must be true with `authentication: none`: whoever reaches port 8091 then receives the kube-apiserver's traffic. */
    acceptUnauthenticatedAgents: yesOrNo().default(false),
    /** Where agents dial: found on the node, an IP address, or a DNS name. */
    address: z
      .string({ error: "detect, an IP address or a DNS name" })
      .refine((text) => text === "detect" || isDialable(text) || isDnsName(text), {
        error:
          "detect, an IP address that nodes can dial (no loopback, link-local or multicast; no brackets), or a DNS name in lower case",
      })
      .default("detect"),
    /** Where the server listens for agents: the bootstrap address, every address, or another one of the machine's. */
    listenAddress: z
      .string({ error: "address, all or an IP address" })
      .refine((text) => text === "address" || text === "all" || isDialable(text), {
        error: "address, all, or an IP address of the machine",
      })
      .default("address"),
    /** The proxy's image: of the release payload, or given. */
    image: z
      .union(
        [
          z.literal("payload"),
          z.strictObject({
            server: imageReference,
            /** @default - the server's */
            agent: imageReference.optional(),
            /** Folder of proxy-server and proxy-agent in the image. */
            binaryDirectory: textLike("an absolute path like /usr/bin", /^\/([\w.-]+(\/[\w.-]+)*)?$/).optional(),
          }),
        ],
        { error: "payload, or an object with server (and agent, binaryDirectory)" },
      )
      .default("payload"),
    agents: z
      .strictObject(
        {
          kind: oneOf("DaemonSet", "Deployment").default("DaemonSet"),
          /** How many agents a Deployment has. @default 2 */
          replicas: wholeNumber(1, 100).optional(),
          hostNetwork: yesOrNo().default(false),
        },
        { error: "an object" },
      )
      .prefault({}),
    certificates: z
      .strictObject(
        {
          keyAlgorithm: oneOf("ecdsa-p256", "rsa-2048", "rsa-3072").default("ecdsa-p256"),
          /** How long the tunnel's certificates live. */
          days: wholeNumber(1, 30).default(1),
        },
        { error: "an object" },
      )
      .prefault({}),
    /** SELinux context of the server's container. @default - the runtime's */
    seLinuxOptions: z
      .strictObject(
        Object.fromEntries(
          ["user", "role", "type", "level"].map((key) => [key, textLike("a SELinux word", /^[\w:,.-]+$/).optional()]),
        ) as Record<"user" | "role" | "type" | "level", z.ZodOptional<z.ZodString>>,
        { error: "an object with user, role, type, level" },
      )
      .optional(),
  },
  { error: "off, or an object" },
);

export type TunnelOptions = z.output<typeof tunnelOptionsSchema>;

/** `off`: a plain bootstrap machine. Nothing said: all defaults. */
export const tunnelSchema = z
  .union([z.literal("off"), tunnelOptionsSchema], { error: "off, or an object" })
  .prefault({});
export type Tunnel = z.output<typeof tunnelSchema>;

/** Reads the `tunnel` part of a config, where it stands alone. */
export function readTunnel(value: unknown): Tunnel {
  return parseConfig(tunnelSchema, value ?? {}, "tunnel");
}
