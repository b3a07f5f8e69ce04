#!/usr/bin/env bash
# setup.sh STEP: one step of the tunnel's life on this machine. tunnel.sh calls each as a process of its own. Every step can be killed
# anywhere and run again.
#
#   certificates [ADDRESS]  the machine's address, keys and certificates
#   server        asks the image for its flags; writes the agents' manifests, the egress selector and the server's pod
#   agents        hands the agents' manifests to cluster-bootstrap
#   cleanup       removes the tunnel, when the bootstrap kube-apiserver has ended
set -euo pipefail

# shellcheck source=/dev/null
. /opt/openshift/konnectivity-bootstrap/settings.sh

# The agents' manifests between the second and the third step.
manifests=${TUNNEL_HOME}/manifests

say() {
    echo "konnectivity-bootstrap: $*" >&2
}

# In the payload, these files are here: in one file they take less space.
# shellcheck source-path=SCRIPTDIR source=pki.sh
. "${0%/*}/pki.sh"
# shellcheck source-path=SCRIPTDIR source=cleanup.sh
. "${0%/*}/cleanup.sh"

# write TARGET TEXT: all of it or nothing, for root only. The partial file begins with a dot, which the kubelet does not
# read, and has "secret" in its name, which a gather leaves out. It is created in its own directory, because a file that is
# moved from another one keeps that one's SELinux label.
write() {
    local partial="${1%/*}/.secret.${1##*/}"
    (umask 077 && printf '%s\n' "$2" >"${partial}")
    mv -f "${partial}" "$1"
}

copy() {
    write "$2" "$(<"$1")"
}

# Sets image. A release payload without the component must not look like any other failure.
find_image() {
    image=
    if [ "${TUNNEL_IMAGE_COMPONENT}" = "" ]; then
        return
    fi
    # shellcheck source=/dev/null
    . /usr/local/bin/release-image.sh
    if ! image=$(image_for "${TUNNEL_IMAGE_COMPONENT}"); then
        if image_for cli >/dev/null 2>&1; then
            say "the release payload has no image ${TUNNEL_IMAGE_COMPONENT}, so there is no tunnel: set tunnel.image in the config, or tunnel: off, and create the machine again."
        else
            say "the release image did not answer."
        fi
        return 1
    fi
    if [[ ! ${image} =~ ^[A-Za-z0-9][A-Za-z0-9._:/@-]+$ ]]; then
        say "the release image answered something that is not an image: '${image}'."
        return 1
    fi
}

# Sets what fill puts in. Only mTLS has an agent's key.
read_values() {
    pki=$(sha256sum "${TUNNEL_TLS}/serving/ca.crt")
    ca=$(base64 -w0 "${TUNNEL_TLS}/serving/ca.crt")
    agent_certificate=
    agent_key=
    if [ "${TUNNEL_AUTHENTICATION}" = mtls ]; then
        agent_certificate=$(base64 -w0 "${TUNNEL_TLS}/agent/tls.crt")
        agent_key=$(base64 -w0 "${TUNNEL_TLS}/agent/tls.key")
    fi
}

# The server's kubeconfig: its own client certificate, and of the loopback admin's only where the kube-apiserver is.
make_kubeconfig() {
    local cluster value='[^[:space:]]+' authority=certificate-authority-data
    local expected="^(server: ${value}"$'\n'"${authority}|${authority}: ${value}"$'\n'"server): ${value}$"
    cluster=$(grep -oE "(server|${authority}): .+" "${TUNNEL_LOOPBACK_KUBECONFIG}" || :)
    if [[ ! ${cluster} =~ ${expected} ]]; then
        say "${TUNNEL_LOOPBACK_KUBECONFIG} does not name one server and its CA: use authentication: mtls."
        return 1
    fi
    write "${TUNNEL_KUBECONFIG}" "apiVersion: v1
kind: Config
clusters:
- name: bootstrap
  cluster:
    ${cluster/$'\n'/$'\n'    }
users:
- name: server
  user: {client-certificate: tls.crt, client-key: tls.key}
contexts:
- name: bootstrap
  context: {cluster: bootstrap, user: server}
current-context: bootstrap"
}

