#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Fails if SQL outside the files of the two engines is not understood by PostgreSQL, or means something else there than in SQLite:
# both engines run the same statements.
cd "$(dirname "$0")/.." || exit 1

# Parts of statements that only SQLite has, or that mean something else in PostgreSQL.
readonly DIALECT="\\browid\\b|\\boid\\b|WITHOUT ROWID|AUTOINCREMENT|\\bINSERT OR\\b|\\bREPLACE INTO\\b|\\bUPDATE OR\\b|\\bPRAGMA\\b|\
sqlite_(schema|master|sequence)|last_insert|\\b(datetime|strftime|julianday|unixepoch|ifnull|iif|typeof|glob|printf|instr|randomblob|\
json|json_[a-z_]+|group_concat|total|changes)\\(|\\bGLOB\\b|\\bMATCH\\b|\\b[xX]'|\\bIS NOT \\?|\\bIS \\?|\\bLIMIT -1|INDEXED BY|COLLATE|\
\\b(max|min)\\([^()]*(\\([^()]*\\)[^()]*)*,|BEGIN (IMMEDIATE|EXCLUSIVE|DEFERRED)"

# Prints the string literals in the other files of store/; adjacent literals are joined: "FILE:LINE: TEXT".
texts() {
    find store -name '*.[ch]' ! -path 'store/engine/sqlite*' ! -path 'store/engine/postgres*' -exec awk '
        {
            line = $0
            sub(/^ *(\/\*|\*).*/, "", line)
            while (match(line, /"([^"\\]|\\.)*"/)) {
                if (text == "") at = FNR
                text = text substr(line, RSTART + 1, RLENGTH - 2)
                line = substr(line, RSTART + RLENGTH)
                more = line ~ /^[ \\]*$|^ *SQL_|^ *[A-Z_]+ *"|^ *[A-Z_]+[ \\]*$/
                if (!more) { print FILENAME ":" at ": " text; text = "" }
            }
            if (line !~ /^[ \\]*$/ && text != "" && $0 !~ /"/) { print FILENAME ":" at ": " text; text = "" }
        }
        END { if (text != "") print FILENAME ":" at ": " text }' {} \;
}

# Prints subqueries in FROM that have no alias; PostgreSQL requires one up to version 15. First removes all parentheses, with what
# they contain, except those of subqueries.
without_alias() {
    texts | sed -E ':again; s/\((([^S()]|S[^E()])[^()]*|)\)//g; t again' |
        grep -E '\b(FROM|JOIN) \(SELECT [^()]*\) *($|\)|,|\b(WHERE|ORDER|GROUP|LIMIT|JOIN|LEFT|ON)\b)'
}

bad=$(texts | grep -E "$DIALECT"; without_alias)
[ -z "$bad" ] || {
    echo "$bad"
    echo "only one engine understands this SQL: write it so that every engine understands it, or add a function to struct sql_engine"
    exit 1
}
