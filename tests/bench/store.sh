#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# ./run bench store   the store's ten commonest writes and reads; with --before BIN their ratio to another build's (1 minute);
#                     with --postgres URI SQLite's beside those of a PostgreSQL database, p50 and p99 (2 minutes)
#
# BIN: bench_store of another build. The two take turns, in new folders; the smallest of the medians counts, since what
# else runs on a machine only adds. Without --before this build is measured against itself, which says how far to trust it.
# In memory if there is such a file system: a disk's own time is the same for both, and varies more than they differ.
# With --postgres: on a disk, where both have to wait for it; in a new schema each turn.
set -u
cd "$(dirname "$0")/../.." || exit 1
readonly NOW=build/release/bin/bench_store
before=$NOW place=/dev/shm database=
case ${1-} in
    --before) before=$2 ;;
    --postgres) database=$2 place=/var/tmp ;;
esac
folder=$(mktemp -d -p "$place" 2>/dev/null || mktemp -d)
trap 'rm -rf "$folder"' EXIT

# on_postgres FOLDER
on_postgres() {
    local schema=bench_$$ status=0 mark='?'
    [[ $database != *\?* ]] || mark='&'
    psql -q "$database" -c "CREATE SCHEMA $schema" || return 1
    "$NOW" "$1" "$database${mark}options=-csearch_path%3D$schema" || status=1
    psql -q "$database" -c "SET client_min_messages = error; DROP SCHEMA $schema CASCADE"
    return $status
}

for turn in 1 2 3 4 5; do
    "$before" "$folder/before$turn" >>"$folder/before" || exit 1
    if [ -n "$database" ]; then on_postgres "$folder/after$turn"; else "$NOW" "$folder/after$turn"; fi \
        >>"$folder/after" || exit 1
done
awk -v engines="$database" '
    function note(of, name, p50, p99) {
        if (!((of, name) in median) || p50 < median[of, name]) { median[of, name] = p50; tail[of, name] = p99 }
    }
    FNR == NR { note("before", $1, $2, $3); next }
    { if (!(("after", $1) in median)) order[++count] = $1; note("after", $1, $2, $3) }
    END {
        if (engines != "") printf "%-18s %12s %12s %12s %12s\n", "us", "SQLite p50", "p99", "PostgreSQL p50", "p99"
        else printf "%-18s %12s %12s %8s\n", "", "before (us)", "now (us)", "ratio"
        for (i = 1; i <= count; i++) {
            name = order[i]
            if (engines != "")
                printf "%-18s %12.1f %12.1f %12.1f %12.1f\n", name, median["before", name], tail["before", name],
                    median["after", name], tail["after", name]
            else
                printf "%-18s %12.1f %12.1f %8.2f\n", name, median["before", name], median["after", name],
                    median["after", name] / median["before", name]
        }
    }' "$folder/before" "$folder/after"