# fill NAME: sets text to the template with what only the node knows. Not with sed: everyone can read its arguments.
fill() {
    text=${templates[$1]}
    text=${text//@IMAGE@/"${image}"}
    text=${text//@LISTEN_ADDRESS@/"${TUNNEL_LISTEN_ADDRESS:-${address}}"}
    text=${text//@PKI@/"${pki:0:16}"}
    text=${text//@CA_CRT@/"${ca}"}
    text=${text//@AGENT_CRT@/"${agent_certificate}"}
    text=${text//@AGENT_KEY@/"${agent_key}"}
}

# ask PROGRAM IMAGE: sets help to what the program in the image prints as its help, and known to the flags in it. The code in an image does not
# follow the release, and an unknown flag ends the program.
ask() {
    local line status=0
    help=$(timeout --kill-after=5 120 podman run --quiet --rm --network none --entrypoint "$1" "$2" --help 2>&1) || status=$?
    known=
    while read -r line; do
        if [[ ${line} =~ ^(-., )?--([a-z0-9-]+) ]]; then
            known+=" ${BASH_REMATCH[2]} "
        fi
    done <<<"${help}"
    # Old programs print their help as an error.
    if [[ ${known} = "" || ! ${status} =~ ^[02]$ ]]; then
        say "could not ask $1 in $2 for its flags (status ${status}: ${help##*$'\n'}); assuming those of the release."
        known=
    fi
}

# Whether agents of the code that was asked last, a server's, need brackets around an IPv6 address. No flag tells. Upstream and
# OpenShift deleted old sockets by default before they accepted an address without brackets, so the help of code that does
# not delete them is surely older.
needs_brackets() {
    if [ "${known}" = "" ]; then
        [[ " ${TUNNEL_UNKNOWN_FLAGS} " == *" agent-bind-address "* ]]
    else
        [[ ! ${help} =~ --delete-existing-uds-file[^$'\n']*"(default true)" ]]
    fi
}

knows() {
    if [ "${known}" = "" ]; then
        [[ " ${TUNNEL_UNKNOWN_FLAGS} " != *" $1 "* ]]
    else
        [[ ${known} == *" $1 "* ]]
    fi
}

# Takes the flags out of text that the image of its container does not know.
fit() {
    local fitted='' left_out='' missing='' program line
    [[ ${text} =~ image:\ \'([^\']+)\'.*\ command:[[:space:]]+-\ \'([^\']+)\' ]]
    program="${BASH_REMATCH[2]} in ${BASH_REMATCH[1]}"
    ask "${BASH_REMATCH[2]}" "${BASH_REMATCH[1]}"
    while IFS= read -r line; do
        if [[ ! ${line} =~ ^\ +-\ \'--([a-z-]+)= ]] || knows "${BASH_REMATCH[1]}"; then
            fitted+=${line}$'\n'
        elif [[ " ${TUNNEL_OPTIONAL_FLAGS} " == *" ${BASH_REMATCH[1]} "* ]]; then
            left_out+=" --${BASH_REMATCH[1]}"
        else
            missing+=" --${BASH_REMATCH[1]}"
        fi
    done <<<"${text}"
    if [ "${missing}" != "" ]; then
        say "${program} does not know${missing}, which the tunnel needs: set tunnel.image to a newer image in the config, or tunnel: off, and create the machine again."
        return 1
    fi
    if [ "${left_out}" != "" ]; then
        say "${program} does not know${left_out}: left out."
    fi
    if [[ ${left_out} == *-bind-address* ]]; then
        say "without a bind address, it listens on every address of the machine: the firewall rule is the limit."
    fi
    text=${fitted%$'\n'}
}

# Agents' manifests first: nothing of the tunnel is on the machine before it is known that the image can run it.
write_server_and_agents() {
    local -A templates=()
    local line name server host keepalive=30s
    while IFS= read -r line; do
        if [[ ${line} == "--- # "* ]]; then
            name=${line#--- # }
        else
            templates[${name}]+=${line}$'\n'
        fi
    done <"${TUNNEL_HOME}/templates.yaml"
    find_image
    read_values
    address=$(<"${TUNNEL_HOME}/address")
    host=${TUNNEL_HOST:-${address}}
    fill server-pod
    fit
    server=${text}
    # Without this flag it is code older than 4.14's. Its server closes the connection of an agent that pings more often
    # than gRPC's default allows.
    if ! knows agent-bind-address; then
        keepalive=5m
    fi
    if [[ ${host} == *:* ]] && needs_brackets; then
        host="[${host}]"
    fi
    mkdir -p "${manifests}"
    for name in "${!templates[@]}"; do
        if [[ ${name} != agents/* ]]; then
            continue
        fi
        fill "${name}"
        if [ "${name}" = agents/agents ]; then
            text=${text/@SERVER_HOST@/"${host}"}
            text=${text/@AGENT_KEEPALIVE@/"${keepalive}"}
            fit
        fi
        write "${manifests}/bootstrap-konnectivity-${name#*/}.yaml" "${text}"
    done
    if [ "${TUNNEL_TRANSPORT}" = tcp ]; then
        copy "${TUNNEL_TLS}/kube-apiserver/tls.key" "${TUNNEL_KAS_KEY}"
        copy "${TUNNEL_TLS}/kube-apiserver/tls.crt" "${TUNNEL_KAS_CERTIFICATE}"
        copy "${TUNNEL_TLS}/kube-apiserver/ca.crt" "${TUNNEL_KAS_CA}"
    fi
    if [ "${TUNNEL_AUTHENTICATION}" = service-account-token ]; then
        make_kubeconfig
    fi
    (umask 077 && mkdir -p "${TUNNEL_SOCKET_FOLDER}")
    # An operator has switched the tunnel off: src/cluster/switch.sh.
    if [ -f "${TUNNEL_HOME}/switched-off.yaml" ]; then
        copy "${TUNNEL_HOME}/switched-off.yaml" "${TUNNEL_EGRESS_SELECTOR}"
    else
        write "${TUNNEL_EGRESS_SELECTOR}" "${templates[egress-selector]}"
    fi
    write "${TUNNEL_STATIC_POD}" "${server}"
}

case $1 in
certificates)
    address=${2:-}
    if [ "${address}" = "" ]; then
        address=$(/usr/local/bin/konnectivity-bootstrap-address.sh)
    fi
    issue_all "${address}"
    write "${TUNNEL_HOME}/address" "${address}"
    ;;
server)
    write_server_and_agents
    ;;
cleanup)
    clean_up
    ;;
agents)
    old=${TUNNEL_MANIFESTS}/bootstrap-konnectivity-secret.yaml
    if [ -f "${old}" ] && [ "$(<"${old}")" != "$(<"${manifests}/${old##*/}")" ]; then
        say "the keys were issued again, and the cluster may have the old ones: cluster-bootstrap creates objects and never updates them. If agents do not connect, run: oc --kubeconfig=${TUNNEL_LOOPBACK_KUBECONFIG} replace -f ${old} -f ${old/secret/agents}"
    fi
    for manifest in "${manifests}"/*.yaml; do
        copy "${manifest}" "${TUNNEL_MANIFESTS}/${manifest##*/}"
    done
    ;;
esac
