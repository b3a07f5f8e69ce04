// Plain JavaScript without dependencies, as scripts/setup.js, which installs these packages.

/** Programs that the lab runs, and the Debian package that contains each of them. */
export const labPrograms = {
  "ignition-validate": "ignition",
  podman: "podman",
  runc: "runc",
  catatonit: "catatonit",
  "/usr/lib/cni/bridge": "containernetworking-plugins",
  iptables: "iptables",
  openssl: "openssl",
  curl: "curl",
  jq: "jq",
  ip: "iproute2",
  unshare: "util-linux",
  setpriv: "util-linux",
  pgrep: "procps",
  mount: "mount",
  useradd: "passwd",
};
