/* SPDX-License-Identifier: Apache-2.0 */
/* Reads cells, attempts, and an attempt's histograms and request records; also writes a cell's load
 * as text. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/core/memory.h"
#include "base/json/json.h"
#include "store/ledger/store_private.h"
#include "store/ledger/sweeps.h"

const char *cell_load_text(int64_t users, double request_rate, char out[CELL_LOAD_SIZE])
{
    if (request_rate > 0)
        snprintf(out, CELL_LOAD_SIZE, "%.10g requests/s", request_rate);
    else
        snprintf(out, CELL_LOAD_SIZE, "%" PRId64 " user%s", users, users == 1 ? "" : "s");
    return out;
}

static bool read_state(const struct sql_column *column, void *member)
{
    char name[16];

    sql_text(column->sql, column->index, name, sizeof name);
    *(enum cell_state *)member = cell_state_find(name);
    return true;
}

static const struct sql_member_kind kind_state = { read_state, NULL, NULL };
#define SQL_KIND_STATE(member) SQL_KIND(kind_state, enum cell_state *, member)

/* Reads a measurement; if the column is NULL or {}, nothing was measured. */
static bool read_measurement(const struct sql_column *column, void *member)
{
    FREE_AUTO char *bytes = sql_text_copy(column->sql, column->index);
    json_auto_t *json = NULL;

    if (strcmp(bytes, "") == 0 || strcmp(bytes, "{}") == 0)
        return true;
    if (!json_parse(bytes, strlen(bytes), &json, column->error))
        return error_set(column->error, ERROR_INTERNAL, "a stored measurement is damaged: %s",
                         column->error->message);
    measurement_from_json(json, member);
    return true;
}

static const struct sql_member_kind kind_measurement = { read_measurement, NULL, NULL };
#define SQL_KIND_MEASUREMENT(member) SQL_KIND(kind_measurement, struct measurement *, member)

#define CELL_COLUMNS(FIRST, COLUMN, OF)                                                            \
    FIRST(struct cell_row, INTEGER, id, "c.id")                                                    \
    COLUMN(struct cell_row, TEXT, run_id, "c.run_id")                                              \
    COLUMN(struct cell_row, INTEGER, deployment_id, "r.deployment_id")                             \
    COLUMN(struct cell_row, TEXT, deployment, "d.name")                                            \
    COLUMN(struct cell_row, INTEGER, repetition, "r.repetition")                                   \
    COLUMN(struct cell_row, INTEGER, position, "c.position")                                       \
    COLUMN(struct cell_row, INTEGER, concurrency, "c.concurrency")                                 \
    COLUMN(struct cell_row, INTEGER, input_tokens, "c.input_tokens")                               \
    COLUMN(struct cell_row, INTEGER, output_tokens, "c.output_tokens")                             \
    COLUMN(struct cell_row, REAL, request_rate, "c.request_rate")                                  \
    COLUMN(struct cell_row, STATE, state, "c.state")                                               \
    COLUMN(struct cell_row, TEXT, reason, "c.reason")                                              \
    COLUMN(struct cell_row, INTEGER, attempt_id, "c.attempt_id")                                   \
    COLUMN(struct cell_row, INTEGER, attempts,                                                     \
           "(SELECT count(*) FROM attempts WHERE cell_id = c.id)")                                 \
    COLUMN(struct cell_row, INTEGER, finished_ms, "a.finished_ms")                                 \
    COLUMN(struct cell_row, TEXT, workload_digest, "a.workload_digest")                            \
    COLUMN(struct cell_row, MEASUREMENT, measurement, "a.measurement")                             \
    COLUMN(struct cell_row, HEAP_TEXT_OR_NULL, witness, "nullif(a.witness, '{}')")
#define ATTEMPT_COLUMNS(FIRST, COLUMN, OF)                                                         \
    FIRST(struct attempt_row, INTEGER, id, "a.id")                                                 \
    COLUMN(struct attempt_row, INTEGER, cell_id, "a.cell_id")                                      \
    COLUMN(struct attempt_row, INTEGER, number, "a.number")                                        \
    COLUMN(struct attempt_row, INTEGER, started_ms, "a.started_ms")                                \
    COLUMN(struct attempt_row, INTEGER, finished_ms, "a.finished_ms")                              \
    COLUMN(struct attempt_row, INTEGER, fence, "a.fence")                                          \
    COLUMN(struct attempt_row, TEXT, state, "a.state")                                             \
    COLUMN(struct attempt_row, TEXT, reason, "a.reason")                                           \
    COLUMN(struct attempt_row, TEXT, job_id, "a.job_id")                                           \
    COLUMN(struct attempt_row, TEXT, run_id, "r.id")                                               \
    COLUMN(struct attempt_row, TEXT, deployment, "d.name")                                         \
    COLUMN(struct attempt_row, INTEGER, concurrency, "c.concurrency")                              \
    COLUMN(struct attempt_row, INTEGER, input_tokens, "c.input_tokens")                            \
    COLUMN(struct attempt_row, INTEGER, output_tokens, "c.output_tokens")                          \
    COLUMN(struct attempt_row, INTEGER, repetition, "r.repetition")                                \
    COLUMN(struct attempt_row, REAL, request_rate, "c.request_rate")

