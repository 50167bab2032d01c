/* SPDX-License-Identifier: Apache-2.0 */
#include "store/ledger/request_nonces.h"

#include <string.h>

#include "base/core/clock.h"
#include "base/core/random.h"
#include "store/ledger/store_private.h"

/* ---- The key ---- */

struct key_request {
    const char *name;
    uint8_t *out;
};

static CHECKED bool insert_key(struct sql_connection *connection, const struct key_request *request,
                               struct error *error)
{
    uint8_t fresh[DIGEST_BYTES];
    SQL_AUTO sql = sql_begin(connection, "INSERT INTO server_keys (name, key, created_ms) "
                                         "VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING");

    random_bytes(fresh, sizeof fresh);
    sql_bind_text(&sql, 1, request->name);
    sql_bind_blob(&sql, 2, fresh, sizeof fresh);
    sql_bind_integer(&sql, 3, clock_utc_ms());
    return sql_run(&sql, error);
}

static CHECKED bool apply_key(struct sql_connection *connection, void *context, struct error *error)
{
    const struct key_request *request = context;
    const void *key;
    size_t length;

    if (!insert_key(connection, request, error))
        return false;
    SQL_AUTO sql = sql_begin(connection, "SELECT key FROM server_keys WHERE name = ?1");
    sql_bind_text(&sql, 1, request->name);
    if (sql_step(&sql, error) != SQL_ROW)
        return false;
    key = sql_blob(&sql, 0, &length);
    if (length != DIGEST_BYTES)
        return error_set(error, ERROR_INTERNAL, "the stored key \"%s\" has %zu bytes instead of %d",
                         request->name, length, DIGEST_BYTES);
    memcpy(request->out, key, DIGEST_BYTES);
    return true;
}

/* NOLINTNEXTLINE(readability-non-const-parameter): written through the context */
bool request_nonce_key_load(struct store *store, const char *name, uint8_t out[DIGEST_BYTES],
                            struct error *error)
{
    struct key_request request = { name, out };

    return database_write(store->main, apply_key, &request, error);
}

/* ---- Requests that were carried out ---- */

static CHECKED bool check_fresh(struct sql_connection *connection, const char *nonce,
                                struct error *error)
{
    bool found;
    SQL_AUTO sql = sql_begin(connection, "SELECT 1 FROM settled_requests WHERE nonce = ?1");

    sql_bind_text(&sql, 1, nonce);
    if (!sql_find(&sql, &found, error))
        return false;
    return !found || error_set(error, ERROR_CONFLICT, "this request was already carried out");
}

bool request_nonce_insert(struct sql_connection *connection, const struct change *change,
                          struct error *error)
{
    int64_t now_ms = clock_utc_ms();

    if (!check_fresh(connection, change->nonce, error))
        return false;
    SQL_AUTO sql =
        sql_begin(connection, "INSERT INTO settled_requests (nonce, request_id, created_ms) "
                              "VALUES (?1, ?2, ?3)");
    sql_bind_text(&sql, 1, change->nonce);
    sql_bind_text(&sql, 2, change->actor.request_id == NULL ? "" : change->actor.request_id);
    sql_bind_integer(&sql, 3, now_ms);
    return sql_run(&sql, error);
}

#define NONCE_COLUMNS(FIRST, COLUMN, OF)                                                           \
    FIRST(struct request_nonce, TEXT, request_id, OF "request_id")                                 \
    COLUMN(struct request_nonce, INTEGER, created_ms, OF "created_ms")                             \
    COLUMN(struct request_nonce, HEAP_TEXT_OR_NULL, result, OF "result")
static const struct sql_columns columns = SQL_COLUMNS(struct request_nonce, NONCE_COLUMNS);

bool request_nonce_find(struct store *store, const char *nonce, struct request_nonce *out,
                        bool *found, struct error *error)
{
    READER_AUTO reader = database_reader(store->main);
    SQL_AUTO sql = sql_begin(
        reader.connection, SQL_SELECT(NONCE_COLUMNS, "") "FROM settled_requests WHERE nonce = ?1");

    sql_bind_text(&sql, 1, nonce);
    return sql_row_find(&sql, &columns, out, found, error);
}

struct answering {
    const char *nonce, *result;
};

static CHECKED bool apply_answer(struct sql_connection *connection, void *context,
                                 struct error *error)
{
    const struct answering *answering = context;
    SQL_AUTO sql =
        sql_begin(connection, "UPDATE settled_requests SET result = ?2 WHERE nonce = ?1");

    sql_bind_text(&sql, 1, answering->nonce);
    sql_bind_text(&sql, 2, answering->result);
    return sql_run(&sql, error);
}

bool request_nonce_answer(struct store *store, const char *nonce, const char *result,
                          struct error *error)
{
    struct answering answering = { nonce, result };

    return database_write(store->main, apply_answer, &answering, error);
}
