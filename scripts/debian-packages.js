// Plain JavaScript without dependencies, as scripts/setup.js, which installs these packages. The virtual machine of
// `npm run test:vm` has the lab's from the beginning.

export { labPrograms } from "../lab/debian-packages.js";

/** Programs that `npm run test:e2e` runs beside those. */
export const e2ePrograms = {
  shellcheck: "shellcheck",
  patch: "patch",
  faketime: "faketime",
  ssh: "openssh-client",
  nft: "nftables",
  time: "time",
};

/** Programs that the clouds on this machine need. */
export const cloudPrograms = {
  "ignition-validate": "ignition",
  openssl: "openssl",
  ip: "iproute2",
  unshare: "util-linux",
  mount: "mount",
  python3: "python3",
  "/usr/lib/python3*/ensurepip": "python3-venv",
  gcc: "gcc",
  "/usr/include/blkid/*": "libblkid-dev",
};

/** Programs that create and run the virtual machine of `npm run test:vm`. */
export const vmPrograms = {
  "qemu-system-x86_64": "qemu-system-x86",
  mmdebstrap: "mmdebstrap",
  mke2fs: "e2fsprogs",
  git: "git",
};

/** The browser of `npm run docs:render`. */
export const renderPrograms = { "chromium-headless-shell": "chromium-headless-shell" };
