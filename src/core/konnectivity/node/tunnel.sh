#!/usr/bin/env bash
# The tunnel's part of bootkube.sh: functions that bootkube.sh sources and calls at its top level, between its own
# stages. bootkube.sh runs with "set -euoE pipefail", is restarted after every failure, and gives record_service_stage_*.
# Every step can be repeated.

# shellcheck source=/dev/null
. /opt/openshift/konnectivity-bootstrap/settings.sh

tunnel_say() {
    echo "konnectivity-bootstrap: $*" >&2
}

# Before the kube-apiserver is rendered: keys, the server's pod, the egress selector.
tunnel_setup() {
    tunnel_step konnectivity-certs certificates
    tunnel_step konnectivity-server-bootstrap server
}

# Before cluster-bootstrap applies the manifests, and after the machine-config operator has read them.
tunnel_agents() {
    tunnel_step konnectivity-agent-manifest agents
}

# tunnel_step STAGE STEP
tunnel_step() {
    record_service_stage_start "$1"
    /usr/local/bin/konnectivity-bootstrap-setup.sh "$2"
    record_service_stage_success
}

# After the bootstrap kube-apiserver is gone. A failure here is only reported: it never holds up bootkube, and nothing waits,
# because a namespace can stay in Terminating for reasons that have nothing to do with the tunnel.
tunnel_cleanup() {
    record_service_stage_start "konnectivity-cleanup"
    # First what runs and what is secret: the namespace may go later. The settings' lists are words on purpose.
    # shellcheck disable=SC2086
    tunnel_delete --namespace="${TUNNEL_NAMESPACE}" ${TUNNEL_NAMESPACED}
    # shellcheck disable=SC2086
    tunnel_delete "namespace/${TUNNEL_NAMESPACE}" ${TUNNEL_CLUSTER_SCOPED}
    rm -f "${TUNNEL_STATIC_POD}" "${TUNNEL_KAS_KEY}" "${TUNNEL_MANIFESTS}/bootstrap-konnectivity-secret.yaml" || :
    rm -rf "${TUNNEL_TLS}" "${TUNNEL_HOME}/manifests" || :
    record_service_stage_success
}

tunnel_delete() {
    timeout --kill-after=5 30 oc --kubeconfig=/opt/openshift/auth/kubeconfig --request-timeout=20s \
        delete --ignore-not-found --wait=false "$@" ||
        tunnel_say "could not delete $*: the teardown does, or you do (oc delete $*)."
}
