#!/usr/bin/env bash
# Written for this project: konnectivity-certs.sh ADDRESS creates the certificates of openshift-install's own tunnel, under
# the names that it uses.
set -euo pipefail

mkdir -p /opt/openshift/tls/konnectivity
cd /opt/openshift/tls/konnectivity
umask 077
openssl req -x509 -newkey rsa:2048 -nodes -days 1 -subj /CN=konnectivity-signer -keyout ca.key -out ca.crt

# leaf NAME EXTENSIONS
leaf() {
    openssl req -newkey rsa:2048 -nodes -subj "/CN=konnectivity-$1" -keyout "$1.key" |
        openssl x509 -req -CA ca.crt -CAkey ca.key -CAcreateserial -days 1 -extfile <(printf '%s\n' "$2") -out "$1.crt"
}
leaf server $'extendedKeyUsage=serverAuth\nsubjectAltName=IP:'"$1"
leaf agent extendedKeyUsage=clientAuth
