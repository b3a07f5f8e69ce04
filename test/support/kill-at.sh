#!/usr/bin/env bash
# For BASH_ENV: kills the script, as a power cut would, before its command number KILL_AT. Writes to KILL_MARK if it did.
if [ "${KILL_AT:-}" != "" ] && [ "${0##*/}" = "${KILL_IN:-}" ]; then
    kill_count=0
    set -T
    trap 'kill_count=$((kill_count + 1)); if [ "${kill_count}" = "${KILL_AT}" ]; then echo "${BASH_COMMAND}" >"${KILL_MARK}"; kill -KILL $$; fi' DEBUG
fi
