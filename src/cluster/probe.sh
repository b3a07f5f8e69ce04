#!/usr/bin/env bash
# probe.sh [LINES]: reports the state of the tunnel on this machine, which is the bootstrap machine or a node, with the last
# LINES of each log. Run as root. It changes nothing, dials no port that another machine listens on, and prints no key, no
# token and no kubeconfig. probe.ts parses the output: "== NAME" begins a section, and each of its lines is indented by one
# space. Something that is missing is a result, too, so no failure ends the script.
# Most functions are called through section, which shellcheck does not notice.
# shellcheck disable=SC2317
set -uo pipefail
export LC_ALL=C

# The same names as in names.ts and tunnel-names.ts of src/core/konnectivity; a test compares them.
home=/opt/openshift/konnectivity-bootstrap
installer_script=/usr/local/bin/konnectivity.sh
configs=/etc/kubernetes/bootstrap-configs
# Of server and agents that are not told another one.
default_port=8091
health_port=2041
admin_port=8095

# section NAME COMMAND...: prints the output of the command, which must not read the script from stdin.
section() {
    echo "== $1"
    shift
    "$@" </dev/null 2>&1 | sed 's/^/ /'
}

# A real machine runs containers with CRI-O; in the lab podman plays the pods.
containers() {
    if command -v crictl >/dev/null; then
        crictl ps --all --quiet --name "^$1\$"
    else
        /usr/bin/podman ps --all --quiet --sort created --filter "label=app=$1" --filter "name=$1\$" | tac
    fi
}

# The newest container; crictl also lists those that ended before, newest first.
newest() {
    containers "$1" 2>/dev/null | head -n 1
}

process_of() {
    if command -v crictl >/dev/null; then
        crictl inspect "$1" | jq '.info.pid // 0'
    else
        /usr/bin/podman inspect --format '{{.State.Pid}}' "$1"
    fi
}

state_of() {
    if command -v crictl >/dev/null; then
        crictl inspect "$1" | jq --raw-output '"\(.status.state) \(.status.image.image)"'
    else
        /usr/bin/podman inspect --format '{{.State.Status}} {{.ImageName}}' "$1"
    fi
}

log_of() {
    if command -v crictl >/dev/null; then
        crictl logs --tail "${lines}" "$1"
    else
        /usr/bin/podman logs --tail "${lines}" "$1"
    fi
}

machine() {
    echo "name=$(uname -n)"
    echo "now=$(date +%s)"
    # shellcheck source=/dev/null
    (. /etc/os-release && echo "system=${PRETTY_NAME}")
    echo "kernel=$(uname -r)"
    openssl version
    echo "selinux=$(getenforce 2>/dev/null)"
    echo "fips=$(cat /proc/sys/crypto/fips_enabled 2>/dev/null)"
}

# What SELinux has denied to the tunnel since the machine booted, and the word "end" if that is all of it.
denials() {
    local found
    if found=$(ausearch --input-logs --message avc --start boot --raw 2>&1) || [ "${found}" = "<no matches>" ]; then
        grep -E 'comm="proxy-(server|agent)"|konnectivity' <<<"${found}"
        echo "end"
    else
        echo "${found}"
    fi
}

# Prints the body, and the HTTP status code in the last line: 000 if nothing answers.
ask() {
    curl --silent --insecure --noproxy '*' --max-time 5 --write-out '\n%{http_code}\n' "$@"
}

metrics() {
    curl --silent --noproxy '*' --max-time 5 "$1" | grep '^konnectivity_' | grep -v '_bucket{'
}

# certificates FOLDER: dates and names; reads only certificates, no keys.
certificates() {
    # The kubelet mounts a Secret's files as links to others, below a folder whose name begins with two dots.
    find -L "$1" -maxdepth 2 -name '..?*' -prune -o -name '*.crt' -type f -print | sort | while read -r file; do
        echo "file=${file#"$1"/}"
        openssl x509 -in "${file}" -noout -subject -issuer -startdate -enddate -fingerprint -sha256 -ext subjectAltName 2>&1 |
            sed 's/^ *\(IP\|DNS\)/name=\1/; /^No extensions/d; /^X509v3/d'
    done
}

arguments() {
    tr '\0' '\n' <"/proc/$1/cmdline" | tail -n +2
}

# port_in FLAG: the port that the text on stdin gives to the flag.
port_in() {
    local port
    port=$(sed -n "s/.*--$1=\([0-9]\{1,5\}\).*/\1/p" | head -n 1)
    echo "${port:-${default_port}}"
}

# server_port [PROCESS]: where the server listens for agents. If it does not run: where its pod will.
server_port() {
    if [ "${1:-}" != "" ]; then
        arguments "$1" | port_in agent-port
    elif [ -e "${manifest}" ]; then
        port_in agent-port <"${manifest}"
    elif [ -e "${home}" ]; then
        jq ".options.port // ${default_port}" "${home}/record.json"
    else
        echo "${default_port}"
    fi
}

