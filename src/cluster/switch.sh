#!/usr/bin/env bash
# switch.sh plan|off|on [SECONDS]: switches the tunnel of this bootstrap machine off or on. Run as root. Off makes the
# bootstrap kube-apiserver connect to the cluster directly, as without a tunnel; server, agents and keys stay. Both restart
# the kube-apiserver's container, wait up to SECONDS until it is ready, and otherwise restore what was before. "plan" changes
# nothing. Every step can be interrupted anywhere and repeated. Prints lines like NAME=VALUE, which switch.ts parses.
set -uo pipefail
export LC_ALL=C

# The same names as in names.ts of src/core/konnectivity; a test compares them.
home=/opt/openshift/konnectivity-bootstrap
installer_script=/usr/local/bin/konnectivity.sh
configs=/etc/kubernetes/bootstrap-configs
selector=${configs}/bootstrap-egress-selector.yaml
server_health=http://127.0.0.1:2041
kube_apiserver=https://localhost:6443
kube_apiserver_pod=/etc/kubernetes/manifests/kube-apiserver-pod.yaml

# While it exists, the tunnel's set-up uses it as the egress selector, so bootkube.sh does not switch the tunnel on again.
marker=${home}/switched-off.yaml
# The tunnel's egress selector, while the tunnel is off.
saved=${home}/switched-on.yaml
# The egress selector before a switch that is not complete.
before=${home}/switch-pending.yaml

direct='apiVersion: apiserver.k8s.io/v1beta1
kind: EgressSelectorConfiguration
egressSelections:
- {name: cluster, connection: {proxyProtocol: Direct}}
- {name: controlplane, connection: {proxyProtocol: Direct}}
- {name: etcd, connection: {proxyProtocol: Direct}}'

# write TARGET TEXT: all of it or nothing, created in its own directory because of SELinux labels.
write() {
    local partial="${1%/*}/.secret.${1##*/}"
    (umask 077 && printf '%s\n' "$2" >"${partial}") && mv -f "${partial}" "$1"
}

copy() {
    write "$2" "$(<"$1")"
}

is_direct() {
    [ "$(<"$1")" = "${direct}" ]
}

# A real machine runs containers with CRI-O; in the lab podman plays the pods.
has_crictl() {
    command -v crictl >/dev/null
}

# The containers of the kube-apiserver, the newest first; crictl also lists one that ended before.
containers() {
    if has_crictl; then
        crictl ps --all --quiet --name '^kube-apiserver$'
    else
        /usr/bin/podman ps --all --quiet --filter 'name=kube-apiserver-kube-apiserver$'
    fi 2>/dev/null
}

container() {
    containers | head -n 1
}

# The kube-apiserver's process, or 0.
process() {
    local id pid
    id=$(container)
    if [ "${id}" = "" ]; then
        echo 0
    elif has_crictl; then
        pid=$(crictl inspect "${id}" | jq 'if .status.state == "CONTAINER_RUNNING" then .info.pid else 0 end')
        echo "${pid:-0}"
    else
        /usr/bin/podman inspect --format '{{.State.Pid}}' "${id}" || echo 0
    fi 2>/dev/null
}

# The last error in the log of the kube-apiserver, or else the last line. The newest container may have just started.
last_log_line() {
    local id lines errors
    lines=$(for id in $(containers | head -n 2 | tac); do
        if has_crictl; then
            crictl logs --tail 200 "${id}"
        else
            /usr/bin/podman logs --tail 200 "${id}"
        fi
    done 2>&1 | grep -v '^$')
    errors=$(grep -E '^([EF][0-9]{4} |Error: )' <<<"${lines}")
    tail -n 1 <<<"${errors:-${lines}}"
}

# restart PROCESS: the kubelet, and in the lab podman, starts a container again that has ended. podman does not if it has
# stopped the container itself. The grace period lets the kube-apiserver complete its requests.
restart() {
    if has_crictl; then
        crictl stop --timeout "$(grace_period)" "$(container)" >/dev/null
    else
        kill -TERM "$1"
        timeout "$(grace_period)" tail --pid="$1" --sleep-interval=0.2 --follow /dev/null || kill -KILL "$1"
    fi
}

grace_period() {
    local seconds
    seconds=$(grep -oE 'terminationGracePeriodSeconds: *[0-9]+' "${kube_apiserver_pod}" | grep -oE '[0-9]+$')
    echo "${seconds:-30}"
}

# status_of URL: the HTTP status code; 000 if nothing answers.
status_of() {
    curl --silent --insecure --noproxy '*' --max-time 2 --output /dev/null --write-out '%{http_code}' "$1"
}

