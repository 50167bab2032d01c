#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# ./run bench history   a day of scrapes in opsbrain's store and in Prometheus: bytes, CPU and query times (4 minutes)
#
# ./run bench history [DEPLOYMENTS [HOURS]]: 4 and 24 by default. Prometheus is Debian's package; if it is unavailable, opsbrain is
# measured alone.
set -u
cd "$(dirname "$0")/../../build/release/bin" || exit 1
deployments=${1-4} hours=${2-24}
end=$(($(date +%s) / 7200 * 7200))
model=127.0.0.1:18101 prometheus=127.0.0.1:18102
folder=$(mktemp -d)
processes=()
clean() {
    for process in "${processes[@]}"; do kill "$process" 2>/dev/null; done
    wait
    rm -rf "$folder"
}
trap clean EXIT
mkdir "$folder/data" "$folder/files" "$folder/blocks"

# until_answers URL PROCESS
until_answers() {
    until curl -sf -o /dev/null "$1"; do
        kill -0 "$2" 2>/dev/null || exit 1
        sleep 0.1
    done
}

./simserve --listen $model >/dev/null &
processes+=($!)
until_answers http://$model/health $!
./bench_history_feed http://$model "$folder/data" "$folder/files" "$deployments" "$hours" "$end" >"$folder/told" || exit 1
cat "$folder/told"
samples=$(sed -n 's/.*, \([0-9]*\) samples/\1/p' "$folder/told")

command -v promtool >/dev/null || apt-get install -qq -y --no-install-recommends prometheus >/dev/null 2>&1
if ! command -v promtool >/dev/null; then
    echo "Prometheus: skipped, the package prometheus cannot be installed here"
    exec ./bench_history_query "$folder/data" '' "$deployments" "$end" 100
fi

TIMEFORMAT='%U %S'
cpu=$({ time for file in "$folder"/files/*.om; do
    promtool tsdb create-blocks-from openmetrics "$file" "$folder/blocks" >/dev/null || exit 1
done; } 2>&1 | tail -1)
rm -f "$folder"/files/*
command prometheus --config.file=/dev/null --storage.tsdb.path="$folder/blocks" --storage.tsdb.retention.time=1000d \
    --web.listen-address=$prometheus >/dev/null 2>&1 &
processes+=($!)
until_answers http://$prometheus/-/ready $!
sleep 10 # it merges its blocks
awk -v cpu="$cpu" -v bytes="$(du -sb "$folder/blocks" | cut -f1)" -v samples="$samples" 'BEGIN {
    split(cpu, s, " ")
    printf "Prometheus: CPU per sample %.2f us (promtool, OpenMetrics to blocks), bytes per sample %.2f\n",
        (s[1] + s[2]) / samples * 1e6, bytes / samples }'
./bench_history_query "$folder/data" http://$prometheus "$deployments" "$end" 200
