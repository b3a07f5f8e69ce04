# shellcheck shell=bash
# A part of setup.sh: the tunnel's keys and certificates. Everything here is in OpenSSL 1.1.1, which 4.12 has, and accepted
# by a FIPS-mode host.

# Created beside its final place, because a file keeps the SELinux label of the directory that it was created in.
new=${TUNNEL_TLS}.new

case ${TUNNEL_KEY_ALGORITHM} in
ecdsa-p256) algorithm=EC parameter=ec_paramgen_curve:P-256 usage=digitalSignature ;;
rsa-2048) algorithm=RSA parameter=rsa_keygen_bits:2048 usage=digitalSignature,keyEncipherment ;;
rsa-3072) algorithm=RSA parameter=rsa_keygen_bits:3072 usage=digitalSignature,keyEncipherment ;;
esac

# request NAME EXTENSION...: an openssl config of our own; the machine's would add extensions that we did not ask for.
request() {
    printf '[req]\ndistinguished_name=name\nprompt=no\nx509_extensions=ext\n[name]\nCN=%s\n[ext]\n' "$1"
    shift
    printf '%s\n' "$@"
}

# quietly WHAT COMMAND...: openssl reports success on stderr too; it is shown only if it was none.
quietly() {
    local what=$1 log
    shift
    log=$("$@" 2>&1) || {
        say "openssl could not make ${what}: ${log}"
        exit 1
    }
}

make_ca() {
    openssl req -x509 -newkey "${algorithm}" -pkeyopt "${parameter}" -nodes -keyout - -sha256 \
        -days "${TUNNEL_CERTIFICATE_DAYS}" -config <(request "$1" basicConstraints=critical,CA:TRUE,pathlen:0 \
            keyUsage=critical,keyCertSign subjectKeyIdentifier=hash)
}

# new_ca NAME: sets ca, its key and certificate in one. If that fails it is done once more to see why, without the key.
new_ca() {
    ca=$(make_ca "$1" 2>/dev/null) || {
        say "openssl could not make the CA $1:"
        make_ca "$1" >/dev/null
        exit 1
    }
}

# issue FOLDER NAME EXTENSION...: a key and a certificate of the CA at hand, with the CA's beside them. By "openssl ca",
# because "openssl x509 -req" takes five times as long in OpenSSL 3.
issue() {
    local folder=${new}/$1 name=$2 register=${new}/register
    shift 2
    mkdir "${folder}" "${register}"
    : >"${register}/index"
    quietly "a key for ${name}" openssl req -new -newkey "${algorithm}" -pkeyopt "${parameter}" -nodes -sha256 \
        -keyout "${folder}/tls.key" -out "${register}/request" -config <(request "${name}")
    quietly "a certificate for ${name}" openssl ca -batch -notext -md sha256 -days "${TUNNEL_CERTIFICATE_DAYS}" \
        -cert <(echo "${ca}") -keyfile <(echo "${ca}") -in "${register}/request" -out "${folder}/tls.crt" \
        -config <(printf '%s\n' '[ca]' default_ca=ca "database=${register}/index" "new_certs_dir=${register}" \
            rand_serial=yes policy=policy '[policy]' commonName=supplied) \
        -extensions ext -extfile <(request "${name}" basicConstraints=critical,CA:FALSE "keyUsage=critical,${usage}" \
            authorityKeyIdentifier=keyid "$@")
    rm -r "${register}"
    echo "${ca#*-----END *PRIVATE KEY-----$'\n'}" >"${folder}/ca.crt"
}

# issue_all ADDRESS: once. The folder appears whole or not at all, so a run that was cut off anywhere is simply done again.
# CA keys exist in this shell's memory only: when it ends they are gone.
issue_all() {
    local name=${TUNNEL_HOST:-$1} wanted san
    # Other values need other certificates.
    wanted="${name} ${TUNNEL_KEY_ALGORITHM} ${TUNNEL_CERTIFICATE_DAYS} ${TUNNEL_AUTHENTICATION} ${TUNNEL_TRANSPORT}"
    if [ -f "${TUNNEL_TLS}/issued-for" ] && [ "$(<"${TUNNEL_TLS}/issued-for")" = "${wanted}" ] &&
        openssl x509 -in "${TUNNEL_TLS}/serving/tls.crt" -noout -checkend 0 >/dev/null; then
        return
    fi
    umask 077
    rm -rf "${new}"
    mkdir -p "${new}"
    if [ "${TUNNEL_HOST}" != "" ]; then
        san=DNS:${name}
    else
        san=IP:${name}
    fi
    new_ca konnectivity-signer
    issue serving konnectivity-server extendedKeyUsage=serverAuth "subjectAltName=${san}"
    if [ "${TUNNEL_AUTHENTICATION}" = mtls ]; then
        issue agent konnectivity-agent extendedKeyUsage=clientAuth
    fi
    if [ "${TUNNEL_TRANSPORT}" = tcp ]; then
        # A CA of its own: an agent's certificate opens nothing on the kube-apiserver's side, nor the other way round.
        new_ca konnectivity-frontend-signer
        issue frontend konnectivity-server extendedKeyUsage=serverAuth subjectAltName=IP:127.0.0.1
        issue kube-apiserver kube-apiserver extendedKeyUsage=clientAuth
    fi
    if [ "${TUNNEL_AUTHENTICATION}" = service-account-token ]; then
        # The cluster's own signer: the kube-apiserver knows the server by this certificate.
        ca=$(cat "${TUNNEL_CLIENT_SIGNER}.key" "${TUNNEL_CLIENT_SIGNER}.crt")
        issue token-reviewer "${TUNNEL_SERVER_USER}" extendedKeyUsage=clientAuth
    fi

    echo "${wanted}" >"${new}/issued-for"
    rm -rf "${TUNNEL_TLS}"
    mv "${new}" "${TUNNEL_TLS}"
    say "issued certificates for ${name}."
}
