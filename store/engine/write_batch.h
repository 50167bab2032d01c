/* SPDX-License-Identifier: Apache-2.0 */
/* The writes of one transaction. Each closure runs in a savepoint of its own, so that a failed
 * closure undoes only its own changes. Private to database_writer.c. */
#pragma once

#include <pthread.h>
#include <stddef.h>

#include "store/engine/database_apply.h"

/* A write that somebody waits for; it lives on the waiting thread's stack. */
struct write {
    database_apply *apply;
    void *context;
    struct error *error;
    bool ok, done;
    bool rehearsed_ok;
    pthread_cond_t finished;
    struct write *next;
};

/* A write that nobody waits for. */
struct deferred_write {
    database_apply *apply;
    void *context;
    void (*release)(void *context);
    struct deferred_write *next;
};

struct write_batch {
    struct write *writes; /* in the order in which they were queued */
    struct deferred_write *deferred, **deferred_last;
    size_t deferred_count;
};

/* Runs the deferred writes, then the others, and commits. After true, `ok` and `error` of each
 * write say how it ended. Returns false if the transaction failed for a reason that no closure
 * caused (a full disk); the transaction may then still be open. `rehearses`: first runs all writes
 * once and rolls them back. */
CHECKED bool write_batch_commit(struct write_batch *batch, struct sql_connection *writer,
                                bool rehearses, struct error *error);
