/* SPDX-License-Identifier: Apache-2.0 */
/* Limits how much each of many users, known by name, may use: places occupied at the same time, and
 * permits per second (a token bucket). All functions may be called by any thread. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rate_limit;

#define RATE_LIMIT_NAME_SIZE 64 /* of the longest name, with its NUL */

/* `at_once` or `per_second` 0: there is no such limit. `burst` is the size of the bucket: how many
 * permits can be spent together after a pause. */
struct rate_limit_limits {
    int64_t at_once, per_second, burst;
};

struct rate_limit *rate_limit_create(struct rate_limit_limits limits);
void rate_limit_destroy(struct rate_limit *rate_limit); /* does nothing for NULL */
/* How many names are remembered: those that use something now, and some that did earlier. */
size_t rate_limit_count(struct rate_limit *rate_limit);

/* Occupies a place, until rate_limit_leave. Returns false if the name already has `at_once`. */
bool rate_limit_enter(struct rate_limit *rate_limit, const char *name);
void rate_limit_leave(struct rate_limit *rate_limit, const char *name);
/* Spends a permit. Returns false if none is left; *wait_ms is the time until the next
 * permit. */
bool rate_limit_spend(struct rate_limit *rate_limit, const char *name, int64_t now_ns,
                      int64_t *wait_ms);
/* Spends permits for something that was already used, even more than are left: the bucket then
 * refills from below zero. */
void rate_limit_charge(struct rate_limit *rate_limit, const char *name, int64_t count,
                       int64_t now_ns);
/* Spends `count` permits. Returns false and spends none if fewer are left, which is always so if
 * `count` is above `burst`; *wait_ms is the time in which the missing permits accrue. */
bool rate_limit_spend_many(struct rate_limit *rate_limit, const char *name, int64_t count,
                           int64_t now_ns, int64_t *wait_ms);
