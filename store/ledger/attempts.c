/* SPDX-License-Identifier: Apache-2.0 */
/* Stores what a sweep's job does: its attempts to measure cells, and the cells that it skips or
 * infers. Each write first checks the job's claim (jobs.h). */
#include <stdlib.h>
#include <string.h>

#include "base/core/memory.h"
#include "base/json/json.h"
#include "store/ledger/store_private.h"
#include "store/ledger/sweeps.h"

struct beginning {
    const struct claim *claim;
    int64_t cell_id, now_ms, attempt_id;
};

/* CONFLICT unless the cell belongs to this job's sweep, is pending, and has no running attempt. */
static CHECKED bool check_cell(struct sql_connection *connection, const struct beginning *beginning,
                               struct error *error)
{
    static const char CHECK[] =
        "SELECT c.state, EXISTS (SELECT 1 FROM attempts WHERE cell_id = c.id AND state = "
        "'running') FROM cells c JOIN sweeps s ON s.id = c.sweep_id "
        "WHERE c.id = ?1 AND s.job_id = ?2";
    char state[16];
    bool found;
    SQL_AUTO sql = sql_begin(connection, CHECK);

    sql_bind_integer(&sql, 1, beginning->cell_id);
    sql_bind_text(&sql, 2, beginning->claim->job_id);
    if (!sql_find(&sql, &found, error))
        return false;
    if (!found)
        return error_set(error, ERROR_CONFLICT, "cell %lld does not belong to job %s",
                         (long long)beginning->cell_id, beginning->claim->job_id);
    sql_text(&sql, 0, state, sizeof state);
    if (strcmp(state, "pending") != 0)
        return error_set(error, ERROR_CONFLICT, "cell %lld is %s, not pending",
                         (long long)beginning->cell_id, state);
    return sql_integer(&sql, 1) == 0
           || error_set(error, ERROR_CONFLICT, "cell %lld is already being measured",
                        (long long)beginning->cell_id);
}

static CHECKED bool apply_begin(struct sql_connection *connection, void *context,
                                struct error *error)
{
    struct beginning *beginning = context;
    SQL_AUTO sql = sql_begin(
        connection, "INSERT INTO attempts (cell_id, number, job_id, fence, state, started_ms) "
                    "SELECT ?1, 1 + (SELECT count(*) FROM attempts WHERE cell_id = ?1), ?2, ?3, "
                    "'running', ?4 RETURNING id");

    if (!job_claim_check(connection, beginning->claim, error)
        || !check_cell(connection, beginning, error))
        return false;
    sql_bind_integer(&sql, 1, beginning->cell_id);
    sql_bind_text(&sql, 2, beginning->claim->job_id);
    sql_bind_integer(&sql, 3, beginning->claim->fence);
    sql_bind_integer(&sql, 4, beginning->now_ms);
    if (sql_step(&sql, error) != SQL_ROW)
        return false;
    beginning->attempt_id = sql_integer(&sql, 0);
    return true;
}

bool attempt_begin(struct store *store, const struct claim *claim, int64_t cell_id, int64_t now_ms,
                   int64_t *attempt_id, struct error *error)
{
    struct beginning beginning = { .claim = claim, .cell_id = cell_id, .now_ms = now_ms };

    if (!database_write(store->main, apply_begin, &beginning, error))
        return false;
    *attempt_id = beginning.attempt_id;
    return true;
}

struct ending {
    const struct claim *claim;
    int64_t attempt_id;
    const struct cell_result *result; /* NULL: the attempt was interrupted */
    const char *state, *reason;       /* of the attempt */
    const char *measurement_json;
    int64_t now_ms;
};

/* CONFLICT unless the attempt is running under this claim and its cell is still pending. */
static CHECKED bool end_attempt(struct sql_connection *connection, const struct ending *ending,
                                struct error *error)
{
    static const char END[] =
        "UPDATE attempts SET state = ?4, reason = ?5, finished_ms = ?6, workload_digest = ?7, "
        "measurement = ?8, witness = ?9 WHERE id = ?1 AND job_id = ?2 AND fence = ?3 "
        "AND state = 'running' AND EXISTS "
        "(SELECT 1 FROM cells WHERE id = attempts.cell_id AND state = 'pending')";
    const struct cell_result *result = ending->result;
    const char *witness = result == NULL ? NULL : result->witness_json;
    SQL_AUTO sql = sql_begin(connection, END);

