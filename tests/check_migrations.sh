#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Fails if a migration of one engine is missing for the other. (What they make is compared by test_postgres_schema.)
cd "$(dirname "$0")/../migrations" || exit 1

names() {
    (cd "$1" && find . -name '*.sql' | sort)
}

names sqlite >"${TMPDIR:-/tmp}/migrations.$$"
names postgres | diff "${TMPDIR:-/tmp}/migrations.$$" - >&2
bad=$?
rm -f "${TMPDIR:-/tmp}/migrations.$$"
[ $bad = 0 ] || echo 'migrations/sqlite and migrations/postgres need files of the same names'
exit $bad
