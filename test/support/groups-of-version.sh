#!/usr/bin/env bash
# groups-of-version.sh 1|2 COMMAND...: runs COMMAND where control groups of this version are the only ones. Called under
# unshare --mount: where both versions are mounted, those of the other are missing in this namespace only.
set -euo pipefail
version=$1
shift
groups=/sys/fs/cgroup

if [ "${version}" = 1 ]; then
    awk '$3 == "cgroup2" { print $2 }' /proc/self/mounts | xargs --no-run-if-empty umount
    exec "$@"
fi

if [ ! -e "${groups}/cgroup.controllers" ]; then
    umount --recursive "${groups}"
    mount -t cgroup2 cgroup2 "${groups}"
fi
# Where systemd does not do it, nobody passes controllers on. There are some that version 1 does not use.
if [ -z "$(cat "${groups}/cgroup.subtree_control")" ]; then
    trap 'sed "s/[^ ]*/-&/g" "${groups}/cgroup.controllers" >"${groups}/cgroup.subtree_control" || :' EXIT
    sed 's/[^ ]*/+&/g' "${groups}/cgroup.controllers" >"${groups}/cgroup.subtree_control"
fi
"$@"
