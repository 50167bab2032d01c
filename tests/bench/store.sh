#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# ./run bench store   the store's ten commonest writes and reads; with --before BIN their ratio to another build's (1 minute)
#
# BIN: bench_store of another build. The two take turns, in new folders; the smallest of the medians counts, since what
# else runs on a machine only adds. Without --before this build is measured against itself, which says how far to trust it.
# In memory if there is such a file system: a disk's own time is the same for both, and varies more than they differ.
set -u
cd "$(dirname "$0")/../.." || exit 1
after=build/release/bin/bench_store before=build/release/bin/bench_store
[ "${1-}" != --before ] || before=$2
folder=$(mktemp -d -p /dev/shm 2>/dev/null || mktemp -d)
trap 'rm -rf "$folder"' EXIT

for turn in 1 2 3 4 5; do
    "$before" "$folder/before$turn" >>"$folder/before" && "$after" "$folder/after$turn" >>"$folder/after" || exit 1
done
awk '
    FNR == NR { if (!($1 in before) || $2 < before[$1]) before[$1] = $2; next }
    !($1 in after) { order[++count] = $1; after[$1] = $2 }
    $2 < after[$1] { after[$1] = $2 }
    END {
        printf "%-18s %12s %12s %8s\n", "", "before (us)", "now (us)", "ratio"
        for (i = 1; i <= count; i++)
            printf "%-18s %12.1f %12.1f %8.2f\n", order[i], before[order[i]], after[order[i]], after[order[i]] / before[order[i]]
    }' "$folder/before" "$folder/after"
