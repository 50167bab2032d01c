/* SPDX-License-Identifier: Apache-2.0 */
/* The numbered .sql files in each engine's folder (main) and in its subfolder scrapes/, which
 * cmake/embed.cmake embeds into the program. */
#pragma once

struct migration {
    const char *name;
    const char *sql;
};

/* In order: entry i brings a database from version i to version i + 1. */
struct migration_set {
    const struct migration *rows;
    int count;
};

extern const struct migration_set migrations_sqlite_main;
extern const struct migration_set migrations_sqlite_scrapes;
extern const struct migration_set migrations_postgres_main;
extern const struct migration_set migrations_postgres_scrapes;
