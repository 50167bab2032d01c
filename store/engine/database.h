/* SPDX-License-Identifier: Apache-2.0 */
/* One database of an engine: one writer thread, which commits queued writes in groups, and a pool
 * of query-only connections. Private to store/. */
#pragma once

#include "migrations/migrations.h"
#include "store/engine/database_apply.h"

struct database;

struct sql_engine; /* store/engine/sql_engine.h */

/* While a database is an unfinished copy, this table names its origin (store/copy/). */
#define DATABASE_UNFINISHED_COPY "unfinished_copy"

/* Opens the database at `place`, brings its schema up to date, starts the writer, and opens
 * `readers` query-only connections. A missing SQLite file is created, with mode 0600; a PostgreSQL
 * database must exist. CONFLICT: the database is an unfinished copy, is held by another process, or
 * is not one that this program can use. If the environment variable OPSBRAIN_REHEARSE_WRITES is set
 * (for tests), each transaction is run, rolled back and run again. */
CHECKED bool database_open(const struct sql_engine *engine, const char *place,
                           const struct migration_set *migrations, unsigned readers,
                           struct database **out, struct error *error);
/* Commits what is queued, joins the writer thread, and checkpoints the database (SQLite) or
 * releases it for other processes (PostgreSQL). NULL is fine. */
void database_close(struct database *database);

/* Sets a function that is called before queued writes are run, every few seconds while nothing is
 * queued, and at the end of database_close. As long as the function returns false, each
 * database_write fails with the function's error, and nothing is written to the files. If
 * `guard` is NULL, no function is called. */
void database_guard(struct database *database,
                    CHECKED bool (*guard)(void *context, struct error *error), void *context);

/* From now on, the calling thread must not wait for the store (store/ledger/store.h). */
void database_forbid_waiting(void);
bool database_may_wait(void);

/* Queues a closure (`apply` with its `context`), and returns once its transaction is on disk or has
 * failed. */
CHECKED bool database_write(struct database *database, database_apply *apply, void *context,
                            struct error *error);
/* Queues a closure that nobody waits for. It is run in the transaction of the next write or, if
 * none is queued within a second, in a transaction of its own. A transaction runs such closures
 * before its writes, so they never overwrite what the calling thread writes later with
 * database_write. The database owns `context`, and calls release(context) when the write is done or
 * refused. BUSY: too many closures are waiting, or the database is being closed. If the closure
 * fails, that is logged; if the commit fails, the closure is run again, unless the database is
 * being closed. */
CHECKED bool database_defer_take(struct database *database, database_apply *apply, void *context,
                                 void (*release)(void *context), struct error *error);
/* Returns true once the closures deferred so far have run and what they wrote is on disk. */
CHECKED bool database_flush(struct database *database, struct error *error);

/* A query-only connection, lent until the end of the scope. database_reader waits while all are
 * lent. A thread may have only one at a time. */
struct reader {
    struct database *database;
    struct sql_connection *connection;
};
#define READER_AUTO __attribute__((cleanup(database_reader_return))) struct reader
struct reader database_reader(struct database *database);
void database_reader_return(struct reader *reader);

size_t database_queued(struct database *database); /* writes not done yet, except deferred ones */
int64_t database_size_bytes(struct database *database); /* on disk; 0: not known */
/* Returns whether both are in the same place; if so, each reports the size of both. */
bool database_shares_place(const struct database *one, const struct database *other);
/* SQLite: if much of the file is free, gives some of the space back to the file system, in one
 * transaction; *more: there may be more to give back. PostgreSQL: does nothing; *more is false. */
CHECKED bool database_shrink(struct database *database, bool *more, struct error *error);
/* When the last commit reached the disk, on the monotonic clock; 0: none yet. */
int64_t database_committed_ns(struct database *database);
