/* SPDX-License-Identifier: Apache-2.0 */
/* Ends a plan and updates its deployment's row; also queues, or queues again, the job that carries
 * out a plan. */
#include <string.h>

#include "store/fleet/fleet_plans.h"
#include "store/fleet/fleet_private.h"
#include "store/ledger/store_private.h"

struct ending {
    const char *id;
    const struct claim *claim;
    const struct fleet_plan_end *end;
    int64_t now_ms;
};

static CHECKED bool end_plan(struct sql_connection *connection, const struct ending *ending,
                             struct error *error)
{
    SQL_AUTO sql =
        sql_begin(connection, "UPDATE fleet_plans SET state = ?2, reason = ?3, finished_ms = ?4 "
                              "WHERE id = ?1 AND state = 'applying'");

    sql_bind_text(&sql, 1, ending->id);
    sql_bind_text(&sql, 2, ending->end->state);
    sql_bind_text(&sql, 3, ending->end->reason);
    sql_bind_integer(&sql, 4, ending->now_ms);
    return sql_run(&sql, error);
}

static CHECKED bool end_managed(struct sql_connection *connection, const struct ending *ending,
                                struct error *error)
{
    const struct fleet_plan_end *end = ending->end;
    SQL_AUTO sql = sql_begin(
        connection, "UPDATE fleet_managed SET state = coalesce(?2, state), "
                    "observed = coalesce(?3, observed), baseline = coalesce(?4, baseline), "
                    "wish = coalesce(?5, wish), door = coalesce(?7, door), "
                    "observed_ms = CASE WHEN ?3 IS NULL THEN observed_ms ELSE ?6 END, "
                    "problem = CASE WHEN ?3 IS NULL THEN problem ELSE '' END, "
                    "ended_ms = CASE WHEN ?2 = 'gone' THEN ?6 END WHERE plan_id = ?1 "
                    "AND state <> 'gone'");

    sql_bind_text(&sql, 1, ending->id);
    sql_bind_text(&sql, 2, end->managed_state);
    sql_bind_text(&sql, 3, end->observed);
    sql_bind_text(&sql, 4, end->baseline);
    sql_bind_text(&sql, 5, end->wish);
    sql_bind_text(&sql, 7, end->door);
    sql_bind_integer(&sql, 6, ending->now_ms);
    return sql_run(&sql, error);
}

#define COPY_END                                                                                   \
    "warned = CASE WHEN fleet_managed.ends_ms = p.ends_ms THEN warned ELSE 0 END, "                \
    "ends_ms = p.ends_ms, at_end = p.at_end FROM fleet_plans p WHERE p.id = ?1 "                   \
    "AND fleet_managed.plan_id = ?1 AND fleet_managed.state <> 'gone' "

/* If `sets_terms` is true, copies the plan's price, end and at_end to the deployment. */
static CHECKED bool copy_terms(struct sql_connection *connection, const struct ending *ending,
                               struct error *error)
{
    static const char COPY[] = "UPDATE fleet_managed SET usd_per_hour = p.usd_per_hour, usd_known "
                               "= p.usd_known, " COPY_END;

    return !ending->end->sets_terms || job_execute(connection, COPY, ending->id, 0, error);
}

/* Sets the price and the end of a deployment whose plan failed or was cancelled. While the plan
 * ran, a price was reserved (fleet_plan_begin.c). If the plan changed nothing, the price from
 * before the plan is restored, unless that price is higher than the reserved one and could
 * therefore exceed a ceiling. If the plan might have changed something, it is not known whether the
 * platform uses the price and the end from before the plan or those of the plan. Then the reserved
 * price stays, and of the two ends the one that comes first is stored. */
static CHECKED bool settle_failed(struct sql_connection *connection, const struct ending *ending,
                                  struct error *error)
{
    static const char RESTORE[] = "UPDATE fleet_managed SET usd_per_hour = usd_before "
                                  "WHERE plan_id = ?1 AND usd_before < usd_per_hour "
                                  "AND state <> 'gone'";
    static const char EARLIER[] =
        "UPDATE fleet_managed SET " COPY_END "AND p.ends_ms <> 0 AND (fleet_managed.ends_ms = 0 "
        "OR p.ends_ms < fleet_managed.ends_ms)";

    return strcmp(ending->end->state, "done") == 0
           || job_execute(connection, ending->end->changed_nothing ? RESTORE : EARLIER, ending->id,
                          0, error);
}

