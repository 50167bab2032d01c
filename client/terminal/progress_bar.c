/* SPDX-License-Identifier: Apache-2.0 */
#include "client/terminal/progress_bar.h"

#include "client/terminal/display_width.h"

#define BAR_LONGEST 30

static void add_bar(size_t columns, double share, struct text *out)
{
    size_t full = (size_t)(share * (double)columns);

    text_add(out, "[");
    for (size_t i = 0; i < columns; i++)
        text_add(out, i < full ? "█" : "░");
    text_add(out, "] ");
}

void progress_bar_add(const struct terminal *terminal, double done, double total,
                      const char *message, struct text *out)
{
    size_t columns = terminal->columns / 4;
    double share = total > 0 ? done / total : 0;
    TEXT_AUTO line = { 0 };

    add_bar(columns > BAR_LONGEST ? BAR_LONGEST : columns,
            share > 1   ? 1
            : share < 0 ? 0
                        : share,
            &line);
    if (total > 0)
        text_addf(&line, "%.0f of %.0f  ", done, total);
    text_add_printable(&line, message, strlen(message), 400);
    text_add_bytes(out, text_string(&line),
                   display_width_fit(text_string(&line), line.length, terminal->columns - 1));
}
