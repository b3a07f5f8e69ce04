# Written for this project: what openshift-install's own tunnel does with its feature gate on (stages, files, names), not its
# text. bootkube.sh sources it and calls the functions; sample.ts adds the templates that they fill in.

konnectivity_setup() {
    konnectivity_address=$(hostname -I | cut -d ' ' -f 1)
    konnectivity_image=$(image_for apiserver-network-proxy)

    if [ ! -f konnectivity-certs.done ]; then
        record_service_stage_start "konnectivity-certs"
        /usr/local/bin/konnectivity-certs.sh "${konnectivity_address}"
        touch konnectivity-certs.done
        record_service_stage_success
    fi
    if [ ! -f konnectivity-server-bootstrap.done ]; then
        record_service_stage_start "konnectivity-server-bootstrap"
        cp egress-selector-config.yaml /etc/kubernetes/bootstrap-configs/
        konnectivity_fill konnectivity-server-pod.yaml /etc/kubernetes/manifests/konnectivity-server-pod.yaml
        touch konnectivity-server-bootstrap.done
        record_service_stage_success
    fi
}

konnectivity_manifests() {
    local name
    record_service_stage_start "konnectivity-agent-manifest"
    for name in konnectivity-namespace konnectivity-agent-certs-secret konnectivity-agent-daemonset; do
        konnectivity_fill "${name}.yaml" "manifests/${name}.yaml"
    done
    record_service_stage_success
}

konnectivity_cleanup() {
    record_service_stage_start "konnectivity-cleanup"
    oc --kubeconfig=/opt/openshift/auth/kubeconfig delete --ignore-not-found --wait=false \
        namespace/openshift-bootstrap-konnectivity
    rm -f /etc/kubernetes/manifests/konnectivity-server-pod.yaml
    record_service_stage_success
}

# konnectivity_fill TEMPLATE TARGET
konnectivity_fill() {
    local text tls=/opt/openshift/tls/konnectivity
    text=$(<"$1")
    text=${text//@IMAGE@/"${konnectivity_image}"}
    text=${text//@ADDRESS@/"${konnectivity_address}"}
    text=${text//@CA@/"$(base64 -w0 "${tls}/ca.crt")"}
    text=${text//@CERTIFICATE@/"$(base64 -w0 "${tls}/agent.crt")"}
    text=${text//@KEY@/"$(base64 -w0 "${tls}/agent.key")"}
    printf '%s\n' "${text}" >"$2"
}
