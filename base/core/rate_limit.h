/* SPDX-License-Identifier: Apache-2.0 */
/* How much each of many names may use: so many things at once, and so many in a second (a bucket of
 * permits). Any thread. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct rate_limit;

#define RATE_LIMIT_NAME_SIZE 64

/* 0: no limit of that sort. `burst` is the size of a bucket: what may come at once after a pause.
 */
struct rate_limit_limits {
    int64_t at_once, per_second, burst;
};

struct rate_limit *rate_limit_create(struct rate_limit_limits limits);
void rate_limit_destroy(struct rate_limit *rate_limit); /* NULL is fine */

/* Takes one of the places; false: the name has them all. Give it back with rate_limit_leave. */
bool rate_limit_enter(struct rate_limit *rate_limit, const char *name);
void rate_limit_leave(struct rate_limit *rate_limit, const char *name);
/* Takes a permit; false: none is left, and *wait_ms is when there will be one. */
bool rate_limit_spend(struct rate_limit *rate_limit, const char *name, int64_t now_ns,
                      int64_t *wait_ms);
/* Takes an amount that was already used, even beyond what is left: it must then be refilled first.
 */
void rate_limit_charge(struct rate_limit *rate_limit, const char *name, int64_t count,
                       int64_t now_ns);
/* Takes this many at once, or none. */
bool rate_limit_spend_many(struct rate_limit *rate_limit, const char *name, int64_t count,
                           int64_t now_ns, int64_t *wait_ms);
