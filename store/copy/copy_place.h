/* SPDX-License-Identifier: Apache-2.0 */
/* The place of a database that is copied or filled, and how much a copy contains. */
#pragma once

#include <stdint.h>

/* The arguments of store_open; borrowed. */
struct copy_place {
    const char *folder, *database;
};

/* What was copied. */
struct copy_report {
    int64_t tables, rows;
    int64_t bytes; /* of the backup file; 0 if there is none */
};