# Whether the tunnel is off, on, or a switch is incomplete. The set-up of a payload that does not know the marker writes the
# tunnel's selector all the same.
state() {
    if [ -e "${before}" ]; then
        echo incomplete
    elif [ ! -e "${marker}" ]; then
        echo on
    elif is_direct "${selector}"; then
        echo off
    else
        echo incomplete
    fi
}

# Why there is nothing to switch.
refusal() {
    if [ ! -e "${home}" ]; then
        if grep -qs '"konnectivity-certs"' "${installer_script}"; then
            echo installer
        else
            echo none
        fi
    elif [ -e /opt/openshift/.bootkube.done ]; then
        echo ended
    elif [ ! -e "${selector}" ] || [ ! -e "${kube_apiserver_pod}" ] || [ "$(container)" = "" ]; then
        echo not-running
    fi
}

plan() {
    local marker_known=no
    grep -qs 'switched-off\.yaml' /usr/local/bin/konnectivity-bootstrap*.sh && marker_known=yes
    echo "state=$(state)"
    echo "ready=$(status_of "${kube_apiserver}/readyz")"
    echo "agents=$(status_of "${server_health}/readyz")"
    echo "grace=$(grace_period)"
    echo "lasts=${marker_known}"
}

now() {
    date +%s%3N
}

# apply_and_wait SECONDS: restarts the kube-apiserver with the selector as it is. Sets outage to the milliseconds without an
# answer. Requests under way may take the whole grace period, during which the kube-apiserver answers.
apply_and_wait() {
    local old stopping answered end
    old=$(process)
    answered=$(now)
    end=
    stopping=
    # Without a process, it has ended by itself and is started again anyway.
    if [ "${old}" != 0 ]; then
        # Without the lock: this may end later than a switch that is killed.
        restart "${old}" 9>&- &
        stopping=$!
    fi
    while :; do
        if [ "${stopping}" != "" ] && ! kill -0 "${stopping}" 2>/dev/null; then
            wait "${stopping}" || :
            stopping=
        fi
        if [ "${stopping}" = "" ] && [ "${end}" = "" ]; then
            end=$((SECONDS + $1))
        fi
        pid=$(process)
        if [ "${pid}" != 0 ] && [ "${pid}" != "${old}" ]; then
            if [ "$(status_of "${kube_apiserver}/readyz")" = 200 ]; then
                outage=$(($(now) - answered))
                return 0
            fi
        elif [ "$(status_of "${kube_apiserver}/livez")" = 200 ]; then
            answered=$(now)
        fi
        if [ "${end}" != "" ] && [ "${SECONDS}" -ge "${end}" ]; then
            return 1
        fi
        sleep 0.2
    done
}

# set_to TEXT: uses a selector, and keeps bootkube.sh from using another.
set_to() {
    if [ "$1" = "${direct}" ]; then
        write "${marker}" "$1" && write "${selector}" "$1"
    else
        write "${selector}" "$1" && rm -f "${marker}"
    fi
}

# switch off|on SECONDS. A failure to write ends it without a result.
switch() {
    local wanted=${direct}
    if [ "$(state)" = "$1" ] && [ "$(status_of "${kube_apiserver}/readyz")" = 200 ]; then
        echo result=unchanged
        return
    fi
    if ! is_direct "${selector}"; then
        copy "${selector}" "${saved}" || return
    fi
    if [ "$1" = on ]; then
        if [ ! -s "${saved}" ]; then
            echo refused=not-saved
            return
        fi
        wanted=$(<"${saved}")
    fi
    # A switch that was interrupted has kept what was in use before it.
    if [ ! -s "${before}" ]; then
        copy "${selector}" "${before}" || return
    fi
    set_to "${wanted}" || return
    echo doing=restart
    if apply_and_wait "$2"; then
        rm -f "${before}"
        echo "outage=${outage}"
        echo result=switched
        return
    fi
    echo "log=$(last_log_line)"
    echo doing=restore
    set_to "$(<"${before}")" || return
    if apply_and_wait "$2"; then
        rm -f "${before}"
        echo result=restored
    else
        echo result=not-ready
    fi
}

# A function, so that bash reads the whole script from stdin before anything runs.
main() {
    local why
    # Whoever started this may go away: what began is completed.
    trap : HUP INT PIPE TERM
    why=$(refusal)
    if [ "${why}" != "" ]; then
        echo "refused=${why}"
        echo end=yes
        return
    fi
    if [ "$1" = plan ]; then
        plan
        echo end=yes
        return
    fi
    exec 9>"${home}/switch-lock"
    if ! flock --nonblock 9; then
        echo refused=busy
    else
        switch "$1" "${2:-180}"
    fi
    echo end=yes
}
main "$@" </dev/null