    sql_bind_integer(&sql, 1, ending->attempt_id);
    sql_bind_text(&sql, 2, ending->claim->job_id);
    sql_bind_integer(&sql, 3, ending->claim->fence);
    sql_bind_text(&sql, 4, ending->state);
    sql_bind_text(&sql, 5, ending->reason);
    sql_bind_integer(&sql, 6, ending->now_ms);
    sql_bind_text(&sql, 7, result == NULL ? "" : result->workload_digest);
    sql_bind_text(&sql, 8, ending->measurement_json);
    sql_bind_text(&sql, 9, witness == NULL ? "{}" : witness);
    if (!sql_run(&sql, error))
        return false;
    return sql_changes(&sql) == 1
           || error_set(error, ERROR_CONFLICT,
                        "attempt %lld is not running under this claim, or its cell already "
                        "has a result",
                        (long long)ending->attempt_id);
}

static CHECKED bool end_cell(struct sql_connection *connection, const struct ending *ending,
                             struct error *error)
{
    SQL_AUTO sql =
        sql_begin(connection, "UPDATE cells SET state = ?2, reason = ?3, attempt_id = ?1 "
                              "WHERE id = (SELECT cell_id FROM attempts WHERE id = ?1)");

    sql_bind_integer(&sql, 1, ending->attempt_id);
    sql_bind_text(&sql, 2, cell_state_name(ending->result->state));
    sql_bind_text(&sql, 3, ending->result->reason);
    return sql_run(&sql, error);
}

static CHECKED bool insert_histogram(struct sql_connection *connection, int64_t attempt_id,
                                     enum metric metric, const struct histogram *histogram,
                                     struct error *error)
{
    FREE_AUTO void *data = NULL;
    size_t length;
    SQL_AUTO sql = sql_begin(
        connection, "INSERT INTO histograms (attempt_id, metric, data) VALUES (?1, ?2, ?3)");

    histogram_encode(histogram, &data, &length);
    sql_bind_integer(&sql, 1, attempt_id);
    sql_bind_text(&sql, 2, metric_name(metric));
    sql_bind_blob(&sql, 3, data, length);
    return sql_run(&sql, error);
}

static CHECKED bool insert_histograms(struct sql_connection *connection,
                                      const struct ending *ending, struct error *error)
{
    for (int i = 0; i < METRIC_COUNT; i++) {
        const struct histogram *histogram = ending->result->histograms[i];

        if (histogram != NULL
            && !insert_histogram(connection, ending->attempt_id, (enum metric)i, histogram, error))
            return false;
    }
    return true;
}

static CHECKED bool insert_records(struct sql_connection *connection, const struct ending *ending,
                                   struct error *error)
{
    const struct cell_result *result = ending->result;
    SQL_AUTO sql = sql_begin(connection, "INSERT INTO request_records (attempt_id, created_ms, "
                                         "requests, data) VALUES (?1, ?2, ?3, ?4)");

    if (result->records == NULL)
        return true;
    sql_bind_integer(&sql, 1, ending->attempt_id);
    sql_bind_integer(&sql, 2, ending->now_ms);
    sql_bind_integer(&sql, 3, result->records_count);
    sql_bind_blob(&sql, 4, result->records, result->records_length);
    return sql_run(&sql, error);
}

static CHECKED bool insert_series(struct sql_connection *connection, const struct ending *ending,
                                  struct error *error)
{
    const struct cell_result *result = ending->result;
    SQL_AUTO sql = sql_begin(
        connection, "INSERT INTO attempt_series (attempt_id, scrapes, data) VALUES (?1, ?2, ?3)");

    if (result->series == NULL)
        return true;
    sql_bind_integer(&sql, 1, ending->attempt_id);
    sql_bind_integer(&sql, 2, result->series_scrapes);
    sql_bind_blob(&sql, 3, result->series, result->series_length);
    return sql_run(&sql, error);
}

/* Marks as finished every run of the job's sweep that has no pending cells left. */
static CHECKED bool finish_runs(struct sql_connection *connection, const char *job_id,
                                int64_t now_ms, struct error *error)
{
    SQL_AUTO sql = sql_begin(
        connection, "UPDATE runs SET finished_ms = ?2 WHERE finished_ms IS NULL AND sweep_id IN "
                    "(SELECT id FROM sweeps WHERE job_id = ?1) AND NOT EXISTS "
                    "(SELECT 1 FROM cells WHERE run_id = runs.id AND state = 'pending')");

    sql_bind_text(&sql, 1, job_id);
    sql_bind_integer(&sql, 2, now_ms);
    return sql_run(&sql, error);
}

static CHECKED bool apply_end(struct sql_connection *connection, void *context, struct error *error)
{
    const struct ending *ending = context;

    if (!job_claim_check(connection, ending->claim, error)
        || !end_attempt(connection, ending, error) || !insert_histograms(connection, ending, error)
        || !insert_records(connection, ending, error) || !insert_series(connection, ending, error))
        return false;
    if (ending->result->state == CELL_PENDING)
        return true;
    return end_cell(connection, ending, error)
           && finish_runs(connection, ending->claim->job_id, ending->now_ms, error);
}

