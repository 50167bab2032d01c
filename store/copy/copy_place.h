/* SPDX-License-Identifier: Apache-2.0 */
/* The place of a database to be copied, and the counts of a copy. */
#pragma once

#include <stdint.h>

/* As for store_open. Borrowed. */
struct copy_place {
    const char *folder, *database;
};

/* What was copied. */
struct copy_report {
    int64_t tables, rows;
    int64_t bytes; /* of the file */
};
