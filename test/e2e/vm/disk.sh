#!/usr/bin/env bash
# disk.sh FOLDER DISK SIZE: makes the file DISK with an ext4 file system that contains FOLDER. A file FOLDER/sources has lines
# "SOURCE<tab>NAME": SOURCE is in it too, as NAME, without being copied first.
# Called under unshare --mount: the mounts go with the namespace.
set -euo pipefail
folder=$1 disk=$2 size=$3
while IFS=$'\t' read -r source name; do
    if [ -d "${source}" ]; then
        mkdir -p "${folder}/${name}"
    else
        mkdir -p "$(dirname "${folder}/${name}")"
        touch "${folder}/${name}"
    fi
    mount --bind "${source}" "${folder}/${name}"
done <"${folder}/sources"
mke2fs -q -t ext4 -d "${folder}" "${disk}" "${size}"
