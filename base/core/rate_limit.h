/* SPDX-License-Identifier: Apache-2.0 */
/* Limits how many places a user can occupy at the same time (for example, one for each call in
 * progress), and how many permits a user can spend per second (a token bucket). Users are known by
 * name. Any thread can call these functions. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rate_limit;

#define RATE_LIMIT_NAME_SIZE 64 /* size of the longest name in bytes, including its NUL */

struct rate_limit_limits {
    int64_t at_once;    /* how many places a user can occupy at the same time; 0: no limit */
    int64_t per_second; /* how many permits come back to a user per second; 0: no limit */
    int64_t burst; /* the size of the bucket: how many permits can be spent at once after a pause */
};

struct rate_limit *rate_limit_create(struct rate_limit_limits limits);
void rate_limit_destroy(struct rate_limit *rate_limit); /* does nothing for NULL */
/* Returns how many users are remembered: all that occupy a place or have spent permits that have
 * not come back yet, and some others. */
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
