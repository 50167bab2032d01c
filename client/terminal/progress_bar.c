/* SPDX-License-Identifier: Apache-2.0 */
#include "client/terminal/progress_bar.h"

#include "client/terminal/display_width.h"

#define BAR_MAX 30
#define BAR_MIN 4    /* if fewer columns are left, there is no bar */
#define AROUND_BAR 3 /* columns: "[", "] " */

static void add_bar(size_t columns, double share, struct text *out)
{
    size_t full = (size_t)(share * (double)columns);

    text_add(out, "[");
    for (size_t i = 0; i < columns; i++)
        text_add(out, i < full ? "█" : "░");
    text_add(out, "] ");
}

/* The bar's width: the remaining columns, but at most BAR_MAX and at most a quarter of the line; 0:
 * no bar. */
static size_t choose_columns(size_t line_columns, size_t words_columns)
{
    size_t around = words_columns + AROUND_BAR;
    size_t wanted = line_columns / 4 < BAR_MAX ? line_columns / 4 : BAR_MAX;
    size_t room = line_columns > around ? line_columns - around : 0;

    return room < BAR_MIN ? 0 : room < wanted ? room : wanted;
}

void progress_bar_add(const struct terminal *terminal, double done, double total,
                      const char *message, struct text *out)
{
    double share = total > 0 ? done / total : 0;
    size_t line = terminal->columns - 1, columns;
    TEXT_AUTO words = { 0 };

    if (total > 0)
        text_addf(&words, "%.0f of %.0f  ", done, total);
    text_add_printable(&words, message, strlen(message), 400);
    columns = choose_columns(line, display_width(text_string(&words), words.length));
    if (columns > 0)
        add_bar(columns, share > 1 ? 1 : share < 0 ? 0 : share, out);
    text_add_bytes(out, text_string(&words),
                   display_width_fit(text_string(&words), words.length, line));
}
