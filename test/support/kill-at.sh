#!/usr/bin/env bash
# For BASH_ENV: kills the script KILL_IN ("name" or "name first-argument"), as a power cut would, before its command number KILL_AT. Writes to KILL_MARK if it did.
# KILL_AT=changes kills nothing and writes to KILL_MARK before which commands the disk is not as it was before the last one:
# to kill it anywhere else would leave what a kill there leaves. KILL_DISK is what is looked at.
if [ "${KILL_AT:-}" != "" ] && [[ ${KILL_IN} == "${0##*/}" || ${KILL_IN} == "${0##*/} ${1:-}" ]]; then
    kill_count=0 kill_disk=unknown
    kill_here() {
        kill_count=$((kill_count + 1))
        if [ "${KILL_AT}" = changes ]; then
            local disk
            # shellcheck disable=SC2086 # several paths
            disk=$(find ${KILL_DISK} -printf '%p %m %s %T@\n' 2>/dev/null | sort) || :
            [ "${disk}" = "${kill_disk}" ] || echo "${kill_count}" >>"${KILL_MARK}"
            kill_disk=${disk}
        elif [ "${kill_count}" = "${KILL_AT}" ]; then
            echo "$1" >"${KILL_MARK}"
            kill -KILL $$
        fi
    }
    set -T
    trap 'kill_here "${BASH_COMMAND}"' DEBUG
fi
