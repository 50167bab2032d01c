#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Fails if
# - a file of the program includes a header that its folder's row in cmake/rooms.txt does not allow (a header of opsbrain, or of a
#   third-party library other than Jansson and FreeType),
# - a folder of the program has no row in cmake/rooms.txt,
# - a folder of the program or of tests/ has more than 60 .c and .h files,
# - libraries depend on one another in a cycle,
# - a room (a top-level folder of the program) other than store/ contains SQL,
# - one of the rules at the end of this script is broken.
cd "$(dirname "$0")/.." || exit 1

readonly FILES_MAX=60
readonly ROOMS='base store jobs bench fleet analysis handlers web client server'

# shellcheck disable=SC2086 # a list
files() {
    find $ROOMS -name '*.[ch]'
}

# Prints every include of the program's files: "FOLDER FILE INCLUDE".
# shellcheck disable=SC2086 # a list
includes() {
    grep -rE '^#include ["<]' $ROOMS --include='*.[ch]' |
        sed -E 's/^(.*)\/([^/]+):#include ["<]([^">]+)[">].*/\1 \1\/\2 \3/'
}

wrong_includes() {
    includes | awk -F '|' '
        function trim(s) { gsub(/^ +| +$/, "", s); return s }
        BEGIN {
            header["libcurl"] = "curl/"; header["sqlite3"] = "sqlite3.h"; header["libmicrohttpd"] = "microhttpd.h"
            header["libcrypto"] = "openssl/"; header["libzstd"] = "zstd.h"
            header["cairo-ft"] = "cairo"; header["zlib"] = "zlib.h"; header["libpq"] = "libpq-fe.h"
            ours = "^(base|store|jobs|bench|fleet|analysis|handlers|web|client|server|migrations|tests)/"
        }
        FNR == NR {
            if ($0 !~ /^[a-z]/) next
            folder = trim($1)
            known[folder] = 1
            count = split(trim($3), names, / +/)
            for (i = 1; i <= count; i++) may[folder, names[i]] = 1
            count = split(trim($4), names, / +/)
            for (i = 1; i <= count; i++) may[folder, header[names[i]]] = 1
            next
        }
        {
            split($0, part, " ")
            from = part[1]; what = part[3]; to = what
            sub(/\/[^\/]*$/, "", to)
            room = to
            sub(/\/.*/, "", room)
            if (!(from in known)) print part[2] ": cmake/rooms.txt has no row for " from
            if (what ~ ours && to != from && !((from, to) in may) && !((from, room "/*") in may && to in known))
                print part[2] " includes " what ": the row of " from " in cmake/rooms.txt does not allow it"
            for (library in header)
                if (index(what, header[library]) == 1 && !((from, header[library]) in may))
                    print part[2] " includes " what ": the row of " from " in cmake/rooms.txt does not name " library
        }' cmake/rooms.txt -
}

full_folders() {
    { files && find tests -name '*.[ch]'; } | sed 's/\/[^/]*$//' | sort | uniq -c |
        awk -v most=$FILES_MAX '$1 > most { print $2 " has " $1 " files; the maximum is " most }'
}

# Gives tsort a line for each dependency of one library in cmake/rooms.txt on another. If some of them form a cycle, tsort's error
# message names them.
circles() {
    awk -F '|' '
        function trim(s) { gsub(/^ +| +$/, "", s); return s }
        /^[a-z]/ {
            folder = trim($1); name = trim($2)
            if (name == "") { name = folder; sub("/", "-", name) }
            library[folder] = name
            includes[folder] = trim($3)
        }
        END {
            for (folder in library) {
                count = split(includes[folder], names, / +/)
                for (i = 1; i <= count; i++)
                    for (other in library)
                        if ((other == names[i] || index(other, substr(names[i], 1, length(names[i]) - 1)) == 1 &&
                             names[i] ~ /\*$/) && library[other] != library[folder])
                            print library[folder], library[other]
            }
        }' cmake/rooms.txt | { tsort >/dev/null; } 2>&1
}

# shellcheck disable=SC2046 # a list
sql_elsewhere() {
    grep -nE '"(SELECT|INSERT INTO|UPDATE [a-z_]+ SET|DELETE FROM)\b' $(files | grep -v '^store/')
}

# Appends the rule to each line.
explain() {
    sed "s|\$|: $1|"
}

bad=$(
    wrong_includes
    full_folders
    circles
    sql_elsewhere | explain 'only store/ may contain SQL'
    grep -lE '^#include <curl/' base/net/* | grep -v '^base/net/outbound' |
        explain 'in base/net/, only the files outbound* may include libcurl: use outbound.h'
    # Only fleet/cloud/ may call the metadata service, which returns the machine's credentials.
    # shellcheck disable=SC2086 # a list
    grep -rlE '\.to_metadata = ' $ROOMS | grep -v '^fleet/cloud/' |
        explain 'only fleet/cloud/ may call the metadata service: use the functions of fleet/cloud/'
    # Only an engine's own files include the headers of its library.
    grep -lE '^#include <sqlite3' store/engine/* | grep -v '^store/engine/sqlite' |
        explain 'only store/engine/sqlite* may include sqlite3.h: use sql.h'
    grep -lE '^#include <libpq' store/engine/* | grep -v '^store/engine/postgres' |
        explain 'only store/engine/postgres* may include libpq: use sql.h'
)
[ -z "$bad" ] || {
    echo "$bad"
    exit 1
}
