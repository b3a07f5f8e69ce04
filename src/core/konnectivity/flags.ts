import { isAtLeast, type Release } from "../releases.ts";

/**
 * The flags that we give to the proxy, and the first release whose image knows them; an unknown flag is a crash.
 * Read in every release branch of openshift/apiserver-network-proxy: 4.11–4.13, 4.14–4.22 and 4.23–5.1 are one code each.
 */
const since = {
  server: {
    logtostderr: "4.12-4.13",
    v: "4.12-4.13",
    mode: "4.12-4.13",
    "uds-name": "4.12-4.13",
    "delete-existing-uds-file": "4.12-4.13",
    "server-port": "4.12-4.13",
    "server-bind-address": "4.14-4.22",
    "server-cert": "4.12-4.13",
    "server-key": "4.12-4.13",
    "server-ca-cert": "4.12-4.13",
    "cluster-cert": "4.12-4.13",
    "cluster-key": "4.12-4.13",
    "cluster-ca-cert": "4.12-4.13",
    "agent-port": "4.12-4.13",
    "agent-bind-address": "4.14-4.22",
    "health-port": "4.12-4.13",
    "health-bind-address": "4.14-4.22",
    "admin-bind-address": "4.14-4.22",
    "keepalive-time": "4.12-4.13",
    "frontend-keepalive-time": "4.12-4.13",
    "proxy-strategies": "4.12-4.13",
    "server-count": "4.12-4.13",
    "cipher-suites": "4.12-4.13",
    "agent-namespace": "4.12-4.13",
    "agent-service-account": "4.12-4.13",
    "authentication-audience": "4.12-4.13",
    kubeconfig: "4.12-4.13",
    "tls-min-version": "4.23+",
    "xfr-channel-size": "4.23+",
    "backend-dial-timeout": "4.23+",
    "graceful-shutdown-timeout": "4.23+",
  },
  agent: {
    logtostderr: "4.12-4.13",
    v: "4.12-4.13",
    "ca-cert": "4.12-4.13",
    "agent-cert": "4.12-4.13",
    "agent-key": "4.12-4.13",
    "service-account-token-path": "4.12-4.13",
    "proxy-server-host": "4.12-4.13",
    "proxy-server-port": "4.12-4.13",
    "agent-identifiers": "4.12-4.13",
    "keepalive-time": "4.12-4.13",
    "probe-interval": "4.12-4.13",
    "sync-interval": "4.12-4.13",
    "sync-interval-cap": "4.12-4.13",
    "health-server-host": "4.12-4.13",
    "health-server-port": "4.12-4.13",
    "admin-bind-address": "4.14-4.22",
  },
} as const satisfies Record<string, Record<string, Release>>;

export type Binary = keyof typeof since;
type Flag<B extends Binary> = keyof (typeof since)[B];
export type Flags<B extends Binary> = Partial<Record<Flag<B>, string | number | undefined>>;

/** The arguments for one binary of one release, without flags that it does not know or that are undefined. */
export function renderFlags<B extends Binary>(binary: B, release: Release, flags: Flags<B>): string[] {
  return Object.entries(flags)
    .filter(([flag, value]) => value !== undefined && knowsFlag(binary, release, flag as Flag<B>))
    .map(([flag, value]) => `--${flag}=${String(value)}`);
}

export function knowsFlag<B extends Binary>(binary: B, release: Release, flag: Flag<B>): boolean {
  return isAtLeast(release, since[binary][flag] as Release);
}

/** Other differences between the images of the releases. */
export const imageTraits: Record<
  Release,
  {
    /** The agent joins host and port without brackets around an IPv6 address. */
    readonly bracketIpv6: boolean;
    /** Pings more often than the server's policy allows cost the connection: 5 min is grpc's default, 30 s the later setting. */
    readonly agentKeepalive: string;
  }
> = {
  "4.12-4.13": { bracketIpv6: true, agentKeepalive: "5m" },
  "4.14-4.22": { bracketIpv6: false, agentKeepalive: "30s" },
  "4.23+": { bracketIpv6: false, agentKeepalive: "30s" },
};

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
