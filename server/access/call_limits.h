/* SPDX-License-Identifier: Apache-2.0 */
/* Limits what one principal may use, so that a flood from one does not starve the others: requests
 * per second, calls that run or wait at once, and time of the HTTP threads. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/core/error.h"

struct authority;
struct exchange;
struct rate_limit;
struct settings;

struct call_limits { /* its members are borrowed */
    const struct settings *settings;
    const struct authority *authority;
    struct rate_limit *principals; /* calls of each principal */
    struct rate_limit *inline_us;  /* each principal's time on the HTTP threads */
};

/* Call it once a request's body is read. False: it was answered with 429. */
bool call_limits_check_rate(const struct call_limits *limits, struct exchange *exchange);
/* Runs a short call on the thread of its connection, which others share. False, and nothing was
 * run: its principal has recently used more than its share of that thread, so that for a while its
 * calls go to the workers, where they are counted. */
bool call_limits_run_inline(const struct call_limits *limits, struct exchange *exchange,
                            void (*run)(struct exchange *exchange));
/* Counts a call among those that its principal has in progress, until call_limits_leave. BUSY: they
 * are too many. */
CHECKED bool call_limits_enter(const struct call_limits *limits, struct exchange *exchange,
                               struct error *error);
void call_limits_leave(const struct call_limits *limits, struct exchange *exchange);
