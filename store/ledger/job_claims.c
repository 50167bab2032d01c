/* SPDX-License-Identifier: Apache-2.0 */
/* What a process does with a job: claims it, sends heartbeats, and finishes it or gives it back.
 * Also makes jobs claimable again that other processes left running. */
#include <stdlib.h>
#include <string.h>

#include "base/core/clock.h"
#include "base/core/memory.h"
#include "store/ledger/jobs.h"
#include "store/ledger/store_private.h"

bool job_claim_check(struct sql_connection *connection, const struct claim *claim,
                     struct error *error)
{
    bool found;
    SQL_AUTO sql = sql_begin(
        connection, "SELECT 1 FROM jobs WHERE id = ?1 AND fence = ?2 AND state = 'running'");

    sql_bind_text(&sql, 1, claim->job_id);
    sql_bind_integer(&sql, 2, claim->fence);
    if (!sql_find(&sql, &found, error))
        return false;
    return found
           || error_set(error, ERROR_CONFLICT,
                        "job %s was taken over by another worker, or has ended", claim->job_id);
}

struct claiming {
    const char *owner;
    const char *const *kinds;
    int64_t now_ms, lease_ms;
    struct job job;
    bool found;
};

static bool is_listed(const char *const *kinds, const char *kind)
{
    while (*kinds != NULL && strcmp(*kinds, kind) != 0)
        kinds++;
    return *kinds != NULL;
}

/* Another process's job is marked as running, but its lease has ended. This process's own jobs are
 * never orphaned, even if their leases look expired because the clock was changed. */
#define ORPHANED "(state = 'running' AND lease_until_ms < ?1 AND owner <> ?2) "
/* The job waits for an endpoint, and another job holds it or is ahead in the line for it. */
#define ENDPOINT_BUSY                                                                              \
    "EXISTS (SELECT 1 FROM endpoint_leases mine JOIN endpoint_leases other "                       \
    "ON other.endpoint = mine.endpoint AND other.id <> mine.id WHERE mine.job_id = jobs.id "       \
    "AND mine.turn IS NOT NULL AND mine.granted_ms IS NULL AND (other.granted_ms IS NOT NULL "     \
    "OR other.turn < mine.turn OR (other.turn = mine.turn AND other.id < mine.id))) "
/* Two numbers by which jobs are sorted. PRINCIPAL_SERVED: the greater, the more recently a job of
 * the same principal was claimed; 0: never. ENDPOINTS_SERVED: the greater, the more recently any of
 * the job's endpoints was granted to a job; 0: never. */
#define PRINCIPAL_SERVED                                                                           \
    "coalesce((SELECT number FROM served_principals s WHERE s.principal = jobs.principal), 0) "
#define ENDPOINTS_SERVED                                                                           \
    "(SELECT coalesce(max(number), 0) FROM served_endpoints WHERE endpoint IN "                    \
    "(SELECT endpoint FROM endpoint_leases WHERE job_id = jobs.id)) "

static CHECKED bool find_claimable(struct sql_connection *connection, struct claiming *claiming,
                                   struct error *error)
{
    static const char CLAIMABLE[] =
        SELECT_JOBS "WHERE (state = 'queued' AND NOT " JOB_WAITS "AND NOT " ENDPOINT_BUSY
                    ") OR " ORPHANED "ORDER BY state = 'running' DESC, "
                    "(SELECT count(*) FROM jobs b WHERE b.state = 'running' AND b.principal = "
                    "jobs.principal), " PRINCIPAL_SERVED ", " ENDPOINTS_SERVED
                    ", jobs.created_ms, jobs.sequence";
    enum sql_step step;
    SQL_AUTO sql = sql_begin(connection, CLAIMABLE);

    claiming->found = false;
    sql_bind_integer(&sql, 1, claiming->now_ms);
    sql_bind_text(&sql, 2, claiming->owner);
    while ((step = sql_step(&sql, error)) == SQL_ROW) {
        if (!sql_row_read(&sql, &job_columns, &claiming->job, error))
            return false;
        claiming->found = is_listed(claiming->kinds, claiming->job.kind);
        if (claiming->found)
            return true;
    }
    return step == SQL_DONE;
}

static CHECKED bool mark_running(struct sql_connection *connection, const struct claiming *claiming,
                                 struct error *error)
{
    SQL_AUTO sql = sql_begin(
        connection,
        "UPDATE jobs SET state = 'running', owner = ?2, lease_until_ms = ?3, "
        "fence = fence + 1, updated_ms = ?4, "
        "started_ms = coalesce(started_ms, " SQL_GREATER("?4", "created_ms") ") "
                                                                             "WHERE id = ?1");

