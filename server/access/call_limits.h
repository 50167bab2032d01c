/* SPDX-License-Identifier: Apache-2.0 */
/* Limits what one principal can use (requests per second, calls in progress, and time on the HTTP
 * threads), so that a flood from one does not starve the others. */
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
    struct rate_limit *principals; /* counts each principal's requests and its calls in progress */
    struct rate_limit *inline_us;  /* counts each principal's microseconds on the HTTP threads */
};

/* Call it when a request's body has been read. False: the request was refused with 429. */
bool call_limits_check_rate(const struct call_limits *limits, struct exchange *exchange);
/* Runs a short call on its connection's HTTP thread, which other connections share. False: nothing
 * was run, because the call's principal has recently used more than its share of the HTTP threads'
 * time. Queue the call for a worker instead; call_limits_enter then counts it. */
bool call_limits_run_inline(const struct call_limits *limits, struct exchange *exchange,
                            void (*run)(struct exchange *exchange));
/* If the call's route is limited, counts the call among those that its principal has in progress,
 * until call_limits_leave. BUSY: the principal has too many calls in progress. */
CHECKED bool call_limits_enter(const struct call_limits *limits, struct exchange *exchange,
                               struct error *error);
void call_limits_leave(const struct call_limits *limits, struct exchange *exchange);
