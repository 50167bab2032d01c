/* SPDX-License-Identifier: Apache-2.0 */
/* Begins a plan: checks its go-ahead (the required approvals), the target's ceilings and the name
 * of a new deployment, and queues the job that carries out the plan, all in one transaction. */
#include <string.h>

#include "base/core/memory.h"
#include "store/fleet/fleet_managed.h"
#include "store/fleet/fleet_plans.h"
#include "store/fleet/fleet_private.h"
#include "store/ledger/store_private.h"

struct beginning {
    const char *id, *way, *wish;
    int64_t now_ms;
    const struct change *change;
    struct fleet_plan_row plan;
    /* A copy of `plan`. If the deployment already exists, created_ms is the time when the
     * deployment was created. Borrows from `plan`. */
    struct fleet_plan_row life;
    struct fleet_target_row target;
    struct fleet_plan_begun begun;
};

static CHECKED bool check_allowed(struct sql_connection *connection,
                                  const struct beginning *beginning, struct error *error)
{
    FREE_AUTO struct fleet_approval *approvals = NULL;
    size_t count;

    return fleet_plan_read_approvals(connection, beginning->id, &approvals, &count, error)
           && fleet_plan_allowed(&beginning->target, &beginning->life, approvals, count, error);
}

static CHECKED bool check_total(struct sql_connection *connection,
                                const struct beginning *beginning, struct error *error)
{
    const struct fleet_plan_row *plan = &beginning->plan;
    double limit = beginning->target.total_usd, others;
    bool found;
    SQL_AUTO sql =
        sql_begin(connection, "SELECT coalesce(sum(usd_per_hour), 0.0) FROM fleet_managed "
                              "WHERE target = ?1 AND deployment <> ?2 "
                              "AND state IN ('creating', 'running', 'failed')");

    sql_bind_text(&sql, 1, plan->target);
    sql_bind_text(&sql, 2, plan->deployment);
    if (!sql_find(&sql, &found, error))
        return false;
    others = sql_real(&sql, 0);
    if (plan->usd_per_hour <= 0 || others + plan->usd_per_hour <= limit + 1e-9)
        return true;
    return error_set(error, ERROR_CONFLICT,
                     "%s would cost %.2f USD per hour in addition to %.2f for other deployments on "
                     "%s, and the target allows %.2f in all: destroy or stop something first",
                     plan->deployment, plan->usd_per_hour, others, plan->target, limit);
}

/* Without this check, if a deployment were already registered under this name, its address would be
 * replaced with the new server's. */
static CHECKED bool check_name(struct sql_connection *connection, const char *name,
                               struct error *error)
{
    bool found;
    SQL_AUTO sql =
        sql_begin(connection, "SELECT 1 FROM deployments WHERE name = ?1 AND retired_ms IS NULL");

    sql_bind_text(&sql, 1, name);
    if (!sql_find(&sql, &found, error))
        return false;
    return !found
           || error_set(error, ERROR_CONFLICT,
                        "a deployment named \"%s\" is already registered: choose another name",
                        name);
}

static CHECKED bool begin_new(struct sql_connection *connection, const struct beginning *beginning,
                              struct error *error)
{
    const struct fleet_plan_row *plan = &beginning->plan;
    struct fleet_managed_row row = { .usd_known = plan->usd_known,
                                     .usd_per_hour = plan->usd_per_hour,
                                     .ends_ms = plan->ends_ms,
                                     .created_ms = beginning->now_ms };
    FREE_AUTO char *wish = memory_copy_text(beginning->wish == NULL ? "{}" : beginning->wish);

    row.wish = wish;
    text_copy(row.deployment, sizeof row.deployment, plan->deployment);
    text_copy(row.target, sizeof row.target, plan->target);
    text_copy(row.plan_id, sizeof row.plan_id, plan->id);
    text_copy(row.state, sizeof row.state, "creating");
    text_copy(row.rights, sizeof row.rights, "created");
    text_copy(row.at_end, sizeof row.at_end, plan->at_end);
    text_copy(row.created_by, sizeof row.created_by, plan->principal);
    return check_name(connection, plan->deployment, error)
           && fleet_managed_insert(connection, &row, error);
}

/* Reserves a price: until the plan has ended, check_total counts the deployment at its own price or
 * the plan's, whichever is higher. A stopped deployment is not counted, unless the plan starts or
 * changes it: then it counts as running from now on, at the plan's price. */
