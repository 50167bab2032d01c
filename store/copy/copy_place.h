/* SPDX-License-Identifier: Apache-2.0 */
/* The place of a database that is copied or filled, and how much a copy contains. */
#pragma once

#include <stdint.h>

/* The place of a database, as in store_open. Borrowed strings. */
struct copy_place {
    const char *folder;   /* the data folder */
    const char *database; /* a PostgreSQL URI; "": the SQLite files in the folder */
};

/* How much was copied. */
struct copy_report {
    int64_t tables, rows;
    int64_t bytes; /* size of the backup file; 0: there is none */
};
