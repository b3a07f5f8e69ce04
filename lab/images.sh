#!/usr/bin/env bash
# images.sh SOURCE STORE: makes the image store STORE with an image localhost/lab/NAME for each folder SOURCE/NAME, which
# has the programs of its /usr/bin, and with the pause image of this podman, without which it plays no pod.
# Called under unshare --mount: what is mounted here, and what podman mounts, goes with the namespace.
set -euo pipefail
source=$1 store=$2

# Keeps away from the locks and the state of this machine's own podman.
mount -t tmpfs tmpfs /run
mount -t tmpfs tmpfs /dev/shm

# podman makes images on every file system but another overlay, which is what a container has; from one it only reads.
built=${store}
if [ "$(stat --file-system --format %T "${store}")" = overlayfs ]; then
    built=/dev/shm/store
fi

# Not the user's settings: they may name other stores.
cat >/run/storage.conf <<STORAGE
[storage]
driver = "overlay"
graphroot = "${built}"
runroot = "/run/containers/storage"
STORAGE
CONTAINERS_CONF=$(dirname "$0")/containers.conf
export CONTAINERS_CONF CONTAINERS_STORAGE_CONF=/run/storage.conf

for folder in "${source}"/*; do
    # No entrypoint: a manifest says its command, as the cluster's do.
    podman build --quiet --isolation chroot --tag "localhost/lab/${folder##*/}" --file - "${folder}" <<'CONTAINERFILE'
FROM scratch
COPY --chmod=755 . /usr/bin/
CONTAINERFILE
done
# With a parent group podman would leave that group behind.
podman pod create --share-parent=false --network host --name pause
podman pod rm pause

# A store that others only read contains no containers.
rm -rf "${built}"/{libpod,volumes,overlay-containers}
if [ "${built}" != "${store}" ]; then
    cp --archive "${built}/." "${store}"
fi
