#!/usr/bin/env bash
# enter.sh GROUP PID COMMAND...: runs COMMAND in the simulated machine whose first process is PID, as one of its own.
set -euo pipefail
# shellcheck source=lab/groups.sh
. "$(dirname "$0")/groups.sh"
group=$1 init=$2
shift 2
# Namespaces alone are not enough: without this it would count as a process of this machine, and outlive the other.
join_groups "${group}"
# Its root too: under a chroot a mount namespace begins above it.
exec nsenter -t "${init}" -m -p -n -C -u -i -r --wdns=/ -- "$@"
