/* SPDX-License-Identifier: Apache-2.0 */
/* Runs SQL directly on the database of a test's folder, as another program would, without the
 * store. Works with both database engines. */
#pragma once

#include <setjmp.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "tests/unit/support/folder.h"
#include "tests/unit/support/test_database.h"

#define BACKDOOR_MESSAGE_SIZE 400

/* Runs a script on one SQLite file of the folder. Returns how many rows the last INSERT, UPDATE or
 * DELETE changed. Returns -1 if the script failed; `message` (BACKDOOR_MESSAGE_SIZE bytes) then
 * says why. */
static inline int64_t backdoor_file(const char *folder, const char *name, const char *script,
                                    char *message)
{
    char path[FOLDER_SIZE + 32], *problem = NULL;
    int64_t changed = -1;
    sqlite3 *db;

    snprintf(path, sizeof path, "%s/%s", folder, name);
    if (sqlite3_open(path, &db) == SQLITE_OK && sqlite3_busy_timeout(db, 10000) == SQLITE_OK
        && sqlite3_exec(db, script, NULL, NULL, &problem) == SQLITE_OK)
        changed = sqlite3_changes(db);
    snprintf(message, BACKDOOR_MESSAGE_SIZE, "%s", problem == NULL ? "" : problem);
    sqlite3_free(problem);
    sqlite3_close(db);
    return changed;
}

/* Does the same on opsbrain.db or, if that does not have the script's table or trigger, on
 * scrapes.db. */
static inline int64_t backdoor_sqlite(const char *folder, const char *script, char *message)
{
    int64_t changed = backdoor_file(folder, "opsbrain.db", script, message);

    if (changed >= 0 || strstr(message, "no such t") == NULL)
        return changed;
    return backdoor_file(folder, "scrapes.db", script, message);
}

static inline int64_t backdoor_postgres(const char *place, const char *script, char *message)
{
    PGconn *link = PQconnectdb(place);
    PGresult *result = PQexec(link, script);
    ExecStatusType status = PQresultStatus(result);
    bool ok = status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK;
    int64_t changed = ok ? atoll(PQcmdTuples(result)) : -1;

    snprintf(message, BACKDOOR_MESSAGE_SIZE, "%s", ok ? "" : PQerrorMessage(link));
    PQclear(result);
    PQfinish(link);
    return changed;
}

/* Returns how many rows the script's last statement changed. Unless that is an INSERT, UPDATE or
 * DELETE, the number depends on the engine. Returns -1 if the script failed; `message` then says
 * why. */
static inline int64_t backdoor_try(const char *folder, const char *script,
                                   char message[BACKDOOR_MESSAGE_SIZE])
{
    const char *place = test_database(folder);

    return place[0] == '\0' ? backdoor_sqlite(folder, script, message)
                            : backdoor_postgres(place, script, message);
}

static inline void backdoor_run(const char *folder, const char *script)
{
    char message[BACKDOOR_MESSAGE_SIZE];

    if (backdoor_try(folder, script, message) < 0)
        fail_msg("%s: %s", script, message);
}

/* Creates a trigger with this name. It refuses `event` (such as "DELETE ON jobs") for each row for
 * which `condition` is true. */
static inline void backdoor_refuse(const char *folder, const char *name, const char *event,
                                   const char *condition)
{
    const char *body = test_database_is_files() ? "BEGIN SELECT RAISE(ABORT, 'trouble'); END"
                                                : "EXECUTE FUNCTION refuse_change('trouble')";
    char script[400];

    snprintf(script, sizeof script, "CREATE TRIGGER %s BEFORE %s FOR EACH ROW WHEN (%s) %s", name,
             event, condition, body);
    backdoor_run(folder, script);
}

/* Drops a trigger that backdoor_refuse created. */
static inline void backdoor_allow(const char *folder, const char *name, const char *table)
{
    char script[200];

    snprintf(script, sizeof script,
             test_database_is_files() ? "DROP TRIGGER %s" : "DROP TRIGGER %s ON %s", name, table);
    backdoor_run(folder, script);
}
