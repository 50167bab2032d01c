/* Deadlines of one length, in order of expiry: constant time to set, move and clear. A list belongs
 * to one thread. */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct deadline_list;

struct deadline {
    struct deadline *previous, *next; /* NULL: not set */
    struct deadline_list *list;
    int64_t at_ns;
    void *owner; /* the setter's */
};

struct deadline_list {
    struct deadline ring; /* the anchor of a circular list */
    int64_t length_ns;
};

void deadline_list_init(struct deadline_list *list, int64_t length_ns);
/* Now plus the list's length; one that is set already, in this list or another, moves. */
void deadline_set(struct deadline_list *list, struct deadline *deadline, int64_t now_ns);
void deadline_clear(struct deadline *deadline); /* one that is not set stays so */
/* The first that has passed, cleared; NULL if there is none. */
struct deadline *deadline_expired(struct deadline_list *list, int64_t now_ns);
/* The owner of the first that is set; NULL: there is none. */
void *deadline_first(const struct deadline_list *list);
/* When the first will pass; INT64_MAX in an empty list. */
int64_t deadline_next_ns(const struct deadline_list *list);