static CHECKED bool begin_change(struct sql_connection *connection,
                                 const struct beginning *beginning, struct error *error)
{
    const struct fleet_plan_row *plan = &beginning->plan;
    SQL_AUTO sql = sql_begin(
        connection, "UPDATE fleet_managed SET plan_id = ?2, usd_before = usd_per_hour, "
                    "usd_per_hour = CASE WHEN state <> 'stopped' AND usd_per_hour > ?3 "
                    "THEN usd_per_hour ELSE ?3 END, "
                    "state = CASE WHEN state = 'stopped' AND ?4 <> 'destroy' AND ?4 <> 'stop' "
                    "THEN 'running' ELSE state END WHERE deployment = ?1 AND state <> 'gone'");

    sql_bind_text(&sql, 1, plan->deployment);
    sql_bind_text(&sql, 2, plan->id);
    sql_bind_real(&sql, 3, plan->usd_per_hour);
    sql_bind_text(&sql, 4, plan->verb);
    if (!sql_run(&sql, error))
        return false;
    return sql_changes(&sql) == 1
           || error_set(error, ERROR_CONFLICT, "%s is no longer managed by opsbrain",
                        plan->deployment);
}

/* Only one plan may change a deployment at a time. */
static CHECKED bool check_alone(struct sql_connection *connection,
                                const struct beginning *beginning, struct error *error)
{
    char other[ID_SIZE], job[ID_SIZE];
    bool found;
    SQL_AUTO sql = sql_begin(connection, "SELECT id, job_id FROM fleet_plans WHERE deployment = ?1 "
                                         "AND state = 'applying'");

    sql_bind_text(&sql, 1, beginning->plan.deployment);
    if (!sql_find(&sql, &found, error))
        return false;
    if (!found)
        return true;
    sql_text(&sql, 0, other, sizeof other);
    sql_text(&sql, 1, job, sizeof job);
    return error_set(error, ERROR_CONFLICT,
                     "another plan (%s) is changing %s: wait for that plan's job %s, or cancel the "
                     "job",
                     other, beginning->plan.deployment, job);
}

static CHECKED bool check_target(const struct beginning *beginning, struct error *error)
{
    const struct fleet_plan_row *plan = &beginning->plan;

    if (beginning->target.revision == plan->target_revision)
        return true;
    return error_set(error, ERROR_CONFLICT,
                     "the target %s was changed by %s since the plan was made (its revision is now "
                     "%lld, no longer %lld): make a new plan",
                     plan->target, beginning->target.created_by,
                     (long long)beginning->target.revision, (long long)plan->target_revision);
}

/* Finds out when the deployment was created, because the limits on duration and cost apply to its
 * whole life, however often it is extended. */
static CHECKED bool find_life(struct sql_connection *connection, struct beginning *beginning,
                              struct error *error)
{
    bool found;
    SQL_AUTO sql = sql_begin(connection, "SELECT created_ms FROM fleet_managed "
                                         "WHERE deployment = ?1 AND state <> 'gone'");

    beginning->life = beginning->plan;
    sql_bind_text(&sql, 1, beginning->plan.deployment);
    if (!sql_find(&sql, &found, error))
        return false;
    if (found)
        beginning->life.created_ms = sql_integer(&sql, 0);
    return true;
}

static CHECKED bool begin(struct sql_connection *connection, struct beginning *beginning,
                          struct error *error)
{
    const struct fleet_plan_row *plan = &beginning->plan;

    if (!fleet_plan_check_good(plan, beginning->now_ms, error)
        || !fleet_target_read(connection, plan->target, &beginning->target, error)
        || !check_target(beginning, error) || !find_life(connection, beginning, error))
        return false;
    if (beginning->way != NULL
        && !fleet_plan_insert_approval(connection, beginning->id, beginning->way, beginning->now_ms,
                                       beginning->change, error))
        return false;
    if (!check_allowed(connection, beginning, error)
        || !fleet_plan_within(&beginning->target, &beginning->life, error)
        || !check_alone(connection, beginning, error) || !check_total(connection, beginning, error))
        return false;
    return (strcmp(plan->verb, "create") == 0 ? begin_new(connection, beginning, error)
                                              : begin_change(connection, beginning, error))
           && fleet_plan_queue(connection, plan, store_change_principal(beginning->change),
                               beginning->now_ms, beginning->begun.job_id, error);
}

static CHECKED bool apply_begin(struct sql_connection *connection, void *context,
                                struct error *error)
{
    struct beginning *beginning = context;
    struct fleet_plan_begun *begun = &beginning->begun;

    fleet_plan_finish(&beginning->plan);
    if (!fleet_plan_read(connection, beginning->id, &beginning->plan, error))
        return false;
    text_copy(begun->job_id, sizeof begun->job_id, beginning->plan.job_id);
    begun->existed = begun->job_id[0] != '\0';
    return begun->existed || begin(connection, beginning, error);
}

bool fleet_plan_begin(struct store *store, const char *id, const char *way, const char *wish,
                      int64_t now_ms, struct change *change, struct fleet_plan_begun *out,
                      struct error *error)
{
    struct beginning beginning = {
        .id = id, .way = way, .wish = wish, .now_ms = now_ms, .change = change
    };
    bool done = store_change(store, change, apply_begin, &beginning, id, "", error);

    fleet_plan_finish(&beginning.plan);
    if (done)
        *out = beginning.begun;
    return done;
}
