/* SPDX-License-Identifier: Apache-2.0 */
#include "store/ledger/sweeps.h"

#include <stdlib.h>
#include <string.h>

#include "base/core/text.h"
#include "store/ledger/store_private.h"

#define SWEEP_STORED(FIRST, COLUMN, OF)                                                            \
    FIRST(struct sweep_row, TEXT, id, OF "id")                                                     \
    COLUMN(struct sweep_row, INTEGER, deployment_id, OF "deployment_id")                           \
    COLUMN(struct sweep_row, INTEGER, revision, OF "revision")                                     \
    COLUMN(struct sweep_row, TEXT, job_id, OF "job_id")                                            \
    COLUMN(struct sweep_row, HEAP_TEXT, plan, OF "plan")                                           \
    COLUMN(struct sweep_row, TEXT, plan_digest, OF "plan_digest")                                  \
    COLUMN(struct sweep_row, TEXT, state, OF "state")                                              \
    COLUMN(struct sweep_row, TEXT, principal, OF "principal")                                      \
    COLUMN(struct sweep_row, INTEGER, created_ms, OF "created_ms")
#define SWEEP_COLUMNS(FIRST, COLUMN, OF)                                                           \
    SWEEP_STORED(FIRST, COLUMN, OF)                                                                \
    COLUMN(struct sweep_row, TEXT, reason, OF "reason")                                            \
    COLUMN(struct sweep_row, INTEGER, started_ms, OF "started_ms")                                 \
    COLUMN(struct sweep_row, INTEGER, finished_ms, OF "finished_ms")                               \
    COLUMN(struct sweep_row, TEXT, deployment, "d.name")                                           \
    COLUMN(struct sweep_row, INTEGER, cells_total,                                                 \
           "(SELECT count(*) FROM cells WHERE sweep_id = s.id)")                                   \
    COLUMN(struct sweep_row, INTEGER, cells_done,                                                  \
           "(SELECT count(*) FROM cells WHERE sweep_id = s.id AND state <> 'pending')")            \
    COLUMN(struct sweep_row, INTEGER, repetitions,                                                 \
           "(SELECT count(*) FROM runs WHERE sweep_id = s.id "                                     \
           "AND deployment_id = s.deployment_id)")                                                 \
    COLUMN(struct sweep_row, INTEGER, cells_inferred,                                              \
           "(SELECT count(*) FROM cells WHERE sweep_id = s.id AND state = 'inferred')")
#define SUBJECT_COLUMNS(FIRST, COLUMN, OF)                                                         \
    FIRST(struct sweep_subject, INTEGER, deployment_id, OF "deployment_id")                        \
    COLUMN(struct sweep_subject, INTEGER, revision, OF "revision")                                 \
    COLUMN(struct sweep_subject, TEXT, deployment, "d.name")                                       \
    COLUMN(struct sweep_subject, HEAP_TEXT, workload, OF "workload")

static const struct sql_columns stored = SQL_COLUMNS(struct sweep_row, SWEEP_STORED);
static const struct sql_columns columns = SQL_COLUMNS(struct sweep_row, SWEEP_COLUMNS);
static const struct sql_columns subject_columns =
    SQL_COLUMNS(struct sweep_subject, SUBJECT_COLUMNS);

#define SELECT_SWEEPS                                                                              \
    SQL_SELECT(SWEEP_COLUMNS, "s.") "FROM sweeps s JOIN deployments d ON d.id = s.deployment_id "
#define SELECT_SUBJECTS                                                                            \
    SQL_SELECT(SUBJECT_COLUMNS, "p.")                                                              \
    "FROM sweep_subjects p JOIN deployments d ON d.id = p.deployment_id "

void sweep_row_finish(struct sweep_row *row)
{
    sql_row_finish(&columns, row);
    for (size_t i = 0; i < row->subject_count; i++)
        sql_row_finish(&subject_columns, &row->subjects[i]);
    row->subject_count = 0;
}

static CHECKED bool read_subjects(struct sql_connection *connection, struct sweep_row *row,
                                  struct error *error)
{
    enum sql_step step;
    SQL_AUTO sql =
        sql_begin(connection, SELECT_SUBJECTS "WHERE p.sweep_id = ?1 ORDER BY p.position LIMIT ?2");

