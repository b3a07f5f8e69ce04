# Control groups of simulated machines, for machine.sh, enter.sh and enter-network.sh, which source this file.
# shellcheck shell=bash

# The folders where hierarchies of control groups are mounted: one for each controller (version 1) or for all (version 2).
hierarchies() {
    awk '$3 == "cgroup" || $3 == "cgroup2" { print $2 }' /proc/self/mounts
}

# join_groups GROUP: makes this process one of a machine's.
join_groups() {
    local hierarchy
    for hierarchy in $(hierarchies); do
        echo $$ >"$(process_group "${hierarchy}/$1")/cgroup.procs"
    done
}

# process_group FOLDER: the group that a machine's processes join, where FOLDER is the machine's group in one hierarchy.
# In version 2 a group that contains processes cannot give controllers to the groups below it, which containers need.
# In that version the processes are in a leaf group.
process_group() {
    if [ -e "$1/cgroup.controllers" ]; then
        echo "$1/init"
    else
        echo "$1"
    fi
}
