/* SPDX-License-Identifier: Apache-2.0 */
/* Fills databases with rows in every table, and compares two databases. The n-th row of each table
 * has n in its integer columns and "r<n>" in its text columns, so that all references are valid.
 * every_row_word lists the exceptions. */
#pragma once

#include <setjmp.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "store/engine/sql.h"
#include "store/engine/sql_catalogue.h"
#include "store/engine/sqlite.h"
#include "tests/unit/support/folder.h"

static const char *const every_row_files[] = { "opsbrain.db", "scrapes.db" };

/* Returns the text for a column that cannot hold just any text, because its constraints allow only
 * certain texts or because every copy overwrites it with this text. Returns NULL for other columns.
 * In the list, the table "" stands for all tables. */
static inline const char *every_row_word(const char *table, const char *column)
{
    static const char *const words[][3] = {
        { "jobs", "state", "completed" },
        { "sweeps", "state", "completed" },
        { "cells", "state", "measured" },
        { "attempts", "state", "accepted" },
        { "fleet_plans", "state", "done" },
        { "fleet_managed", "state", "gone" },
        { "fleet_instance", "place", "copied" },
        { "", "role", "viewer" },
        { "", "phase", "intent" },
        { "", "kind", "prompts" },
        { "", "at_end", "stop" },
        { "", "way", "person" },
        { "", "action", "poll" },
        { "", "rights", "adopted" },
    };

    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if ((words[i][0][0] == '\0' || strcmp(words[i][0], table) == 0)
            && strcmp(words[i][1], column) == 0)
            return words[i][2];
    return NULL;
}

/* Returns whether the table can have only one row. */
static inline bool every_row_is_single(const char *table)
{
    return strcmp(table, "audit_head") == 0 || strcmp(table, "clock") == 0
           || strcmp(table, "fleet_instance") == 0;
}

static inline void every_row_bind(sqlite3_stmt *insert, const struct sql_table *table,
                                  int64_t number, const char *text)
{
    for (size_t i = 0; i < table->column_count; i++) {
        const char *word = every_row_word(table->name, table->columns[i].name);
        int position = (int)i + 1;

        if (table->columns[i].type == SQL_INTEGER)
            sqlite3_bind_int64(insert, position, number);
        else if (table->columns[i].type == SQL_REAL)
            sqlite3_bind_double(insert, position, (double)number / 3);
        else if (table->columns[i].type == SQL_TEXT)
            sqlite3_bind_text(insert, position, word != NULL ? word : text, -1, SQLITE_STATIC);
        else
            sqlite3_bind_blob(insert, position, text, (int)strlen(text) + 1, SQLITE_STATIC);
    }
}

/* Inserts `rows` rows, numbered from `first`. A table that can have only one row gets row 1 if
 * `first` is 1, and no row otherwise. */
static inline void every_row_fill_table(sqlite3 *db, const struct sql_table *table, int64_t first,
                                        int64_t rows)
{
    struct text statement = { 0 };
    sqlite3_stmt *insert;
    char text[24];

    text_addf(&statement, "INSERT INTO \"%s\" VALUES (", table->name);
    for (size_t i = 0; i < table->column_count; i++)
        text_add(&statement, i == 0 ? "?" : ", ?");
    text_add(&statement, ")");
    assert_int_equal(sqlite3_prepare_v2(db, text_string(&statement), -1, &insert, NULL), SQLITE_OK);
    for (int64_t i = first; i < first + rows && (i == 1 || !every_row_is_single(table->name));
         i++) {
        snprintf(text, sizeof text, "r%lld", (long long)i);
        every_row_bind(insert, table, i, text);
        if (sqlite3_step(insert) != SQLITE_DONE)
            fail_msg("%s: %s", table->name, sqlite3_errmsg(db));
        sqlite3_reset(insert);
    }
    sqlite3_finalize(insert);
    text_finish(&statement);
}

/* Makes a database file with `rows` rows in each table (one row in a table that can have only one),
 * and runs `script` on it (NULL: none). */
static inline void every_row_fill_file(const char *path, const struct migration_set *migrations,
                                       int64_t rows, const char *script)
{
    struct sql_connection *connection;
    struct sql_catalogue catalogue;
    struct error error = { 0 };

    if (!sql_connection_open(&sqlite_engine, path, SQL_CONNECTION_WRITER, &connection, &error)
        || !sqlite_engine.prepare_schema(connection, migrations, &error)
        || !sql_catalogue_read(migrations, &catalogue, &error)
        || !sqlite_run(connection, "PRAGMA synchronous = OFF; PRAGMA foreign_keys = OFF; BEGIN",
                       &error))
        fail_msg("%s", error.message);
    for (size_t i = 0; i < catalogue.count; i++)
        every_row_fill_table(sqlite_handle(connection), &catalogue.tables[i], 1, rows);
    if (!sqlite_run(connection, script == NULL ? "" : script, &error)
        || !sqlite_run(connection, "COMMIT", &error))
        fail_msg("%s", error.message);
    sql_catalogue_finish(&catalogue);
    sql_connection_close(connection);
}