    sql_bind_text(&sql, 1, row->id);
    sql_bind_integer(&sql, 2, SWEEP_SUBJECTS_MAX);
    while ((step = sql_step(&sql, error)) == SQL_ROW) {
        if (!sql_row_read(&sql, &subject_columns, &row->subjects[row->subject_count], error))
            return false;
        row->subject_count++;
    }
    return step != SQL_FAILED;
}

bool sweep_insert(struct sql_connection *connection, const struct sweep_row *row,
                  struct error *error)
{
    static const char INSERT[] =
        SQL_INSERT_WITH("sweeps", SWEEP_STORED, ", sequence", ", " SQL_NEXT_SEQUENCE("sweeps"));
    SQL_AUTO sql = sql_begin(connection, INSERT);

    sql_row_bind(&sql, &stored, row);
    return sql_run(&sql, error);
}

bool sweep_read(struct sql_connection *connection, const char *id, struct sweep_row *out,
                struct error *error)
{
    bool found;
    SQL_AUTO sql = sql_begin(connection, SELECT_SWEEPS "WHERE s.id = ?1");

    sql_bind_text(&sql, 1, id);
    if (!sql_row_find(&sql, &columns, out, &found, error))
        return false;
    if (!found)
        return error_set(error, ERROR_NOT_FOUND,
                         "no sweep has the id \"%s\": sweep_list shows all sweeps", id);
    if (read_subjects(connection, out, error))
        return true;
    sweep_row_finish(out);
    return false;
}

bool sweep_find(struct store *store, const char *id, struct sweep_row *out, struct error *error)
{
    READER_AUTO reader = database_reader(store->main);

    return sweep_read(reader.connection, id, out, error);
}

static void rows_free(struct sweep_row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++)
        sweep_row_finish(&rows[i]);
    free(rows);
}

bool sweep_list(struct store *store, const char *deployment, int64_t before_ms, size_t limit,
                struct sweep_row **out, size_t *count, struct error *error)
{
    void *rows;
    READER_AUTO reader = database_reader(store->main);
    SQL_AUTO sql = sql_begin(reader.connection, SELECT_SWEEPS
                             "WHERE (?1 IS NULL OR s.id IN "
                             "(SELECT p.sweep_id FROM sweep_subjects p JOIN deployments e "
                             "ON e.id = p.deployment_id WHERE e.name = ?1)) "
                             "AND (?2 = 0 OR s.created_ms < ?2) "
                             "ORDER BY s.created_ms DESC, s.sequence DESC LIMIT ?3");

    sql_bind_text(&sql, 1, deployment);
    sql_bind_integer(&sql, 2, before_ms);
    sql_bind_integer(&sql, 3, (int64_t)limit);
    if (!sql_rows_read(&sql, &columns, &rows, count, error))
        return false;
    *out = rows;
    for (size_t i = 0; i < *count; i++) {
        if (!read_subjects(reader.connection, &(*out)[i], error)) {
            rows_free(*out, *count);
            return false;
        }
    }
    return true;
}

bool sweep_find_active(struct store *store, const char *deployment, char id[ID_SIZE],
                       struct error *error)
{
    bool found;
    READER_AUTO reader = database_reader(store->main);
    SQL_AUTO sql =
        sql_begin(reader.connection,
                  "SELECT s.id FROM deployments d JOIN sweep_subjects p ON p.deployment_id = d.id "
                  "JOIN sweeps s ON s.id = p.sweep_id "
                  "WHERE d.name = ?1 AND s.state IN ('planned', 'running') "
                  "ORDER BY s.created_ms LIMIT 1");

    sql_bind_text(&sql, 1, deployment);
    if (!sql_find(&sql, &found, error))
        return false;
    id[0] = '\0';
    if (found)
        sql_text(&sql, 0, id, ID_SIZE);
    return true;
}

struct reopening {
    const char *id, *principal;
    bool retry_failed;
    int64_t active_limit;
    int64_t now_ms;
    struct sweep_row row;
};

static CHECKED bool execute_for_sweep(struct sql_connection *connection, const char *statement,
                                      const char *id, struct error *error)
{
    SQL_AUTO sql = sql_begin(connection, statement);

    sql_bind_text(&sql, 1, id);
    return sql_run(&sql, error);
}

