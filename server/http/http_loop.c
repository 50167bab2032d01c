/* SPDX-License-Identifier: Apache-2.0 */
#include "server/http/http_loop.h"

#include <errno.h>
#include <string.h>
#include <sys/eventfd.h>

void http_loop_wake(struct http_loop *loop)
{
    if (eventfd_write(loop->wake_fd, 1) != 0)
        log_error("cannot wake an HTTP thread: %s", strerror(errno));
}

bool http_loop_post(struct http_loop *loop, struct note *note)
{
    bool fresh, first = false;

    pthread_mutex_lock(&loop->lock);
    fresh = !note->posted;
    if (fresh) {
        first = loop->notes == NULL;
        note->posted = true;
        note->next = NULL;
        *loop->notes_end = note;
        loop->notes_end = &note->next;
    }
    pthread_mutex_unlock(&loop->lock);
    if (first)
        http_loop_wake(loop);
    return fresh;
}

static struct note *pop_note(struct http_loop *loop)
{
    struct note *note;

    pthread_mutex_lock(&loop->lock);
    note = loop->notes;
    if (note != NULL) {
        loop->notes = note->next;
        if (loop->notes == NULL)
            loop->notes_end = &loop->notes;
        note->posted = false;
    }
    pthread_mutex_unlock(&loop->lock);
    return note;
}

void http_loop_deliver_notes(struct http_loop *loop)
{
    for (struct note *note = pop_note(loop); note != NULL; note = pop_note(loop))
        note->deliver(note);
}

void http_loop_check_keys(struct http_loop *loop)
{
    atomic_store(&loop->keys_changed, true);
    http_loop_wake(loop);
}
