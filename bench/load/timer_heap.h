/* Many deadlines, the next one first: a binary heap of borrowed members. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define DEADLINE_NEVER INT64_MAX

/* A member of whatever waits; zeroed memory is a deadline that is not set. */
struct deadline {
    int64_t at_ns;
    size_t place; /* in the heap, from 1; 0: not set */
};

struct deadlines {
    struct deadline **heap; /* from 1 */
    size_t count, capacity;
};

void deadlines_finish(struct deadlines *deadlines);
void deadlines_set(struct deadlines *deadlines, struct deadline *deadline, int64_t at_ns);
void deadlines_unset(struct deadlines *deadlines, struct deadline *deadline); /* or not set: fine */
int64_t deadlines_next_ns(const struct deadlines *deadlines); /* DEADLINE_NEVER when empty */
/* Unsets and returns the first one if it is due at now_ns, else NULL. */
struct deadline *deadlines_take(struct deadlines *deadlines, int64_t now_ns);
