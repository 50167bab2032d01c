/* SPDX-License-Identifier: Apache-2.0 */
/* What opsbrain remembers. Thread safe, except for the functions that are to be called before there
 * are other threads. Reads use a pool of query-only connections; writes are closures, which a
 * writer thread for each database runs and commits in groups. A function that writes returns only
 * after its transaction is on disk, unless its comment says that the write is stored later. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/core/error.h"
#include "store/ledger/change.h"

/* Sets the file whose first line is the password of the PostgreSQL database; "": the file that
 * OPSBRAIN_DATABASE_PASSWORD_FILE names, if any. Call this before there are threads. */
void store_use_password_file(const char *path);
/* Locks `folder` against a second process, and opens the database: the files opsbrain.db and
 * scrapes.db there or, if `database` is not "", the PostgreSQL database at this URI
 * (store/engine/postgres.h). Creates what is missing: the folder with mode 0700, and the files.
 * Brings the schema up to date. `readers`: the number of connections that read the main database.
 * Fails if the schema is newer, a file is corrupt, the folder is in use or PostgreSQL cannot be
 * reached. */
CHECKED bool store_open(const char *folder, const char *database, unsigned readers,
                        struct store **out, struct error *error);
/* Sets the file of the audit log's keys (store/audit/audit_key.h), which should be outside the data
 * folder; "": there is none. Call this before other threads use the store. */
CHECKED bool store_use_audit_key(struct store *store, const char *path, struct error *error);
/* NOT_FOUND unless the folder has an opsbrain.db. Creates nothing. */
CHECKED bool store_require(const char *folder, struct error *error);
void store_close(struct store *store); /* commits what is queued, checkpoints; NULL is fine */

/* Checks, for /ready, that the files are still at their paths, and that the main database can be
 * read and written. A commit within the last second shows that it can be written. */
CHECKED bool store_check(struct store *store, struct error *error);
bool store_intact(struct store *store); /* whether its files are still at their paths */
/* Returns the size of both files with their WALs, or of the tables in PostgreSQL. */
int64_t store_size_bytes(struct store *store);
size_t store_queued(struct store *store); /* writes that somebody waits for */

/* The calling thread serves many clients, and from now on may not wait for the store: a build with
 * assertions aborts where it would. */
void store_forbid_waiting(void);

/* store_apply_retention deletes what is too old: raw request records (records_days); finished jobs
 * that no sweep or attempt names, and idempotency keys (jobs_days); audit rows (audit_days);
 * scraped metrics, by their level, and series that have no scrapes left. If a number of days is 0,
 * its rows are kept for ever. After a day, it also deletes answers to requests in several rounds,
 * and questions asked on pages. It works in small transactions, so that others need not wait long,
 * and returns when all is done. If the rows of one kind cannot be deleted, those of the others
 * still are, and the last error is returned. */
struct retention {
    int64_t records_days, jobs_days, audit_days;
    int64_t samples_days, samples_10s_days, samples_1m_days, samples_1h_days; /* by level */
};
CHECKED bool store_apply_retention(struct store *store, const struct retention *retention,
                                   int64_t now_ms, struct error *error);
