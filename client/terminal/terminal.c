/* SPDX-License-Identifier: Apache-2.0 */
#include "client/terminal/terminal.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define COLUMNS_DEFAULT 80
#define ROWS_DEFAULT 24
#define COLUMNS_MIN 20

static bool has_sequences(void)
{
    const char *kind = getenv("TERM");

    return kind != NULL && kind[0] != '\0' && strcmp(kind, "dumb") != 0;
}

/* https://no-color.org: any value that is not empty counts. */
static bool may_colour(void)
{
    const char *refused = getenv("NO_COLOR");

    return refused == NULL || refused[0] == '\0';
}

struct terminal terminal_of(int descriptor)
{
    struct terminal terminal = { .columns = COLUMNS_DEFAULT, .rows = ROWS_DEFAULT };
    struct winsize size;

    terminal.is_terminal = isatty(descriptor) == 1;
    if (!terminal.is_terminal)
        return terminal;
    terminal.is_drawable = has_sequences();
    terminal.is_coloured = terminal.is_drawable && may_colour();
    if (ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 && size.ws_row > 0) {
        terminal.columns = size.ws_col < COLUMNS_MIN ? COLUMNS_MIN : size.ws_col;
        terminal.rows = size.ws_row;
    }
    return terminal;
}

const char *terminal_style(const struct terminal *terminal, enum terminal_style style)
{
    static const char *const sequences[STYLES] = {
        [STYLE_PLAIN] = "\033[0m", [STYLE_BOLD] = "\033[1m", [STYLE_DIM] = "\033[2m"
    };

    return terminal->is_coloured ? sequences[style] : "";
}
