#!/usr/bin/env bash
# The tunnel's part of bootkube.sh: functions that bootkube.sh sources and calls at its top level, between its own
# stages. bootkube.sh runs with "set -euoE pipefail", is restarted after every failure, and gives record_service_stage_*
# and image_for. Every step can be repeated.

# shellcheck source=/dev/null
. /opt/openshift/konnectivity-bootstrap/settings.sh

tunnel_say() {
    echo "konnectivity-bootstrap: $*" >&2
}

# Before the kube-apiserver is rendered: keys, the server's pod, the egress selector.
tunnel_setup() {
    record_service_stage_start "konnectivity-certs"
    tunnel_address=$(/usr/local/bin/konnectivity-bootstrap-address.sh)
    /usr/local/bin/konnectivity-bootstrap-pki.sh "${tunnel_address}"
    record_service_stage_success

    record_service_stage_start "konnectivity-server-bootstrap"
    tunnel_find_image
    tunnel_read_values
    if [ "${TUNNEL_TRANSPORT}" = tcp ]; then
        tunnel_copy "${TUNNEL_TLS}/kube-apiserver/tls.key" "${TUNNEL_KAS_KEY}"
        tunnel_copy "${TUNNEL_TLS}/kube-apiserver/tls.crt" "${TUNNEL_KAS_CERTIFICATE}"
        tunnel_copy "${TUNNEL_TLS}/kube-apiserver/ca.crt" "${TUNNEL_KAS_CA}"
    fi
    if [ "${TUNNEL_AUTHENTICATION}" = service-account-token ]; then
        tunnel_make_kubeconfig
    fi
    # An operator has switched the tunnel off: src/cluster/switch.sh.
    if [ -f "${TUNNEL_HOME}/switched-off.yaml" ]; then
        tunnel_copy "${TUNNEL_HOME}/switched-off.yaml" "${TUNNEL_EGRESS_SELECTOR}"
    else
        tunnel_copy "${TUNNEL_HOME}/egress-selector.yaml" "${TUNNEL_EGRESS_SELECTOR}"
    fi
    tunnel_fill "${TUNNEL_HOME}/server-pod.yaml" "${TUNNEL_STATIC_POD}"
    record_service_stage_success
}

# Before cluster-bootstrap applies the manifests, and after the machine-config operator has read them.
tunnel_agents() {
    local template
    record_service_stage_start "konnectivity-agent-manifest"
    for template in "${TUNNEL_HOME}"/agents/*.yaml; do
        tunnel_fill "${template}" "${TUNNEL_MANIFESTS}/bootstrap-konnectivity-${template##*/}"
    done
    record_service_stage_success
}

# After the bootstrap kube-apiserver is gone. A failure here is only said: it never holds up bootkube, and nothing is
# waited for, because a namespace can stay in Terminating for reasons that are not ours.
tunnel_cleanup() {
    record_service_stage_start "konnectivity-cleanup"
    # First what runs and what is secret: the namespace may go later. The settings' lists are words on purpose.
    # shellcheck disable=SC2086
    tunnel_delete --namespace="${TUNNEL_NAMESPACE}" ${TUNNEL_NAMESPACED}
    # shellcheck disable=SC2086
    tunnel_delete "namespace/${TUNNEL_NAMESPACE}" ${TUNNEL_CLUSTER_SCOPED}
    rm -f "${TUNNEL_STATIC_POD}" "${TUNNEL_KAS_KEY}" "${TUNNEL_MANIFESTS}/bootstrap-konnectivity-secret.yaml" || :
    rm -rf "${TUNNEL_TLS}" "${TUNNEL_KUBECONFIG}" || :
    record_service_stage_success
}

tunnel_delete() {
    timeout --kill-after=5 30 oc --kubeconfig=/opt/openshift/auth/kubeconfig --request-timeout=20s \
        delete --ignore-not-found --wait=false "$@" ||
        tunnel_say "could not delete $*: the teardown does, or you do (oc delete $*)."
}

