#!/usr/bin/env bash
# cluster-pki.sh FOLDER API_SERVICE BOOTSTRAP NODE...: the keys that openshift-install would have put into bootstrap.ign, made
# for each lab: CA, the kube-apiserver's, an admin's, the aggregator's, the service accounts' and the webhook's.
# One CA for everything but one more signer of client certificates, where an installation has many.
set -euo pipefail
umask 077
mkdir -p "$1"
cd "$1"
shift
bootstrap=$2 node=$3
# As names in a certificate: of the API service, the bootstrap machine and all nodes.
addresses=$(printf ',IP:%s' "$@")

# An address in the form that a URL needs.
host() {
    case $1 in
    *:*) echo "[$1]" ;;
    *) echo "$1" ;;
    esac
}

openssl req -x509 -newkey EC -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout ca.key -out ca.crt -days 2 -subj /CN=lab-ca \
    -addext basicConstraints=critical,CA:TRUE -addext keyUsage=critical,keyCertSign 2>/dev/null

# A signer whose key stays, as openshift-install leaves it.
openssl req -x509 -newkey EC -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout kube-control-plane-signer.key \
    -out kube-control-plane-signer.crt -days 2 -subj /OU=openshift/CN=kube-control-plane-signer \
    -addext basicConstraints=critical,CA:TRUE -addext keyUsage=critical,keyCertSign 2>/dev/null
cat ca.crt kube-control-plane-signer.crt >client-ca.crt

# issue NAME SUBJECT EXTENSION...
issue() {
    local name=$1 subject=$2
    shift 2
    openssl req -new -newkey EC -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout "${name}.key" -subj "${subject}" 2>/dev/null |
        openssl x509 -req -CA ca.crt -CAkey ca.key -days 2 -out "${name}.crt" -extfile <(printf '%s\n' "$@") 2>/dev/null
}

issue kube-apiserver /CN=kube-apiserver extendedKeyUsage=serverAuth \
    "subjectAltName=DNS:localhost,DNS:kubernetes,DNS:kubernetes.default.svc,IP:127.0.0.1${addresses}"
issue admin /O=system:masters/CN=lab-admin extendedKeyUsage=clientAuth
issue aggregator /CN=system:openshift-aggregator extendedKeyUsage=clientAuth
issue kubelet-client /O=system:masters/CN=lab-kubelet-client extendedKeyUsage=clientAuth
issue webhook /CN=webhook extendedKeyUsage=serverAuth "subjectAltName=DNS:webhook.lab.svc${addresses}"
openssl genpkey -algorithm RSA -pkeyopt rsa_keygen_bits:2048 -out service-account.key 2>/dev/null
openssl pkey -in service-account.key -pubout -out service-account.pub
rm ca.key

# kubeconfig NAME SERVER: the admin's, for one of the API's addresses.
kubeconfig() {
    cat >"$1" <<EOF
apiVersion: v1
kind: Config
clusters:
- name: lab
  cluster:
    server: $2
    certificate-authority-data: $(base64 -w0 ca.crt)
contexts:
- name: admin
  context:
    cluster: lab
    user: admin
current-context: admin
users:
- name: admin
  user:
    client-certificate-data: $(base64 -w0 admin.crt)
    client-key-data: $(base64 -w0 admin.key)
EOF
}
kubeconfig kubeconfig-loopback https://localhost:6443
# api-int: during the bootstrap another machine answers than afterwards.
kubeconfig kubeconfig "https://$(host "${node}"):6443"
kubeconfig kubeconfig-bootstrap "https://$(host "${bootstrap}"):6443"
