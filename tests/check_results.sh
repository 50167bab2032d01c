#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Fails if a function that reports its failure in a `struct error *` is declared without CHECKED (base/core/error.h), since the
# compiler would then let a caller ignore its result. Checks each prototype in headers, each static function in .c files and, in
# both kinds of files, each pointer to such a function (a member, a parameter or a variable). `--write` adds the missing CHECKED.
cd "$(dirname "$0")/.." || exit 1

readonly ROOMS='base store jobs bench fleet analysis handlers web client server'

# Prints each declaration that lacks CHECKED: "FILE:LINE: NAME has no CHECKED".
# shellcheck disable=SC2016,SC2086 # awk's own dollars; a list
unchecked() {
    find $ROOMS -name '*.[ch]' -exec awk '
        function judge(   name) {
            gsub(/const struct error \*/, "", declaration) # an error that is only read
            if (declaration !~ /^[^(={;]*\(.*struct error \*/ || declaration ~ /(^| )CHECKED / ||
                declaration ~ /^(static |inline )*void [^*]/)
                return
            if (FILENAME !~ /\.h$/ && declaration !~ /^static /) return
            name = declaration
            sub(/\(.*/, "", name)
            sub(/.*[ *]/, "", name)
            if (name != "error_set") print FILENAME ":" first ": " name " has no CHECKED"
        }
        # Judges (*NAME)(...) by its parameters and the text before it.
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
        !open && /^[a-zA-Z_]/ { open = 1; first = FNR; declaration = "" }
        open { declaration = declaration $0 " " }
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
