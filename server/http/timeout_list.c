/* SPDX-License-Identifier: Apache-2.0 */
#include "server/http/timeout_list.h"

void timeout_list_init(struct timeout_list *list, int64_t length_ns)
{
    *list = (struct timeout_list){ .length_ns = length_ns };
    list->ring.previous = list->ring.next = &list->ring;
}

void timeout_set(struct timeout_list *list, struct timeout *deadline, int64_t now_ns)
{
    struct timeout *last;

    timeout_clear(deadline);
    last = list->ring.previous;
    deadline->list = list;
    deadline->at_ns = now_ns + list->length_ns;
    deadline->previous = last;
    deadline->next = &list->ring;
    last->next = deadline;
    list->ring.previous = deadline;
}

void timeout_clear(struct timeout *deadline)
{
    if (deadline->next == NULL)
        return;
    deadline->previous->next = deadline->next;
    deadline->next->previous = deadline->previous;
    deadline->previous = deadline->next = NULL;
    deadline->list = NULL;
}

struct timeout *timeout_expired(struct timeout_list *list, int64_t now_ns)
{
    struct timeout *first = list->ring.next;

    if (first == &list->ring || first->at_ns > now_ns)
        return NULL;
    timeout_clear(first);
    return first;
}

void *timeout_first(const struct timeout_list *list)
{
    return list->ring.next == &list->ring ? NULL : list->ring.next->owner;
}

int64_t timeout_next_ns(const struct timeout_list *list)
{
    const struct timeout *first = list->ring.next;

    return first == &list->ring ? INT64_MAX : first->at_ns;
}
