#!/usr/bin/env bash
# machine.sh GROUP NAME FOLDER: becomes a simulated machine until it is killed, which also kills everything in it.
# FOLDER/root contains the files that Ignition wrote: its etc, opt, var and usr/local are mounted over this machine's own,
# so that every path is as in the manifests. FOLDER/containers contains the containers of its podman. FOLDER/ready appears
# when the machine is running. GROUP is the name of its control groups, by which they are found and removed after a crash.
set -euo pipefail
# shellcheck source=lab/groups.sh
. "$(dirname "$0")/groups.sh"
group=$1 name=$2 folder=$3 stage=${4:-outside}

if [ "${stage}" = outside ]; then
    hierarchies | while read -r hierarchy; do
        mkdir -p "${hierarchy}/${group}"
        mkdir -p "$(process_group "${hierarchy}/${group}")"
        # A cpuset accepts no process before it has processors and memory.
        for setting in cpuset.cpus cpuset.mems; do
            if [ -e "${hierarchy}/${group}/${setting}" ] && [ -e "${hierarchy}/${setting}" ]; then
                cat "${hierarchy}/${setting}" >"${hierarchy}/${group}/${setting}"
            fi
        done
    done
    # Not in the loop, which is another process.
    for hierarchy in $(hierarchies); do
        echo $$ >"${hierarchy}/${group}/cgroup.procs"
    done
    # The groups that this process is in now become the roots of the machine's own.
    exec unshare --cgroup bash "$0" "${group}" "${name}" "${folder}" grouped
fi

if [ "${stage}" = grouped ]; then
    join_groups "${group}"
    exec unshare --mount --propagation private --pid --net --uts --ipc --fork --kill-child --mount-proc \
        bash "$0" "${group}" "${name}" "${folder}" inside
fi

hostname "${name}"
ip link set lo up
# From here on with relative paths, because the mounts can cover the folder itself.
cd "${folder}"
for part in etc opt var usr/local; do
    mkdir -p "root/${part}" "work/${part}"
    mount -t overlay overlay -o "lowerdir=/${part},upperdir=root/${part},workdir=work/${part}" "/${part}"
done
mount -t tmpfs tmpfs /run
mkdir -p /run/lock /var/lib/containers containers
mount -t tmpfs tmpfs /dev/shm
mount -c --bind containers /var/lib/containers
# The machine sees only its own control groups.
awk '$3 == "cgroup" || $3 == "cgroup2" { print $3, $2, $4 }' /proc/self/mounts | while read -r kind place options; do
    controllers=$(tr , '\n' <<<"${options}" | grep -vE '^(rw|ro|nosuid|nodev|noexec|relatime|nsdelegate|memory_recursiveprot|xattr)$' | paste -sd, || :)
    umount "${place}"
    mount -t "${kind}" ${controllers:+-o "${controllers}"} cgroup "${place}"
done
touch ready
exec catatonit -P
