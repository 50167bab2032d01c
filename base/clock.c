#include "base/clock.h"

#include <stdio.h>
#include <time.h>

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

int64_t clock_thread_cpu_ns(void)
{
    return read_ns(CLOCK_THREAD_CPUTIME_ID);
}

const char *clock_format_utc(int64_t utc_ms, char out[CLOCK_TEXT_SIZE])
{
    static const int64_t year_9999_end_ms = 253402300799999;
    int64_t clamped = utc_ms < 0 ? 0 : utc_ms > year_9999_end_ms ? year_9999_end_ms : utc_ms;
    time_t seconds = (time_t)(clamped / 1000);
    struct tm parts;
    size_t length;

    gmtime_r(&seconds, &parts);
    length = strftime(out, CLOCK_TEXT_SIZE, "%Y-%m-%dT%H:%M:%S", &parts);
    snprintf(out + length, CLOCK_TEXT_SIZE - length, ".%03dZ", (int)(clamped % 1000));
    return out;
}
