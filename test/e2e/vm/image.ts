import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { labPrograms } from "../../../scripts/debian-packages.js";
import { cached } from "../../../lab/go-programs.js";

/** What QEMU boots. */
export interface Image {
  readonly kernel: string;
  readonly initrd: string;
  /** An ext4 file system without a partition table. */
  readonly disk: string;
}

/** An ordinary server with systemd, and what the lab needs; no Go, no Node.js. */
const packages = [
  ...["linux-image-amd64", "dracut", "systemd-sysv", "udev", "dbus", "libpam-systemd", "login", "kmod", "procps"],
  ...["ca-certificates", "git", "libstdc++6"],
  ...new Set(Object.values(labPrograms)),
];

/** Files of the image that no package contains. */
const files = {
  // Empty: systemd makes up an id at every boot, without the presets of a first boot.
  "etc/machine-id": "",
  "etc/hostname": "konnectivity-vm\n",
  "etc/fstab": "",
  // On a busy machine the usual minute and a half is not enough.
  "etc/systemd/system.conf.d/timeouts.conf": "[Manager]\nDefaultTimeoutStartSec=30min\nDefaultDeviceTimeoutSec=30min\n",
  // An ordinary login, so that everything runs where a user's shell would: in a session scope of systemd.
  "etc/systemd/system/serial-getty@ttyS0.service.d/login.conf":
    "[Service]\nExecStart=\nExecStart=-/sbin/agetty --autologin root --noclear --keep-baud 115200 %I linux\n",
  "root/.bash_profile":
    'if [ "$(tty)" = /dev/ttyS0 ]; then mount /dev/vdb /srv && bash /srv/guest.sh; sync; poweroff -ff; fi\n',
};

/** The login of an emulated machine may take longer than the usual minute. */
const hook = 'sed -i "s/^LOGIN_TIMEOUT.*/LOGIN_TIMEOUT 900/" "$1/etc/login.defs"';

/** Larger than needed: blocks without content take no space. */
const diskSize = "8G";

/**
 * The virtual machine's image: this machine's own Debian or Ubuntu release, from its own package sources. Made once,
 * then kept in the cache. Throws one sentence if that fails.
 */
export function ensureImage(): Image {
  const sources = packageSources();
  const hash = createHash("sha256").update(JSON.stringify({ packages, files, hook, diskSize, release: codename() }));
  for (const source of sources) hash.update(readFileSync(source));
  const folder = cached(`vm-${hash.digest("hex").slice(0, 16)}`, (unfinished) => {
    console.error("Making the virtual machine's image (once, about four minutes, 1.5 GB) …");
    const root = join(unfinished, "root");
    const options = join(unfinished, "apt.conf");
    // How packages are downloaded here: through a proxy, from an archive whose index has expired.
    writeFileSync(options, run("apt-config", ["dump", "--no-empty", "Acquire"]));
    run("setpriv", [
      ...["--pdeathsig", "TERM", "mmdebstrap", "--mode=root", "--variant=minbase", `--include=${packages.join()}`],
      ...[`--aptopt=${options}`, "--dpkgopt=path-exclude=/usr/share/doc/*", `--customize-hook=${hook}`],
      ...[codename(), root, ...sources],
    ]);
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(dirname(join(root, name)), { recursive: true });
      writeFileSync(join(root, name), text);
    }
    const boot = (prefix: string) => {
      const found = readdirSync(join(root, "boot")).find((name) => name.startsWith(prefix));
      if (found === undefined) throw new Error(`The virtual machine's image has no ${prefix}* in /boot.`);
      return join(root, "boot", found);
    };
    renameSync(boot("vmlinuz-"), join(unfinished, "vmlinuz"));
    renameSync(boot("initrd.img-"), join(unfinished, "initrd.img"));
    run("mke2fs", ["-q", "-t", "ext4", "-d", root, join(unfinished, "disk.img"), diskSize]);
    rmSync(root, { recursive: true });
    rmSync(options);
  });
  return { kernel: join(folder, "vmlinuz"), initrd: join(folder, "initrd.img"), disk: join(folder, "disk.img") };
}

const codename = () => /^VERSION_CODENAME=(\w+)$/m.exec(readFileSync("/etc/os-release", "utf8"))?.[1] ?? "";

/** The files that name this machine's package sources, those of its own release. */
function packageSources(): string[] {
  const folder = "/etc/apt/sources.list.d";
  const listed = existsSync(folder) ? readdirSync(folder).filter((name) => /\.(list|sources)$/.test(name)) : [];
  const found = ["/etc/apt/sources.list", ...listed.sort().map((name) => join(folder, name))].filter(
    (file) => existsSync(file) && new RegExp(`\\b${codename()}\\b`).test(readFileSync(file, "utf8")),
  );
  if (codename() === "" || found.length === 0)
    throw new Error("The virtual machine is made of this machine's own packages: run this on Debian or Ubuntu.");
  return found;
}

/** Runs a step of the making; what it says about its progress is shown. */
function run(program: string, args: readonly string[]): string {
  const { status, error, stdout } = spawnSync(program, args, {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "inherit"],
    env: { ...process.env, DEBIAN_FRONTEND: "noninteractive" },
  });
  if (status !== 0)
    throw new Error(
      `The virtual machine's image cannot be made: ${program} failed${error ? ` (${error.message})` : ""}.`,
    );
  return stdout;
}
