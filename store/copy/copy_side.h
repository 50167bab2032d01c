/* SPDX-License-Identifier: Apache-2.0 */
/* The database at one end of a copy. Private to store/copy/. */
#pragma once

#include "store/copy/copy_place.h"
#include "store/copy/copy_rows.h"

struct copy_side {
    const struct sql_engine *engine;
    char *places[COPY_SETS];
    char *name;                                /* for people */
    struct sql_connection *writers[COPY_SETS]; /* NULL: it is only read, beside a server */
    struct sql_connection *readers[COPY_SETS]; /* NULL: of a target */
    int lock_file;                             /* -1: none */
    int64_t kept_ns; /* on the monotonic clock: when it was last said that it is in use */
};

/* A database of this version, which is read as it is now. `alone`: it is refused if a server uses
 * it, and no server may use it meanwhile. */
CHECKED bool copy_side_open_source(const struct copy_place *place, bool alone,
                                   struct copy_side *out, struct error *error);
/* An empty database, which is made if it is missing, with these versions of the schema; or one into
 * which the copy from `origin` was begun. CONFLICT: it is not empty. */
CHECKED bool copy_side_open_target(const struct copy_place *place,
                                   const int64_t versions[COPY_SETS],
                                   const struct copy_tables *tables, const char *origin,
                                   struct copy_side *out, struct error *error);
void copy_side_close(struct copy_side *side);
/* To be called at least every few seconds, outside of transactions. */
CHECKED bool copy_side_keep(struct copy_side *side, struct error *error);
/* The versions of the schema that this program has. */
void copy_side_versions(int64_t out[COPY_SETS]);
