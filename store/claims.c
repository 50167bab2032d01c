/* What the holder of a job does: claim it, beat for it, finish it or give it back. */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/text.h"
#include "store/private.h"

bool claim_check(struct connection *connection, const struct claim *claim, struct error *error)
{
    bool found;
    SQL_AUTO sql = sql_begin(
        connection, "SELECT 1 FROM jobs WHERE id = ?1 AND fence = ?2 AND state = 'running'");

    sql_bind_text(&sql, 1, claim->job_id);
    sql_bind_integer(&sql, 2, claim->fence);
    if (!sql_find(&sql, &found, error))
        return false;
    return found
           || error_set(error, ERROR_CONFLICT, "job %s was taken over by another worker",
                        claim->job_id);
}

static const char LEAVE_LINE[] = "DELETE FROM endpoint_leases WHERE job_id = ?1";

struct claiming {
    const char *owner;
    const char *const *kinds;
    int64_t now_ms, lease_ms;
    struct job job;
    bool found;
};

static bool kind_wanted(const char *const *kinds, const char *kind)
{
    while (*kinds != NULL && strcmp(*kinds, kind) != 0)
        kinds++;
    return *kinds != NULL;
}

static bool find_claimable(struct connection *connection, struct claiming *claiming,
                           struct error *error)
{
    static const char CLAIMABLE[] =
        "SELECT " JOB_COLUMNS "FROM jobs WHERE (state = 'queued' AND NOT " JOB_WAITS ") "
        "OR (state = 'running' AND lease_until_ms < ?1) ORDER BY created_ms, rowid";
    enum sql_step step;
    SQL_AUTO sql = sql_begin(connection, CLAIMABLE);

    claiming->found = false;
    sql_bind_integer(&sql, 1, claiming->now_ms);
    while ((step = sql_step(&sql, error)) == SQL_ROW) {
        job_read_row(&sql, &claiming->job);
        claiming->found = kind_wanted(claiming->kinds, claiming->job.kind);
        if (claiming->found)
            return true;
    }
    return step == SQL_DONE;
}

static bool take(struct connection *connection, const struct claiming *claiming,
                 struct error *error)
{
    SQL_AUTO sql =
        sql_begin(connection, "UPDATE jobs SET state = 'running', owner = ?2, lease_until_ms = ?3, "
                              "fence = fence + 1, updated_ms = ?4, "
                              "started_ms = coalesce(started_ms, max(?4, created_ms)) "
                              "WHERE id = ?1");

    sql_bind_text(&sql, 1, claiming->job.id);
    sql_bind_text(&sql, 2, claiming->owner);
    sql_bind_integer(&sql, 3, claiming->now_ms + claiming->lease_ms);
    sql_bind_integer(&sql, 4, claiming->now_ms);
    return sql_run(&sql, error);
}

/* Whoever takes a job over keeps its place in line. */
static bool apply_claim(struct connection *connection, void *context, struct error *error)
{
    static const char INTERRUPT[] =
        "UPDATE attempts SET state = 'interrupted', finished_ms = ?2, "
        "reason = 'the process that measured it ended' WHERE job_id = ?1 AND state = 'running'";
    static const char KEEP_PLACE[] =
        "UPDATE endpoint_leases SET lease_until_ms = ?2 WHERE job_id = ?1";
    struct claiming *claiming = context;
    const char *id = claiming->job.id;

    if (!find_claimable(connection, claiming, error))
        return false;
    if (!claiming->found)
        return true;
    return take(connection, claiming, error)
           && job_execute(connection, INTERRUPT, id, claiming->now_ms, error)
           && job_execute(connection, KEEP_PLACE, id, claiming->now_ms + claiming->lease_ms, error)
           && job_read(connection, id, &claiming->job, error);
}

/* Most of the time there is none: that costs no transaction. */
static bool any_claimable(struct store *store, struct claiming *claiming, struct error *error)
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

    if (!any_claimable(store, &claiming, error))
        return false;
    if (claiming.found && !database_write(store->main, apply_claim, &claiming, error))
        return false;
    *found = claiming.found;
    if (claiming.found)
        *out = claiming.job;
    return true;
}

static bool apply_orphans(struct connection *connection, void *context, struct error *error)
{
    static const char LINES[] = "UPDATE endpoint_leases SET lease_until_ms = 0 WHERE job_id IN "
                                "(SELECT id FROM jobs WHERE state = 'running' AND owner <> ?1)";
    static const char JOBS[] =
        "UPDATE jobs SET lease_until_ms = 0 WHERE state = 'running' AND owner <> ?1";

    return job_execute(connection, LINES, context, 0, error)
           && job_execute(connection, JOBS, context, 0, error);
}

bool job_orphans_release(struct store *store, const char *owner, struct error *error)
{
    char copy[ID_SIZE];

    text_copy(copy, sizeof copy, owner);
    return database_write(store->main, apply_orphans, copy, error);
}