# Sets tunnel_image. A release payload without the component must not look like any other failure.
tunnel_find_image() {
    tunnel_image=
    if [ "${TUNNEL_IMAGE_COMPONENT}" = "" ]; then
        return
    fi
    if ! tunnel_image=$(image_for "${TUNNEL_IMAGE_COMPONENT}"); then
        if image_for cli >/dev/null 2>&1; then
            tunnel_say "the release payload has no image ${TUNNEL_IMAGE_COMPONENT}, so there is no tunnel: set tunnel.image in the config, or tunnel: off, and make the machine again."
        else
            tunnel_say "the release image did not answer; trying again."
        fi
        return 1
    fi
    if [[ ! ${tunnel_image} =~ ^[A-Za-z0-9][A-Za-z0-9._:/@-]+$ ]]; then
        tunnel_say "the release image answered something that is not an image: '${tunnel_image}'."
        return 1
    fi
}

# The kubeconfig of the bootstrap's own admin, lowered to a user that may do nothing but have tokens reviewed.
tunnel_make_kubeconfig() {
    local text entries entry=$'\n  user:\n' lowered=$'\n  user:\n    as: '
    text=$(<"${TUNNEL_LOOPBACK_KUBECONFIG}")
    entries=$(grep -c '^  user:$' "${TUNNEL_LOOPBACK_KUBECONFIG}" || :)
    if [ "${entries}" != 1 ]; then
        tunnel_say "${TUNNEL_LOOPBACK_KUBECONFIG} has ${entries} user entries where one is expected: use authentication: mtls."
        return 1
    fi
    lowered+="${TUNNEL_SERVER_USER}"$'\n'
    text=${text/"${entry}"/"${lowered}"}
    tunnel_write "${TUNNEL_KUBECONFIG}" "${text}"
}

# Sets what tunnel_fill puts in. Only mTLS has an agent's key.
tunnel_read_values() {
    tunnel_host=${TUNNEL_HOST:-${tunnel_address}}
    if [ "${TUNNEL_BRACKET_IPV6}" = true ] && [[ ${tunnel_host} == *:* ]]; then
        tunnel_host="[${tunnel_host}]"
    fi
    tunnel_pki=$(sha256sum "${TUNNEL_TLS}/serving/ca.crt")
    tunnel_ca=$(base64 -w0 "${TUNNEL_TLS}/serving/ca.crt")
    tunnel_agent_certificate=
    tunnel_agent_key=
    if [ "${TUNNEL_AUTHENTICATION}" = mtls ]; then
        tunnel_agent_certificate=$(base64 -w0 "${TUNNEL_TLS}/agent/tls.crt")
        tunnel_agent_key=$(base64 -w0 "${TUNNEL_TLS}/agent/tls.key")
    fi
}

# tunnel_fill TEMPLATE TARGET: puts in what only the node knows. Not with sed: its arguments are everybody's to read.
tunnel_fill() {
    local text
    text=$(<"$1")
    text=${text//@IMAGE@/"${tunnel_image}"}
    text=${text//@SERVER_HOST@/"${tunnel_host}"}
    text=${text//@LISTEN_ADDRESS@/"${TUNNEL_LISTEN_ADDRESS:-${tunnel_address}}"}
    text=${text//@PKI@/"${tunnel_pki:0:16}"}
    text=${text//@CA_CRT@/"${tunnel_ca}"}
    text=${text//@AGENT_CRT@/"${tunnel_agent_certificate}"}
    text=${text//@AGENT_KEY@/"${tunnel_agent_key}"}
    tunnel_write "$2" "${text}"
}

tunnel_copy() {
    tunnel_write "$2" "$(<"$1")"
}

# tunnel_write TARGET TEXT: all of it or nothing, for root only. The partial file begins with a dot, which the kubelet does
# not read, and says "secret", which a gather leaves out. It is made where it will stay: a file that is moved from another
# directory keeps that one's SELinux label.
tunnel_write() {
    local partial="${1%/*}/.secret.${1##*/}"
    (umask 077 && printf '%s\n' "$2" >"${partial}")
    mv -f "${partial}" "$1"
}
