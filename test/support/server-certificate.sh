#!/usr/bin/env bash
# server-certificate.sh FOLDER ADDRESS FROM UNTIL: puts a key, a certificate for the address between these dates, and the CA
# that issued it, into the folder.
set -euo pipefail
umask 077
cd "$1"
new="-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes"
work=$(mktemp --directory)
trap 'rm -r "${work}"' EXIT
# The options are words on purpose.
# shellcheck disable=SC2086
openssl req -x509 ${new} -keyout "${work}/ca.key" -out ca.crt -subj /CN=konnectivity-signer -days 1
# shellcheck disable=SC2086
openssl req -new ${new} -keyout tls.key -out "${work}/request" -subj /CN=konnectivity-server
: >"${work}/index"
openssl ca -batch -notext -md sha256 -startdate "$3" -enddate "$4" \
    -cert ca.crt -keyfile "${work}/ca.key" -in "${work}/request" -out tls.crt \
    -config <(printf '%s\n' '[ca]' default_ca=ca "database=${work}/index" "new_certs_dir=${work}" rand_serial=yes \
        policy=policy '[policy]' commonName=supplied) -extfile <(echo "subjectAltName=IP:$2")
