#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Fails when a function that can fail with a `struct error *` is declared without CHECKED (base/core/error.h), so that the
# compiler would let a caller ignore its result. In headers each prototype, in .c files each static function, in both each
# pointer to such a function: in tables, as parameters and as variables. `--write` adds it.
cd "$(dirname "$0")/.." || exit 1

readonly ROOMS='base store jobs bench fleet analysis handlers web client server'

# Prints each declaration that lacks it: "FILE:LINE: NAME has no CHECKED".
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
        # (*NAME)(...), with the text before it
        function judge_pointer(   list, before, name) {
            list = substr(pointer, RSTART, RLENGTH)
            before = substr(pointer, 1, RSTART - 1)
            name = list
            sub(/^\(\*(const )?/, "", name)
            sub(/[^a-z0-9_].*/, "", name)
            gsub(/const struct error \*/, "", list)
            if (list ~ /struct error \*/ && before !~ /(CHECKED ([a-z0-9_]+ )+\**|(^|[ (])void )$/)
                print FILENAME ":" pointer_line ": *" name " has no CHECKED"
        }
        FNR == 1 { open = 0; pointer = "" }
        pointer == "" && /[a-z_] \**\(\*[^()]*\)\(/ { pointer_line = FNR; pointer = " " }
        pointer != "" {
            pointer = pointer $0
            while (match(pointer, /\(\*[^()]*\)\(([^()]|\([^()]*\))*\)/)) {
                judge_pointer()
                pointer = substr(pointer, RSTART + RLENGTH)
            }
            if (pointer !~ /\(\*/ || /[;{]/) pointer = ""
        }
        !open && /^[a-zA-Z_]/ { open = 1; first = FNR; said = "" }
        open { said = said $0 " " }
        open && (/[;{]$/ || /; *\/\*/ || /^{/ || /^$/) { judge(); open = 0 }' {} +
}

if [ "$1" = --write ]; then
    unchecked | while IFS=: read -r file line rest; do
        case $rest in
        " *"*) name=${rest#*\*}; insert="s/(((const|struct|enum) )*[a-z0-9_]+ \\**\\(\\*(const )?${name%% *}[^a-z0-9_])/CHECKED \\1/" ;;
        *) insert='s/^((static |inline )*)/\1CHECKED /' ;;
        esac
        sed -i -E "$line$insert" "$file" && echo "$file:$rest"
    done
    exit
fi
found=$(unchecked)
[ -z "$found" ] || {
    echo "$found"
    exit 1
}
