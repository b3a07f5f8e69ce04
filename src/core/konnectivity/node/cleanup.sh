# shellcheck shell=bash
# A part of setup.sh: removes the tunnel after the bootstrap, in a unit of its own. A failure here is only reported, and
# nothing waits for the namespace, which can stay in Terminating for reasons that have nothing to do with the tunnel.

# The cluster's API, not the one of this machine that is going away.
cluster() {
    timeout --kill-after=5 30 oc --kubeconfig=/opt/openshift/auth/kubeconfig --request-timeout=10s "$@"
}

# Without an answer of ss, the kube-apiserver counts as serving.
is_serving() {
    [ "$(ss -Htln 'sport = :6443' || echo unknown)" != "" ]
}

# The condition is absent until the member is removed, and up to 4.14 it is misspelt. From then on openshift-install removes
# the machine within seconds.
is_member_removed() {
    [[ $(cluster get --raw /apis/operator.openshift.io/v1/etcds/cluster 2>/dev/null) =~ \"EtcdBoot?strapMemberRemoved\" ]]
}

# delete ARGUMENT...: tries for ten minutes.
delete() {
    until cluster delete --ignore-not-found --wait=false "$@"; do
        if [ "${SECONDS}" -ge "${give_up}" ]; then
            say "could not delete $*: the teardown does, or run oc delete $*"
            return
        fi
        sleep 2
    done
}

clean_up() {
    local end=$((SECONDS + 150))
    set +e
    # cluster-bootstrap removes the kube-apiserver's pod and returns at once. The kube-apiserver serves for up to 135 s more, and
    # its calls into the cluster need agents, server and keys.
    while is_serving && [ "${SECONDS}" -lt "${end}" ] && ! is_member_removed; do
        sleep 1
    done
    give_up=$((SECONDS + 600))
    # First what runs and what is secret: the namespace may go later. The settings' lists are words on purpose.
    # shellcheck disable=SC2086
    delete --namespace="${TUNNEL_NAMESPACE}" ${TUNNEL_NAMESPACED}
    # shellcheck disable=SC2086
    delete "namespace/${TUNNEL_NAMESPACE}" ${TUNNEL_CLUSTER_SCOPED}

    # With a server but no agents, a call fails at once; without a server, it hangs.
    while is_serving && [ "${SECONDS}" -lt "${end}" ]; do
        sleep 1
    done
    rm -f "${TUNNEL_STATIC_POD}" "${TUNNEL_KAS_KEY}" "${TUNNEL_MANIFESTS}/bootstrap-konnectivity-secret.yaml"
    rm -rf "${TUNNEL_TLS}" "${TUNNEL_HOME}/manifests"
    say "the tunnel is removed."
}