    sql_bind_text(&sql, 1, claiming->job.id);
    sql_bind_text(&sql, 2, claiming->owner);
    sql_bind_integer(&sql, 3, claiming->now_ms + claiming->lease_ms);
    sql_bind_integer(&sql, 4, claiming->now_ms);
    return sql_run(&sql, error);
}

static CHECKED bool note_served(struct sql_connection *connection, const char *job_id,
                                struct error *error)
{
    static const char SERVED[] =
        "INSERT INTO served_principals (principal, number) SELECT principal, "
        "(SELECT coalesce(max(number), 0) + 1 FROM served_principals) FROM jobs WHERE id = ?1 "
        "ON CONFLICT (principal) DO UPDATE SET number = excluded.number";

    return job_execute(connection, SERVED, job_id, 0, error);
}

/* Finds a claimable job, and grants it the endpoint that it waits for. If the job needs another
 * endpoint as well, it joins the line for that one, and the search starts again. */
static CHECKED bool find_ready(struct sql_connection *connection, struct claiming *claiming,
                               struct error *error)
{
    bool holds = false;

    while (!holds) {
        if (!find_claimable(connection, claiming, error))
            return false;
        if (!claiming->found)
            return true;
        if (!endpoint_queue_advance(connection, claiming->job.id, claiming->now_ms, &holds, error))
            return false;
    }
    return true;
}

static CHECKED bool apply_claim(struct sql_connection *connection, void *context,
                                struct error *error)
{
    static const char INTERRUPT[] =
        "UPDATE attempts SET state = 'interrupted', finished_ms = ?2, "
        "reason = 'the process that measured it ended' WHERE job_id = ?1 AND state = 'running'";
    struct claiming *claiming = context;
    const char *id = claiming->job.id;

    if (!find_ready(connection, claiming, error))
        return false;
    if (!claiming->found)
        return true;
    return mark_running(connection, claiming, error) && note_served(connection, id, error)
           && job_execute(connection, INTERRUPT, id, claiming->now_ms, error)
           && job_read(connection, id, &claiming->job, error);
}

/* Usually no job is claimable. This function finds that out without a write transaction. */
static CHECKED bool peek_claimable(struct store *store, struct claiming *claiming,
                                   struct error *error)
{
    READER_AUTO reader = database_reader(store->main);

    return find_claimable(reader.connection, claiming, error);
}

bool job_claim(struct store *store, const char *owner, const char *const *kinds, int64_t now_ms,
               int64_t lease_ms, struct job *out, bool *found, struct error *error)
{
    struct claiming claiming = {
        .owner = owner, .kinds = kinds, .now_ms = now_ms, .lease_ms = lease_ms
    };

    if (!peek_claimable(store, &claiming, error))
        return false;
    if (claiming.found && !database_write(store->main, apply_claim, &claiming, error))
        return false;
    *found = claiming.found;
    if (claiming.found)
        *out = claiming.job;
    return true;
}

struct releasing {
    const char *owner;
    bool has_lock; /* whether this process has locked the data folder */
};

static CHECKED bool apply_orphans(struct sql_connection *connection, void *context,
                                  struct error *error)
{
    static const char RELEASE[] =
        "UPDATE jobs SET lease_until_ms = 0 WHERE state = 'running' AND owner <> ?1";
    const struct releasing *releasing = context;

    return (!releasing->has_lock || job_execute(connection, RELEASE, releasing->owner, 0, error))
           && endpoint_queue_restore(connection, error);
}

bool job_orphans_release(struct store *store, const char *owner, struct error *error)
{
    struct releasing releasing = { owner, store->lock_file >= 0 };

    return database_write(store->main, apply_orphans, &releasing, error);
}

struct beating {
    struct job_beat *beats;
    size_t count;
    int64_t now_ms, lease_ms;
    int64_t called_ns; /* when job_heartbeat was called, on the monotonic clock */
};

static CHECKED bool beat_one(struct sql_connection *connection, struct job_beat *beat,
                             int64_t lease_until_ms, int64_t now_ms, struct error *error)
{
    static const char BEAT[] =
        "UPDATE jobs SET lease_until_ms = ?3, progress = ?4, progress_total = ?5, message = ?6, "
        "updated_ms = CASE WHEN progress = ?4 AND progress_total = ?5 AND message = ?6 "
        "THEN updated_ms ELSE ?7 END "
        "WHERE id = ?1 AND fence = ?2 AND state = 'running' "
        "RETURNING cancel_requested_ms"; /* SQLite 3.40 evaluates IS NOT NULL incorrectly here */
    bool found;
    SQL_AUTO sql = sql_begin(connection, BEAT);

    sql_bind_text(&sql, 1, beat->claim.job_id);
    sql_bind_integer(&sql, 2, beat->claim.fence);
    sql_bind_integer(&sql, 3, lease_until_ms);
    sql_bind_real(&sql, 4, beat->progress);
    sql_bind_real(&sql, 5, beat->progress_total);
    sql_bind_text(&sql, 6, beat->message);
    sql_bind_integer(&sql, 7, now_ms);
    if (!sql_find(&sql, &found, error))
        return false;
    beat->stale = !found;
    beat->cancel_requested = found && sql_integer(&sql, 0) != 0;
    return true;
}

