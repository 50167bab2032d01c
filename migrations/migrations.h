/* SPDX-License-Identifier: Apache-2.0 */
/* The numbered .sql files of a folder for each engine (main) and of its scrapes/, embedded at build
 * by cmake/embed.cmake. */
#pragma once

struct migration {
    const char *name;
    const char *sql;
};

/* Ordered; entry i brings a database from version i to version i + 1. */
struct migration_set {
    const struct migration *rows;
    int count;
};

extern const struct migration_set migrations_sqlite_main;
extern const struct migration_set migrations_sqlite_scrapes;
extern const struct migration_set migrations_postgres_main;
extern const struct migration_set migrations_postgres_scrapes;