struct beating {
    struct job_beat *beats;
    size_t count;
    int64_t now_ms, lease_ms, asked_ns;
};

static bool beat_one(struct connection *connection, struct job_beat *beat, int64_t lease_until_ms,
                     int64_t now_ms, struct error *error)
{
    static const char BEAT[] =
        "UPDATE jobs SET lease_until_ms = ?3, progress = ?4, progress_total = ?5, message = ?6, "
        "updated_ms = CASE WHEN progress = ?4 AND progress_total = ?5 AND message = ?6 "
        "THEN updated_ms ELSE ?7 END "
        "WHERE id = ?1 AND fence = ?2 AND state = 'running' "
        "RETURNING cancel_requested_ms"; /* plain: sqlite 3.40 gets IS NOT NULL wrong here */
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

static bool apply_beats(struct connection *connection, void *context, struct error *error)
{
    static const char LEASE[] = "UPDATE endpoint_leases SET lease_until_ms = ?2 WHERE job_id = ?1";
    const struct beating *beating = context;
    /* A slow disk must not cost the lease: time spent in the queue does not count. */
    int64_t waited_ms = (clock_monotonic_ns() - beating->asked_ns) / 1000000;
    int64_t until_ms = beating->now_ms + waited_ms + beating->lease_ms;

    for (size_t i = 0; i < beating->count; i++) {
        struct job_beat *beat = &beating->beats[i];

        if (!beat_one(connection, beat, until_ms, beating->now_ms, error))
            return false;
        if (!beat->stale && !job_execute(connection, LEASE, beat->claim.job_id, until_ms, error))
            return false;
    }
    return true;
}

bool job_heartbeat(struct store *store, struct job_beat *beats, size_t count, int64_t now_ms,
                   int64_t lease_ms, struct error *error)
{
    struct beating beating = { beats, count, now_ms, lease_ms, clock_monotonic_ns() };

    return count == 0 || database_write(store->main, apply_beats, &beating, error);
}

struct ending {
    const struct claim *claim;
    enum job_state state;
    char *outcome; /* heap */
    int64_t now_ms;
};

static bool end_job(struct connection *connection, const struct ending *ending, struct error *error)
{
    SQL_AUTO sql = sql_begin(connection, "UPDATE jobs SET state = ?2, outcome = ?3, "
                                         "finished_ms = max(?4, started_ms), updated_ms = ?4, "
                                         "lease_until_ms = 0 WHERE id = ?1");

    sql_bind_text(&sql, 1, ending->claim->job_id);
    sql_bind_text(&sql, 2, job_state_name(ending->state));
    sql_bind_text(&sql, 3, ending->outcome);
    sql_bind_integer(&sql, 4, ending->now_ms);
    return sql_run(&sql, error);
}

static bool apply_finish(struct connection *connection, void *context, struct error *error)
{
    static const char INTERRUPT[] =
        "UPDATE attempts SET state = 'interrupted', finished_ms = ?2, reason = 'its job ended' "
        "WHERE job_id = ?1 AND state = 'running'";
    const struct ending *ending = context;
    const char *id = ending->claim->job_id;

    return claim_check(connection, ending->claim, error) && end_job(connection, ending, error)
           && job_execute(connection, INTERRUPT, id, ending->now_ms, error)
           && job_execute(connection, LEAVE_LINE, id, 0, error)
           && job_end_sweep(connection, id, ending->state, ending->now_ms, error);
}

bool job_finish(struct store *store, const struct claim *claim, enum job_state state,
                const char *outcome_json, int64_t now_ms, struct error *error)
{
    struct job limits;
    FREE_AUTO char *outcome = json_clip(outcome_json, sizeof limits.outcome);
    struct ending ending = { claim, state, outcome, now_ms };

    return database_write(store->main, apply_finish, &ending, error);
}

static bool apply_yield(struct connection *connection, void *context, struct error *error)
{
    static const char INTERRUPT[] =
        "UPDATE attempts SET state = 'interrupted', finished_ms = ?2, "
        "reason = 'opsbrain was shut down' WHERE job_id = ?1 AND state = 'running'";
    static const char QUEUE[] =
        "UPDATE jobs SET state = 'queued', owner = '', lease_until_ms = 0, updated_ms = ?2 "
        "WHERE id = ?1";
    const struct claim *claim = context;

    return claim_check(connection, claim, error)
           && job_execute(connection, INTERRUPT, claim->job_id, clock_utc_ms(), error)
           && job_execute(connection, QUEUE, claim->job_id, clock_utc_ms(), error)
           && job_execute(connection, LEAVE_LINE, claim->job_id, 0, error);
}

bool job_yield(struct store *store, const struct claim *claim, struct error *error)
{
    struct claim copy = *claim;

    return database_write(store->main, apply_yield, &copy, error);
}
