/* SPDX-License-Identifier: Apache-2.0 */
/* A view that is redrawn and takes the whole terminal. At the end, the terminal's earlier contents
 * are restored. */
#pragma once

#include <stdbool.h>
#include <termios.h>

#include "base/core/text.h"
#include "client/terminal/terminal.h"

struct screen {
    struct termios before; /* the settings that screen_end restores, if `is_raw` */
    bool is_raw;           /* keys are read one by one, and are not echoed */
};

/* Standard output must be a terminal. Keys are read if standard input is a terminal, too. */
void screen_begin(struct screen *screen);
void screen_end(struct screen *screen);
/* Replaces what is shown. Lines must end with "\n", and be no wider than the terminal. */
void screen_draw(const struct text *lines);
/* Returns the next byte that was typed, without waiting; '\0': there is none. Ctrl-C is '\3'. */
char screen_key(const struct screen *screen);
