import { Address4, Address6 } from "ip-address";
import { z } from "zod";
import { parseConfig } from "../config-problems.ts";
import { releases } from "../release.ts";

const oneOf = <const T extends readonly [string, ...string[]]>(...values: T) =>
  z.enum(values, { error: values.join(" or ") });

const wholeNumber = (from: number, to: number) => {
  const error = `a whole number from ${from} to ${to}`;
  return z.int({ error }).min(from, { error }).max(to, { error });
};

/** Kernel-style: no zone, no brackets, no prefix. */
export const isIpAddress = (text: string) =>
  !/[/%[\]]/.test(text) && (Address4.isValid(text) || Address6.isValid(text));
export const isIpv6 = (text: string) => isIpAddress(text) && text.includes(":");

/** Only digits and dots: a mistyped address, not a name. The words are listenAddress's. */
const isDnsName = (text: string) =>
  text.length <= 253 &&
  !/^([\d.]+|all|address)$/.test(text) &&
  text.split(".").every((label) => /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/.test(label));

/** An address that others can dial: not loopback, unspecified, link-local or multicast. */
const isDialable = (text: string) => {
  if (!isIpAddress(text)) return false;
  if (Address4.isValid(text)) return !/^(0\.|127\.|169\.254\.|22[4-9]\.|23\d\.|24\d\.|25[0-5]\.)/.test(text);
  const address = new Address6(text);
  // ::/96 and ::ffff:0:0/96 hold unspecified, loopback and IPv4 in disguise.
  const special = /^(0000:){5}(0000|ffff):/.test(address.canonicalForm());
  return !special && !address.isLinkLocal() && !address.isMulticast();
};

const imageReference = z
  .string({ error: "an image reference" })
  .regex(
    /^(?=.{1,255}$)[a-z0-9]([a-z0-9.-]*[a-z0-9])?(:\d{1,5})?(\/[a-z0-9]+([._-]+[a-z0-9]+)*)+(:\w[\w.-]{0,127})?(@sha256:[0-9a-f]{64})?$/,
    { error: "an image reference with a registry, like registry.example.com/team/proxy@sha256:…" },
  );

export const tunnelSchema = z.strictObject(
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
    acceptUnauthenticatedAgents: z.boolean({ error: "true or false" }).default(false),
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
            binaryDirectory: z
              .string({ error: "an absolute path" })
              .regex(/^\/([\w.-]+(\/[\w.-]+)*)?$/, { error: "an absolute path like /usr/bin" })
              .optional(),
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
          hostNetwork: z.boolean({ error: "true or false" }).default(false),
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
          ["user", "role", "type", "level"].map((key) => [
            key,
            z
              .string({ error: "a SELinux word" })
              .regex(/^[\w:,.-]+$/, { error: "a SELinux word" })
              .optional(),
          ]),
        ) as Record<"user" | "role" | "type" | "level", z.ZodOptional<z.ZodString>>,
        { error: "an object with user, role, type, level" },
      )
      .optional(),
  },
  { error: "off, or an object" },
);

export type TunnelOptions = z.output<typeof tunnelSchema>;
/** `off`: a plain bootstrap machine. */
export type Tunnel = "off" | TunnelOptions;

/** Reads the `tunnel` part of a config; nothing given means all defaults. */
export function readTunnel(value: unknown): Tunnel {
  return value === "off" ? "off" : parseConfig(tunnelSchema, value ?? {}, "tunnel");
}
