/* SPDX-License-Identifier: Apache-2.0 */
#include "server/program/command_output.h"

#include <stdio.h>
#include <unistd.h>

#include "base/core/clock.h"
#include "base/core/text.h"
#include "base/formats/table.h"
#include "base/json/json.h"
#include "client/terminal/display_width.h"
#include "client/terminal/readable.h"

struct table *command_output_table(const char *const *headings)
{
    struct table *table = table_create();

    for (; *headings != NULL; headings++)
        table_column(table, *headings, false);
    return table;
}

void command_output_table_time(struct table *table, int64_t utc_ms)
{
    char text[CLOCK_TEXT_SIZE];

    if (utc_ms == 0)
        table_cell(table, "-");
    else
        table_cell(table, "%.16s", clock_format_utc(utc_ms, text));
}

void command_output_table_print(struct table *table)
{
    TEXT_AUTO text = { 0 };

    table_render(table, &text);
    table_destroy(table);
    command_output_text(text_string(&text));
}

void command_output_text(const char *text)
{
    struct terminal terminal = terminal_of(STDOUT_FILENO);
    TEXT_AUTO shown = { 0 };

    display_width_begin();
    readable_add_text(&terminal, text, &shown);
    fputs(text_string(&shown), stdout);
}

bool command_output_json(bool wanted, const json_t *reply)
{
    TEXT_AUTO text = { 0 };

    if (wanted)
        readable_add_json(reply, READABLE_INDENT, &text);
    fputs(text_string(&text), stdout);
    return wanted;
}

void command_output_warn(const json_t *reply)
{
    const char *warning = json_get_text(reply, "warning", NULL);

    fflush(stdout);
    if (warning != NULL)
        fprintf(stderr, "opsbrain: warning: %s\n", warning);
}
