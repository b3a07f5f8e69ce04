#!/usr/bin/env bash
# probe.sh [LINES]: says what can be seen of the tunnel on this machine, be it the bootstrap machine or a node; of logs the
# last LINES. Run as root. It changes nothing, dials no port that another machine listens on, and prints no key, no token and
# no kubeconfig. The answer is read by probe.ts: "== NAME" begins a section, and its lines stand behind a space each.
# What is missing is an answer too, so nothing here ends the script.
# Most functions are called by section, which shellcheck does not see.
# shellcheck disable=SC2317
set -uo pipefail
export LC_ALL=C

# Names: src/core/konnectivity/names.ts has the same, and a test compares them.
home=/opt/openshift/konnectivity-bootstrap
manifest=/etc/kubernetes/manifests/bootstrap-konnectivity-server.yaml
configs=/etc/kubernetes/bootstrap-configs
agent_port=8091
health_port=2041

# section NAME COMMAND...: its output, without what a script that comes by stdin would lose to it.
section() {
    echo "== $1"
    shift
    "$@" </dev/null 2>&1 | sed 's/^/ /'
}

# The container runtime of a real machine is CRI-O; in the lab podman plays the pods.
containers() {
    if command -v crictl >/dev/null; then
        crictl ps --all --quiet --name "^$1\$"
    else
        /usr/bin/podman ps --all --quiet --sort created --filter "label=app=$1" --filter "name=$1\$" | tac
    fi
}

# Newest first, as crictl has them: those that ended before it stay in the list.
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
}

# The body, and the code in the last line: 000 if nothing answers.
ask() {
    curl --silent --insecure --noproxy '*' --max-time 5 --write-out '\n%{http_code}\n' "$@"
}

metrics() {
    curl --silent --noproxy '*' --max-time 5 "$1" | grep '^konnectivity_' | grep -v '_bucket{'
}

# certificates FOLDER: dates and names, of certificates only.
certificates() {
    find "$1" -name '*.crt' -type f | sort | while read -r file; do
        echo "file=${file#"$1"/}"
        openssl x509 -in "${file}" -noout -subject -issuer -startdate -enddate -fingerprint -sha256 -ext subjectAltName 2>&1 |
            sed 's/^ *\(IP\|DNS\)/name=\1/; /^No extensions/d; /^X509v3/d'
    done
}

arguments() {
    tr '\0' '\n' <"/proc/$1/cmdline" | tail -n +2
}

# What gives a process's dials another way; a proxy's URL may hold a password.
proxies() {
    tr '\0' '\n' <"/proc/$1/environ" | grep -iE '^(https|no)_proxy=' | sed 's#//[^/@]*@#//#'
}

bootstrap_machine() {
    local server pid
    section record jq '{version, release, options}' "${home}/record.json"
    [ -e /opt/openshift/.bootkube.done ] && echo "== ended"
    [ -e "${manifest}" ] && section server-pod cat "${manifest}"
    section stages jq --compact-output '.[] | {timestamp, phase, stage, result}' /var/log/openshift/bootkube.json
    section said bash -c "journalctl --unit=bootkube --output=cat 2>/dev/null | grep '^konnectivity-bootstrap: ' | tail -n ${lines}"
    section certificates certificates "${home}/tls"
    [ -e "${configs}/bootstrap-egress-selector.yaml" ] &&
        section egress-selector cat "${configs}/bootstrap-egress-selector.yaml"
    section kube-apiserver-config grep --after-context=1 egress-selector-config-file "${configs}/kube-apiserver-config.yaml"
    section kube-apiserver ask https://localhost:6443/readyz
    section healthz ask "http://127.0.0.1:${health_port}/healthz"
    section readyz ask "http://127.0.0.1:${health_port}/readyz"
    section metrics metrics http://127.0.0.1:8095/metrics
    section sockets ss -Htan "sport = :${agent_port}"
    pid=$(pgrep -xo proxy-server) && section arguments arguments "${pid}"
    server=$(newest konnectivity-server)
    if [ "${server}" != "" ]; then
        section container state_of "${server}"
        section log log_of "${server}"
    fi
}

# Every agent that runs here; if none does, the one that ended last.
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

# agent NUMBER CONTAINER PROCESS: in its own network, from where it sees the bootstrap machine.
agent() {
    section "agent-$1.container" state_of "$2"
    if [ "$3" != 0 ]; then
        section "agent-$1.arguments" arguments "$3"
        section "agent-$1.proxies" proxies "$3"
        section "agent-$1.certificates" certificates "/proc/$3/root/etc/konnectivity/certs"
        section "agent-$1.readyz" within "$3" ask "http://127.0.0.1:${health_port}/readyz"
        section "agent-$1.metrics" within "$3" metrics "http://127.0.0.1:${health_port}/metrics"
        # A dial that nobody answers is seen here at once, and in the log after 20 s.
        section "agent-$1.dialling" nsenter --target "$3" --net ss -Htn state syn-sent "dport = :${agent_port}"
    fi
    section "agent-$1.log" log_of "$2"
}

# within PROCESS FUNCTION URL: from the process's network.
within() {
    nsenter --target "$1" --net bash -c "$(declare -f "$2"); $2 '$3'"
}

# Read to the end before anything runs: it may come by stdin.
main() {
    lines=${1:-300}
    section machine machine
    [ -e "${home}" ] && bootstrap_machine
    agents
    echo "== end"
}
main "$@"
