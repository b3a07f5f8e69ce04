#!/usr/bin/env bash
# Fakes podman as bootkube.sh calls it: fakes replace the programs from images of the release payload, which are not
# available; everything else is the real podman. Left out: every other image, and that those programs run in containers.
set -euo pipefail

case " $* " in
*" --net=none "*" image "*)
    # image_for: which image of the release payload has a component.
    case ${!#} in
    apiserver-network-proxy | etcd | cluster-kube-apiserver-operator | cluster-bootstrap | cli) echo "localhost/lab/${!#}:latest" ;;
    *) echo "error: no image tag \"${!#}\" exists" >&2 && exit 1 ;;
    esac
    ;;
*" /usr/bin/cluster-kube-apiserver-operator render "*) exec lab-fake render "$@" ;;
*" /usr/bin/cluster-etcd-operator render "*) ;; # etcd runs with the permanent control plane from the beginning
*" --name cluster-bootstrap "*) exec lab-fake cluster-bootstrap ;;
*" --name etcdctl "*) curl --silent --fail --max-time $((2 * ${KONNECTIVITY_TIMEOUT_FACTOR:-1})) "${LAB_ETCD}/health" >/dev/null ;;
*" --name wait-for-ceo "*) ;; # etcd has no member here that would have to go
*) exec /usr/bin/podman "$@" ;;
esac
