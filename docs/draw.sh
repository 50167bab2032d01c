#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Draws the source tree as SVG, from its #include lines: the rooms and their sub-rooms, and a matrix of which includes which.
#     docs/draw.sh >docs/architecture.svg
# A room is a top-level folder with source files, and a sub-room is a folder in it. tests/check_picture.sh fails if the picture is
# stale. The picture shows whether a sub-room includes another, not how often, so most changes to the source do not change it.
cd "$(dirname "$0")/.." || exit 1

# The rooms. Each comes after those that it may include; web/assets is an exception.
readonly ROOMS='base store jobs bench fleet analysis handlers web client server'

# Prints "server/streams server/http" if a file in server/streams includes one in server/http, and likewise for all folders. Also
# prints each folder paired with itself.
# shellcheck disable=SC2016 # $0 is awk's
folder_includes() {
    local room
    for room in $ROOMS; do
        git ls-files -z -- "$room/*.c" "$room/*.h"
    done | xargs -0 awk '
        function folder(path) { sub("/[^/]*$", "", path); return path }
        FNR == 1 { from = folder(FILENAME); print from, from }
        /^#include "/ { split($0, parts, "\""); print from, folder(parts[2]) }' | LC_ALL=C sort -u
}

folder_includes | awk -v rooms="$ROOMS" '
function room_of(name) { sub("/.*", "", name); return name }

# Returns whether a sub-room includes another sub-room of the same room that is not yet placed.
function must_wait(name, other) {
    for (other in known)
        if (other != name && room_of(other) == room_of(name) && !(other in is_placed) && ((name, other) in includes))
            return 1
    return 0
}

# Returns the sub-room to place next in a room: the first by name that includes no other unplaced one. If all of them do, because of
# a cycle, returns the first by name.
function next_of(room, i, first) {
    first = ""
    for (i = 1; i <= count; i++) {
        if (room_of(names[i]) != room || names[i] in is_placed)
            continue
        if (!must_wait(names[i]))
            return names[i]
        if (first == "")
            first = names[i]
    }
    return first
}

{ if (($1) && !($1 in known)) { known[$1] = 1; names[++count] = $1 } includes[$1, $2] = 1 }

function label(x, y, anchor, size, text, more) {
    printf "<text x=\"%d\" y=\"%d\" text-anchor=\"%s\" font-size=\"%d\"%s>%s</text>\n", x, y, anchor, size, more, text
}

function box(x, y, width, height, fill, more) {
    printf "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" fill=\"%s\"%s/>\n", x, y, width, height, fill, more
}

# Draws a room whose top left corner is (x, y): its name, and a chip for each of its sub-rooms.
function draw_room(room, x, y, width, height, i, at, row, chip, name) {
    box(x, y, width, height, colour[room], " rx=\"6\" stroke=\"#667\"")
    label(x + 10, y + 20, "start", 14, room, " font-weight=\"bold\"")
    at = x + 10
    row = 0
    for (i = 1; i <= placed; i++) {
        name = order[i]
        if (room_of(name) != room || name == room)
            continue
        sub("^[^/]*/", "", name)
        chip = 7 * length(name) + 14
        if (at + chip > x + width - 8) {
            at = x + 10
            row++
        }
        box(at, y + 28 + row * 24, chip, 20, "#fff", " rx=\"4\" stroke=\"#99a\"")
        label(at + chip / 2, y + 42 + row * 24, "middle", 12, name, "")
        at += chip + 6
    }
}

# Draws the bands of rooms, from y down; returns the y at which the next band would begin.
function draw_rooms(y, third) {
    third = (WIDTH - 40 - 2 * GAP) / 3
    draw_room("client", 20, y, 240, LOW)
    draw_room("web", 20 + 240 + GAP, y, 120, LOW)
    draw_room("server", 20 + 240 + 120 + 2 * GAP, y, WIDTH - 40 - 240 - 120 - 2 * GAP, LOW)
    y += LOW + GAP
    y = draw_band("handlers", y, LOW)
    draw_room("bench", 20, y, third, HIGH)
    draw_room("fleet", 20 + third + GAP, y, third, HIGH)
    draw_room("analysis", 20 + 2 * (third + GAP), y, third, HIGH)
    y += HIGH + GAP
    y = draw_band("jobs", y, LOW)
    y = draw_band("store", y, LOW)
    return draw_band("base", y, LOW)
}

function draw_band(room, y, height) {
    draw_room(room, 20, y, WIDTH - 40, height)
    return y + height + GAP
}

# Draws the matrix: a mark shows that the folder of the row includes the folder of the column. Marks to the right of the diagonal
# are red: they are caused by a cycle within a room, or by rooms placed before web that include web/assets.
function draw_matrix(y, i, j, top, left) {
    left = 190
    top = y + 130
    for (i = 1; i <= placed; i++) {
        box(left, top + (i - 1) * CELL, placed * CELL, CELL, colour[room_of(order[i])], "")
        label(left - 6, top + i * CELL - 4, "end", 11, order[i], "")
        label(0, 0, "start", 11, order[i],
              sprintf(" transform=\"translate(%d,%d) rotate(-60)\"", left + i * CELL - 4, top - 6))
        for (j = 1; j <= placed; j++)
            if ((order[i], order[j]) in includes)
                box(left + (j - 1) * CELL + 2, top + (i - 1) * CELL + 2, CELL - 4, CELL - 4,
                    i == j ? "#99a" : j > i ? "#d22" : "#345", "")
    }
    return top + placed * CELL
}

END {
    WIDTH = 1160
    LOW = 58  # height of a room with one row of sub-rooms
    HIGH = 82 # height of a room with two rows
    GAP = 14
    CELL = 15
    split("base #dfe8f2 store #e3efdc jobs #f3ecd4 bench #f6dfd2 fleet #efdcea analysis #d9eeee handlers #ece6f6 server #f2dede client #e4e4e4 web #f7f0d8", pair, " ")
    for (i = 1; i in pair; i += 2)
        colour[pair[i]] = pair[i + 1]
    rooms_count = split(rooms, room, " ")
    for (i = 1; i <= rooms_count; i++)
        while ((name = next_of(room[i])) != "") {
            is_placed[name] = 1
            order[++placed] = name
        }
    height = 40 + 5 * LOW + HIGH + 6 * GAP + 160 + placed * CELL + 20
    printf "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\" font-family=\"sans-serif\">\n",
        WIDTH, height, WIDTH, height
    print "<!-- docs/draw.sh >docs/architecture.svg -->"
    box(0, 0, WIDTH, height, "#fff", "")
    label(20, 24, "start", 13, "A room may include itself and the rooms below it; server also includes web and client. bench, fleet and analysis do not include one another.", "")
    y = draw_rooms(40)
    label(20, y + 22, "start", 13, "A mark: the folder of the row includes that of the column. Red: a cycle within a room, or web/assets, which analysis and handlers include.", "")
    draw_matrix(y + 30)
    print "</svg>"
}'
