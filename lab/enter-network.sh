#!/usr/bin/env bash
# enter-network.sh GROUP PID COMMAND...: runs COMMAND on this machine, but in the network of the simulated machine whose
# first process is PID. It counts as one of that machine's processes, so that it ends when the lab is removed.
set -euo pipefail
# shellcheck source=lab/groups.sh
. "$(dirname "$0")/groups.sh"
group=$1 init=$2
shift 2
join_groups "${group}"
exec nsenter -t "${init}" -n -- "$@"
