/* SPDX-License-Identifier: Apache-2.0 */
/* Limits how many places a user can occupy at the same time (for example, one for each call in
 * progress), and how many permits a user can spend per second (a token bucket). Users are known by
 * name. Any thread can call these functions. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rate_limit;

#define RATE_LIMIT_NAME_SIZE 64 /* the longest name, including its NUL */

/* If `at_once` or `per_second` is 0, there is no such limit. `burst` is the size of the bucket: how
 * many permits can be spent together after a pause. */
struct rate_limit_limits {
    int64_t at_once, per_second, burst;
};

struct rate_limit *rate_limit_create(struct rate_limit_limits limits);
void rate_limit_destroy(struct rate_limit *rate_limit); /* does nothing for NULL */
/* How many names are remembered: all that occupy a place or have spent permits, and some that no
 * longer do. */
size_t rate_limit_count(struct rate_limit *rate_limit);

/* Occupies a place until rate_limit_leave is called. Returns false if the name already occupies
 * `at_once` places. */
bool rate_limit_enter(struct rate_limit *rate_limit, const char *name);
void rate_limit_leave(struct rate_limit *rate_limit, const char *name);
/* Spends a permit. Returns false if none is left; *wait_ms is then the time until the next permit.
 */
bool rate_limit_spend(struct rate_limit *rate_limit, const char *name, int64_t now_ns,
                      int64_t *wait_ms);
/* Spends permits for something that was already used, even if fewer are left: the bucket then
 * refills from below zero. */
void rate_limit_charge(struct rate_limit *rate_limit, const char *name, int64_t count,
                       int64_t now_ns);
/* Spends `count` permits. Returns false and spends none if fewer are left, which is always the case
 * if `count` is greater than `burst`; *wait_ms is then the time that the missing permits take to
 * accrue. */
bool rate_limit_spend_many(struct rate_limit *rate_limit, const char *name, int64_t count,
                           int64_t now_ns, int64_t *wait_ms);