static CHECKED bool check_idle(struct sql_connection *connection, const struct sweep_row *row,
                               struct error *error)
{
    bool found;
    SQL_AUTO sql = sql_begin(connection,
                             "SELECT 1 FROM jobs WHERE id = ?1 AND state IN ('queued', 'running')");

    sql_bind_text(&sql, 1, row->job_id);
    if (!sql_find(&sql, &found, error))
        return false;
    return !found
           || error_set(error, ERROR_CONFLICT,
                        "job %s of sweep %s has not ended: wait until it has ended", row->job_id,
                        row->id);
}

#define OF_UNFINISHED_RUNS                                                                         \
    "sweep_id = ?1 AND run_id IN (SELECT id FROM runs WHERE sweep_id = ?1 AND finished_ms IS "     \
    "NULL) "

/* Makes failed and skipped cells pending again, and also inferred cells that have the same run and
 * token counts as such a cell. The cells of a finished run stay as they are: only a new run, which
 * corrects the finished one, can measure them again. */
static CHECKED bool put_back_failed(struct sql_connection *connection, const char *id,
                                    struct error *error)
{
    static const char REJECT[] =
        "UPDATE attempts SET state = 'rejected', reason = 'measured again on request' WHERE id IN "
        "(SELECT attempt_id FROM cells WHERE " OF_UNFINISHED_RUNS
        "AND state IN ('failed', 'skipped'))";
    static const char PUT_BACK_INFERRED[] =
        "UPDATE cells SET state = 'pending', reason = '' WHERE " OF_UNFINISHED_RUNS
        "AND state = 'inferred' AND EXISTS (SELECT 1 FROM cells f WHERE f.run_id = cells.run_id "
        "AND f.input_tokens = cells.input_tokens AND f.output_tokens = cells.output_tokens "
        "AND f.state IN ('failed', 'skipped'))";
    static const char PUT_BACK[] =
        "UPDATE cells SET state = 'pending', reason = '', attempt_id = NULL "
        "WHERE " OF_UNFINISHED_RUNS "AND state IN ('failed', 'skipped')";

    return execute_for_sweep(connection, REJECT, id, error)
           && execute_for_sweep(connection, PUT_BACK_INFERRED, id, error)
           && execute_for_sweep(connection, PUT_BACK, id, error);
}

static CHECKED bool check_pending(struct sql_connection *connection,
                                  const struct reopening *reopening, struct error *error)
{
    SQL_AUTO sql =
        sql_begin(connection, "SELECT count(*) FILTER (WHERE state = 'pending'), "
                              "count(*) FILTER (WHERE state IN ('failed', 'skipped')) FROM cells "
                              "WHERE sweep_id = ?1");

    sql_bind_text(&sql, 1, reopening->id);
    if (sql_step(&sql, error) != SQL_ROW)
        return false;
    if (sql_integer(&sql, 0) > 0)
        return true;
    if (sql_integer(&sql, 1) == 0)
        return error_set(error, ERROR_CONFLICT, "sweep %s is complete: every cell has its result",
                         reopening->id);
    return error_set(
        error, ERROR_CONFLICT,
        "the runs of sweep %s are finished, with %lld cells that failed or were skipped, "
        "and a finished run is never changed: sweep_start with the same arguments and "
        "\"corrects\": \"%s\" measures the sweep's runs again, as new runs",
        reopening->id, (long long)sql_integer(&sql, 1), reopening->id);
}

static CHECKED bool attach_job(struct sql_connection *connection, const struct reopening *reopening,
                               struct error *error)
{
    struct job job = { .created_ms = reopening->now_ms };
    SQL_AUTO sql = sql_begin(connection, "UPDATE sweeps SET job_id = ?2, state = 'planned', "
                                         "reason = '', finished_ms = NULL WHERE id = ?1");

    random_id("job", job.id);
    text_copy(job.kind, sizeof job.kind, "sweep");
    text_copy(job.subject, sizeof job.subject, reopening->id);
    text_copy(job.principal, sizeof job.principal, reopening->principal);
    if (!job_insert(connection, &job, error))
        return false;
    sql_bind_text(&sql, 1, reopening->id);
    sql_bind_text(&sql, 2, job.id);
    return sql_run(&sql, error) && endpoint_queue_join(connection, job.id, error);
}

