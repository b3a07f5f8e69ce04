#!/usr/bin/env bash
# pki.sh ADDRESS: makes the tunnel's keys and certificates, once. The folder appears whole or not at all, so a run that
# was cut off anywhere is simply done again. CA keys live in this shell's memory only: when it ends they are gone.
# Everything here is in OpenSSL 1.1.1, which 4.12 has, and accepted by a FIPS-mode host.
set -euo pipefail
umask 077

# shellcheck source=/dev/null
. /opt/openshift/konnectivity-bootstrap/settings.sh

address=${1:?the bootstrap address is missing}
name=${TUNNEL_HOST:-${address}}
# Whoever changes one of these wants other certificates.
wanted="${name} ${TUNNEL_KEY_ALGORITHM} ${TUNNEL_CERTIFICATE_DAYS} ${TUNNEL_AUTHENTICATION} ${TUNNEL_TRANSPORT}"

if [ -f "${TUNNEL_TLS}/issued-for" ] && [ "$(<"${TUNNEL_TLS}/issued-for")" = "${wanted}" ] &&
    openssl x509 -in "${TUNNEL_TLS}/serving/tls.crt" -noout -checkend 0 >/dev/null; then
    exit 0
fi

# Made beside its final place, because a file keeps the SELinux label of the directory that it was made in.
new=${TUNNEL_TLS}.new
rm -rf "${new}"
mkdir -p "${new}"

case ${TUNNEL_KEY_ALGORITHM} in
ecdsa-p256) new_key=(-algorithm EC -pkeyopt ec_paramgen_curve:P-256) usage=digitalSignature ;;
rsa-2048) new_key=(-algorithm RSA -pkeyopt rsa_keygen_bits:2048) usage=digitalSignature,keyEncipherment ;;
rsa-3072) new_key=(-algorithm RSA -pkeyopt rsa_keygen_bits:3072) usage=digitalSignature,keyEncipherment ;;
esac

# request NAME EXTENSION...: an openssl config of our own; the machine's would add extensions that we did not ask for.
request() {
    printf '[req]\ndistinguished_name=name\nprompt=no\nx509_extensions=ext\n[name]\nCN=%s\n[ext]\n' "$1"
    shift
    printf '%s\n' "$@"
}

# new_ca NAME: sets ca_key and ca.
new_ca() {
    ca_key=$(openssl genpkey "${new_key[@]}")
    ca=$(openssl req -x509 -new -sha256 -days "${TUNNEL_CERTIFICATE_DAYS}" -key <(echo "${ca_key}") \
        -config <(request "$1" basicConstraints=critical,CA:TRUE,pathlen:0 keyUsage=critical,keyCertSign \
            subjectKeyIdentifier=hash))
}

# issue FOLDER SERIAL NAME EXTENSION...: a key and a certificate of the CA at hand, with the CA's beside them.
issue() {
    local folder=${new}/$1 serial=$2 name=$3 log
    shift 3
    mkdir "${folder}"
    openssl genpkey "${new_key[@]}" -out "${folder}/tls.key"
    # It reports success on stderr too: shown only if it was none.
    log=$(openssl req -new -sha256 -key "${folder}/tls.key" -config <(request "${name}") |
        openssl x509 -req -sha256 -days "${TUNNEL_CERTIFICATE_DAYS}" -set_serial "${serial}" \
            -CA <(echo "${ca}") -CAkey <(echo "${ca_key}") -out "${folder}/tls.crt" -extensions ext \
            -extfile <(request "${name}" basicConstraints=critical,CA:FALSE "keyUsage=critical,${usage}" \
                authorityKeyIdentifier=keyid "$@") 2>&1) || {
        echo "konnectivity-bootstrap: openssl could not issue ${name}: ${log}" >&2
        exit 1
    }
    echo "${ca}" >"${folder}/ca.crt"
}

if [ "${TUNNEL_HOST}" != "" ]; then
    san=DNS:${name}
else
    san=IP:${name}
fi
new_ca konnectivity-signer
issue serving 1 konnectivity-server extendedKeyUsage=serverAuth "subjectAltName=${san}"
if [ "${TUNNEL_AUTHENTICATION}" = mtls ]; then
    issue agent 2 konnectivity-agent extendedKeyUsage=clientAuth
fi
if [ "${TUNNEL_TRANSPORT}" = tcp ]; then
    # A CA of its own: an agent's certificate opens nothing on the kube-apiserver's side, nor the other way round.
    new_ca konnectivity-frontend-signer
    issue frontend 1 konnectivity-server extendedKeyUsage=serverAuth subjectAltName=IP:127.0.0.1
    issue kube-apiserver 2 kube-apiserver extendedKeyUsage=clientAuth
fi

echo "${wanted}" >"${new}/issued-for"
rm -rf "${TUNNEL_TLS}"
mv "${new}" "${TUNNEL_TLS}"
echo "konnectivity-bootstrap: issued certificates for ${name}." >&2
