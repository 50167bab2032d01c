/* SPDX-License-Identifier: Apache-2.0 */
#include "store/ledger/attempt_series.h"

#include "base/core/compress.h"
#include "base/core/memory.h"
#include "base/json/json.h"
#include "store/ledger/store_private.h"

#define SERIES_LIMIT_BYTES (16 << 20) /* maximum size after unpacking */

static CHECKED bool unpack(const void *data, size_t length, json_t **out, struct error *error)
{
    FREE_AUTO void *text = NULL;
    size_t text_length;

    return compress_restore(data, length, SERIES_LIMIT_BYTES, &text, &text_length, error)
           && json_parse(text, text_length, out, error);
}

bool attempt_series_find(struct store *store, int64_t attempt_id, json_t **out, struct error *error)
{
    READER_AUTO reader = database_reader(store->main);
    SQL_AUTO sql =
        sql_begin(reader.connection, "SELECT data FROM attempt_series WHERE attempt_id = ?1");
    struct error problem;
    bool found;
    size_t length;
    const void *data;

    sql_bind_integer(&sql, 1, attempt_id);
    if (!sql_find(&sql, &found, error))
        return false;
    if (!found)
        return error_set(error, ERROR_NOT_FOUND, "no scrapes are stored for attempt %lld",
                         (long long)attempt_id);
    data = sql_blob(&sql, 0, &length);
    return unpack(data, length, out, &problem)
           || error_set(error, ERROR_INTERNAL, "the scrapes for attempt %lld are damaged: %s",
                        (long long)attempt_id, problem.message);
}
