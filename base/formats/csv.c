/* SPDX-License-Identifier: Apache-2.0 */
#include "base/formats/csv.h"

#include <string.h>

#include "base/core/text.h"

static char find_separator(const char *at, const char *end)
{
    static const char candidates[] = ",;\t|";
    size_t counts[sizeof candidates - 1] = { 0 }, best = 0;

    for (; at < end && *at != '\n' && *at != '\r'; at++)
        for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++)
            counts[i] += *at == candidates[i];
    for (size_t i = 1; i < sizeof counts / sizeof counts[0]; i++)
        if (counts[i] > counts[best])
            best = i;
    return candidates[best];
}

void csv_init(struct csv *csv, const char *bytes, size_t length)
{
    bool has_byte_order_mark = length >= 3 && memcmp(bytes, "\xef\xbb\xbf", 3) == 0;

    *csv = (struct csv){ .at = bytes, .end = bytes + length, .next_line = 1 };
    if (has_byte_order_mark)
        csv->at += 3;
    csv->lone_returns = length > 0 && memchr(bytes, '\n', length) == NULL;
    csv->separator = find_separator(csv->at, csv->end);
}

/* The length of the line break ("\n" or "\r\n") at the current byte; 0 if there is none. "\r" alone
 * is a line break only in a file without any "\n". */
static size_t line_break(const struct csv *csv)
{
    if (csv->at < csv->end && *csv->at == '\n')
        return 1;
    if (csv->lone_returns && csv->at < csv->end && *csv->at == '\r')
        return 1;
    return csv->end - csv->at >= 2 && csv->at[0] == '\r' && csv->at[1] == '\n' ? 2 : 0;
}

static bool at_end_of_field(const struct csv *csv)
{
    return csv->at == csv->end || *csv->at == csv->separator || line_break(csv) > 0;
}

static CHECKED bool read_quoted(struct csv *csv, struct csv_field *field, struct error *error)
{
    field->text = ++csv->at;
    for (; csv->at < csv->end; csv->at++) {
        if (*csv->at == '\n' || (csv->lone_returns && *csv->at == '\r'))
            csv->next_line++;
        if (*csv->at != '"')
            continue;
        if (csv->end - csv->at < 2 || csv->at[1] != '"')
            break;
        field->has_doubled_quotes = true;
        csv->at++;
    }
    if (csv->at == csv->end)
        return error_set(error, ERROR_INVALID, "line %lld: a quoted field has no closing quote",
                         (long long)csv->line);
    field->length = (size_t)(csv->at++ - field->text);
    if (!at_end_of_field(csv))
        return error_set(error, ERROR_INVALID,
                         "line %lld: there is text after the closing quote of a field",
                         (long long)csv->line);
    return true;
}

static CHECKED bool read_field(struct csv *csv, struct csv_field *field, struct error *error)
{
    *field = (struct csv_field){ .text = csv->at };
    if (csv->at < csv->end && *csv->at == '"') {
        if (!read_quoted(csv, field, error))
            return false;
    } else {
        while (!at_end_of_field(csv))
            csv->at++;
        field->length = (size_t)(csv->at - field->text);
    }
    if (!text_is_utf8(field->text, field->length))
        return error_set(error, ERROR_INVALID, "line %lld is not UTF-8", (long long)csv->line);
    return true;
}

static void skip_empty_lines(struct csv *csv)
{
    size_t length;

    while ((length = line_break(csv)) > 0) {
        csv->at += length;
        csv->next_line++;
    }
}

bool csv_next(struct csv *csv, bool *more, struct error *error)
{
    skip_empty_lines(csv);
    csv->line = csv->next_line;
    csv->count = 0;
    *more = csv->at < csv->end;
    if (!*more)
        return true;
    for (;;) {
        if (csv->count == CSV_FIELDS_MAX)
            return error_set(error, ERROR_INVALID, "line %lld has more than %d fields",
                             (long long)csv->line, CSV_FIELDS_MAX);
        if (!read_field(csv, &csv->fields[csv->count++], error))
            return false;
        if (csv->at == csv->end || *csv->at != csv->separator)
            break;
        csv->at++;
    }
    csv->next_line += line_break(csv) > 0;
    csv->at += line_break(csv);
    return true;
}

const char *csv_copy(const struct csv_field *field, char *out, size_t size)
{
    size_t copied = 0;

    for (size_t i = 0; i < field->length;) {
        size_t length = text_utf8_sequence(field->text + i, field->length - i);

        if (length == 0 || copied + length >= size)
            break;
        memcpy(out + copied, field->text + i, length);
        copied += length;
        i += length;
        if (field->has_doubled_quotes && out[copied - 1] == '"')
            i++;
    }
    out[copied] = '\0';
    return out;
}
