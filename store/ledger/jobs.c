/* SPDX-License-Identifier: Apache-2.0 */
#include "store/ledger/jobs.h"

#include <stdlib.h>
#include <string.h>

#include "base/core/text.h"
#include "store/ledger/store_private.h"

static const char *const state_names[] = {
    [JOB_QUEUED] = "queued",       [JOB_WAITING] = "waiting", [JOB_RUNNING] = "running",
    [JOB_COMPLETED] = "completed", [JOB_FAILED] = "failed",   [JOB_CANCELLED] = "cancelled",
};

const char *job_state_name(enum job_state state)
{
    return state_names[state];
}

bool job_state_find(const char *name, enum job_state *out)
{
    for (size_t i = 0; i < sizeof state_names / sizeof state_names[0]; i++) {
        if (strcmp(name, state_names[i]) == 0) {
            *out = (enum job_state)i;
            return true;
        }
    }
    return false;
}

bool job_is_over(const struct job *job)
{
    return job->state > JOB_RUNNING;
}

static bool read_state(const struct sql_column *column, void *member)
{
    char name[16];

    sql_text(column->sql, column->index, name, sizeof name);
    return job_state_find(name, member)
           || error_set(column->error, ERROR_INTERNAL, "a stored job has the unknown state \"%s\"",
                        name);
}

static const struct sql_member_kind kind_state = { read_state, NULL, NULL };
#define SQL_KIND_STATE(member) SQL_KIND(kind_state, enum job_state *, member)

const struct sql_columns job_columns = SQL_COLUMNS(struct job, JOB_COLUMNS);
static const struct sql_columns stored = SQL_COLUMNS(struct job, JOB_STORED);

bool job_read(struct sql_connection *connection, const char *id, struct job *out,
              struct error *error)
{
    bool found;
    SQL_AUTO sql = sql_begin(connection, SELECT_JOBS "WHERE id = ?1");

    sql_bind_text(&sql, 1, id);
    if (!sql_row_find(&sql, &job_columns, out, &found, error))
        return false;
    return found
           || error_set(error, ERROR_NOT_FOUND, "no job has the id \"%s\": job_list shows all jobs",
                        id);
}

bool job_find(struct store *store, const char *id, struct job *out, struct error *error)
{
    READER_AUTO reader = database_reader(store->main);

    return job_read(reader.connection, id, out, error);
}

bool job_list(struct store *store, const struct job_filter *filter, size_t limit, struct job **out,
              size_t *count, struct error *error)
{
    static const char LIST[] =
        SELECT_JOBS "WHERE (?1 IS NULL OR kind = ?1) "
                    "AND (?2 IS NULL OR principal = ?2) AND (?3 IS NULL OR subject = ?3) "
                    "AND (?4 IS NULL OR " JOB_STATE " = ?4) AND (?5 = 0 OR created_ms < ?5) "
                    "ORDER BY jobs.created_ms DESC, jobs.sequence DESC LIMIT ?6";
    void *rows;
    READER_AUTO reader = database_reader(store->main);
    SQL_AUTO sql = sql_begin(reader.connection, LIST);

    sql_bind_text(&sql, 1, filter->kind);
    sql_bind_text(&sql, 2, filter->principal);
    sql_bind_text(&sql, 3, filter->subject);
    sql_bind_text(&sql, 4, filter->state < 0 ? NULL : state_names[filter->state]);
    sql_bind_integer(&sql, 5, filter->before_ms);
    sql_bind_integer(&sql, 6, (int64_t)limit);
    if (!sql_rows_read(&sql, &job_columns, &rows, count, error))
        return false;
    *out = rows;
    return true;
}

static CHECKED bool count_waiting(struct sql_connection *connection, int64_t *out,
                                  struct error *error)
{
    bool found;
    SQL_AUTO sql = sql_begin(connection, "SELECT count(*) FROM jobs WHERE " JOB_WAITS);

    if (!sql_find(&sql, &found, error))
        return false;
    *out = sql_integer(&sql, 0);
    return true;
}

bool job_counts(struct store *store, int64_t counts[JOB_CANCELLED + 1], struct error *error)
{
    int64_t found[JOB_CANCELLED + 1] = { 0 };
    enum sql_step step;
    READER_AUTO reader = database_reader(store->main);
    SQL_AUTO sql = sql_begin(reader.connection, "SELECT state, count(*) FROM jobs GROUP BY state");

    while ((step = sql_step(&sql, error)) == SQL_ROW) {
        char name[16];
        enum job_state state;

        sql_text(&sql, 0, name, sizeof name);
        if (job_state_find(name, &state))
            found[state] = sql_integer(&sql, 1);
    }
    if (step == SQL_FAILED || !count_waiting(reader.connection, &found[JOB_WAITING], error))
        return false;
    found[JOB_QUEUED] -= found[JOB_WAITING];
    memcpy(counts, found, sizeof found);
    return true;
}

