import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { removeMachines } from "../../../lab/machine.ts";
import { ensureGoProgram } from "../../../lab/go-programs.js";
import { projectFile, projectRoot } from "../../../src/runtime/project-files.js";

const folder = mkdtempSync(join(tmpdir(), "konnectivity-bootstrap-overlay-"));
const lab = `overlay${process.pid}`;
afterAll(async () => {
  await removeMachines(lab);
  rmSync(folder, { recursive: true });
});

const from = (path: string) => JSON.stringify(projectFile(path));

/** Makes images and a lab's folder, and runs a container of such an image in a machine there. */
const driver = `
import { cpSync, statfsSync } from "node:fs";
import { basename } from "node:path";
import { makeLabFolder, removeLabFolder } from ${from("lab/folder.ts")};
import { ensureOldProxyImage } from ${from("lab/images.js")};
import { LabMachine, removeMachines } from ${from("lab/machine.ts")};
import { prepareRoot, rootOf } from ${from("lab/roots.ts")};
const [lab, folder, built] = process.argv.slice(1);
if (statfsSync(folder).type !== 0x794c7630) throw new Error("this is no overlay");
cpSync(built, process.env.XDG_CACHE_HOME + "/konnectivity-bootstrap/" + basename(built), { recursive: true });
const images = ensureOldProxyImage("proxy-0.0.37");
const place = folder + "/lab";
makeLabFolder(place);
prepareRoot(rootOf(place, "m"), [images], { nodes: 1, ipFamily: "IPv4" });
const machine = await LabMachine.start({ lab, name: "m", folder: place + "/m", dieWithParent: true });
const image = "localhost/lab/apiserver-network-proxy:0.0.37";
const { stdout, stderr } = machine.run("/usr/bin/podman run --rm --network=host " + image + " /usr/bin/proxy-agent --help 2>&1");
console.log(stdout + stderr);
await removeMachines(lab);
removeLabFolder(place);
`;

it("images and machines can be made on an overlay, as in a container", () => {
  const script = `mkdir "$1"/{upper,work,lower,cache}
    mount -t overlay overlay -o "lowerdir=$1/lower,upperdir=$1/upper,workdir=$1/work" "$1/cache"
    export XDG_CACHE_HOME=$1/cache && exec "$2" --import tsx --input-type=module --eval "$3" "$4" "$1/cache" "$5"`;
  const built = join(ensureGoProgram("proxy-0.0.37")["proxy-agent"], "..");
  const args = ["bash", "-ec", script, "bash", folder, process.execPath, driver, lab, built];
  const { status, stdout, stderr } = spawnSync("unshare", ["--mount", "--propagation", "private", ...args], {
    encoding: "utf8",
    cwd: projectRoot,
  });
  expect(stderr).not.toContain("Error");
  expect(stdout).toContain("--proxy-server-host");
  expect(status).toBe(0);
}, 60_000);
