/* SPDX-License-Identifier: Apache-2.0 */
#include "client/terminal/readable.h"

#include <ctype.h>
#include <stdlib.h>

#include "base/core/memory.h"
#include "client/terminal/display_width.h"
#include "client/terminal/grid.h"

/* ---- Markdown tables ---- */

struct line {
    const char *text;
    size_t length;
};

static struct line line_at(const char *text)
{
    return (struct line){ text, strcspn(text, "\n") };
}

static const char *next_line(const struct line *line)
{
    const char *end = line->text + line->length;

    return *end == '\n' ? end + 1 : end;
}

static bool is_row(const struct line *line)
{
    return line->length > 1 && line->text[0] == '|' && line->text[line->length - 1] == '|';
}

/* Whether the line separates the headings from the rows: | ---: | --- | */
static bool is_rule(const struct line *line)
{
    return is_row(line) && strspn(line->text, "|-: ") >= line->length;
}

/* Reads the next cell of a row, from *at on: without the spaces around it, and with "\|" as "|".
 * False at the row's end. */
static bool next_cell(const struct line *row, size_t *at, struct text *cell)
{
    text_clear(cell);
    if (*at + 1 >= row->length)
        return false;
    for ((*at)++; *at < row->length && row->text[*at] != '|'; (*at)++) {
        if (row->text[*at] == '\\' && row->text[*at + 1] == '|')
            (*at)++;
        if (cell->length > 0 || row->text[*at] != ' ')
            text_add_char(cell, row->text[*at]);
    }
    while (cell->length > 0 && cell->data[cell->length - 1] == ' ')
        cell->data[--cell->length] = '\0';
    return true;
}

static void add_headings(struct grid *grid, const struct line *headings, const struct line *rule)
{
    TEXT_AUTO heading = { 0 }, dashes = { 0 };
    size_t at = 0, rule_at = 0;

    while (next_cell(headings, &at, &heading)) {
        bool has_dashes = next_cell(rule, &rule_at, &dashes) && dashes.length > 0;

        grid_column(grid, text_string(&heading), heading.length,
                    has_dashes && dashes.data[dashes.length - 1] == ':');
    }
}

/* A row with too many cells is cut off; a row with too few is padded with empty cells. */
static void add_cells(struct grid *grid, const struct line *row)
{
    TEXT_AUTO cell = { 0 };
    size_t at = 0;

    for (size_t i = 0; i < grid_columns(grid); i++) {
        next_cell(row, &at, &cell);
        grid_cell(grid, text_string(&cell), cell.length);
    }
}

/* Adds a table, and returns the text after it. */
static const char *add_table(const struct terminal *terminal, const struct line *headings,
                             const struct line *rule, struct text *out)
{
    struct grid *grid = grid_create();
    struct line row = line_at(next_line(rule));

    add_headings(grid, headings, rule);
    for (; is_row(&row); row = line_at(next_line(&row)))
        add_cells(grid, &row);
    grid_render(grid, terminal, out);
    grid_destroy(grid);
    return row.text;
}

/* ---- Other lines ---- */

/* The column, counted from 0, at which continuation lines of this line begin: for a bulleted item
 * or a quotation, where its text begins; for any other line, where the line begins. */
static size_t hanging_indent(const struct line *line)
{
    size_t spaces = strspn(line->text, " ");

    if (spaces + 2 <= line->length && strchr("->*", line->text[spaces]) != NULL
        && line->text[spaces + 1] == ' ')
        return spaces + 2;
    return spaces < line->length ? spaces : 0;
}

/* The number of bytes for one line, which is broken at the last space that fits. A word that is
 * longer than a line is left to the terminal to break, so that it can still be copied. */
static size_t wrapped_length(const char *text, size_t length, size_t columns)
{
    size_t fits = display_width_fit(text, length, columns), at = fits;

    if (fits == length || fits == 0)
        return length;
    while (at > 0 && text[at] != ' ')
        at--;
    for (fits = 0; at == 0 && fits < length && text[fits] != ' ';)
        fits++;
    return at > 0 ? at : fits;
}

static void add_wrapped(const struct terminal *terminal, const struct line *line, struct text *out)
{
    size_t indent = hanging_indent(line), at = 0;

    if (indent + 20 > terminal->columns)
        indent = 0;
    while (at < line->length) {
        size_t room = terminal->columns - (at > 0 ? indent : 0);
        size_t length = wrapped_length(line->text + at, line->length - at, room);

        if (at > 0)
            text_addf(out, "\n%*s", (int)indent, "");
        text_add_bytes(out, line->text + at, length);
        at += length;
        at += at < line->length && line->text[at] == ' ';
    }
    text_add_char(out, '\n');
}

