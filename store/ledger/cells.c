/* SPDX-License-Identifier: Apache-2.0 */
/* Cells and the attempts at them: read as a table, and what was kept of one attempt. */
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

void cell_rows_free(struct cell_row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(rows[i].witness);
    free(rows);
}

/* NULL or {}: nothing was kept. */
static bool is_empty(const char *json)
{
    return json == NULL || strcmp(json, "") == 0 || strcmp(json, "{}") == 0;
}

static CHECKED bool read_measurement(const struct sql *sql, int column, struct measurement *out,
                                     struct error *error)
{
    FREE_AUTO char *bytes = sql_text_copy(sql, column);
    json_auto_t *json = NULL;

    if (is_empty(bytes))
        return true;
    if (!json_parse(bytes, strlen(bytes), &json, error))
        return error_set(error, ERROR_INTERNAL, "a stored measurement is damaged: %s",
                         error->message);
    measurement_from_json(json, out);
    return true;
}

static CHECKED bool read_cell(const struct sql *sql, struct cell_row *row, struct error *error)
{
    char state[16];

    *row = (struct cell_row){
        .id = sql_integer(sql, 0),
        .repetition = sql_integer(sql, 2),
        .position = sql_integer(sql, 3),
        .concurrency = sql_integer(sql, 4),
        .input_tokens = sql_integer(sql, 5),
        .output_tokens = sql_integer(sql, 6),
        .attempt_id = sql_integer(sql, 9),
        .attempts = sql_integer(sql, 10),
        .finished_ms = sql_integer(sql, 11),
        .witness = sql_text_copy(sql, 14),
        .request_rate = sql_real(sql, 15),
        .deployment_id = sql_integer(sql, 16),
    };
    sql_text(sql, 1, row->run_id, sizeof row->run_id);
    sql_text(sql, 7, state, sizeof state);
    row->state = cell_state_find(state);
    sql_text(sql, 8, row->reason, sizeof row->reason);
    sql_text(sql, 12, row->workload_digest, sizeof row->workload_digest);
    sql_text(sql, 17, row->deployment, sizeof row->deployment);
    if (is_empty(row->witness)) {
        free(row->witness);
        row->witness = NULL;
    }
    return read_measurement(sql, 13, &row->measurement, error);
}

bool cell_list(struct store *store, const char *sweep_id, const char *run_id, struct cell_row **out,
               size_t *count, struct error *error)
{
    static const char LIST[] =
        "SELECT c.id, c.run_id, r.repetition, c.position, c.concurrency, c.input_tokens, "
        "c.output_tokens, c.state, c.reason, c.attempt_id, "
        "(SELECT count(*) FROM attempts WHERE cell_id = c.id), a.finished_ms, a.workload_digest, "
        "a.measurement, a.witness, c.request_rate, r.deployment_id, d.name "
        "FROM cells c JOIN runs r ON r.id = c.run_id JOIN deployments d ON d.id = r.deployment_id "
        "LEFT JOIN attempts a ON a.id = c.attempt_id "
        "WHERE c.sweep_id = ?1 AND (?2 IS NULL OR c.run_id = ?2) ORDER BY c.position";
    struct cell_row *rows = NULL;
    size_t length = 0;
    enum sql_step step;
    READER_AUTO reader = database_reader(store->main);
    SQL_AUTO sql = sql_begin(reader.connection, LIST);

    sql_bind_text(&sql, 1, sweep_id);
    sql_bind_text(&sql, 2, run_id);
    while ((step = sql_step(&sql, error)) == SQL_ROW) {
        rows = sql_rows_grow(rows, length, sizeof *rows);
        if (!read_cell(&sql, &rows[length++], error)) {
            step = SQL_FAILED;
            break;
        }
    }
    if (step == SQL_FAILED) {
        cell_rows_free(rows, length);
        return false;
    }
    *out = rows;
    *count = length;
    return true;
}

static void read_attempt(const struct sql *sql, struct attempt_row *row)
{
    *row = (struct attempt_row){
        .id = sql_integer(sql, 0),
        .cell_id = sql_integer(sql, 1),
        .number = sql_integer(sql, 2),
        .started_ms = sql_integer(sql, 3),
        .finished_ms = sql_integer(sql, 4),
        .fence = sql_integer(sql, 5),
        .concurrency = sql_integer(sql, 9),
        .input_tokens = sql_integer(sql, 10),
        .output_tokens = sql_integer(sql, 11),
        .repetition = sql_integer(sql, 12),
        .request_rate = sql_real(sql, 15),
    };
    sql_text(sql, 6, row->state, sizeof row->state);
    sql_text(sql, 7, row->reason, sizeof row->reason);
    sql_text(sql, 8, row->job_id, sizeof row->job_id);
    sql_text(sql, 13, row->run_id, sizeof row->run_id);
    sql_text(sql, 14, row->deployment, sizeof row->deployment);
}

bool cell_attempt_list(struct store *store, const char *sweep_id, const char *state,
                       struct attempt_row **out, size_t *count, struct error *error)
{
    static const char LIST[] =
        "SELECT a.id, a.cell_id, a.number, a.started_ms, a.finished_ms, a.fence, a.state, "
        "a.reason, a.job_id, c.concurrency, c.input_tokens, c.output_tokens, r.repetition, r.id, "
        "d.name, c.request_rate FROM cells c JOIN attempts a ON a.cell_id = c.id JOIN runs r ON "
        "r.id = c.run_id "
        "JOIN deployments d ON d.id = r.deployment_id "
        "WHERE c.sweep_id = ?1 AND (?2 IS NULL OR a.state = ?2) ORDER BY a.id";
    struct attempt_row *rows = NULL;
    size_t length = 0;
    enum sql_step step;
    READER_AUTO reader = database_reader(store->main);
    SQL_AUTO sql = sql_begin(reader.connection, LIST);

    sql_bind_text(&sql, 1, sweep_id);
    sql_bind_text(&sql, 2, state);
    while ((step = sql_step(&sql, error)) == SQL_ROW) {
        rows = sql_rows_grow(rows, length, sizeof *rows);
        read_attempt(&sql, &rows[length++]);
    }
    if (step == SQL_FAILED) {
        free(rows);
        return false;
    }
    *out = rows;
    *count = length;
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
                         "no request records are kept of attempt %lld: they were deleted by the "
                         "retention setting, or never made",
                         (long long)attempt_id);
    const void *data = sql_blob(&sql, 1, length);
    *out = memory_zeroed(*length, 1);
    if (*length > 0)
        memcpy(*out, data, *length);
    *requests = sql_integer(&sql, 0);
    return true;
}
