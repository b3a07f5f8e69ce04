#!/usr/bin/env bash
# Prints the machine's own address for the tunnel: the one that the config gives, or the one found here. It never asks
# anything outside: addresses and routes of this machine are enough.
set -euo pipefail

# shellcheck source=/dev/null
. /opt/openshift/konnectivity-bootstrap/settings.sh

say() {
    echo "konnectivity-bootstrap: $*" >&2
}

# usable FAMILY [ip-address arguments]: this machine's addresses that others can dial, the best first. Addresses that
# keepalived moves around (virtual) are never ours; secondary ones come last, and so do those with a host prefix, which
# is what a virtual address that the config does not name looks like. Not with jq: its start alone takes longer than the
# rest of this script.
usable() {
    local family=$1 address flags last=
    shift
    while read -r _ _ _ address flags; do
        if [[ " ${flags} " =~ \ (deprecated|tentative|dadfailed|temporary)\  ]] ||
            [[ ${address} == 169.254.* || " ${TUNNEL_VIRTUAL_ADDRESSES} " == *" ${address%/*} "* ]]; then
            continue
        elif [[ " ${flags} " == *" secondary "* || ${address} == *.*/32 || ${address} == */128 ]]; then
            last+="${address%/*}"$'\n'
        else
            echo "${address%/*}"
        fi
    done < <(ip -o "-${family}" address show scope global "$@")
    echo -n "${last}"
}

# On the default route's device, private addresses before public ones.
on_default_route() {
    local found
    if [[ $(ip -o "-$1" route show default) =~ \ dev\ ([^ ]+) ]]; then
        found=$(usable "$1" dev "${BASH_REMATCH[1]}")
        grep -E '^(10\.|192\.168\.|172\.(1[6-9]|2[0-9]|3[01])\.|f[cd])' <<<"${found}" || :
        echo "${found}"
    fi
}

# first COMMAND...: the first line that the command prints. Never "| head": a closed pipe is a failure here.
first() {
    local lines
    lines=$("$@")
    echo "${lines%%$'\n'*}"
}

find_address() {
    local family network found
    for family in ${TUNNEL_FAMILIES}; do
        for network in ${TUNNEL_MACHINE_NETWORKS}; do
            if [[ ${network} == *:* && ${family} = 4 || ${network} != *:* && ${family} = 6 ]]; then
                continue
            fi
            found=$(first usable "${family}" to "${network}")
            if [ "${found}" != "" ]; then
                echo "${found}"
                return
            fi
        done
    done
    for family in ${TUNNEL_FAMILIES}; do
        found=$(first on_default_route "${family}")
        if [ "${found}" = "" ]; then
            found=$(first usable "${family}")
        fi
        if [ "${found}" != "" ]; then
            say "no address of this machine is in the machine networks (${TUNNEL_MACHINE_NETWORKS:-not known}); taking ${found}."
            echo "${found}"
            return
        fi
    done
}

# A given address must be here already, or the server could not listen on it.
is_here() {
    [ "$(ip -o address show to "$1")" != "" ]
}

if [ "${TUNNEL_ADDRESS}" != "" ]; then
    address=${TUNNEL_ADDRESS}
else
    address=$(find_address)
fi
if [[ ! ${address} =~ ^[0-9]+(\.[0-9]+){3}$ && ! ${address} =~ ^[0-9a-f]*(:[0-9a-f]*){2,7}$ ]]; then
    say "this machine has no address that the tunnel could use (found '${address}'): give it one, or set tunnel.address."
    exit 1
fi
listen=${TUNNEL_LISTEN_ADDRESS:-${address}}
if [ "${listen}" != all ] && ! is_here "${listen}"; then
    say "this machine does not have the address ${listen} (yet): check tunnel.address and tunnel.listenAddress; a NATed address needs listenAddress: all."
    exit 1
fi
echo "${address}"
