#!/bin/sh
# ./run bench truth   the load generator against simserve's record of what it wrote, and when (2 minutes)
#
# 256 streams of 50 tokens/s, 2,048 streams of 25 tokens/s, and a load that saturates the client, which must be marked.
cd "$(dirname "$0")/../../build/release/bin" || exit 1
address=127.0.0.1:18100

# measure USERS STEP_MS WINDOW_S
measure() {
    ./simserve --listen $address --truth-chunks true --max-running 8192 --step-ms "$2" &
    model=$!
    until curl -sf -o /dev/null http://$address/health; do
        kill -0 $model 2>/dev/null || exit 1
        sleep 0.1
    done
    printf '\n%s streams, a token every %s ms\n' "$1" "$2"
    timeout 120 ./bench_load http://$address "$1" 128 128 "$3"
    status=$?
    kill $model
    wait $model
    return $status
}

measure 256 20 10 && measure 2048 40 10 && measure 4096 10 10
