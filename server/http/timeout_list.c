#include "server/http/timeout_list.h"

void deadline_list_init(struct deadline_list *list, int64_t length_ns)
{
    *list = (struct deadline_list){ .length_ns = length_ns };
    list->ring.previous = list->ring.next = &list->ring;
}

void deadline_set(struct deadline_list *list, struct deadline *deadline, int64_t now_ns)
{
    struct deadline *last;

    deadline_clear(deadline);
    last = list->ring.previous;
    deadline->list = list;
    deadline->at_ns = now_ns + list->length_ns;
    deadline->previous = last;
    deadline->next = &list->ring;
    last->next = deadline;
    list->ring.previous = deadline;
}

void deadline_clear(struct deadline *deadline)
{
    if (deadline->next == NULL)
        return;
    deadline->previous->next = deadline->next;
    deadline->next->previous = deadline->previous;
    deadline->previous = deadline->next = NULL;
    deadline->list = NULL;
}

struct deadline *deadline_expired(struct deadline_list *list, int64_t now_ns)
{
    struct deadline *first = list->ring.next;

    if (first == &list->ring || first->at_ns > now_ns)
        return NULL;
    deadline_clear(first);
    return first;
}

void *deadline_first(const struct deadline_list *list)
{
    return list->ring.next == &list->ring ? NULL : list->ring.next->owner;
}

int64_t deadline_next_ns(const struct deadline_list *list)
{
    const struct deadline *first = list->ring.next;

    return first == &list->ring ? INT64_MAX : first->at_ns;
}
