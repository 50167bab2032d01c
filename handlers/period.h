/* SPDX-License-Identifier: Apache-2.0 */
/* The arguments `since` and `until`, for tools that list rows that have a time. */
#pragma once

#include "handlers/tool.h"

#define PARAMS_PERIOD                                                                              \
    { "since", VALUE_TEXT, .low = 1, .high = 40,                                                   \
      .help = "A date, 2026-11-21T03:00Z, 24h or 7d." },                                           \
    {                                                                                              \
        "until", VALUE_TEXT, .low = 1, .high = 40, .help = "Before this time."                     \
    }

struct period {
    int64_t since_ms; /* UTC, inclusive; 0: not given */
    int64_t until_ms; /* UTC, exclusive; 0: not given */
};

/* Reads the two arguments. INVALID: one of them is not a time, or `until` is not after `since`. */
CHECKED bool period_read(const struct call *call, struct period *out, struct error *error);
/* Does the same for a list whose cursor is a time: `until_ms` is then the earlier of `until` and
 * the cursor. */
CHECKED bool period_page(const struct call *call, struct period *out, struct error *error);
bool period_contains(const struct period *period, int64_t at_ms);
/* Returns how many of the rows are not older than `since`. The rows are sorted, newest first; the
 * caller has already applied `until`. */
size_t period_count(const struct period *period, size_t count,
                    int64_t (*time_of)(const void *rows, size_t index), const void *rows);
