/* SPDX-License-Identifier: Apache-2.0 */
/* The tables that a set of migrations creates. They are the same in every engine (a test compares
 * them), and are read from SQLite's migrations. Private to store/. */
#pragma once

#include <stddef.h>

#include "base/core/error.h"
#include "migrations/migrations.h"
#include "store/engine/sql_types.h"

#define SQL_KEY_MAX 4 /* maximum number of columns in a primary key */

struct sql_table_column {
    char *name;
    enum sql_type type;
};

struct sql_table {
    char *name;
    struct sql_table_column *columns; /* in the order of SQLite's table */
    size_t column_count;
    size_t key[SQL_KEY_MAX]; /* the primary key: indexes into `columns`, in the key's order */
    size_t key_count;
};

struct sql_catalogue {
    struct sql_table *tables; /* ordered by name */
    size_t count;
};

/* `migrations`: SQLite's migrations, or the first few of them. Free with sql_catalogue_finish. */
CHECKED bool sql_catalogue_read(const struct migration_set *migrations, struct sql_catalogue *out,
                                struct error *error);
void sql_catalogue_finish(struct sql_catalogue *catalogue);
