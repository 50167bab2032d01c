/* SPDX-License-Identifier: Apache-2.0 */
/* The writes of one transaction. Each write is a closure (a function and its context), which runs
 * in a savepoint of its own: if it fails, only its own changes are undone. Private to
 * database_writer.c. */
#pragma once

#include <pthread.h>
#include <stddef.h>

#include "store/engine/database_apply.h"

/* A write that a thread is waiting for; it lives on that thread's stack. */
struct write {
    database_apply *apply;
    void *context;
    struct error *error;
    bool ok, done;
    bool rehearsed_ok;
    pthread_cond_t finished;
    struct write *next;
};

/* A write that nothing waits for. */
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

/* Runs the deferred writes, then the others, and commits. If it returns true, `ok` and `error` of
 * each write say how it ended. Returns false if the transaction failed as a whole, for example
 * because the disk is full; the transaction may then still be open. `rehearses`: first runs all
 * writes once and rolls them back. */
CHECKED bool write_batch_commit(struct write_batch *batch, struct sql_connection *writer,
                                bool rehearses, struct error *error);
