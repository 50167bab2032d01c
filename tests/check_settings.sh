#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Fails if the table of settings in docs/operations.md differs from the one that the latest build prints;
# `tests/check_settings.sh --write` corrects it.
cd "$(dirname "$0")/.." || exit 1
document=docs/operations.md
# shellcheck disable=SC2012 # these names are plain
program=$(ls -t build/asan/bin/opsbrain build/dev/bin/opsbrain build/release/bin/opsbrain 2>/dev/null | head -1)
[ -n "$program" ] || {
    echo "opsbrain is not built: ./run test builds it"
    exit 1
}

# Prints the document, with the program's table between the document's two markers.
with_table() {
    "$program" help --markdown |
        awk 'NR == FNR { table = table $0 "\n"; next }
             /^<!-- settings/ { print; printf "\n%s\n", table; skip = 1; next }
             /^<!-- end of settings/ { skip = 0 }
             !skip' - "$document"
}

if [ "${1-}" = --write ]; then
    with_table >build/operations.md && cp build/operations.md "$document"
else
    with_table | diff "$document" - || {
        echo "the settings in $document differ from the program's; to correct them: tests/check_settings.sh --write"
        exit 1
    }
fi
