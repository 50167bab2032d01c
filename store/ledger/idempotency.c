/* SPDX-License-Identifier: Apache-2.0 */
/* Idempotency keys. If a principal calls a tool again with the same key and arguments, the second
 * call starts nothing new, and its answer says what the first call started. This works as long as
 * the key is kept (retention.c). */
#include <string.h>

#include "store/ledger/jobs.h"
#include "store/ledger/store_private.h"

bool idempotency_read(struct sql_connection *connection, const struct idempotency *idempotency,
                      char subject[ID_SIZE], bool *found, struct error *error)
{
    char digest[80];
    SQL_AUTO sql = sql_begin(connection, "SELECT arguments_digest, subject FROM idempotency "
                                         "WHERE principal = ?1 AND tool = ?2 AND key = ?3");

    sql_bind_text(&sql, 1, idempotency->principal);
    sql_bind_text(&sql, 2, idempotency->tool);
    sql_bind_text(&sql, 3, idempotency->key);
    if (!sql_find(&sql, found, error))
        return false;
    if (!*found)
        return true;
    sql_text(&sql, 0, digest, sizeof digest);
    if (strcmp(digest, idempotency->arguments_digest) != 0)
        return error_set(error, ERROR_CONFLICT,
                         "the idempotency key \"%.100s\" was used for %s with other arguments: "
                         "choose another key",
                         idempotency->key, idempotency->tool);
    sql_text(&sql, 1, subject, ID_SIZE);
    return true;
}

bool idempotency_insert(struct sql_connection *connection, const struct idempotency *idempotency,
                        const char *subject, int64_t now_ms, struct error *error)
{
    SQL_AUTO sql =
        sql_begin(connection, "INSERT INTO idempotency (principal, tool, key, arguments_digest, "
                              "subject, created_ms) VALUES (?1, ?2, ?3, ?4, ?5, ?6)");

    sql_bind_text(&sql, 1, idempotency->principal);
    sql_bind_text(&sql, 2, idempotency->tool);
    sql_bind_text(&sql, 3, idempotency->key);
    sql_bind_text(&sql, 4, idempotency->arguments_digest);
    sql_bind_text(&sql, 5, subject);
    sql_bind_integer(&sql, 6, now_ms);
    return sql_run(&sql, error);
}

bool idempotency_find(struct store *store, const char *principal, const char *tool, const char *key,
                      const char *arguments_digest, char subject[ID_SIZE], bool *found,
                      struct error *error)
{
    struct idempotency idempotency = { principal, tool, key, arguments_digest };
    char stored[ID_SIZE];
    bool any;
    READER_AUTO reader = database_reader(store->main);

    if (!idempotency_read(reader.connection, &idempotency, stored, &any, error))
        return false;
    *found = any;
    if (any)
        memcpy(subject, stored, sizeof stored);
    return true;
}
