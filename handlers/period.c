/* SPDX-License-Identifier: Apache-2.0 */
#include "handlers/period.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/core/clock.h"
#include "handlers/answer.h"
#include "handlers/values.h"

#define YEARS_AGO_MAX 100

static int64_t seconds_of(char unit)
{
    switch (unit) {
    case 's':
        return 1;
    case 'm':
        return 60;
    case 'h':
        return 3600;
    case 'd':
        return 86400;
    case 'w':
        return 7 * 86400;
    default:
        return 0;
    }
}

/* Reads a time given as how long ago it was, such as "24h". */
static bool read_ago(const char *text, int64_t *out)
{
    char number[16];
    size_t length = strspn(text, "0123456789");
    int64_t unit_s = text[length] == '\0' ? 0 : seconds_of(text[length]), count;

    if (unit_s == 0 || text[length + 1] != '\0' || length == 0 || length >= sizeof number)
        return false;
    memcpy(number, text, length);
    number[length] = '\0';
    if (!text_to_integer(number, 0, INT64_C(366) * YEARS_AGO_MAX * 86400 / unit_s, &count))
        return false;
    *out = clock_utc_ms() - count * unit_s * 1000;
    return true;
}

/* Reads an offset such as "+02:00", in seconds east of UTC; "" and "Z" are 0. */
static bool read_offset(const char *text, int64_t *out_s)
{
    int hours, minutes, length = 0;

    *out_s = 0;
    if (text[0] == '\0' || strcmp(text, "Z") == 0)
        return true;
    if ((text[0] != '+' && text[0] != '-')
        || sscanf(text + 1, "%2d:%2d%n", &hours, &minutes, &length) != 2 || text[1 + length] != '\0'
        || hours > 23 || minutes > 59)
        return false;
    *out_s = (text[0] == '-' ? -1 : 1) * (hours * 3600 + minutes * 60);
    return true;
}

/* Reads the time of day after the date: "T03:00", optionally with seconds; fractions of a second
 * are ignored. Returns the text after it, or `text` if there is no time of day. */
static const char *read_clock(const char *text, struct tm *time)
{
    int length = 0;

    if ((text[0] != 'T' && text[0] != ' ')
        || sscanf(text + 1, "%2d:%2d%n", &time->tm_hour, &time->tm_min, &length) != 2)
        return text;
    text += 1 + length;
    if (text[0] == ':' && sscanf(text + 1, "%2d%n", &time->tm_sec, &length) == 1)
        text += 1 + length;
    if (text[0] == '.')
        text += 1 + strspn(text + 1, "0123456789");
    return text;
}

/* Reads a time in ISO 8601. A time without an offset is in UTC. */
static bool read_date(const char *text, int64_t *out)
{
    struct tm time = { 0 }, stated;
    int64_t offset_s;
    int length = 0;

    if (strspn(text, "0123456789-") < 10
        || sscanf(text, "%4d-%2d-%2d%n", &time.tm_year, &time.tm_mon, &time.tm_mday, &length) != 3)
        return false;
    time.tm_year -= 1900;
    time.tm_mon--;
    if (!read_offset(read_clock(text + length, &time), &offset_s))
        return false;
    stated = time;
    *out = ((int64_t)timegm(&time) - offset_s) * 1000;
    return time.tm_mday == stated.tm_mday && time.tm_mon == stated.tm_mon
           && time.tm_hour == stated.tm_hour && time.tm_min == stated.tm_min;
}

static CHECKED bool read_time(const struct call *call, const char *name, int64_t *out,
                              struct error *error)
{
    const char *text = call_text(call, name);
    char shown[VALUE_SHOWN_SIZE];

    *out = 0;
    if (text == NULL || read_ago(text, out) || (read_date(text, out) && *out > 0))
        return true;
    return error_set(error, ERROR_INVALID,
                     "\"%s\" is %s: it must be a time such as 2026-11-21 or 2026-11-21T03:00Z, or "
                     "how long ago, such as 30m, 24h or 7d",
                     name, value_show_text(text, shown));
}

bool period_read(const struct call *call, struct period *out, struct error *error)
{
    if (!read_time(call, "since", &out->since_ms, error)
        || !read_time(call, "until", &out->until_ms, error))
        return false;
    return out->until_ms == 0 || out->since_ms < out->until_ms
           || error_set(error, ERROR_INVALID,
                        "\"until\" is not after \"since\": give a later \"until\"");
}

bool period_page(const struct call *call, struct period *out, struct error *error)
{
    int64_t before_ms;

    if (!period_read(call, out, error) || !answer_page_cursor(call, &before_ms, error))
        return false;
    if (before_ms > 0 && (out->until_ms == 0 || before_ms < out->until_ms))
        out->until_ms = before_ms;
    return true;
}

bool period_contains(const struct period *period, int64_t at_ms)
{
    return at_ms >= period->since_ms && (period->until_ms == 0 || at_ms < period->until_ms);
}

size_t period_count(const struct period *period, size_t count,
                    int64_t (*time_of)(const void *rows, size_t index), const void *rows)
{
    while (count > 0 && time_of(rows, count - 1) < period->since_ms)
        count--;
    return count;
}
