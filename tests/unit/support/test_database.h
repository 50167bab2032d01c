/* SPDX-License-Identifier: Apache-2.0 */
/* The database for a test's store. Normally, it consists of SQLite files in the test's folder. If
 * OPSBRAIN_TEST_DATABASE is the URI of a PostgreSQL database, each folder has its own schema in
 * that database. If OPSBRAIN_TEST_POOLED is also set, the URI leads to a connection pooler, which
 * does not let a session choose its schema: then each folder has its own database. */
#pragma once

#include <libpq-fe.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Hashes the folder's name (FNV-1a), to name the folder's schema or database. */
static inline uint64_t test_database_digest(const char *folder)
{
    uint64_t digest = 14695981039346656037U;

    for (; *folder != '\0'; folder++)
        digest = (digest ^ (uint8_t)*folder) * 1099511628211U;
    return digest;
}

static inline bool test_database_is_files(void)
{
    return getenv("OPSBRAIN_TEST_DATABASE") == NULL;
}

static inline bool test_database_is_pooled(void)
{
    return getenv("OPSBRAIN_TEST_POOLED") != NULL;
}

/* Runs a statement that consists of `what`, the name of the folder's schema or database, and `how`.
 * Creating a schema or database that exists already is not an error. */
static inline void test_database_do(const char *folder, const char *what, const char *how)
{
    PGconn *link = PQconnectdb(getenv("OPSBRAIN_TEST_DATABASE"));
    char script[200];

    snprintf(script, sizeof script, "%s%s t%016llx %s",
             test_database_is_pooled() ? "" : "SET client_min_messages = error; ", what,
             (unsigned long long)test_database_digest(folder), how);
    PGresult *result = PQexec(link, script);
    if (PQresultStatus(result) != PGRES_COMMAND_OK
        && strstr(PQerrorMessage(link), "already exists") == NULL) {
        fprintf(stderr, "OPSBRAIN_TEST_DATABASE: %s\n", PQerrorMessage(link));
        abort();
    }
    PQclear(result);
    PQfinish(link);
}

/* Drops the folder's schema or database. Call it where the test deletes the folder. */
static inline void test_database_drop(const char *folder)
{
    if (test_database_is_files())
        return;
    if (test_database_is_pooled())
        test_database_do(folder, "DROP DATABASE", "WITH (FORCE)");
    else
        test_database_do(folder, "DROP SCHEMA", "CASCADE");
}

/* Returns the argument `database` for store_open, and creates the schema or database unless it
 * already exists. Its name is also the sessions' application_name. The result is valid until the
 * next call in this thread. */
static inline const char *test_database(const char *folder)
{
    static _Thread_local char place[1024];
    unsigned long long digest = test_database_digest(folder);
    const char *server = getenv("OPSBRAIN_TEST_DATABASE");
    bool pooled = test_database_is_pooled();

    if (server == NULL)
        return "";
    if (pooled)
        test_database_do(folder, "CREATE DATABASE", "TEMPLATE template0");
    else
        test_database_do(folder, "CREATE SCHEMA IF NOT EXISTS", "");
    snprintf(place, sizeof place, "%s%capplication_name=t%016llx&%st%016llx", server,
             strchr(server, '?') == NULL ? '?' : '&', digest,
             pooled ? "dbname=" : "options=-csearch_path%3D", digest);
    return place;
}