/* Fills both database files in a folder. The first also gets extremes: NULL, empty strings, unusual
 * characters, the largest and smallest numbers, a long row, and more rows than a copy reads at
 * once. */
static inline void every_row_fill(const char *folder, int64_t rows)
{
    static const char extremes[] =
        "INSERT INTO line_turns VALUES ('', 'e\xcc\x81\n\"''', -9223372036854775807 - 1);"
        "INSERT INTO line_turns VALUES ('\xf0\x9f\x98\x80', '', 9223372036854775807);"
        "INSERT INTO histograms VALUES (1, '', x'');"
        "INSERT INTO histograms VALUES (1, 'Z', x'00ff00');"
        "INSERT INTO api_keys (id, principal_id, digest, created_ms) VALUES ('k', 1, x'00', 5);"
        "UPDATE fleet_target_revisions SET deployment_usd = -0.0, total_usd = 1e308, "
        "agent_usd = 5e-324, agent_life_usd = 0.1;"
        "INSERT INTO imports (id, digest, format, stated, name, file_bytes, deployment, document, "
        "cells, principal, created_ms) SELECT 'big', '', '', '', '', 0, '', "
        "hex(zeroblob(1200000)), 0, '', 0;"
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2500) "
        "INSERT INTO events SELECT 's' || (i % 7), i + 100000, i, 'frame ' || i FROM n;";
    const struct migration_set *const sets[] = { &migrations_sqlite_main,
                                                 &migrations_sqlite_scrapes };
    char path[FOLDER_SIZE + 32];

    for (int set = 0; set < 2; set++) {
        snprintf(path, sizeof path, "%s/%s", folder, every_row_files[set]);
        every_row_fill_file(path, sets[set], rows, set == 0 ? extremes : NULL);
    }
}

/* ---- Equality ---- */

static inline int64_t every_row_number(sqlite3 *db, const char *query)
{
    sqlite3_stmt *statement;
    int64_t number;

    if (sqlite3_prepare_v2(db, query, -1, &statement, NULL) != SQLITE_OK
        || sqlite3_step(statement) != SQLITE_ROW)
        fail_msg("%s: %s", query, sqlite3_errmsg(db));
    number = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    return number;
}

/* Returns 0 if both databases have the same rows in the table. Otherwise, the more rows differ, the
 * larger the result is. */
static inline int64_t every_row_differences(sqlite3 *db, const char *table)
{
    char query[600];

    snprintf(query, sizeof query,
             "SELECT abs((SELECT count(*) FROM main.\"%s\") - (SELECT count(*) FROM b.\"%s\")) + "
             "(SELECT count(*) FROM (SELECT * FROM main.\"%s\" EXCEPT SELECT * FROM b.\"%s\")) + "
             "(SELECT count(*) FROM (SELECT * FROM b.\"%s\" EXCEPT SELECT * FROM main.\"%s\"))",
             table, table, table, table, table, table);
    return every_row_number(db, query);
}

static inline void every_row_compare_file(const char *a, const char *b, const char *name)
{
    char path[FOLDER_SIZE + 32], script[FOLDER_SIZE + 64];
    int64_t tables = 0;
    sqlite3_stmt *statement;
    sqlite3 *db;

    snprintf(path, sizeof path, "%s/%s", a, name);
    snprintf(script, sizeof script, "ATTACH '%s/%s' AS b", b, name);
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, script, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_prepare_v2(db,
                       "SELECT name FROM main.sqlite_schema WHERE type = 'table' AND name NOT LIKE "
                       "'sqlite%'",
                       -1, &statement, NULL);
    while (sqlite3_step(statement) == SQLITE_ROW) {
        const char *table = (const char *)sqlite3_column_text(statement, 0);
        int64_t differences = every_row_differences(db, table);

        if (differences != 0)
            fail_msg("table %s: %lld differences", table, (long long)differences);
        tables++;
    }
    sqlite3_finalize(statement);
    assert_int_equal(every_row_number(db, "SELECT (SELECT count(*) FROM main.sqlite_schema) - "
                                          "(SELECT count(*) FROM b.sqlite_schema)"),
                     0);
    assert_true(tables >= 5);
    sqlite3_close(db);
}

/* Fails the test unless the databases in two folders have the same tables with the same rows. */
static inline void every_row_compare(const char *a, const char *b)
{
    for (int set = 0; set < 2; set++)
        every_row_compare_file(a, b, every_row_files[set]);
}
