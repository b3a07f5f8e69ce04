import { ScratchNode } from "../support/node.ts";
import { samplePayload } from "../support/payload.ts";
import { markdownTable } from "../../scripts/markdown-table.ts";
import { goal, median } from "./goal.ts";

const rounds = 15;
const home = "/opt/openshift/konnectivity-bootstrap";

/** All that we do on the node, against only the keys and certificates that the installer's own tunnel makes. */
export function nodeSetup(): string {
  const node = new ScratchNode(samplePayload("4.23"));
  try {
    node.program(
      "ours",
      `set -euo pipefail
. /usr/local/bin/release-image.sh
# Asking the release image and recording stages is the same for both, and podman's or the record's time, not ours.
image_for() { echo registry.example.com/proxy@sha256:0123; }
record_service_stage_start() { :; }
record_service_stage_success() { :; }
. /usr/local/bin/konnectivity-bootstrap.sh
tunnel_setup 2>/dev/null
tunnel_agents`,
    );
    node.program(
      "three-rsa",
      `set -euo pipefail
cd /run
openssl req -x509 -newkey rsa:2048 -nodes -sha256 -days 1 -subj /CN=ca -keyout ca.key -out ca.crt
for name in server agent; do
    openssl req -new -newkey rsa:2048 -nodes -sha256 -subj /CN=$name -keyout $name.key -out $name.csr
    openssl x509 -req -sha256 -days 1 -in $name.csr -CA ca.crt -CAkey ca.key -CAcreateserial -out $name.crt
done`,
    );
    // Turn by turn, so that a noisy moment hits both.
    const output = node.must(`
      mkdir -p /etc/kubernetes/{manifests,bootstrap-configs}
      for round in $(seq ${rounds}); do
          rm -rf ${home}/tls
          a=$EPOCHREALTIME; ours || exit 1; b=$EPOCHREALTIME; three-rsa >/dev/null 2>&1 || exit 1; c=$EPOCHREALTIME
          echo "$a $b $c"
      done`);
    const times = output
      .trim()
      .split("\n")
      .map((line) => line.split(" ").map(Number))
      .map(([a = 0, b = 0, c = 0]) => ({ ours: (b - a) * 1000, rsa: (c - b) * 1000 }));
    const ours = median(times.map((time) => time.ours));
    const rsa = median(times.map((time) => time.rsa));
    return [
      "## Set-up on the node\n",
      markdownTable(
        ["step", `median of ${rounds}`],
        [
          ["whole set-up: address, PKI, server pod, egress selector, agents' manifests", `${ours.toFixed(0)} ms`],
          ["three RSA-2048 keys with certificates by openssl alone", `${rsa.toFixed(0)} ms`],
          ["ratio", (ours / rsa).toFixed(2)],
        ],
      ),
      goal("at most a fifth of the time", ours / rsa <= 0.2),
    ].join("\n");
  } finally {
    node.remove();
  }
}
