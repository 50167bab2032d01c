/* How much each of many names may use: so many things at once, and so many in a second (a bucket of
 * tokens). Any thread. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct quota;

#define QUOTA_NAME_SIZE 64

/* 0: no limit of that sort. `burst` is the size of a bucket: what may come at once after a pause.
 */
struct quota_limits {
    int64_t at_once, per_second, burst;
};

struct quota *quota_create(struct quota_limits limits);
void quota_destroy(struct quota *quota); /* NULL is fine */

/* Takes one of the places; false: the name has them all. Give it back with quota_leave. */
bool quota_enter(struct quota *quota, const char *name);
void quota_leave(struct quota *quota, const char *name);
/* Takes a token; false: none is left, and *wait_ms is when there will be one. */
bool quota_spend(struct quota *quota, const char *name, int64_t now_ns, int64_t *wait_ms);
/* Takes so many that were used already, also beyond what is left: then they come back first. */
void quota_charge(struct quota *quota, const char *name, int64_t count, int64_t now_ns);
/* Takes so many at once, or none. */
bool quota_spend_many(struct quota *quota, const char *name, int64_t count, int64_t now_ns,
                      int64_t *wait_ms);
