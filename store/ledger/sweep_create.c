/* SPDX-License-Identifier: Apache-2.0 */
/* Creates a sweep with its job, runs and cells, in one transaction. */
#include <string.h>

#include "base/core/memory.h"
#include "base/core/text.h"
#include "store/ledger/store_private.h"
#include "store/ledger/sweeps.h"

#define REPETITIONS_MAX 1000
#define CELLS_MAX 1000000

struct new_run {
    int64_t repetition;
    size_t subject;
    char id[ID_SIZE];
};

struct creation {
    const struct sweep_order *order;
    const char *principal;
    struct idempotency idempotency; /* if the caller gave no key, `key` is NULL */
    int64_t now_ms;
    const struct deployment *subjects[SWEEP_SUBJECTS_MAX];
    size_t subject_count;
    struct new_run *runs; /* has room for `order->repetitions` runs of each subject */
    size_t run_count;
    char sweep_id[ID_SIZE], detail[96];
    struct sweep_row row;
};

static CHECKED bool insert_job(struct sql_connection *connection, const struct creation *creation,
                               const char *job_id, struct error *error)
{
    struct job job = { .created_ms = creation->now_ms };

    text_copy(job.id, sizeof job.id, job_id);
    text_copy(job.kind, sizeof job.kind, "sweep");
    text_copy(job.subject, sizeof job.subject, creation->sweep_id);
    text_copy(job.principal, sizeof job.principal, creation->principal);
    return job_insert(connection, &job, error);
}

static CHECKED bool insert_sweep(struct sql_connection *connection, const struct creation *creation,
                                 const char *job_id, struct error *error)
{
    const struct sweep_order *order = creation->order;
    FREE_AUTO char *plan = memory_copy_text(order->plan_json);
    struct sweep_row row = {
        .deployment_id = order->deployment->id,
        .revision = order->deployment->revision,
        .plan = plan,
        .state = "planned",
        .created_ms = creation->now_ms,
    };

    text_copy(row.id, sizeof row.id, creation->sweep_id);
    text_copy(row.job_id, sizeof row.job_id, job_id);
    text_copy(row.plan_digest, sizeof row.plan_digest, order->plan_digest);
    text_copy(row.principal, sizeof row.principal, creation->principal);
    return sweep_insert(connection, &row, error);
}

static CHECKED bool insert_subjects(struct sql_connection *connection,
                                    const struct creation *creation, struct error *error)
{
    SQL_AUTO sql = sql_begin(connection, "INSERT INTO sweep_subjects (sweep_id, position, "
                                         "deployment_id, revision) VALUES (?1, ?2, ?3, ?4)");

    for (size_t i = 0; i < creation->subject_count; i++) {
        sql_bind_text(&sql, 1, creation->sweep_id);
        sql_bind_integer(&sql, 2, (int64_t)i);
        sql_bind_integer(&sql, 3, creation->subjects[i]->id);
        sql_bind_integer(&sql, 4, creation->subjects[i]->revision);
        if (!sql_run(&sql, error))
            return false;
    }
    return true;
}

static size_t expected_runs(const struct creation *creation)
{
    return (size_t)creation->order->repetitions * creation->subject_count;
}

/* Finds the run for the cell's repetition and subject. If there is none, inserts it. */
static CHECKED bool run_of(struct sql_connection *connection, struct creation *creation,
                           const struct cell_plan *cell, const char **id, struct error *error)
{
    struct new_run *run = creation->runs;
    const struct new_run *end = run + creation->run_count;

    while (run < end && (run->repetition != cell->repetition || run->subject != cell->subject))
        run++;
    *id = run->id;
    if (run < end)
        return true;
    if (cell->subject >= creation->subject_count || creation->run_count == expected_runs(creation))
        return error_set(error, ERROR_INVALID,
                         "the cells belong to more than %lld repetitions of %zu deployments",
                         (long long)creation->order->repetitions, creation->subject_count);
    creation->run_count++;
    run->repetition = cell->repetition;
    run->subject = cell->subject;
    random_id("run", run->id);
    return run_insert(connection,
                      &(struct run_order){ creation->order, run->id, creation->sweep_id,
                                           run->subject, run->repetition, creation->now_ms },
                      error);
}

struct new_cell {
    char sweep_id[ID_SIZE], run_id[ID_SIZE];
    struct cell_plan plan;
};
#define CELL_STORED(FIRST, COLUMN, OF)                                                             \
    FIRST(struct new_cell, TEXT, sweep_id, OF "sweep_id")                                          \
    COLUMN(struct new_cell, TEXT, run_id, OF "run_id")                                             \
    COLUMN(struct new_cell, INTEGER, plan.position, OF "position")                                 \
    COLUMN(struct new_cell, INTEGER, plan.concurrency, OF "concurrency")                           \
    COLUMN(struct new_cell, INTEGER, plan.input_tokens, OF "input_tokens")                         \
    COLUMN(struct new_cell, INTEGER, plan.output_tokens, OF "output_tokens")                       \
    COLUMN(struct new_cell, REAL, plan.request_rate, OF "request_rate")
