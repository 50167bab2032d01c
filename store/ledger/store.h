/* SPDX-License-Identifier: Apache-2.0 */
/* The store: everything that opsbrain remembers. Its functions are thread safe, except those that
 * must be called before other threads start. Reads use a pool of query-only connections. Writes are
 * closures: each database has a writer thread, which runs them and commits them in groups. A
 * function that writes returns only after its transaction is on disk, unless its comment says that
 * the write is stored later. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/core/error.h"
#include "store/ledger/change.h"

/* Sets the file whose first line is the password of the PostgreSQL database; "": the file that
 * OPSBRAIN_DATABASE_PASSWORD_FILE names, if any. Call this before other threads start. */
void store_use_password_file(const char *path);
/* Locks `folder` against a second process, and opens the database: the files opsbrain.db and
 * scrapes.db there or, if `database` is not "", the PostgreSQL database at this URI
 * (store/engine/postgres.h). Creates what is missing: the folder with mode 0700, and the files.
 * Brings the schema up to date. `readers`: the number of connections that read the main database.
 * Fails if, for example, another process uses the folder or the database, the schema comes from a
 * newer version of opsbrain, a file is corrupt, or PostgreSQL cannot be reached. */
CHECKED bool store_open(const char *folder, const char *database, unsigned readers,
                        struct store **out, struct error *error);
/* Reads the audit log's keys from a file (store/audit/audit_key.h), which should be outside the
 * data folder. `path` "": there are no keys. Call this before other threads use the store. */
CHECKED bool store_use_audit_key(struct store *store, const char *path, struct error *error);
/* NOT_FOUND unless the folder has an opsbrain.db. Creates nothing. */
CHECKED bool store_require(const char *folder, struct error *error);
/* Commits the queued writes, and closes the databases (database_close). NULL is fine. */
void store_close(struct store *store);

/* For /ready, checks that the store's files are still at their paths, and that the main database
 * can be read and written. A commit within the last second is enough to show that it can be
 * written. */
CHECKED bool store_check(struct store *store, struct error *error);
bool store_intact(struct store *store); /* whether the files are still at their paths */
/* Returns the size of both files with their WAL files, or of the tables in PostgreSQL. */
int64_t store_size_bytes(struct store *store);
size_t store_queued(struct store *store); /* number of queued writes that callers wait for */

/* Forbids the calling thread, which serves many clients, to wait for the store. In a build with
 * assertions, a later call that would wait aborts the process. */
void store_forbid_waiting(void);

/* For how many days rows are kept; 0: forever. store_apply_retention deletes older rows: raw
 * request records (records_days); idempotency keys, and finished jobs to which no sweep or attempt
 * refers (jobs_days); audit rows (audit_days); and scraped metrics, for which each resolution has
 * its own number of days. It also deletes series that are no longer used and, after one day,
 * questions asked on pages and the results of requests that took several rounds. It uses small
 * transactions, so that other writes need not wait long, and returns when everything is deleted. If
 * rows of one kind cannot be deleted, it still deletes those of the other kinds, and then fails
 * with the last error. */
struct retention {
    int64_t records_days, jobs_days, audit_days;
    /* Scraped metrics: raw, and rolled up to 10 s, 1 min and 1 h. */
    int64_t samples_days, samples_10s_days, samples_1m_days, samples_1h_days;
};
CHECKED bool store_apply_retention(struct store *store, const struct retention *retention,
                                   int64_t now_ms, struct error *error);
