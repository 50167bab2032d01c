#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Fails if a source file does not begin with its licence; `tests/check_licence.sh --write` adds it. Migrations (.sql) are not
# checked, since published ones must not change: databases have applied them. Nor are the fonts in analysis/charts/font/: others
# made them, and their licence is in the same folder.
cd "$(dirname "$0")/.." || exit 1
readonly LICENCE='SPDX-License-Identifier: Apache-2.0'

# lacking LINE PATTERN...: prints the files that match a PATTERN and do not have LINE as their first or second line.
# shellcheck disable=SC2016 # $0 is awk's
lacking() {
    git ls-files -z -- "${@:2}" | xargs -0 awk -v wanted="$1" '
        function report() { if (file != "" && !found) print file }
        FNR == 1 { report(); file = FILENAME; found = 0 }
        FNR <= 2 && $0 == wanted { found = 1 }
        FNR > 2 { nextfile }
        END { report() }'
}

# add LINE FILE: inserts LINE as the first line, or as the second if the first names the interpreter.
add() {
    if [ "$(head -c 2 "$2")" = '#!' ]; then
        sed -i "1a $1" "$2"
    else
        sed -i "1i $1" "$2"
    fi
}

bad=0
# check LINE PATTERN...: reports the files that lack LINE or, with --write, adds it.
check() {
    local file
    while read -r file; do
        if [ "$mode" = --write ]; then
            add "$1" "$file"
        else
            echo "$file does not begin with: $1 (tests/check_licence.sh --write adds it)"
            bad=1
        fi
    done < <(lacking "$@")
}

mode=${1-}
check "/* $LICENCE */" '*.c' '*.h'
check "// $LICENCE" '*.mjs' '*.js' '*.go' '*.rs'
check "-- $LICENCE" '*.lua'
check "# $LICENCE" run .ci/run Dockerfile '*.sh' '*.py' '*.cmake' '*CMakeLists.txt'
exit $bad
