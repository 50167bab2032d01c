/* SPDX-License-Identifier: Apache-2.0 */
/* What opsbrain remembers. Thread safe: every function may be called from any thread. Reads use a
 * pool of query-only connections; writes are closures run by one writer thread, which commits what
 * is queued together in one transaction and answers only after it is on disk (synchronous=FULL). */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/core/error.h"
#include "store/ledger/change.h"

/* The file whose first line is the password for databases of other servers; "": that of
 * OPSBRAIN_DATABASE_PASSWORD_FILE, if any. Call it before there are threads. */
void store_use_password_file(const char *path);
/* Locks `folder` (created, mode 0700) against a second process, and opens the database: the files
 * opsbrain.db and scrapes.db there, or, where `database` is not "", the PostgreSQL database at this
 * URI (store/engine/postgres.h). Brings the schema up to date. A newer schema, a corrupt file, a
 * folder in use or a server that cannot be reached is an error of one sentence. */
CHECKED bool store_open(const char *folder, const char *database, unsigned readers,
                        struct store **out, struct error *error);
/* The file of the keys that rows of the audit are made with (store/audit/audit_key.h), outside
 * `folder`; "": there is none. Call it before anything else is done with the store. */
CHECKED bool store_use_audit_key(struct store *store, const char *path, struct error *error);
/* NOT_FOUND unless the folder has an opsbrain.db. Creates nothing. */
CHECKED bool store_require(const char *folder, struct error *error);
void store_close(struct store *store); /* commits what is queued, checkpoints; NULL is fine */

CHECKED bool
store_check(struct store *store,
            struct error *error);       /* whether it can be read and written now, for /ready */
bool store_intact(struct store *store); /* whether its files are still in their places */
int64_t store_size_bytes(struct store *store); /* both files with their WALs */
size_t store_queued(struct store *store);      /* writes waiting */

/* The calling thread serves many clients, and from now on may not wait for the store: a build with
 * assertions aborts where it would. */
void store_forbid_waiting(void);

/* Deletes what the settings say is too old: raw request records, finished jobs without a sweep (and
 * idempotency keys), answers to requests in several rounds after a day, audit rows, scraped metrics
 * by their level (and series of which nothing is left). 0 days keeps for ever. Works in small
 * transactions, so that others are not kept waiting; blocks until it is done. Rows that cannot be
 * deleted are kept, and the others are still deleted: the error is the last one. */
struct retention {
    int64_t records_days, jobs_days, audit_days;
    int64_t samples_days, samples_10s_days, samples_1m_days, samples_1h_days; /* by level */
};
CHECKED bool store_retain(struct store *store, const struct retention *retention, int64_t now_ms,
                          struct error *error);
