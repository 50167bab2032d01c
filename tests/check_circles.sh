#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# check_circles.sh [FOLDER...]: fails if units include one another in a cycle, and prints each cycle on a line.
# A unit is a .c file with its .h file; it depends on every unit whose header one of the two includes. The default folders are
# server and store.
cd "$(dirname "$0")/.." || exit 1
[ $# -gt 0 ] || set -- server store

# Tarjan's algorithm: lowest[unit] is the number of the first-visited unit that the unit can reach.
grep -roE '^#include "[a-z_/0-9]+\.h"' "$@" --include='*.[ch]' | awk '
function visit(unit, count, i, other, line, size)
{
    seen[unit] = lowest[unit] = ++visits
    stack[++depth] = unit
    on_stack[unit] = 1
    count = unit in degree ? degree[unit] : 0
    for (i = 1; i <= count; i++) {
        other = edges[unit, i]
        if (!(other in seen))
            visit(other)
        if (on_stack[other] && lowest[other] < lowest[unit])
            lowest[unit] = lowest[other]
    }
    if (lowest[unit] < seen[unit])
        return
    do {
        other = stack[depth--]
        on_stack[other] = 0
        line = line " " other
        size++
    } while (other != unit)
    if (size > 1) {
        print size " units in a cycle:" line
        circles++
    }
}
{
    split($0, part, /:#include "|"/)
    from = part[1]
    to = part[2]
    sub(/\.[ch]$/, "", from)
    sub(/\.h$/, "", to)
    if (from != to && !((from, to) in known)) {
        known[from, to] = 1
        edges[from, ++degree[from]] = to
    }
}
END {
    for (unit in degree)
        if (!(unit in seen))
            visit(unit)
    exit circles > 0
}'
