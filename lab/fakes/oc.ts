/**
 * Fakes what our bootstrap machine runs of oc: `delete` with kind/name arguments, a namespace and a kubeconfig, and `get --raw`.
 * Left out: everything else of oc, and waiting until the objects are gone.
 */
import { connect } from "../api-client.ts";

const kinds: Record<string, { apiVersion: string; kind: string }> = {
  namespace: { apiVersion: "v1", kind: "Namespace" },
  secret: { apiVersion: "v1", kind: "Secret" },
  daemonset: { apiVersion: "apps/v1", kind: "DaemonSet" },
  deployment: { apiVersion: "apps/v1", kind: "Deployment" },
  clusterrole: { apiVersion: "rbac.authorization.k8s.io/v1", kind: "ClusterRole" },
  clusterrolebinding: { apiVersion: "rbac.authorization.k8s.io/v1", kind: "ClusterRoleBinding" },
};

export async function main(args: readonly string[]): Promise<number> {
  const option = (name: string) => args.find((arg) => arg.startsWith(`--${name}=`))?.slice(name.length + 3);
  const words = args.filter((arg) => !arg.startsWith("--"));
  const cluster = connect(option("kubeconfig") ?? "");
  if (words[0] === "get" && args.includes("--raw")) {
    const found = await cluster.get(words[1] ?? "");
    if (found === undefined) console.error("Error from server (NotFound)");
    else console.log(JSON.stringify(found));
    return found === undefined ? 1 : 0;
  }
  if (words[0] !== "delete") {
    console.error(`oc: this fake supports only delete and get --raw, not ${words[0] ?? "an empty command"}`);
    return 1;
  }
  for (const word of words.slice(1)) {
    const [kind = "", name = ""] = word.split("/");
    const known = kinds[kind.split(".")[0] ?? ""];
    if (known === undefined) {
      console.error(`oc: this fake does not support ${kind}`);
      return 1;
    }
    const there = await cluster.delete({ ...known, metadata: { name, namespace: option("namespace") } });
    if (there) console.log(`${kind} "${name}" deleted`);
  }
  return 0;
}
