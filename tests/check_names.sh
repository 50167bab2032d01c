#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Fails if headers of two rooms (top-level folders) define a type with the same name, if two files have the same name, or if an
# exported function's name does not begin with one of these (each word of which may be in the singular or the plural):
# - the name of its header (sweeps.h: sweep_...) or of the .c file that defines it (sweep_create.c: sweep_create_...),
# - the common beginning of both (audit_parts.h, audit_load.c: audit_...),
# - the name of its folder inside a room (bench/plan: plan_...),
# - the name of a type that the header defines (struct generator in random.h: generator_next).
cd "$(dirname "$0")/.." || exit 1

readonly ROOMS='base store jobs bench fleet analysis handlers web client server'

# shellcheck disable=SC2086 # a list
files() {
    find $ROOMS -name "$1" | sort
}

# shellcheck disable=SC2046 # lists
bad=$(
    awk '
        function stem(path) { sub(/.*\//, "", path); sub(/\.[ch]$/, "", path); return path }
        function folder(path) { sub(/\/[^\/]*$/, "", path); if (path !~ /\//) return ""; sub(/.*\//, "", path); return path }
        function room(path) { sub(/\/.*/, "", path); return path }
        function singular(s) {
            if (s ~ /ies$/) return substr(s, 1, length(s) - 3) "y"
            if (s ~ /(ss|x|ch)es$/) return substr(s, 1, length(s) - 2)
            return s ~ /[^s]s$/ ? substr(s, 1, length(s) - 1) : s
        }
        function is_of(name, s,    x, y, n, i) {
            split(name, x, "_"); n = split(s, y, "_")
            for (i = 1; i <= n; i++) if (singular(x[i]) != singular(y[i])) return 0
            return n > 0
        }
        function is_of_type(name, list,    names, n, i) {
            n = split(list, names, " ")
            for (i = 1; i <= n; i++) if (is_of(name, names[i])) return 1
            return 0
        }
        function common(a, b,    x, y, n, m, i, out) {
            n = split(a, x, "_"); m = split(b, y, "_")
            for (i = 1; i <= n && i <= m && singular(x[i]) == singular(y[i]); i++) out = out (i > 1 ? "_" : "") x[i]
            return out
        }
        # Returns the name of the exported function that a line declares or defines at the left margin; "" for any other line.
        function declared(line) {
            sub(/^CHECKED /, "", line)
            if (line !~ /^[a-z][A-Za-z0-9_ *]*[ *][a-z_][a-z0-9_]*\(/ || line ~ /^(static|typedef|return|else|if)/) return ""
            sub(/\(.*/, "", line)
            sub(/.*[ *]/, "", line)
            return line
        }
        FILENAME ~ /\.c$/ { name = declared($0); if (name != "") defined[name] = stem(FILENAME); next }
        /^(struct|union|enum) [a-z0-9_]+ \{/ {
            if ($2 in struct_of && room(struct_of[$2]) != room(FILENAME))
                print "two rooms have a type " $2 ": " struct_of[$2] " and " FILENAME
            struct_of[$2] = FILENAME
            types[FILENAME] = types[FILENAME] " " $2
        }
        { name = declared($0); if (name != "") header[name] = FILENAME }
        END {
            for (name in header) {
                own = stem(header[name]); of = defined[name]
                if (is_of(name, own) || of != "" && is_of(name, of) || is_of(name, common(own, of)) || is_of(name, folder(header[name])) ||
                    is_of_type(name, types[header[name]])) continue
                print header[name] ": " name "() begins with none of the names that tests/check_names.sh lists, such as " own "_" \
                    (of == "" || of == own ? "" : " or " of "_")
            }
        }' $(files '*.c') $(files '*.h') | sort
    files '*.[ch]' | sed 's/.*\///' | sort | uniq -d | sed 's/^/two files are named /'
)
[ -z "$bad" ] || {
    echo "$bad"
    exit 1
}
