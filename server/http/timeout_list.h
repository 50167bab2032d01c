/* SPDX-License-Identifier: Apache-2.0 */
/* A list of deadlines in order of expiry. Each is set to expire after the same length of time, so
 * that setting, moving or clearing a deadline takes constant time. A list belongs to one thread. */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct timeout_list;

struct timeout {
    struct timeout *previous, *next; /* NULL: not set */
    struct timeout_list *list;
    int64_t at_ns;
    void *owner; /* whose deadline it is; timeout_first returns this */
};

struct timeout_list {
    struct timeout ring; /* next: the first deadline; previous: the last; &ring: none */
    int64_t length_ns;
};

void timeout_list_init(struct timeout_list *list, int64_t length_ns);
/* Sets the deadline to `now_ns` plus the list's length. If it is already set, in this list or
 * another, it is moved. */
void timeout_set(struct timeout_list *list, struct timeout *deadline, int64_t now_ns);
void timeout_clear(struct timeout *deadline); /* does nothing if it is not set */
/* Removes and returns the first deadline that has passed; NULL: none has. */
struct timeout *timeout_expired(struct timeout_list *list, int64_t now_ns);
/* The owner of the first deadline; NULL: none is set. */
void *timeout_first(const struct timeout_list *list);
/* When the first deadline will pass; INT64_MAX: none is set. */
int64_t timeout_next_ns(const struct timeout_list *list);
