import { beforeAll, describe, expect, it } from "vitest";
import { parse, stringify } from "yaml";
import { type CheckedObject, checkObjects } from "../support/kubernetes-schema.ts";
import { differentObjects, fill, kinds, richTunnel } from "../support/rendered-objects.ts";
import { textOf } from "../support/tunnel.ts";

/** Objects with one mistake each, and what must be said of it. */
const broken: Record<string, { file: string; kind?: string; breaks: (text: string) => string; says: RegExp }> = {
  "a secret that nobody filled": {
    file: "agents/secret.yaml",
    breaks: (text) => text.replace(/ca\.crt: .*/, 'ca.crt: "@CA_CRT@"'),
    says: /illegal base64/,
  },
  "a misspelled field": {
    file: "server-pod.yaml",
    breaks: (text) => text.replace("hostNetwork:", "hostNetworking:"),
    says: /unknown field "spec\.hostNetworking"/,
  },
  "a field given twice": {
    file: "agents/agents.yaml",
    breaks: (text) => text.replace("      dnsPolicy: Default\n", "      dnsPolicy: Default\n".repeat(2)),
    says: /dnsPolicy.*already (set|defined)/,
  },
  "a value that is none": {
    file: "agents/agents.yaml",
    breaks: (text) => text.replace("dnsPolicy: Default", "dnsPolicy: Defalt"),
    says: /dnsPolicy: Unsupported value/,
  },
  "a mount without a volume": {
    file: "server-pod.yaml",
    breaks: (text) => text.replace("- name: serving\n          mountPath", "- name: absent\n          mountPath"),
    says: /volumeMounts\[\d\]\.name: Not found/,
  },
  "a selector that is not the pods'": {
    file: "agents/agents.yaml",
    breaks: (text) => text.replace("matchLabels:\n      app: konnectivity-agent", "matchLabels:\n      app: other"),
    says: /does not match template/,
  },
  "a port that is none": {
    file: "agents/network-policy.yaml",
    breaks: (text) => text.replace("port: 2041", "port: 204100"),
    says: /must be between 1 and 65535/,
  },
  "a namespace that is none": {
    file: "agents/namespace.yaml",
    breaks: (text) => text.replace(/name: openshift.*/, "name: Openshift_Bootstrap"),
    says: /metadata\.name: Invalid value/,
  },
  "another kind than meant": {
    file: "agents/scc-role.yaml",
    kind: "ClusterRole",
    breaks: (text) => text,
    says: /the kind is "Role"/,
  },
  "an unknown protocol": {
    file: "egress-selector.yaml",
    breaks: (text) => text.replace("GRPC", "gRPC"),
    says: /protocol: Unsupported value: "gRPC"/,
  },
  "a misspelled field of the egress selector": {
    file: "egress-selector.yaml",
    breaks: (text) => text.replace("udsName:", "udsname2:"),
    says: /udsname2/,
  },
  "a field that the kube-apiserver's config does not have": {
    file: "kube-apiserver-override.yaml",
    breaks: (text) => `${text}egressSelectorConfiguration: {}\n`,
    says: /unknown field "egressSelectorConfiguration"/,
  },
};

/** One call for all: what the API server says, by name. */
let said: ReadonlyMap<string, CheckedObject["problems"]>;

// Without `npm run test:e2e`, which builds the checker first, it is built here.
beforeAll(() => {
  const assets = richTunnel();
  const wrong = Object.entries(broken).map(([name, { file, kind, breaks }]) => {
    // In the usual style, whatever style the files have.
    const good = stringify(parse(fill(textOf(assets, file))), { lineWidth: 0 });
    if (kind === undefined && breaks(good) === good) throw new Error(`nothing was broken for ${name}`);
    return { name, kind: kind ?? kinds[file] ?? "Deployment", text: breaks(good) };
  });
  const checked = checkObjects([...differentObjects(), ...wrong]);
  said = new Map(checked.map(({ name, problems }) => [name, problems]));
}, 900_000);

describe("every rendered object", () => {
  it("is one that the API server takes, for every combination of options and every release", () => {
    const objects = differentObjects();
    expect(new Set(objects.map(({ kind }) => kind))).toEqual(
      new Set([...Object.values(kinds), "DaemonSet", "Deployment"]),
    );
    const refused = objects
      .map(({ name }) => ({ name, problems: said.get(name) ?? ["was not checked"] }))
      .filter(({ problems }) => problems.length > 0);
    expect(refused).toEqual([]);
  });

  it.each(Object.entries(broken))("is checked completely: %s is reported", (name, { says }) => {
    expect(said.get(name)?.join("\n")).toMatch(says);
  });
});