static const struct sql_columns cell_stored = SQL_COLUMNS(struct new_cell, CELL_STORED);

static CHECKED bool insert_cells(struct sql_connection *connection, struct creation *creation,
                                 struct error *error)
{
    static const char INSERT[] = SQL_INSERT_WITH("cells", CELL_STORED, ", state", ", 'pending'");
    SQL_AUTO sql = sql_begin(connection, INSERT);

    for (size_t i = 0; i < creation->order->cell_count; i++) {
        struct new_cell cell = { .plan = creation->order->cells[i] };
        const char *run_id;

        if (!run_of(connection, creation, &cell.plan, &run_id, error))
            return false;
        text_copy(cell.sweep_id, sizeof cell.sweep_id, creation->sweep_id);
        text_copy(cell.run_id, sizeof cell.run_id, run_id);
        sql_row_bind(&sql, &cell_stored, &cell);
        if (!sql_run(&sql, error))
            return false;
    }
    return creation->run_count == expected_runs(creation)
           || error_set(error, ERROR_INVALID, "the cells belong to %zu runs instead of %zu",
                        creation->run_count, expected_runs(creation));
}

bool sweep_create_check_limit(struct sql_connection *connection, const char *principal,
                              int64_t limit, struct error *error)
{
    bool found;
    SQL_AUTO sql =
        sql_begin(connection, "SELECT count(*) FROM jobs WHERE state IN ('queued', 'running') AND "
                              "kind = 'sweep' AND principal = ?1");

    sql_bind_text(&sql, 1, principal);
    if (!sql_find(&sql, &found, error))
        return false;
    if (limit == 0 || sql_integer(&sql, 0) < limit)
        return true;
    return error_set(
        error, ERROR_BUSY,
        "%s has %lld sweeps queued or running, and the limit is %lld (sweeps_per_principal): "
        "wait until some have ended, or cancel some with sweep_cancel",
        principal, (long long)sql_integer(&sql, 0), (long long)limit);
}

static CHECKED bool insert_all(struct sql_connection *connection, struct creation *creation,
                               struct error *error)
{
    char job_id[ID_SIZE];

    random_id("swp", creation->sweep_id);
    random_id("job", job_id);
    if (!sweep_create_check_limit(connection, creation->principal, creation->order->active_limit,
                                  error)
        || !insert_job(connection, creation, job_id, error)
        || !insert_sweep(connection, creation, job_id, error)
        || !insert_subjects(connection, creation, error)
        || !insert_cells(connection, creation, error)
        || !endpoint_queue_join(connection, job_id, error))
        return false;
    if (creation->idempotency.key != NULL
        && !idempotency_insert(connection, &creation->idempotency, creation->sweep_id,
                               creation->now_ms, error))
        return false;
    return sweep_read(connection, creation->sweep_id, &creation->row, error);
}

static CHECKED bool apply_create(struct sql_connection *connection, void *context,
                                 struct error *error)
{
    struct creation *creation = context;
    bool used = false;

    creation->run_count = 0;
    creation->detail[0] = '\0';
    sweep_row_finish(&creation->row);
    if (creation->idempotency.key != NULL
        && !idempotency_read(connection, &creation->idempotency, creation->sweep_id, &used, error))
        return false;
    if (!used)
        return insert_all(connection, creation, error);
    text_copy(creation->detail, sizeof creation->detail,
              "the idempotency key was used before: nothing new was started");
    return sweep_read(connection, creation->sweep_id, &creation->row, error);
}

static CHECKED bool check_order(const struct sweep_order *order, struct error *error)
{
    if (order->repetitions >= 1 && order->repetitions <= REPETITIONS_MAX && order->cell_count >= 1
        && order->cell_count <= CELLS_MAX)
        return true;
    return error_set(error, ERROR_INVALID,
                     "a sweep must have 1 to %d repetitions and 1 to %d cells: got %lld and %zu",
                     REPETITIONS_MAX, CELLS_MAX, (long long)order->repetitions, order->cell_count);
}

bool sweep_create(struct store *store, const struct sweep_order *order, int64_t now_ms,
                  struct change *change, struct sweep_row *out, struct error *error)
{
    struct creation creation = {
        .order = order,
        .principal = store_change_principal(change),
        .idempotency = { store_change_principal(change), change == NULL ? "" : change->tool,
                         order->idempotency_key, order->arguments_digest },
        .now_ms = now_ms,
        .subjects = { order->deployment, order->candidate },
        .subject_count = order->candidate == NULL ? 1 : 2,
    };

    if (!check_order(order, error))
        return false;
    FREE_AUTO struct new_run *runs = memory_zeroed(expected_runs(&creation), sizeof *runs);
    creation.runs = runs;
    if (!store_change(store, change, apply_create, &creation, creation.sweep_id, creation.detail,
                      error)) {
        sweep_row_finish(&creation.row);
        return false;
    }
    *out = creation.row;
    return true;
}
