#!/usr/bin/env bash
# Runs in the virtual machine, in the session of a root login: the README's first command, from a clean clone. main.ts puts
# this file on the second disk, which is mounted at /srv, beside the project, its npm packages, Node.js, Terraform and the
# lab's part of the cache. There is no network and no Go. What this says goes to the second serial port, its exit code to
# the third.
set -uo pipefail
stty -F /dev/ttyS1 raw
stty -F /dev/ttyS2 raw
exec >/dev/ttyS1 2>&1 </dev/null

# The steps, each of which must succeed.
run() {
    export PATH=/srv/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root CI=1
    # shellcheck source=/dev/null
    . /srv/environment || return
    # shellcheck source=/dev/null
    . /etc/os-release
    echo "${PRETTY_NAME}, Linux $(uname -r), $(podman --version), $(runc --version | head -n 1), Node.js $(node --version)"
    if [ "$(stat --file-system --format %T /sys/fs/cgroup)" != cgroup2fs ] || [ "$(cat /proc/1/comm)" != systemd ]; then
        echo "This is not a machine with systemd and control groups of version 2 only."
        return 1
    fi
    echo "control groups: cgroup2fs; first process: systemd; this shell is in $(cut -d: -f3 /proc/self/cgroup)"
    if command -v go; then
        echo "Go is installed here, so set-up would not show that it can do without."
        return 1
    fi
    mkdir -p ~/.cache && ln -s /srv/cache ~/.cache/konnectivity-bootstrap || return
    git clone --quiet /srv/project.git /srv/clone || return
    mv /srv/node_modules /srv/clone/node_modules || return
    cd /srv/clone || return
    echo "clean clone of $(git log -1 --format='%h %s')"
    echo '$ npm run demo'
    npm run --silent demo || return
    left=$(find /sys/fs/cgroup -name 'konnectivity-bootstrap.*'; git status --porcelain)
    if [ -n "${left}" ]; then
        echo "The demo left this behind: ${left}"
        return 1
    fi
}

run
echo $? >/dev/ttyS2
