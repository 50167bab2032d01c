#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# ./run bench history   a day of scrapes in opsbrain's store and in Prometheus: bytes, CPU and query times (4 minutes)
#
# Arguments: [--postgres] [DEPLOYMENTS [HOURS]], by default 4 and 24. Prometheus is installed from Debian's package; if it is
# unavailable, opsbrain is measured alone. --postgres compares SQLite with PostgreSQL instead, including the bytes that are
# written to SQLite's files, and to PostgreSQL's write-ahead log and tables.
set -u
cd "$(dirname "$0")/../../build/release/bin" || exit 1
database=
if [ "${1-}" = --postgres ]; then
    database=$OPSBRAIN_TEST_DATABASE
    shift
fi
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

# until_answers URL PROCESS: waits until the URL answers; ends the script if the process ends first.
until_answers() {
    until curl -sf -o /dev/null "$1"; do
        kill -0 "$2" 2>/dev/null || exit 1
        sleep 0.1
    done
}

# feed DATA FILES [DATABASE]: fills the store in the folder DATA, sets `samples` to the number of samples in it, and prints the
# figures. They are also in $folder/figures afterwards. FILES and DATABASE are as for bench_history_feed.
feed() {
    ./bench_history_feed http://$model "$1" "$2" "$deployments" "$hours" "$end" "${@:3}" >"$folder/figures" || exit 1
    samples=$(sed -n 's/.*, \([0-9]*\) samples/\1/p' "$folder/figures")
    ./bench_history_size "$1" "$samples" "${@:3}" >>"$folder/figures" || exit 1
    cat "$folder/figures"
}

# figure WORDS: prints the number that follows "opsbrain: WORDS" in $folder/figures.
figure() {
    sed -n "s/^opsbrain: $1 \([0-9.]*\).*/\1/p" "$folder/figures"
}

# packed: prints the packed bytes per sample, for all levels together.
packed() {
    sed -n 's/.*packed: //p' "$folder/figures" | tr , '\n' | awk '{ sum += $NF } END { print sum }'
}

# pages_written_query: prints the query for the bytes that PostgreSQL wrote to its tables. It depends on PostgreSQL's version.
pages_written_query() {
    case $(psql -qAtX "$database" -c 'SHOW server_version_num') in
        15*) echo 'SELECT (buffers_checkpoint + buffers_clean + buffers_backend) * 8192 FROM pg_stat_bgwriter' ;;
        16* | 17*) echo "SELECT sum(coalesce(writes, 0) + coalesce(extends, 0)) * 8192 FROM pg_stat_io WHERE object = 'relation'" ;;
        *) echo "SELECT sum(coalesce(write_bytes, 0) + coalesce(extend_bytes, 0)) FROM pg_stat_io WHERE object = 'relation'" ;;
    esac
}

# written: prints how many bytes PostgreSQL has written so far to its write-ahead log, and to its tables.
written() {
    psql -qAtX "$database" -c CHECKPOINT \
        -c "SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0'), ($(pages_written_query))" | tr '|' ' '
}

compare_engines() {
    local before sqlite
    # A day passes in a minute, so autovacuum, which runs once a minute by default, has to run more often.
    psql -qAtX "$database" -c "ALTER SYSTEM SET autovacuum_naptime = '1s'" -c 'SELECT pg_reload_conf()' >/dev/null
    feed "$folder/data" ''
    sqlite="$(figure 'bytes per sample') $(packed) $(figure 'bytes written to files per sample') $(figure 'CPU per sample')"
    before=$(written)
    feed "$folder/data/peer" '' "$database"
    echo "$sqlite $before $(written) $(figure 'bytes per sample') $(packed) $(figure 'CPU per sample') $samples" | awk '
        function line(name, sqlite, postgres) { printf "%-38s %10.2f %10.2f %8.2f\n", name, sqlite, postgres, postgres / sqlite }
        {
            wal = ($7 - $5) / $12; pages = ($8 - $6) / $12
            printf "%-38s %10s %10s %8s\n", "per sample", "SQLite", "PostgreSQL", "ratio"
            line("bytes stored", $1, $9)
            line("bytes of packed blocks", $2, $10)
            line("bytes written", $3, wal + pages)
            line("bytes written per byte of packed block", $3 / $2, (wal + pages) / $10)
            line("microseconds of CPU in opsbrain", $4, $11)
            printf "PostgreSQL wrote %.2f bytes of write-ahead log and %.2f of pages per sample\n", wal, pages
        }'
    ./bench_history_query "$folder/data" "$database" "$deployments" "$end" 200
}

./simserve --listen $model >/dev/null &
processes+=($!)
until_answers http://$model/health $!
if [ -n "$database" ]; then
    compare_engines
    exit
fi
feed "$folder/data" "$folder/files"

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
sleep 10 # meanwhile, Prometheus merges its blocks
awk -v cpu="$cpu" -v bytes="$(du -sb "$folder/blocks" | cut -f1)" -v samples="$samples" 'BEGIN {
    split(cpu, s, " ")
    printf "Prometheus: CPU per sample %.2f us (promtool, OpenMetrics to blocks), bytes per sample %.2f\n",
        (s[1] + s[2]) / samples * 1e6, bytes / samples }'
./bench_history_query "$folder/data" http://$prometheus "$deployments" "$end" 200
