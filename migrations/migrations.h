/* The numbered .sql files of this folder (main) and of scrapes/, embedded at build by
 * cmake/embed.cmake. */
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

extern const struct migration_set migrations_main;
extern const struct migration_set migrations_scrapes;