static CHECKED bool apply_reopen(struct sql_connection *connection, void *context,
                                 struct error *error)
{
    struct reopening *reopening = context;
    struct sweep_row *row = &reopening->row;

    sweep_row_finish(row);
    if (!sweep_read(connection, reopening->id, row, error))
        return false;
    if (!check_idle(connection, row, error)
        || !sweep_create_check_limit(connection, reopening->principal, reopening->active_limit,
                                     error))
        return false;
    if (reopening->retry_failed && !put_back_failed(connection, reopening->id, error))
        return false;
    if (!check_pending(connection, reopening, error) || !attach_job(connection, reopening, error))
        return false;
    sweep_row_finish(row);
    return sweep_read(connection, reopening->id, row, error);
}

bool sweep_reopen(struct store *store, const char *id, bool retry_failed, int64_t active_limit,
                  int64_t now_ms, struct change *change, struct sweep_row *out, struct error *error)
{
    struct reopening reopening = {
        .id = id,
        .principal = store_change_principal(change),
        .retry_failed = retry_failed,
        .active_limit = active_limit,
        .now_ms = now_ms,
    };

    if (!store_change(store, change, apply_reopen, &reopening, id, "", error)) {
        sweep_row_finish(&reopening.row);
        return false;
    }
    *out = reopening.row;
    return true;
}

struct claimed_write {
    const struct claim *claim;
    const char *sweep_id, *workload_json;
    int64_t deployment_id, now_ms;
};

/* Executes a statement that changes one row if the claimed job (?2) works on the sweep (?1).
 * CONFLICT: it did not change a row. */
static CHECKED bool execute_claimed(struct sql *sql, const struct claimed_write *claimed_write,
                                    struct error *error)
{
    sql_bind_text(sql, 1, claimed_write->sweep_id);
    sql_bind_text(sql, 2, claimed_write->claim->job_id);
    if (!sql_run(sql, error))
        return false;
    return sql_changes(sql) == 1
           || error_set(error, ERROR_CONFLICT, "sweep %s does not belong to job %s, or has ended",
                        claimed_write->sweep_id, claimed_write->claim->job_id);
}

static CHECKED bool apply_begin(struct sql_connection *connection, void *context,
                                struct error *error)
{
    const struct claimed_write *claimed_write = context;
    SQL_AUTO sql = sql_begin(connection, "UPDATE sweeps SET state = 'running', started_ms = "
                                         "coalesce(started_ms, ?3) WHERE id = ?1 AND job_id = ?2 "
                                         "AND state IN ('planned', 'running')");

    if (!job_claim_check(connection, claimed_write->claim, error))
        return false;
    sql_bind_integer(&sql, 3, claimed_write->now_ms);
    return execute_claimed(&sql, claimed_write, error);
}

bool sweep_begin(struct store *store, const struct claim *claim, const char *sweep_id,
                 int64_t now_ms, struct error *error)
{
    struct claimed_write claimed_write = { .claim = claim, .sweep_id = sweep_id, .now_ms = now_ms };

    return database_write(store->main, apply_begin, &claimed_write, error);
}

static CHECKED bool apply_workload(struct sql_connection *connection, void *context,
                                   struct error *error)
{
    const struct claimed_write *claimed_write = context;
    SQL_AUTO sql =
        sql_begin(connection, "UPDATE sweep_subjects SET workload = ?4 WHERE sweep_id = ?1 AND "
                              "deployment_id = ?3 AND EXISTS "
                              "(SELECT 1 FROM sweeps WHERE id = ?1 AND job_id = ?2)");

    if (!job_claim_check(connection, claimed_write->claim, error))
        return false;
    sql_bind_integer(&sql, 3, claimed_write->deployment_id);
    sql_bind_text(&sql, 4, claimed_write->workload_json);
    return execute_claimed(&sql, claimed_write, error);
}

bool sweep_workload_keep(struct store *store, const struct claim *claim, const char *sweep_id,
                         int64_t deployment_id, const char *workload_json, struct error *error)
{
    struct claimed_write claimed_write = { .claim = claim,
                                           .sweep_id = sweep_id,
                                           .deployment_id = deployment_id,
                                           .workload_json = workload_json };

    return database_write(store->main, apply_workload, &claimed_write, error);
}