static const struct sql_columns columns = SQL_COLUMNS(struct cell_row, CELL_COLUMNS);
static const struct sql_columns attempt_columns = SQL_COLUMNS(struct attempt_row, ATTEMPT_COLUMNS);

#define SELECT_CELLS SQL_SELECT(CELL_COLUMNS, "c.") "FROM cells c "
#define SELECT_ATTEMPTS                                                                            \
    SQL_SELECT(ATTEMPT_COLUMNS, "a.") "FROM cells c JOIN attempts a ON a.cell_id = c.id "

void cell_rows_free(struct cell_row *rows, size_t count)
{
    sql_rows_free(&columns, rows, count);
}

bool cell_list(struct store *store, const char *sweep_id, const char *run_id, struct cell_row **out,
               size_t *count, struct error *error)
{
    static const char LIST[] =
        SELECT_CELLS "JOIN runs r ON r.id = c.run_id "
                     "JOIN deployments d ON d.id = r.deployment_id "
                     "LEFT JOIN attempts a ON a.id = c.attempt_id "
                     "WHERE c.sweep_id = ?1 AND (?2 IS NULL OR c.run_id = ?2) ORDER BY c.position";
    void *rows;
    READER_AUTO reader = database_reader(store->main);
    SQL_AUTO sql = sql_begin(reader.connection, LIST);

    sql_bind_text(&sql, 1, sweep_id);
    sql_bind_text(&sql, 2, run_id);
    if (!sql_rows_read(&sql, &columns, &rows, count, error))
        return false;
    *out = rows;
    return true;
}

bool cell_attempt_list(struct store *store, const char *sweep_id, const char *state,
                       struct attempt_row **out, size_t *count, struct error *error)
{
    static const char LIST[] =
        SELECT_ATTEMPTS "JOIN runs r ON r.id = c.run_id "
                        "JOIN deployments d ON d.id = r.deployment_id "
                        "WHERE c.sweep_id = ?1 AND (?2 IS NULL OR a.state = ?2) ORDER BY a.id";
    void *rows;
    READER_AUTO reader = database_reader(store->main);
    SQL_AUTO sql = sql_begin(reader.connection, LIST);

    sql_bind_text(&sql, 1, sweep_id);
    sql_bind_text(&sql, 2, state);
    if (!sql_rows_read(&sql, &attempt_columns, &rows, count, error))
        return false;
    *out = rows;
    return true;
}

bool cell_histogram_find(struct store *store, int64_t attempt_id, enum metric metric,
                         struct histogram **out, struct error *error)
{
    bool found;
    size_t length;
    READER_AUTO reader = database_reader(store->main);
    SQL_AUTO sql = sql_begin(reader.connection,
                             "SELECT data FROM histograms WHERE attempt_id = ?1 AND metric = ?2");

    sql_bind_integer(&sql, 1, attempt_id);
    sql_bind_text(&sql, 2, metric_name(metric));
    if (!sql_find(&sql, &found, error))
        return false;
    if (!found)
        return error_set(error, ERROR_NOT_FOUND, "attempt %lld has no %s histogram",
                         (long long)attempt_id, metric_name(metric));
    const void *data = sql_blob(&sql, 0, &length);
    return histogram_decode(data, length, out, error);
}

bool cell_records_find(struct store *store, int64_t attempt_id, void **out, size_t *length,
                       int64_t *requests, struct error *error)
{
    bool found;
    READER_AUTO reader = database_reader(store->main);
    SQL_AUTO sql = sql_begin(reader.connection,
                             "SELECT requests, data FROM request_records WHERE attempt_id = ?1");

    sql_bind_integer(&sql, 1, attempt_id);
    if (!sql_find(&sql, &found, error))
        return false;
    if (!found)
        return error_set(error, ERROR_NOT_FOUND,
                         "no request records are stored for attempt %lld: they were deleted "
                         "(setting records_days), or never written",
                         (long long)attempt_id);
    const void *data = sql_blob(&sql, 1, length);
    *out = memory_zeroed(*length, 1);
    if (*length > 0)
        memcpy(*out, data, *length);
    *requests = sql_integer(&sql, 0);
    return true;
}
