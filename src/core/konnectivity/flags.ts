import { isAtLeast, type Release } from "../releases.ts";

/**
 * The flags that we give to the proxy. The node asks the image which of them it knows (node/setup.sh), because the code in
 * an image does not follow the release. `since` is the first release whose own branch of openshift/apiserver-network-proxy
 * has the flag; it counts only if the image cannot be asked. 4.11–4.13, 4.14–4.22 and 4.23–5.1 are one code each.
 */
interface Flag {
  readonly since: Release;
  /** Without an optional flag the tunnel works and stays authenticated. An image must know every other one. */
  readonly optional?: true;
}

const oldest = "4.12-4.13";
const required: Flag = { since: oldest };
const optional: Flag = { since: oldest, optional: true };
const optionalSince = (since: Release): Flag => ({ since, optional: true });

const flags = {
  server: {
    logtostderr: optional,
    v: optional,
    mode: required,
    "uds-name": required,
    "delete-existing-uds-file": optional,
    "server-port": required,
    "server-bind-address": optionalSince("4.14-4.22"),
    "server-cert": required,
    "server-key": required,
    "server-ca-cert": required,
    "cluster-cert": required,
    "cluster-key": required,
    "cluster-ca-cert": required,
    "agent-port": required,
    "agent-bind-address": optionalSince("4.14-4.22"),
    "health-port": required,
    "health-bind-address": optionalSince("4.14-4.22"),
    "admin-bind-address": optionalSince("4.14-4.22"),
    "keepalive-time": optional,
    "frontend-keepalive-time": optional,
    "proxy-strategies": required,
    "server-count": optional,
    "cipher-suites": optional,
    "agent-namespace": required,
    "agent-service-account": required,
    "authentication-audience": required,
    kubeconfig: required,
    "tls-min-version": optionalSince("4.23+"),
    "xfr-channel-size": optionalSince("4.23+"),
    "backend-dial-timeout": optionalSince("4.23+"),
    "graceful-shutdown-timeout": optionalSince("4.23+"),
  },
  agent: {
    logtostderr: optional,
    v: optional,
    "ca-cert": required,
    "agent-cert": required,
    "agent-key": required,
    "service-account-token-path": required,
    "proxy-server-host": required,
    "proxy-server-port": required,
    "agent-identifiers": required,
    "keepalive-time": optional,
    "probe-interval": optional,
    "sync-interval": optional,
    "sync-interval-cap": optional,
    "health-server-host": optional,
    "health-server-port": required,
    "admin-bind-address": optionalSince("4.14-4.22"),
  },
} satisfies Record<string, Record<string, Flag>>;

export type Binary = keyof typeof flags;
type FlagOf<B extends Binary> = keyof (typeof flags)[B];
export type Flags<B extends Binary> = Partial<Record<FlagOf<B>, string | number | undefined>>;

/** The arguments for one binary, without flags that are undefined. The node leaves out those that its image does not know. */
export function renderFlags<B extends Binary>(_binary: B, values: Flags<B>): string[] {
  return Object.entries(values)
    .filter(([, value]) => value !== undefined)
    .map(([flag, value]) => `--${flag}=${String(value)}`);
}

/** The flags of either binary that are optional. */
export const optionalFlags: readonly string[] = namesOf(({ optional: isOptional }) => isOptional === true);

/** The flags of either binary that the code of a release does not know. */
export const flagsUnknownTo = (release: Release): readonly string[] =>
  namesOf(({ since }) => !isAtLeast(release, since));

function namesOf(wanted: (flag: Flag) => boolean): string[] {
  const all = Object.values(flags).flatMap((ofBinary) => Object.entries<Flag>(ofBinary));
  return [...new Set(all.filter(([, flag]) => wanted(flag)).map(([name]) => name))];
}

/**
 * TLS 1.2 suites that a FIPS-mode host accepts (TLS 1.3 chooses its own). Always given: the oldest image turns an empty
 * list into "no suite at all", and then only TLS 1.3 works, which its FIPS mode does not have.
 */
export const cipherSuites = [
  "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256",
  "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256",
  "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384",
  "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384",
].join(",");
