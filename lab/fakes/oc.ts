/**
 * Fakes `oc delete`, the one subcommand that our bootstrap machine runs: kind/name arguments, a namespace and a kubeconfig.
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
  if (words[0] !== "delete") {
    console.error(`oc: this fake knows delete only, not ${words[0] ?? "nothing"}`);
    return 1;
  }
  const cluster = connect(option("kubeconfig") ?? "");
  for (const word of words.slice(1)) {
    const [kind = "", name = ""] = word.split("/");
    const known = kinds[kind.split(".")[0] ?? ""];
    if (known === undefined) {
      console.error(`oc: this fake does not know ${kind}`);
      return 1;
    }
    const there = await cluster.delete({ ...known, metadata: { name, namespace: option("namespace") } });
    if (there) console.log(`${kind} "${name}" deleted`);
  }
  return 0;
}
