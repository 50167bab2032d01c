/* SPDX-License-Identifier: Apache-2.0 */
/* Puts rows into a database. Private to store/copy/. */
#pragma once

#include "store/copy/copy_side.h"

struct copy_target {
    struct copy_side *side;
    struct copy_side *source; /* is kept while what arrived is compared; NULL: a file */
    const struct copy_tables *tables;
    size_t table;    /* that is being filled; those before it are complete */
    bool begun;      /* it is known what the table had */
    int64_t present; /* rows of it that an earlier process put there, and that still come */
};

/* The sink of a target that was opened. A table that arrived is compared with what came. */
struct copy_sink copy_target_sink(struct copy_target *target);
/* All tables are complete: the database may be used. */
CHECKED bool copy_target_end(const struct copy_target *target, struct error *error);
