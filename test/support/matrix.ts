import { type Expected } from "./invariants.ts";
import { metadata } from "./stacks.ts";

const { infraID } = metadata;
export const platforms = {
  aws: {
    expected: {
      sources: ["sg-0123456789abcdef0", "sg-0123456789abcdef1"],
      destination: /^\$\{aws_security_group\.firewall-rule_group_\w+\.id\}$/,
      clusterTag: { [`kubernetes.io/cluster/${infraID}`]: "owned" },
    },
    options: {
      plain: {},
      "own keys": {
        payloadKmsKeyArn: "arn:aws:kms:eu-central-1:123456789012:key/0123",
        rootVolumeKmsKeyArn: "arn:aws:kms:eu-central-1:123456789012:key/0123",
      },
      "ssh and journal": { allowedBootstrapSshCidr: "192.0.2.0/24", allowedBootstrapJournalCidr: "2001:db8::/32" },
      public: { publicSubnet: "subnet-0123456789abcdef1", privateSubnet: undefined, publicIp: true },
      "own profile": { bootstrapInstanceProfile: "mine" },
      "no load balancer": {
        autoRegisterELB: false,
        externalApiTargetGroupArn: undefined,
        internalApiTargetGroupArn: undefined,
        internalServiceTargetGroupArn: undefined,
      },
    },
  },
  azure: {
    expected: {
      sources: ["10.0.0.0/24", "10.0.1.0/24"],
      destination: /^\$\{(?:try\()?azurerm_network_interface\.[\w-]+\.private_ip_address(es\[\d\])?\}$/,
      clusterTag: { [`kubernetes.io_cluster.${infraID}`]: "owned" },
    },
    options: {
      plain: {},
      identity: { pointer: "identity" },
      "ssh and journal": { allowedBootstrapSshCidr: "192.0.2.0/24", allowedBootstrapJournalCidr: "198.51.100.0/24" },
      public: { publicIp: true },
      "encryption at host": { encryptionAtHost: true },
      "no load balancer": { backendAddressPoolIds: [] },
    },
  },
  google: {
    expected: {
      sources: [`${infraID}-master`, `${infraID}-worker`],
      destination: new RegExp(`^${infraID}-konnectivity$`),
      clusterTag: { [`kubernetes-io-cluster-${infraID}`]: "owned" },
    },
    options: {
      plain: {},
      "own keys": {
        payloadKmsKey: "projects/p-123456/locations/europe-west1/keyRings/r/cryptoKeys/k",
        rootVolumeKmsKey: "projects/p-123456/locations/europe-west1/keyRings/r/cryptoKeys/k",
      },
      "ssh and journal": { allowedBootstrapSshCidr: "192.0.2.0/24", allowedBootstrapJournalCidr: "198.51.100.0/24" },
      public: { publicIp: true },
      "given account": { serviceAccount: "mine@sample-project.iam.gserviceaccount.com" },
      "own group": { instanceGroup: undefined, ownInstanceGroup: true },
      "shared VPC": { networkProject: "host-project" },
      "shielded VM": { secureBoot: true, integrityMonitoring: false },
    },
  },
} satisfies Record<string, PlatformCases>;

interface PlatformCases {
  /** For its example as it is. */
  readonly expected: Omit<Expected, "tags" | "tunnelPort">;
  readonly options: Readonly<Record<string, object>>;
}

export const tags = { team: "platform" };
const shared: Record<string, object> = {
  defaults: {},
  "a fixed address": { tunnel: { address: "10.0.1.5" } },
  "http-connect over tcp, tokens": {
    tunnel: { protocol: "http-connect", transport: "tcp", authentication: "service-account-token" },
  },
  "another port": { tunnel: { port: 9591 } },
  "the installer's own tunnel": { tunnel: "installer" },
  "no tunnel": { tunnel: "off" },
  "external firewall": { firewall: "external" },
  "replaceable machine": { replaceMachine: true },
};

/** Whether a case needs a bootstrap.ign with the installer's own tunnel. */
export const hasInstallerTunnel = (rest: object) => "tunnel" in rest && rest.tunnel === "installer";

/** Every combination of a platform's options with those that all platforms share. */
export const cases = Object.entries(platforms as Record<string, PlatformCases>).flatMap(
  ([platform, { options, expected }]) =>
    Object.entries(options).flatMap(([optionsName, option]) =>
      Object.entries(shared).map(([restName, rest]) => ({
        platform,
        name: `${optionsName}, ${restName}`,
        option,
        rest,
        expected,
      })),
    ),
);
