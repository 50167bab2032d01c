/* SPDX-License-Identifier: Apache-2.0 */
#include "base/core/clock.h"

#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static int64_t read_ns(clockid_t clock)
{
    struct timespec now;

    clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

int64_t clock_utc_ms(void)
{
    return read_ns(CLOCK_REALTIME) / 1000000;
}

int64_t clock_monotonic_ns(void)
{
    return read_ns(CLOCK_MONOTONIC);
}

/* Calls the kernel directly, because libraries that fake a process's clocks intercept libc's
 * functions, but a faked wall clock must be compared with the real uptime. */
int64_t clock_uptime_ms(void)
{
    struct timespec now = { 0 };

    syscall(SYS_clock_gettime, CLOCK_BOOTTIME, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Converts days since 1970 to a date in the Gregorian calendar (Hinnant, "chrono-compatible
 * low-level date algorithms"). Here, years begin in March, and an era of 400 years has 146,097
 * days. */
static void split_days(int64_t days, int *year, int *month, int *day)
{
    int64_t shifted = days + 719468; /* since 0000-03-01; never negative here */
    int64_t era = shifted / 146097, day_of_era = shifted % 146097;
    int64_t year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
    int64_t day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    int64_t month_from_march = (5 * day_of_year + 2) / 153;

    *day = (int)(day_of_year - (153 * month_from_march + 2) / 5 + 1);
    *month = (int)(month_from_march < 10 ? month_from_march + 3 : month_from_march - 9);
    *year = (int)(year_of_era + era * 400 + (*month <= 2));
}

static void put_digits(char *out, int count, int value)
{
    for (int i = count - 1; i >= 0; i--, value /= 10)
        out[i] = (char)('0' + value % 10);
}

const char *clock_format_utc(int64_t utc_ms, char out[CLOCK_TEXT_SIZE])
{
    static const int64_t year_9999_end_ms = 253402300799999, day_ms = 86400000;
    int64_t clamped = utc_ms < 0 ? 0 : utc_ms > year_9999_end_ms ? year_9999_end_ms : utc_ms;
    int time_of_day_ms = (int)(clamped % day_ms);
    int year, month, day;

    split_days(clamped / day_ms, &year, &month, &day);
    memcpy(out, "0000-00-00T00:00:00.000Z", 25);
    put_digits(out, 4, year);
    put_digits(out + 5, 2, month);
    put_digits(out + 8, 2, day);
    put_digits(out + 11, 2, time_of_day_ms / 3600000);
    put_digits(out + 14, 2, time_of_day_ms / 60000 % 60);
    put_digits(out + 17, 2, time_of_day_ms / 1000 % 60);
    put_digits(out + 20, 3, time_of_day_ms % 1000);
    return out;
}