static char *write_measurement(const struct measurement *measurement)
{
    json_auto_t *json = NULL;

    if (measurement->attempted == 0 && measurement->window_s == 0)
        return memory_copy_text("{}"); /* nothing was measured */
    json = measurement_to_json(measurement);
    return json_write(json);
}

bool attempt_end(struct store *store, const struct claim *claim, int64_t attempt_id,
                 const struct cell_result *result, int64_t now_ms, struct error *error)
{
    FREE_AUTO char *measurement = write_measurement(&result->measurement);
    struct ending ending = {
        .claim = claim,
        .attempt_id = attempt_id,
        .result = result,
        .state = result->state == CELL_PENDING ? "rejected" : "accepted",
        .reason = result->reason,
        .measurement_json = measurement,
        .now_ms = now_ms,
    };

    return database_write(store->main, apply_end, &ending, error);
}

static CHECKED bool apply_interrupt(struct sql_connection *connection, void *context,
                                    struct error *error)
{
    const struct ending *ending = context;

    return job_claim_check(connection, ending->claim, error)
           && end_attempt(connection, ending, error);
}

bool attempt_interrupt(struct store *store, const struct claim *claim, int64_t attempt_id,
                       const char *reason, int64_t now_ms, struct error *error)
{
    struct ending ending = {
        .claim = claim,
        .attempt_id = attempt_id,
        .state = "interrupted",
        .reason = reason,
        .measurement_json = "{}",
        .now_ms = now_ms,
    };

    return database_write(store->main, apply_interrupt, &ending, error);
}

struct skipping {
    const struct claim *claim;
    const char *sweep_id, *reason;
    int64_t now_ms;
};

static CHECKED bool apply_skip(struct sql_connection *connection, void *context,
                               struct error *error)
{
    const struct skipping *skipping = context;
    SQL_AUTO sql =
        sql_begin(connection, "UPDATE cells SET state = 'skipped', reason = ?3 WHERE sweep_id = "
                              "(SELECT id FROM sweeps WHERE id = ?1 AND job_id = ?2) "
                              "AND state = 'pending'");

    if (!job_claim_check(connection, skipping->claim, error))
        return false;
    sql_bind_text(&sql, 1, skipping->sweep_id);
    sql_bind_text(&sql, 2, skipping->claim->job_id);
    sql_bind_text(&sql, 3, skipping->reason);
    return sql_run(&sql, error)
           && finish_runs(connection, skipping->claim->job_id, skipping->now_ms, error);
}

bool sweep_skip_cells(struct store *store, const struct claim *claim, const char *sweep_id,
                      const char *reason, int64_t now_ms, struct error *error)
{
    struct skipping skipping = { claim, sweep_id, reason, now_ms };

    return database_write(store->main, apply_skip, &skipping, error);
}

struct inferring {
    const struct claim *claim;
    const char *sweep_id;
    const struct cell_inference *inferences;
    size_t count;
    int64_t now_ms;
};

static CHECKED bool infer_cell(struct sql_connection *connection, const struct inferring *inferring,
                               const struct cell_inference *inference, struct error *error)
{
    SQL_AUTO sql =
        sql_begin(connection, "UPDATE cells SET state = 'inferred', reason = ?4 WHERE id = ?3 "
                              "AND sweep_id = (SELECT id FROM sweeps WHERE id = ?1 AND job_id = "
                              "?2) AND state = 'pending'");

    sql_bind_text(&sql, 1, inferring->sweep_id);
    sql_bind_text(&sql, 2, inferring->claim->job_id);
    sql_bind_integer(&sql, 3, inference->cell_id);
    sql_bind_text(&sql, 4, inference->reason);
    return sql_run(&sql, error);
}

static CHECKED bool apply_infer(struct sql_connection *connection, void *context,
                                struct error *error)
{
    const struct inferring *inferring = context;

    if (!job_claim_check(connection, inferring->claim, error))
        return false;
    for (size_t i = 0; i < inferring->count; i++)
        if (!infer_cell(connection, inferring, &inferring->inferences[i], error))
            return false;
    return finish_runs(connection, inferring->claim->job_id, inferring->now_ms, error);
}

bool sweep_infer_cells(struct store *store, const struct claim *claim, const char *sweep_id,
                       const struct cell_inference *inferences, size_t count, int64_t now_ms,
                       struct error *error)
{
    struct inferring inferring = { claim, sweep_id, inferences, count, now_ms };

    return database_write(store->main, apply_infer, &inferring, error);
}