static void add_line(const struct terminal *terminal, const struct line *line, struct text *out)
{
    size_t marks = strspn(line->text, "#");
    bool heading = marks > 0 && marks < line->length && line->text[marks] == ' ';
    struct line shown = *line;

    if (heading)
        text_add(out, terminal_style(terminal, STYLE_BOLD));
    if (heading && terminal->is_coloured)
        shown = (struct line){ line->text + marks + 1, line->length - marks - 1 };
    add_wrapped(terminal, &shown, out);
    if (heading)
        text_add(out, terminal_style(terminal, STYLE_PLAIN));
}

#define WRAPPED_MIN 60 /* a line that was already wrapped is usually at least this long */

/* Guesses whether `after` continues the last sentence of `line`. If so, the text was wrapped for a
 * different width. */
static bool continues_on(const struct line *line, const struct line *after)
{
    size_t spaces = strspn(after->text, " "), indent = strspn(line->text, " ");

    return line->length >= WRAPPED_MIN && strchr("#>|", line->text[0]) == NULL
           && line->text[line->length - 1] != '.' && spaces == hanging_indent(line)
           && (indent == 0 || spaces > indent) && islower((unsigned char)after->text[spaces]);
}

/* Adds a line, joined with the lines that continue it; returns the text after them. */
static const char *add_joined(const struct terminal *terminal, struct line line, struct text *out)
{
    struct line after = line_at(next_line(&line));
    TEXT_AUTO joined = { 0 };

    text_add_bytes(&joined, line.text, line.length);
    for (; continues_on(&line, &after); after = line_at(next_line(&line))) {
        size_t spaces = strspn(after.text, " ");

        text_add_char(&joined, ' ');
        text_add_bytes(&joined, after.text + spaces, after.length - spaces);
        line = after;
    }
    add_line(terminal, &(struct line){ text_string(&joined), joined.length }, out);
    return next_line(&line);
}

static void add_lines(const struct terminal *terminal, const char *text, struct text *out)
{
    while (*text != '\0') {
        struct line line = line_at(text), after = line_at(next_line(&line));

        text = is_row(&line) && is_rule(&after) ? add_table(terminal, &line, &after, out)
                                                : add_joined(terminal, line, out);
    }
}

void readable_add_text(const struct terminal *terminal, const char *text, struct text *out)
{
    TEXT_AUTO clean = { 0 };

    text_add_printable(&clean, text, strlen(text), SIZE_MAX / 2);
    for (char *c = clean.data; c != NULL && *c != '\0'; c++)
        if (*c == '\t' && terminal->is_terminal)
            *c = ' ';
    if (terminal->is_terminal)
        add_lines(terminal, text_string(&clean), out);
    else
        text_add(out, text_string(&clean));
    if (out->length > 0 && out->data[out->length - 1] != '\n')
        text_add_char(out, '\n');
}

/* ---- JSON ---- */

static uint32_t character_of(const char *bytes, size_t size)
{
    uint32_t character = (unsigned char)bytes[0] & (0x7fU >> size);

    for (size_t i = 1; i < size; i++)
        character = character << 6 | ((unsigned char)bytes[i] & 0x3f);
    return character;
}

static void add_escaped(struct text *out, uint32_t character)
{
    if (character < 0x10000)
        text_addf(out, "\\u%04x", (unsigned)character);
    else
        text_addf(out, "\\u%04x\\u%04x", (unsigned)(0xd800 + ((character - 0x10000) >> 10)),
                  (unsigned)(0xdc00 + ((character - 0x10000) & 0x3ff)));
}

/* Whether a terminal might interpret the character. Jansson has escaped those below U+0020. */
static bool is_interpreted(uint32_t character)
{
    return character == 0x7f || (character >= 0x80 && character < 0xa0) || character == 0x2028
           || character == 0x2029;
}

void readable_add_json(const json_t *value, unsigned indent, struct text *out)
{
    size_t form = indent > 0 ? JSON_INDENT(indent) : JSON_COMPACT;
    FREE_AUTO char *written = json_dumps(value, form | JSON_ENCODE_ANY | JSON_REAL_PRECISION(15));
    size_t length = written == NULL ? 0 : strlen(written);

    for (size_t at = 0; at < length;) {
        size_t size = text_utf8_sequence(written + at, length - at);
        uint32_t character = size > 1 ? character_of(written + at, size) : (uint32_t)written[at];

        if (is_interpreted(character) || text_invisible_sequence(written + at, length - at) > 0)
            add_escaped(out, character);
        else
            text_add_bytes(out, written + at, size > 0 ? size : 1);
        at += size > 0 ? size : 1;
    }
    text_add_char(out, '\n');
}
