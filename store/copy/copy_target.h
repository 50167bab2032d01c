/* SPDX-License-Identifier: Apache-2.0 */
/* Puts rows into a database. Private to store/copy/. */
#pragma once

#include "store/copy/copy_side.h"

struct copy_target {
    struct copy_side *side;
    struct copy_side *source; /* is held while the copy is compared; NULL: a file */
    const struct copy_tables *tables;
    size_t table;    /* the table being filled; those before it are complete */
    bool begun;      /* the table's earlier rows are counted */
    int64_t present; /* rows that an earlier process added, and that are still to be skipped */
};

/* The sink of an open target. Each complete table is compared with the rows that came. */
struct copy_sink copy_target_sink(struct copy_target *target);
/* Call it after all tables are complete: the database may then be used. */
CHECKED bool copy_target_end(const struct copy_target *target, struct error *error);
