#!/usr/bin/env bash
# enter-node.sh ROOT NETWORK COMMAND: runs COMMAND (a line for bash) as if ROOT were the machine's own root, in a mount,
# network and process namespace of its own that NETWORK (a line for sh) sets up. Programs are this machine's.
# Called under unshare; everything mounted here goes with the namespace.
set -euo pipefail
root=$1 network=$2 command=$3

sh -ec "${network}"

# /usr/local is what Ignition laid down, the rest of /usr is this machine's.
mkdir -p "${root}"/{.local,usr/local,proc,dev,run,tmp,etc/ssl,var,root}
mount --bind "${root}/usr/local" "${root}/.local"
mount --rbind /usr "${root}/usr"
mount --bind "${root}/.local" "${root}/usr/local"
for link in bin sbin lib lib64; do
    [ -e "${root}/${link}" ] || ln -s "usr/${link}" "${root}/${link}"
done
mount --bind /etc/ssl "${root}/etc/ssl"
mount --rbind /dev "${root}/dev"
mount -t proc proc "${root}/proc"
mount -t tmpfs tmpfs "${root}/run"
mount -t tmpfs tmpfs "${root}/tmp"

exec chroot "${root}" /usr/bin/env -C /opt/openshift bash -c "${command}"