bool job_insert(struct sql_connection *connection, const struct job *job, struct error *error)
{
    static const char INSERT[] = SQL_INSERT_WITH("jobs", JOB_STORED, ", state, sequence",
                                                 ", 'queued', " SQL_NEXT_SEQUENCE("jobs"));
    SQL_AUTO sql = sql_begin(connection, INSERT);

    sql_row_bind(&sql, &stored, job);
    return sql_run(&sql, error);
}

static CHECKED bool apply_add(struct sql_connection *connection, void *context, struct error *error)
{
    struct job *job = context;

    return job_insert(connection, job, error) && job_read(connection, job->id, job, error);
}

bool job_add(struct store *store, const char *kind, const char *subject, const char *principal,
             int64_t now_ms, struct change *change, struct job *out, struct error *error)
{
    struct job job = { .created_ms = now_ms };

    random_id("job", job.id);
    text_copy(job.kind, sizeof job.kind, kind);
    text_copy(job.subject, sizeof job.subject, subject);
    text_copy(job.principal, sizeof job.principal, principal);
    if (!store_change(store, change, apply_add, &job, job.id, "", error))
        return false;
    *out = job;
    return true;
}

bool job_execute(struct sql_connection *connection, const char *statement, const char *id,
                 int64_t time_ms, struct error *error)
{
    SQL_AUTO sql = sql_begin(connection, statement);

    sql_bind_text(&sql, 1, id);
    if (time_ms != 0)
        sql_bind_integer(&sql, 2, time_ms);
    return sql_run(&sql, error);
}

bool job_end_sweep(struct sql_connection *connection, const char *job_id, const char *state,
                   const char *reason, int64_t now_ms, struct error *error)
{
    SQL_AUTO sql = sql_begin(connection, "UPDATE sweeps SET state = ?2, finished_ms = ?3, "
                                         "reason = coalesce(?4, 'its job was ' || ?2) "
                                         "WHERE job_id = ?1 AND state IN ('planned', 'running')");

    sql_bind_text(&sql, 1, job_id);
    sql_bind_text(&sql, 2, state);
    sql_bind_integer(&sql, 3, now_ms);
    sql_bind_text(&sql, 4, reason);
    return sql_run(&sql, error);
}

struct cancelling {
    const char *id;
    int64_t now_ms;
    struct job job;
    struct text changed;
};

/* Returns whether a cancelled job must still run, to undo what it did. Even a job that never
 * started must run, because only the job itself ends its plan. */
static bool undoes(const struct job *job)
{
    return strcmp(job->kind, JOB_KIND_APPLY) == 0;
}

static CHECKED bool apply_cancel(struct sql_connection *connection, void *context,
                                 struct error *error)
{
    static const char CANCEL[] =
        "UPDATE jobs SET state = 'cancelled', cancel_requested_ms = ?2, "
        "finished_ms = " SQL_GREATER("?2", "created_ms") ", updated_ms = ?2 "
                                                         "WHERE id = ?1";
    static const char REQUEST[] =
        "UPDATE jobs SET cancel_requested_ms = coalesce(cancel_requested_ms, ?2), "
        "updated_ms = ?2 WHERE id = ?1";
    struct cancelling *cancelling = context;
    struct job *job = &cancelling->job;
    const char *id = cancelling->id;
    int64_t now_ms = cancelling->now_ms;

    if (!job_read(connection, id, job, error))
        return false;
    if (job_is_over(job))
        return error_set(error, ERROR_CONFLICT,
                         "job %s has already ended (%s): it cannot be cancelled", id,
                         state_names[job->state]);
    audit_changed_text(&cancelling->changed, "state", state_names[job->state],
                       job->state == JOB_RUNNING || undoes(job) ? "asked to stop" : "cancelled");
    if (job->state == JOB_RUNNING || undoes(job))
        return job_execute(connection, REQUEST, id, now_ms, error)
               && job_read(connection, id, job, error);
    return job_execute(connection, CANCEL, id, now_ms, error)
           && endpoint_queue_leave(connection, id, error)
           && job_end_sweep(connection, id, state_names[JOB_CANCELLED], NULL, now_ms, error)
           && job_read(connection, id, job, error);
}

bool job_cancel(struct store *store, const char *id, int64_t now_ms, struct change *change,
                struct job *out, struct error *error)
{
    struct cancelling cancelling = { .id = id, .now_ms = now_ms };

    if (!store_change_described_take(store, change, apply_cancel, &cancelling, id, "",
                                     &cancelling.changed, error))
        return false;
    *out = cancelling.job;
    return true;
}
