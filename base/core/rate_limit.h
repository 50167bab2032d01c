/* SPDX-License-Identifier: Apache-2.0 */
/* Limits how much each of many users, known by name, may use: places held at the same time, and
 * permits per second (a token bucket). Any thread. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rate_limit;

#define RATE_LIMIT_NAME_SIZE 64

/* 0: no such limit. `burst` is the size of a bucket: how many permits are available at once after a
 * pause.
 */
struct rate_limit_limits {
    int64_t at_once, per_second, burst;
};

struct rate_limit *rate_limit_create(struct rate_limit_limits limits);
void rate_limit_destroy(struct rate_limit *rate_limit); /* NULL is fine */
/* How many names are remembered: those that use something now, and some that did a short while ago.
 */
size_t rate_limit_count(struct rate_limit *rate_limit);

/* Takes a place; false: the name already holds `at_once`. Return it with rate_limit_leave. */
bool rate_limit_enter(struct rate_limit *rate_limit, const char *name);
void rate_limit_leave(struct rate_limit *rate_limit, const char *name);
/* Takes a permit; false: none is left, and the next is available in *wait_ms. */
bool rate_limit_spend(struct rate_limit *rate_limit, const char *name, int64_t now_ns,
                      int64_t *wait_ms);
/* Takes permits for something already used, even more than are left: the bucket then refills from
 * below zero.
 */
void rate_limit_charge(struct rate_limit *rate_limit, const char *name, int64_t count,
                       int64_t now_ns);
/* Takes this many at once, or none. */
bool rate_limit_spend_many(struct rate_limit *rate_limit, const char *name, int64_t count,
                           int64_t now_ns, int64_t *wait_ms);
