import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { cpus, loadavg, release, totalmem } from "node:os";
import { currentProxy } from "../../lab/go-programs.js";
import { readProjectText } from "../../src/runtime/project-files.js";

/** The machine that figures come from, in one sentence. */
export function thisMachine(): string {
  const os = /^PRETTY_NAME="(.+)"$/m.exec(readFileSync("/etc/os-release", "utf8"))?.[1] ?? "Linux";
  const versions = readProjectText("lab/components/kubernetes/go.mod");
  const version = (module: string) => new RegExp(`${module} v(\\S+)`).exec(versions)?.[1] ?? "?";
  const podman = spawnSync("podman", ["--version"], { encoding: "utf8" }).stdout.trim().replace(" version", "");
  return [
    `${cpus().length} cores (${cpus()[0]?.model.trim() ?? "unknown"}), ${Math.round(totalmem() / 1e9)} GB`,
    `${os}, Linux ${release()}`,
    `kube-apiserver ${version("k8s.io/kubernetes")}, etcd ${version("go.etcd.io/etcd/server/v3")}`,
    `proxy ${currentProxy.replace("proxy-", "")}, ${podman}, Node.js ${process.versions.node}`,
  ].join("; ");
}

/** How busy it is: processes that ran or wanted to, in the last minute and in the last quarter of an hour. */
export const busyness = () => `${loadavg()[0]?.toFixed(1) ?? ""} (15 minutes: ${loadavg()[2]?.toFixed(1) ?? ""})`;
