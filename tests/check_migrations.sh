#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Fails if one engine has a migration that the other lacks. (test_postgres_schema compares the schemas that they make.)
cd "$(dirname "$0")/../migrations" || exit 1

names() {
    (cd "$1" && find . -name '*.sql' | sort)
}

names sqlite >"${TMPDIR:-/tmp}/migrations.$$"
names postgres | diff "${TMPDIR:-/tmp}/migrations.$$" - >&2
bad=$?
rm -f "${TMPDIR:-/tmp}/migrations.$$"
[ $bad = 0 ] || echo 'migrations/sqlite and migrations/postgres must have files with the same names'
exit $bad