static CHECKED bool apply_end(struct sql_connection *connection, void *context, struct error *error)
{
    const struct ending *ending = context;

    return job_claim_check(connection, ending->claim, error)
           && fleet_managed_count_cost(connection, ending->id, ending->now_ms, error)
           && end_managed(connection, ending, error) && copy_terms(connection, ending, error)
           && settle_failed(connection, ending, error) && end_plan(connection, ending, error);
}

bool fleet_plan_end(struct store *store, const struct claim *claim, const char *id,
                    const struct fleet_plan_end *end, int64_t now_ms, struct error *error)
{
    struct ending ending = { id, claim, end, now_ms };

    return database_write(store->main, apply_end, &ending, error);
}

/* ---- A plan's job ---- */

bool fleet_plan_queue(struct sql_connection *connection, const struct fleet_plan_row *plan,
                      const char *principal, int64_t now_ms, char job_id[ID_SIZE],
                      struct error *error)
{
    struct job job = { .created_ms = now_ms };
    SQL_AUTO sql = sql_begin(
        connection, "UPDATE fleet_plans SET state = 'applying', job_id = ?2 WHERE id = ?1");

    random_id("job", job.id);
    text_copy(job_id, ID_SIZE, job.id);
    text_copy(job.kind, sizeof job.kind, JOB_KIND_APPLY);
    text_copy(job.subject, sizeof job.subject, plan->id);
    text_copy(job.principal, sizeof job.principal, principal);
    sql_bind_text(&sql, 1, plan->id);
    sql_bind_text(&sql, 2, job.id);
    return job_insert(connection, &job, error) && sql_run(&sql, error);
}

struct requeuing {
    int64_t now_ms;
    size_t count;
};

/* Finds a plan whose state is still "applying" although its job has ended. Sets only the id,
 * principal and job_id of *out. */
static CHECKED bool find_stranded(struct sql_connection *connection, struct fleet_plan_row *out,
                                  bool *found, struct error *error)
{
    SQL_AUTO sql = sql_begin(
        connection, "SELECT id, principal, job_id FROM fleet_plans p WHERE state = 'applying' "
                    "AND NOT EXISTS (SELECT 1 FROM jobs j WHERE j.id = p.job_id "
                    "AND j.state IN ('queued', 'running')) ORDER BY id LIMIT 1");

    if (!sql_find(&sql, found, error))
        return false;
    if (*found) {
        sql_text(&sql, 0, out->id, sizeof out->id);
        sql_text(&sql, 1, out->principal, sizeof out->principal);
        sql_text(&sql, 2, out->job_id, sizeof out->job_id);
    }
    return true;
}

/* A request to cancel the old job also applies to the new one. */
static CHECKED bool keep_cancel(struct sql_connection *connection, const char *old, const char *job,
                                struct error *error)
{
    SQL_AUTO sql =
        sql_begin(connection, "UPDATE jobs SET cancel_requested_ms = (SELECT o.cancel_requested_ms "
                              "FROM jobs o WHERE o.id = ?2) WHERE id = ?1");

    sql_bind_text(&sql, 1, job);
    sql_bind_text(&sql, 2, old);
    return sql_run(&sql, error);
}

static CHECKED bool queue_again(struct sql_connection *connection,
                                const struct fleet_plan_row *plan, int64_t now_ms,
                                struct error *error)
{
    char job_id[ID_SIZE];

    return fleet_plan_queue(connection, plan, plan->principal, now_ms, job_id, error)
           && keep_cancel(connection, plan->job_id, job_id, error);
}

static CHECKED bool apply_requeue(struct sql_connection *connection, void *context,
                                  struct error *error)
{
    struct requeuing *requeuing = context;
    bool found = true;

    for (requeuing->count = 0; found;) {
        struct fleet_plan_row plan = { 0 };

        if (!find_stranded(connection, &plan, &found, error)
            || (found && !queue_again(connection, &plan, requeuing->now_ms, error)))
            return false;
        requeuing->count += found;
    }
    return true;
}

/* Checks without a write transaction, because usually no plan is stranded. */
static CHECKED bool any_stranded(struct store *store, bool *found, struct error *error)
{
    struct fleet_plan_row plan = { 0 };
    READER_AUTO reader = database_reader(store->main);

    return find_stranded(reader.connection, &plan, found, error);
}

bool fleet_plan_requeue(struct store *store, int64_t now_ms, size_t *count, struct error *error)
{
    struct requeuing requeuing = { .now_ms = now_ms };
    bool found;

    if (!any_stranded(store, &found, error)
        || (found && !database_write(store->main, apply_requeue, &requeuing, error)))
        return false;
    *count = requeuing.count;
    return true;
}
