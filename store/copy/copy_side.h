/* SPDX-License-Identifier: Apache-2.0 */
/* The database at one end of a copy. Private to store/copy/. */
#pragma once

#include "store/copy/copy_place.h"
#include "store/copy/copy_rows.h"

struct copy_side {
    const struct sql_engine *engine;
    char *places[COPY_SETS]; /* SQLite: paths; PostgreSQL: the same URI twice */
    char *name;              /* for messages; without a password */
    /* Set for targets, and for PostgreSQL sources opened with `alone`; otherwise NULL. */
    struct sql_connection *writers[COPY_SETS];
    struct sql_connection *readers[COPY_SETS]; /* NULL for a target */
    int lock_file;                             /* -1: none */
    int64_t kept_ns; /* on the monotonic clock: when the use of the database was last announced */
};

/* Opens a database to read a snapshot of it. `alone`: no other process can write to the database
 * until the side is closed (PostgreSQL: as long as copy_side_keep is called every few seconds).
 * CONFLICT: the database is older or newer than this program's schema, or is an unfinished copy;
 * or, if `alone`, another process uses it. */
CHECKED bool copy_side_open_source(const struct copy_place *place, bool alone,
                                   struct copy_side *out, struct error *error);
/* Opens a database that is empty or holds an unfinished copy from `origin`, and gives it these
 * versions of the schema. A missing folder is created; a PostgreSQL database must exist. CONFLICT:
 * the database is in use, or holds anything else. */
CHECKED bool copy_side_open_target(const struct copy_place *place,
                                   const int64_t versions[COPY_SETS],
                                   const struct copy_tables *tables, const char *origin,
                                   struct copy_side *out, struct error *error);
void copy_side_close(struct copy_side *side);
/* If the side is a PostgreSQL target, or a PostgreSQL source opened with `alone`, announces that
 * the database is in use. Call it every few seconds, outside the writers' transactions. */
CHECKED bool copy_side_keep(struct copy_side *side, struct error *error);
/* Sets `out` to this program's schema version for each set of tables. */
void copy_side_versions(int64_t out[COPY_SETS]);