static CHECKED bool apply_beats(struct sql_connection *connection, void *context,
                                struct error *error)
{
    const struct beating *beating = context;
    /* The lease begins when it is written: a slow disk must not shorten it. */
    int64_t waited_ms = (clock_monotonic_ns() - beating->called_ns) / 1000000;
    int64_t until_ms = beating->now_ms + waited_ms + beating->lease_ms;

    for (size_t i = 0; i < beating->count; i++)
        if (!beat_one(connection, &beating->beats[i], until_ms, beating->now_ms, error))
            return false;
    return true;
}

bool job_heartbeat(struct store *store, struct job_beat *beats, size_t count, int64_t now_ms,
                   int64_t lease_ms, struct error *error)
{
    struct beating beating = { beats, count, now_ms, lease_ms, clock_monotonic_ns() };

    return count == 0 || database_write(store->main, apply_beats, &beating, error);
}

struct finishing {
    const struct claim *claim;
    const struct job_ending *ending;
    const char *outcome;
    int64_t now_ms;
};

static CHECKED bool end_job(struct sql_connection *connection, const struct finishing *finishing,
                            struct error *error)
{
    SQL_AUTO sql = sql_begin(
        connection,
        "UPDATE jobs SET state = ?2, outcome = ?3, "
        "finished_ms = " SQL_GREATER("?4", "started_ms") ", updated_ms = ?4, "
                                                         "lease_until_ms = 0 WHERE id = ?1");

    sql_bind_text(&sql, 1, finishing->claim->job_id);
    sql_bind_text(&sql, 2, job_state_name(finishing->ending->state));
    sql_bind_text(&sql, 3, finishing->outcome);
    sql_bind_integer(&sql, 4, finishing->now_ms);
    return sql_run(&sql, error);
}

static CHECKED bool end_sweep(struct sql_connection *connection, const struct finishing *finishing,
                              struct error *error)
{
    const struct job_ending *ending = finishing->ending;
    const char *state = ending->sweep_state;

    if (state == NULL && ending->state == JOB_COMPLETED)
        return true; /* the job has no sweep */
    return job_end_sweep(connection, finishing->claim->job_id,
                         state == NULL ? job_state_name(ending->state) : state,
                         ending->sweep_reason, finishing->now_ms, error);
}

static CHECKED bool apply_finish(struct sql_connection *connection, void *context,
                                 struct error *error)
{
    static const char INTERRUPT[] =
        "UPDATE attempts SET state = 'interrupted', finished_ms = ?2, reason = 'its job ended' "
        "WHERE job_id = ?1 AND state = 'running'";
    const struct finishing *finishing = context;
    const char *id = finishing->claim->job_id;

    return job_claim_check(connection, finishing->claim, error)
           && end_job(connection, finishing, error)
           && job_execute(connection, INTERRUPT, id, finishing->now_ms, error)
           && endpoint_queue_leave(connection, id, error)
           && end_sweep(connection, finishing, error);
}

bool job_finish(struct store *store, const struct claim *claim, const struct job_ending *ending,
                int64_t now_ms, struct error *error)
{
    struct job row; /* only for the size of its outcome */
    FREE_AUTO char *outcome = audit_log_clip(ending->outcome_json, sizeof row.outcome);
    struct finishing finishing = { claim, ending, outcome, now_ms };

    return database_write(store->main, apply_finish, &finishing, error);
}

static CHECKED bool apply_yield(struct sql_connection *connection, void *context,
                                struct error *error)
{
    static const char INTERRUPT[] =
        "UPDATE attempts SET state = 'interrupted', finished_ms = ?2, "
        "reason = 'opsbrain was shut down' WHERE job_id = ?1 AND state = 'running'";
    static const char QUEUE[] =
        "UPDATE jobs SET state = 'queued', owner = '', lease_until_ms = 0, updated_ms = ?2 "
        "WHERE id = ?1";
    const struct claim *claim = context;

    return job_claim_check(connection, claim, error)
           && job_execute(connection, INTERRUPT, claim->job_id, clock_utc_ms(), error)
           && job_execute(connection, QUEUE, claim->job_id, clock_utc_ms(), error)
           && endpoint_queue_step_aside(connection, claim->job_id, error);
}

bool job_yield(struct store *store, const struct claim *claim, struct error *error)
{
    struct claim copy = *claim;

    return database_write(store->main, apply_yield, &copy, error);
}
