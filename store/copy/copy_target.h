/* SPDX-License-Identifier: Apache-2.0 */
/* Fills a database with rows. Private to store/copy/. */
#pragma once

#include "store/copy/copy_side.h"

struct copy_target {
    struct copy_side *side;
    struct copy_side *source; /* passed to copy_side_keep while rows are compared; NULL: a file */
    const struct copy_tables *tables;
    size_t table;    /* index of the table being filled; those before it are complete */
    bool is_counted; /* the rows that an earlier process added to that table have been counted */
    int64_t to_skip; /* how many rows the sink must still skip: the table has them already */
};

/* Returns a sink that adds the rows it receives, and compares each complete table with them. */
struct copy_sink copy_target_sink(struct copy_target *target);
/* Call it after all tables are complete. If it returns true, the database is no longer an
 * unfinished copy. */
CHECKED bool copy_target_end(const struct copy_target *target, struct error *error);
