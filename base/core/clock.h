/* SPDX-License-Identifier: Apache-2.0 */
/* The clocks: wall time in UTC for stored times, monotonic time for durations, and the machine's
 * uptime, with which the wall clock is compared. */
#pragma once

#include <stddef.h>
#include <stdint.h>

int64_t clock_utc_ms(void);       /* milliseconds since 1970 */
int64_t clock_monotonic_ns(void); /* CLOCK_MONOTONIC */
/* Milliseconds since the machine was started, including the time that it was suspended. */
int64_t clock_uptime_ms(void);

#define CLOCK_TEXT_SIZE 32
/* Writes UTC milliseconds as "2026-11-21T03:11:26.123Z"; returns `out`. Times before 1970 become
 * the first millisecond of 1970, times after 9999 the last of 9999. */
const char *clock_format_utc(int64_t utc_ms, char out[CLOCK_TEXT_SIZE]);
