#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Fails when a function that can fail with a `struct error *` is declared without CHECKED (base/core/error.h), so that the
# compiler would let its result go unread. In headers each prototype, in .c files each static function; `--write` adds it.
cd "$(dirname "$0")/.." || exit 1

readonly ROOMS='base store jobs bench fleet analysis handlers server'

# Each declaration of a file, from its first column to its semicolon or brace: "FILE:LINE: NAME has no CHECKED".
# shellcheck disable=SC2016,SC2086 # awk's own dollars; a list
unchecked() {
    find $ROOMS -name '*.[ch]' -exec awk '
        function judge(   name) {
            gsub(/const struct error \*/, "", said) # one that is only read
            if (said !~ /^[^(={;]*\(.*struct error \*/ || said ~ /(^| )CHECKED / || said ~ /^(static |inline )*void [^*]/)
                return
            if (FILENAME !~ /\.h$/ && said !~ /^static /) return
            name = said
            sub(/\(.*/, "", name)
            sub(/.*[ *]/, "", name)
            if (name != "error_set") print FILENAME ":" first ": " name " has no CHECKED"
        }
        FNR == 1 { open = 0 }
        !open && /^[a-zA-Z_]/ { open = 1; first = FNR; said = "" }
        open { said = said $0 " " }
        open && (/[;{]$/ || /; *\/\*/ || /^{/ || /^$/) { judge(); open = 0 }' {} +
}

if [ "$1" = --write ]; then
    unchecked | while IFS=: read -r file line rest; do
        sed -i -E "${line}s/^((static |inline )*)/\\1CHECKED /" "$file" && echo "$file: $rest"
    done
    exit
fi
found=$(unchecked)
[ -z "$found" ] || {
    echo "$found"
    exit 1
}
