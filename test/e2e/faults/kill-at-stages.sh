
# Written for a fault test, at the end of the script that records stages: kills bootkube.sh, as a power cut would, the
# first time that each stage begins.
eval "$(declare -f record_service_stage_start | sed '1s/.*/begin_stage()/')"
record_service_stage_start() {
    begin_stage "$1"
    if [ ! -e "/opt/lab/killed-at-$1" ]; then
        touch "/opt/lab/killed-at-$1"
        kill -KILL $$
    fi
}
