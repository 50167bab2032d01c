#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# ./run bench truth   the load generator's figures against simserve's record of what it wrote and when (5 minutes)
#
# Measures 1 to 4,096 streams, also with several tokens per chunk, with an early first chunk that has only the role, and with
# usage in unusual places. The allowed error of a time is 1 % or 0.5 ms, whichever is more, up to 512 streams, and 2 % or 3 ms
# with more. `./run bench truth libcurl` sends all requests with libcurl.
# Server and client get a core each if the machine has two cores and taskset. The figures are meaningful only on an otherwise
# idle machine.
cd "$(dirname "$0")/../../build/release/bin" || exit 1
readonly ADDRESS=127.0.0.1:18100
readonly EXTRA_OPTION=${1-}
server=() client=()
if command -v taskset >/dev/null && [ "$(nproc)" -ge 2 ]; then
    server=(taskset -c 0) client=(taskset -c 1)
fi
wrong=0

# row NAME USERS[/RATE] STEP_MS "BENCH_TRUTH OPTIONS" [SIMSERVE OPTION...]
row() {
    local model options users=${2%/*} rate=0
    [ "$users" = "$2" ] || rate=${2#*/}
    read -ra options <<<"$4 $EXTRA_OPTION"
    "${server[@]}" ./simserve --listen $ADDRESS --truth-chunks true --max-running 8192 --jitter 0.3 --step-ms "$3" \
        "${@:5}" >/dev/null &
    model=$!
    until curl -sf -o /dev/null http://$ADDRESS/health; do
        kill -0 $model 2>/dev/null || exit 1
        sleep 0.1
    done
    printf '\n%s streams, a step every %s ms%s\n' "$users" "$3" "${1:+, $1}"
    timeout 180 "${client[@]}" ./bench_truth http://$ADDRESS "$users" "$rate" 64 5 "${options[@]}" || {
        wrong=$((wrong + 1))
        failed+=("$users streams${1:+, $1}")
    }
    kill $model
    wait $model
}

row '' 1 20 ''
row '' 64 20 ''
row '' 512 20 ''
row '' 2048 40 ''
row '' 4096 80 ''
row 'as the limit in an open loop of 25 requests/s' 500/25 40 ''
row 'as the limit in an open loop of 800 requests/s' 4096/800 40 ''
for users in 64 2048; do
    row 'three tokens per chunk' $users 40 '' --tokens-per-chunk 3
    row 'three tokens per chunk, usage in each chunk' $users 40 'chunk-usage' --tokens-per-chunk 3
    row 'an early role-only chunk' $users 40 'chat' --role-early true
    row 'usage in the last content chunk' $users 40 '' --fault usage_in_last_content=1
    row 'usage in every chunk, not requested' $users 40 '' --fault usage_in_every_chunk=1
done

echo
if [ $wrong = 0 ]; then
    echo 'all rows are right'
else
    printf 'wrong: %s\n' "${failed[@]}"
    exit 1
fi
