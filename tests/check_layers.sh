#!/bin/sh
# Fails when a file includes a folder to its right, or a library that belongs to another room:
# base <- store <- jobs <- { bench, fleet, analysis } <- handlers <- server
cd "$(dirname "$0")/.." || exit 1

# may_not FOLDER PATTERN: no source file of FOLDER includes what matches PATTERN.
may_not() {
    grep -rnE "^#include [\"<]($2)" "$1" --include='*.[ch]'
}

bad=$(
    may_not base 'store/|migrations/|jobs/|bench/|fleet/|analysis/|handlers/|server/|tests/'
    may_not store 'jobs/|bench/|fleet/|analysis/|handlers/|server/|tests/'
    may_not jobs 'migrations/|bench/|fleet/|analysis/|handlers/|server/|tests/'
    may_not bench 'migrations/|fleet/|analysis/|handlers/|server/|tests/'
    may_not fleet 'migrations/|bench/|analysis/|handlers/|server/|tests/'
    may_not analysis 'migrations/|bench/|fleet/|handlers/|server/|tests/'
    may_not handlers 'migrations/|server/|tests/'
    may_not server 'migrations/|tests/'
    for room in base jobs bench fleet analysis handlers server; do may_not $room 'sqlite3\.h'; done
    grep -rlE '^#include <sqlite3' store | grep -vE '^store/(sql|database|schema)\.c$'
    for room in store jobs fleet analysis handlers server; do may_not $room 'curl/'; done
    grep -rlE '^#include <curl/' base | grep -v '^base/outbound'
    for room in base store jobs bench fleet analysis handlers; do may_not $room 'microhttpd\.h'; done
    grep -rnE '"(SELECT|INSERT INTO|UPDATE [a-z_]+ SET|DELETE FROM)\b' base jobs bench fleet analysis handlers server --include='*.[ch]'
)
[ -z "$bad" ] || {
    echo "$bad"
    exit 1
}
