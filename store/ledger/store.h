/* SPDX-License-Identifier: Apache-2.0 */
/* What opsbrain remembers. Thread safe: every function may be called from any thread. Reads use a
 * pool of query-only connections; writes are closures run by one writer thread, which commits what
 * is queued together in one transaction and answers only after it is on disk (synchronous=FULL). */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/core/error.h"
#include "store/ledger/change.h"

/* Sets the file whose first line is the password of the PostgreSQL database; "": the one that
 * OPSBRAIN_DATABASE_PASSWORD_FILE names, if any. Call it before there are threads. */
void store_use_password_file(const char *path);
/* Locks `folder` (created, mode 0700) against a second process, and opens the database: the files
 * opsbrain.db and scrapes.db there, or, where `database` is not "", the PostgreSQL database at this
 * URI (store/engine/postgres.h). Brings the schema up to date. Fails if the schema is newer, a file
 * is corrupt, the folder is in use or the server cannot be reached. */
CHECKED bool store_open(const char *folder, const char *database, unsigned readers,
                        struct store **out, struct error *error);
/* Sets the file of the audit log's keys (store/audit/audit_key.h), which should be outside the data
 * folder; "": there is none. Call it before anything else is done with the store. */
CHECKED bool store_use_audit_key(struct store *store, const char *path, struct error *error);
/* NOT_FOUND unless the folder has an opsbrain.db. Creates nothing. */
CHECKED bool store_require(const char *folder, struct error *error);
void store_close(struct store *store); /* commits what is queued, checkpoints; NULL is fine */

/* Checks, for /ready, that the store can be read and written now. */
CHECKED bool store_check(struct store *store, struct error *error);
bool store_intact(struct store *store);        /* whether its files are still in their places */
int64_t store_size_bytes(struct store *store); /* both files with their WALs */
size_t store_queued(struct store *store);      /* writes waiting */

/* The calling thread serves many clients, and from now on may not wait for the store: a build with
 * assertions aborts where it would. */
void store_forbid_waiting(void);

/* Deletes what the settings say is too old: raw request records, finished jobs without a sweep (and
 * idempotency keys), answers to requests in several rounds after a day, audit rows, scraped metrics
 * by their level (and series without scrapes). 0 days: they are kept for ever. Works in small
 * transactions, so that others need not wait long, and returns when all is done. If some rows
 * cannot be deleted, the others still are, and the last error is returned. */
struct retention {
    int64_t records_days, jobs_days, audit_days;
    int64_t samples_days, samples_10s_days, samples_1m_days, samples_1h_days; /* by level */
};
CHECKED bool store_retain(struct store *store, const struct retention *retention, int64_t now_ms,
                          struct error *error);
