#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# ./run bench aa      run_compare's verdicts on 200 A/B sweeps of equal servers, and on 60 where B is 5 % slower (9 minutes)
#
# Six pairs of model servers, whose times vary at random, are used at once. Each A/B sweep has 5 repetitions of two cells.
# Arguments: the number of sweeps of equal servers, the number of sweeps where B is slower, and the number of repetitions.
cd "$(dirname "$0")/../../build/release/bin" || exit 1
equals=${1:-200}
slowed=${2:-60}
repetitions=${3:-5}
lanes=6
models=()
urls=()
trap 'kill "${models[@]}" 2>/dev/null; wait' EXIT

# Everything runs with a higher priority than other processes, if the system allows it, so that their load does not matter.
priority=()
chrt -f 5 true 2>/dev/null && priority=(chrt -f 5)

# serve PORT SLOWNESS [FLAG...]: starts a server. The first token of an answer takes 10 ms and each later one 2.5 ms, before
# jitter. Both times are multiplied by SLOWNESS.
serve() {
    local port=$1 ttft step
    ttft=$(awk "BEGIN { print 10 * $2 }")
    step=$(awk "BEGIN { print 2.5 * $2 }")
    "${priority[@]}" ./simserve --listen "127.0.0.1:$port" --ttft-ms "$ttft" --step-ms "$step" --seed "$port" --jitter 0.5 "${@:3}" >/dev/null &
    models+=($!)
    urls+=("http://127.0.0.1:$port")
    until curl -sf -o /dev/null "http://127.0.0.1:$port/health"; do
        kill -0 "${models[-1]}" 2>/dev/null || exit 1
        sleep 0.1
    done
}

# experiment equal|slower COMPARISONS SLOWNESS_OF_B
experiment() {
    local lane
    for ((lane = 0; lane < lanes; lane++)); do
        serve $((18120 + 2 * lane)) 1
        serve $((18121 + 2 * lane)) "$3"
    done
    "${priority[@]}" ./bench_aa "$1" "$2" "$repetitions" "${urls[@]}"
    status=$?
    kill "${models[@]}"
    wait "${models[@]}"
    models=()
    urls=()
    return $status
}

printf '%s A/B sweeps of equal servers, %s repetitions each\n' "$equals" "$repetitions"
experiment equal "$equals" 1
equal_status=$?
printf '\n%s A/B sweeps where B is 5 %% slower\n' "$slowed"
experiment slower "$slowed" 1.05 && exit $equal_status
