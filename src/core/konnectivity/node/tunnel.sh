#!/usr/bin/env bash
# The tunnel's part of bootkube.sh: functions that bootkube.sh sources and calls at its top level, between its own
# stages. bootkube.sh runs with "set -euoE pipefail", is restarted after every failure, and gives record_service_stage_*.
# Every step can be repeated.

# shellcheck source=/dev/null
. /opt/openshift/konnectivity-bootstrap/settings.sh

# Exists once this machine has given up on its tunnel, and says so in a sentence.
tunnel_given_up=${TUNNEL_HOME}/given-up

tunnel_say() {
    echo "konnectivity-bootstrap: $*" >&2
}

# Before the kube-apiserver is rendered: keys, the server's pod, the egress selector.
tunnel_setup() {
    tunnel_tries=0 tunnel_begin=${SECONDS}
    tunnel_step konnectivity-certs certificates
    tunnel_step konnectivity-server-bootstrap server
    if [ -f "${tunnel_given_up}" ]; then
        tunnel_leave_out
    fi
}

# Before cluster-bootstrap applies the manifests, and after the machine-config operator has read them.
tunnel_agents() {
    tunnel_step konnectivity-agent-manifest agents
}

# tunnel_step STAGE STEP: a failure ends bootkube.sh, which is then started again, or with "tunnel.required: false" the step
# is tried again for five minutes and five times. It is a process of its own, because in a condition "set -e" has no effect.
tunnel_step() {
    local limit=0
    if [ -f "${tunnel_given_up}" ]; then
        return
    fi
    record_service_stage_start "$1"
    # A kube-apiserver that is already rendered with the tunnel cannot go on without it.
    if [ "${TUNNEL_REQUIRED}" = false ] && [ ! -f /opt/openshift/kube-apiserver-bootstrap.done ]; then
        limit=$((tunnel_begin + 300 - SECONDS))
        # 0 means no limit.
        [ "${limit}" -gt 0 ] || limit=1
    fi
    until timeout --kill-after=5 "${limit}" /usr/local/bin/konnectivity-bootstrap-setup.sh "$2"; do
        tunnel_tries=$((tunnel_tries + 1))
        if [ "${limit}" = 0 ]; then
            return 1
        fi
        limit=$((tunnel_begin + 290 - SECONDS))
        if [ "${tunnel_tries}" = 5 ] || [ "${limit}" -lt 1 ]; then
            tunnel_give_up
            record_service_stage_failure || :
            return
        fi
        sleep 10
    done
    record_service_stage_success
}

tunnel_give_up() {
    echo "the tunnel could not be set up (${tunnel_tries} tries in $(((SECONDS - tunnel_begin) / 60)) minutes), and tunnel.required is false: this machine continues without it, for good. Its kube-apiserver reaches no webhook in the pod network." >"${tunnel_given_up}.new"
    mv "${tunnel_given_up}.new" "${tunnel_given_up}"
}

# An empty override: the kube-apiserver is rendered without an egress selector.
tunnel_leave_out() {
    tunnel_say "$(<"${tunnel_given_up}")"
    echo '{}' >"${TUNNEL_HOME}/kube-apiserver-override.yaml"
    rm -rf "${TUNNEL_STATIC_POD}" "${TUNNEL_EGRESS_SELECTOR}" "${TUNNEL_KAS_KEY}" "${TUNNEL_TLS}" "${TUNNEL_HOME}/manifests"
}

# The bootstrap kube-apiserver may still serve. The clean-up waits for its end in a unit of its own: bootkube.sh goes on,
# and its end does not end the clean-up.
tunnel_cleanup() {
    if [ -f "${tunnel_given_up}" ]; then
        return
    fi
    record_service_stage_start "konnectivity-cleanup"
    systemd-run --quiet --collect --no-block --unit=konnectivity-bootstrap-cleanup \
        /usr/local/bin/konnectivity-bootstrap-setup.sh cleanup ||
        tunnel_say "could not start the clean-up, unless it runs already: the teardown removes what is left in the cluster."
    record_service_stage_success
}
