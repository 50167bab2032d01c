/* SPDX-License-Identifier: Apache-2.0 */
#include "base/core/log.h"

#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/core/clock.h"

#define LINE_SIZE 2048 /* maximum length of a line in bytes, including the newline */
/* Maximum number of bytes in a write(2). It is at most PIPE_BUF, so that lines from different
 * threads never interleave. */
#define LINES_SIZE 4096
_Static_assert(LINES_SIZE <= PIPE_BUF, "a write(2) of more than PIPE_BUF bytes can be split");

/* Replaces control characters with '?': C0, DEL, and also C1 (in UTF-8 two bytes, C2 80 to C2 9F),
 * because terminals interpret them, too. */
static void replace_controls(char *line)
{
    unsigned char *c = (unsigned char *)line + text_plain_length(line, strlen(line));

    for (; *c != '\0'; c++) {
        bool is_c1 = c[0] == 0xc2 && c[1] >= 0x80 && c[1] <= 0x9f;

        if (is_c1)
            c[1] = '?';
        if (is_c1 || c[0] < 0x20 || c[0] == 0x7f)
            c[0] = '?';
    }
}

/* The length of the longest prefix of the line that has at most `limit` bytes and does not end
 * within a UTF-8 sequence. */
static size_t truncated_length(const char *line, size_t limit)
{
    while (limit > 0 && ((unsigned char)line[limit] & 0xc0) == 0x80)
        limit--;
    return limit;
}

static void write_bytes(const char *bytes, size_t length)
{
    if (write(STDERR_FILENO, bytes, length) < 0)
        return; /* there is nowhere left to report it */
}

/* Does not use the heap, so that even an out-of-memory error can be logged. */
__attribute__((format(printf, 2, 0))) static void write_line(const char *level, const char *format,
                                                             va_list args)
{
    char line[LINE_SIZE + 2]; /* + 2: newline and NUL */
    char time[CLOCK_TEXT_SIZE];
    size_t length;

    clock_format_utc(clock_utc_ms(), time);
    length = (size_t)snprintf(line, sizeof line, "%s %s ", time, level);
    vsnprintf(line + length, sizeof line - length, format, args);
    replace_controls(line);
    length = strlen(line);
    if (length >= LINE_SIZE)
        length = truncated_length(line, LINE_SIZE - 1);
    line[length++] = '\n';
    write_bytes(line, length);
}

void log_info(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    write_line("info", format, args);
    va_end(args);
}

void log_warning(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    write_line("warning", format, args);
    va_end(args);
}

void log_error(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    write_line("error", format, args);
    va_end(args);
}

void log_lines_begin(struct log_lines *lines)
{
    int64_t now_ms = clock_utc_ms();

    if (lines->time_ms != now_ms)
        clock_format_utc(now_ms, lines->time);
    lines->time_ms = now_ms;
    lines->line_start = lines->text.length;
    text_add(&lines->text, lines->time);
    text_add(&lines->text, " info ");
}

static void write_all_but_last(struct log_lines *lines)
{
    struct text *text = &lines->text;
    size_t last_length = text->length - lines->line_start;

    write_bytes(text->data, lines->line_start);
    memmove(text->data, text->data + lines->line_start, last_length + 1);
    text->length = last_length;
    lines->line_start = 0;
}

void log_lines_end(struct log_lines *lines)
{
    struct text *text = &lines->text;
    char *line = text->data + lines->line_start;

    replace_controls(line);
    if (text->length - lines->line_start >= LINE_SIZE)
        text->length = lines->line_start + truncated_length(line, LINE_SIZE - 1);
    text_add_char(text, '\n');
    if (text->length > LINES_SIZE)
        write_all_but_last(lines);
}

void log_lines_write(struct log_lines *lines)
{
    if (lines->text.length > 0)
        write_bytes(lines->text.data, lines->text.length);
    text_clear(&lines->text);
}

void log_lines_finish(struct log_lines *lines)
{
    log_lines_write(lines);
    text_finish(&lines->text);
}