# The proxy settings of a process. A proxy's URL may contain a password.
proxies() {
    tr '\0' '\n' <"/proc/$1/environ" | grep -iE '^(https|no)_proxy=' | sed 's#//[^/@]*@#//#'
}

# Sets tunnel to whose tunnel this bootstrap machine has, and the names in which the two differ.
find_tunnel() {
    tunnel=
    if [ -e "${home}" ]; then
        tunnel=ours
        manifest=/etc/kubernetes/manifests/bootstrap-konnectivity-server.yaml
        tls=${home}/tls
        egress_selector=${configs}/bootstrap-egress-selector.yaml
    elif grep -qs '"konnectivity-certs"' "${installer_script}"; then
        tunnel=installer
        manifest=/etc/kubernetes/manifests/konnectivity-server-pod.yaml
        tls=/opt/openshift/tls/konnectivity
        egress_selector=${configs}/egress-selector-config.yaml
    fi
}

bootstrap_machine() {
    local server pid port
    section tunnel echo "${tunnel}"
    pid=$(pgrep -xo proxy-server)
    port=$(server_port "${pid}" 2>/dev/null)
    [ "${tunnel}" = ours ] && section record jq '{version, release, options}' "${home}/record.json"
    [ -e /opt/openshift/.bootkube.done ] && echo "== ended"
    [ -e "${home}/given-up" ] && section given-up cat "${home}/given-up"
    [ -e "${manifest}" ] && section server-pod cat "${manifest}"
    section stages jq --compact-output '.[] | {timestamp, phase, stage, result}' /var/log/openshift/bootkube.json
    section said bash -c "journalctl --unit=bootkube --unit=konnectivity-bootstrap-cleanup --output=cat 2>/dev/null | grep '^konnectivity-bootstrap: ' | tail -n ${lines}"
    section certificates certificates "${tls}"
    [ -e "${egress_selector}" ] && section egress-selector cat "${egress_selector}"
    section kube-apiserver-config grep --after-context=1 egress-selector-config-file "${configs}/kube-apiserver-config.yaml"
    section kube-apiserver ask https://localhost:6443/readyz
    section healthz ask "http://127.0.0.1:${health_port}/healthz"
    section readyz ask "http://127.0.0.1:${health_port}/readyz"
    section metrics metrics "http://127.0.0.1:${admin_port}/metrics"
    command -v ausearch >/dev/null && section denials denials
    section agent-port echo "${port}"
    section sockets ss -Htan "sport = :${port}"
    [ "${pid}" = "" ] || section arguments arguments "${pid}"
    server=$(newest konnectivity-server)
    if [ "${server}" != "" ]; then
        section container state_of "${server}"
        section log log_of "${server}"
    fi
}

# Every agent that runs here, or else the one that ended last.
agents() {
    local container pid number=0
    for container in $(containers konnectivity-agent 2>/dev/null); do
        pid=$(process_of "${container}" 2>/dev/null)
        [ "${pid:-0}" != 0 ] || continue
        number=$((number + 1))
        agent "${number}" "${container}" "${pid}"
    done
    [ "${number}" = 0 ] || return 0
    container=$(newest konnectivity-agent)
    [ "${container}" = "" ] || agent 1 "${container}" 0
}

# agent_certificates PROCESS: the folder that its flag --ca-cert names; it differs between the two tunnels.
agent_certificates() {
    local file
    file=$(arguments "$1" | sed -n 's/^--ca-cert=//p' | head -n 1)
    file=${file:-/etc/konnectivity/ca.crt}
    echo "/proc/$1/root${file%/*}"
}

# agent NUMBER CONTAINER PROCESS: the agent, as seen from its own network namespace.
agent() {
    local port
    section "agent-$1.container" state_of "$2"
    if [ "$3" != 0 ]; then
        section "agent-$1.arguments" arguments "$3"
        section "agent-$1.proxies" proxies "$3"
        section "agent-$1.certificates" certificates "$(agent_certificates "$3")"
        section "agent-$1.readyz" within "$3" ask "http://127.0.0.1:${health_port}/readyz"
        section "agent-$1.metrics" within "$3" metrics "http://127.0.0.1:${health_port}/metrics"
        # An unanswered dial shows here at once, but in the log only after 20 s.
        port=$(arguments "$3" | port_in proxy-server-port)
        section "agent-$1.dialling" nsenter --target "$3" --net ss -Htn state syn-sent "dport = :${port}"
    fi
    section "agent-$1.log" log_of "$2"
}

# within PROCESS FUNCTION URL: calls the function in the process's network namespace.
within() {
    nsenter --target "$1" --net bash -c "$(declare -f "$2"); $2 '$3'"
}

# A function, so that bash reads the whole script from stdin before anything runs.
main() {
    lines=${1:-300}
    section machine machine
    find_tunnel
    [ "${tunnel}" = "" ] || bootstrap_machine
    agents
    echo "== end"
}
main "$@"
