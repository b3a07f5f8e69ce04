import { z } from "zod";
import type { Collected } from "../cluster/collect.ts";
import { checkIds, type VerifiedCheck } from "../cluster/verify.ts";
import { releases } from "../core/releases.ts";

/** A version as a report shows it: no text that a machine or a registry could choose freely. */
const version = z.string().regex(/^v?\d{1,4}(\.\d{1,6}){0,3}[\w.+-]{0,20}$/);
/** A word of a program's own vocabulary, such as Enforcing or machine-silent. */
const word = z.string().regex(/^[\w-]{1,60}$/);
const count = z.int().min(0);

/**
 * What the steps found out, as it is saved and reported. Every field is a figure, a version or a word of a known
 * vocabulary, so that the report can contain no name of a cluster, an account or a machine.
 */
export const factsSchema = z.strictObject({
  preflight: z
    .strictObject({
      terraform: z.strictObject({ program: word, version }).optional(),
      tunnel: z.enum(["ours", "installer"]),
      /** Of the payload. @default - the payload does not say it */
      release: z.enum(releases).optional(),
      /** How agents prove themselves. @default - the tunnel is the installer's own */
      authentication: word.optional(),
      port: count,
      firewall: z.enum(["managed", "external"]),
      /** Region and size of the machine, and the like. */
      machine: z.record(word, z.union([word, count])),
      /** Whether this is a Docker container on a host with control groups of version 2 only. */
      dockerWithGroups2: z.boolean(),
    })
    .optional(),
  deploy: z.strictObject({ added: count, providers: z.array(z.strictObject({ name: word, version })) }).optional(),
  plan: z.strictObject({ changes: z.boolean() }).optional(),
  status: z
    .strictObject({
      state: z.enum(["carries", "waiting", "broken", "ended", "unknown"]),
      findings: z.array(word),
      /** The server on the bootstrap machine. @default - the machine could not be asked */
      server: z
        .strictObject({
          tunnel: z.enum(["ours", "installer"]),
          healthz: count,
          readyz: count,
          agents: count,
          crio: z.boolean(),
          egressSelector: z.boolean(),
          selinux: word.optional(),
          denials: count.optional(),
          fips: z.boolean(),
          openssl: version.optional(),
        })
        .optional(),
      /** The agents' pods. @default - the API could not be asked */
      pods: z.strictObject({ ready: count, all: count, sccs: z.array(word) }).optional(),
      /** The pod network's type. @default - the API does not say it */
      network: word.optional(),
    })
    .optional(),
  verify: z
    .array(z.strictObject({ id: z.enum(checkIds), result: z.enum(["passed", "failed", "not looked at"]) }))
    .optional(),
  leftovers: z.strictObject({ gone: count, terminating: count, left: count, notLookedAt: count }).optional(),
});
export type Facts = z.output<typeof factsSchema>;
export type StatusFacts = NonNullable<Facts["status"]>;

/** What `status` collected, as far as a report needs it. */
export function statusFacts({ probes, cluster, status }: Collected, network: unknown): StatusFacts {
  const { server, state, findings } = status;
  const sections =
    probes.flatMap((probe) => ("sections" in probe && probe.sections.has("tunnel") ? [probe.sections] : []))[0] ??
    new Map<string, string>();
  const section = (name: string) => sections.get(name) ?? "";
  const setting = (name: string) => new RegExp(`^${name}=(.+)$`, "m").exec(section("machine"))?.[1];
  const denied = section("denials").split("\n");
  const pods = cluster !== undefined && "pods" in cluster ? cluster.pods : undefined;
  return {
    state,
    findings: [...new Set(findings.map(({ code }) => code))],
    ...(server !== undefined && {
      server: {
        tunnel: server.tunnel,
        healthz: server.healthz,
        readyz: server.readyz,
        agents: server.agents ?? 0,
        crio: section("container").startsWith("CONTAINER_"),
        egressSelector: section("kube-apiserver-config").includes("egress-selector-config-file"),
        ...optional("selinux", wordIn(setting("selinux"))),
        ...optional("denials", denied.at(-1) === "end" ? denied.length - 1 : undefined),
        fips: setting("fips") === "1",
        ...optional("openssl", /^OpenSSL (\d+\.\d+\.\d+[a-z]?)\b/m.exec(section("machine"))?.[1]),
      },
    }),
    ...(pods !== undefined && {
      pods: {
        ready: pods.filter(({ ready }) => ready).length,
        all: pods.length,
        sccs: [...new Set(pods.flatMap(({ scc }) => wordIn(scc) ?? []))].sort(),
      },
    }),
    ...optional("network", wordIn(network)),
  };
}

/** A machine or an API may send anything. */
export const wordIn = (value: unknown): string | undefined => word.safeParse(value).data;
export const versionIn = (value: unknown): string | undefined => version.safeParse(value).data;

const optional = <K extends string, V>(key: K, value: V | undefined) =>
  (value === undefined ? {} : { [key]: value }) as Partial<Record<K, V>>;

/**
 * The results of `verify` in both phases: some checks are only possible while the bootstrap runs, others only after its
 * end.
 */
export function verifyFacts(
  before: Facts["verify"],
  checks: readonly Pick<VerifiedCheck, "id" | "result">[],
): NonNullable<Facts["verify"]> {
  const during = new Map(before?.map(({ id, result }) => [id, result]));
  return checks.map(({ id, result }) => {
    const earlier = during.get(id);
    return { id, result: earlier === undefined || earlier === "not looked at" ? result : earlier };
  });
}
