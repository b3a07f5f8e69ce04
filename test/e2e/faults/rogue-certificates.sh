#!/usr/bin/env bash
# rogue-certificates.sh FOLDER: keys and certificates for rogue agents: one of a foreign CA; and of a second CA, which the server
# must be made to trust, a good one and an expired one. (The key of the tunnel's own CA no longer exists.)
set -euo pipefail
umask 077
mkdir -p "$1"
cd "$1"

key="-newkey EC -pkeyopt ec_paramgen_curve:P-256 -nodes"

# ca FILE NAME: a CA of that name.
ca() {
    # shellcheck disable=SC2086 # words on purpose, here and below
    openssl req -x509 ${key} -days 1 -subj "/CN=$2" -keyout "$1.key" -out "$1.crt"
}

# issue CA NAME DATES...: an agent's certificate.
issue() {
    local ca=$1 name=$2
    shift 2
    # shellcheck disable=SC2086
    openssl req -new ${key} -subj /CN=konnectivity-agent -keyout "${name}.key" -out request
    : >index
    openssl ca -batch -notext -md sha256 "$@" -cert "${ca}.crt" -keyfile "${ca}.key" -in request -out "${name}.crt" \
        -config <(printf '%s\n' '[ca]' default_ca=ca database=index new_certs_dir=. rand_serial=yes policy=policy \
            '[policy]' commonName=supplied) -extfile <(echo extendedKeyUsage=clientAuth)
}

ca second-ca second-signer
issue second-ca good -days 1
issue second-ca expired -startdate 20240101000000Z -enddate 20240102000000Z
# With the name of the tunnel's own CA: an agent does not even show a certificate of a CA that the server does not name.
ca foreign-ca konnectivity-signer
issue foreign-ca foreign -days 1
