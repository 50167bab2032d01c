#include "base/log.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"

#define LINE_SIZE 2048 /* under PIPE_BUF, so that lines of several threads never mix */

/* C0 and DEL become '?', and so do both bytes of C1 as UTF-8 (C2 80 to C2 9F), which terminals obey
 * too. */
static void replace_controls(char *line)
{
    for (unsigned char *c = (unsigned char *)line; *c != '\0'; c++) {
        bool is_c1 = c[0] == 0xc2 && c[1] >= 0x80 && c[1] <= 0x9f;

        if (is_c1)
            c[1] = '?';
        if (is_c1 || c[0] < 0x20 || c[0] == 0x7f)
            c[0] = '?';
    }
}

/* Where to cut so that at most `limit` bytes stay and no UTF-8 sequence is split. */
static size_t cut_at(const char *line, size_t limit)
{
    while (limit > 0 && ((unsigned char)line[limit] & 0xc0) == 0x80)
        limit--;
    return limit;
}

/* Uses no heap: exhausted memory is logged too. */
__attribute__((format(printf, 2, 0))) static void write_line(const char *level, const char *format,
                                                             va_list args)
{
    char line[LINE_SIZE + 2]; /* newline and NUL */
    char time[CLOCK_TEXT_SIZE];
    size_t length;

    clock_format_utc(clock_utc_ms(), time);
    length = (size_t)snprintf(line, sizeof line, "%s %s ", time, level);
    vsnprintf(line + length, sizeof line - length, format, args);
    replace_controls(line);
    length = strlen(line);
    if (length >= LINE_SIZE)
        length = cut_at(line, LINE_SIZE - 1);
    line[length++] = '\n';
    if (write(STDERR_FILENO, line, length) < 0)
        return; /* nowhere left to tell it */
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
