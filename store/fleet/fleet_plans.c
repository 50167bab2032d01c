/* SPDX-License-Identifier: Apache-2.0 */
#include "store/fleet/fleet_plans.h"

#include <stdlib.h>
#include <string.h>

#include "base/core/memory.h"
#include "store/fleet/fleet_private.h"
#include "store/ledger/store_private.h"

#define PLAN_STORED(FIRST, COLUMN, OF)                                                             \
    FIRST(struct fleet_plan_row, TEXT, id, OF "id")                                                \
    COLUMN(struct fleet_plan_row, TEXT, digest, OF "digest")                                       \
    COLUMN(struct fleet_plan_row, TEXT, verb, OF "verb")                                           \
    COLUMN(struct fleet_plan_row, TEXT, deployment, OF "deployment")                               \
    COLUMN(struct fleet_plan_row, TEXT, target, OF "target")                                       \
    COLUMN(struct fleet_plan_row, INTEGER, target_revision, OF "target_revision")                  \
    COLUMN(struct fleet_plan_row, HEAP_TEXT, document, OF "document")                              \
    COLUMN(struct fleet_plan_row, INTEGER, usd_known, OF "usd_known")                              \
    COLUMN(struct fleet_plan_row, REAL, usd_per_hour, OF "usd_per_hour")                           \
    COLUMN(struct fleet_plan_row, INTEGER, ends_ms, OF "ends_ms")                                  \
    COLUMN(struct fleet_plan_row, TEXT, at_end, OF "at_end")                                       \
    COLUMN(struct fleet_plan_row, TEXT, state, OF "state")                                         \
    COLUMN(struct fleet_plan_row, TEXT, reason, OF "reason")                                       \
    COLUMN(struct fleet_plan_row, TEXT_OR_NULL, job_id, OF "job_id")                               \
    COLUMN(struct fleet_plan_row, TEXT, principal, OF "principal")                                 \
    COLUMN(struct fleet_plan_row, INTEGER, created_ms, OF "created_ms")                            \
    COLUMN(struct fleet_plan_row, INTEGER, good_until_ms, OF "good_until_ms")                      \
    COLUMN(struct fleet_plan_row, INTEGER_OR_NULL, finished_ms, OF "finished_ms")
static const struct sql_columns columns = SQL_COLUMNS(struct fleet_plan_row, PLAN_STORED);
#define SELECT_PLANS SQL_SELECT(PLAN_STORED, "") "FROM fleet_plans "

void fleet_plan_finish(struct fleet_plan_row *plan)
{
    sql_row_finish(&columns, plan);
}

void fleet_plan_rows_free(struct fleet_plan_row *rows, size_t count)
{
    sql_rows_free(&columns, rows, count);
}

bool fleet_plan_read(struct sql_connection *connection, const char *id, struct fleet_plan_row *out,
                     struct error *error)
{
    bool found;
    SQL_AUTO sql = sql_begin(connection, SELECT_PLANS "WHERE id = ?1");

    sql_bind_text(&sql, 1, id);
    if (!sql_row_find(&sql, &columns, out, &found, error))
        return false;
    return found
           || error_set(error, ERROR_NOT_FOUND,
                        "no plan has the id \"%.39s\": deployment_plan makes one", id);
}

bool fleet_plan_find(struct store *store, const char *id, struct fleet_plan_row *out,
                     struct error *error)
{
    READER_AUTO reader = database_reader(store->main);

    return fleet_plan_read(reader.connection, id, out, error);
}

static CHECKED bool read_plans(struct sql *sql, struct fleet_plan_row **out, size_t *count,
                               struct error *error)
{
    void *rows;

    if (!sql_rows_read(sql, &columns, &rows, count, error))
        return false;
    *out = rows;
    return true;
}

bool fleet_plan_list(struct store *store, const char *deployment, size_t limit,
                     struct fleet_plan_row **out, size_t *count, struct error *error)
{
    READER_AUTO reader = database_reader(store->main);
    SQL_AUTO sql =
        sql_begin(reader.connection, SELECT_PLANS "WHERE ?1 IS NULL OR deployment = ?1 "
                                                  "ORDER BY created_ms DESC, id DESC LIMIT ?2");

    sql_bind_text(&sql, 1, deployment);
    sql_bind_integer(&sql, 2, (int64_t)limit);
    return read_plans(&sql, out, count, error);
}

bool fleet_plan_waiting(struct store *store, int64_t now_ms, size_t limit,
                        struct fleet_plan_row **out, size_t *count, struct error *error)
{
    READER_AUTO reader = database_reader(store->main);
    SQL_AUTO sql =
        sql_begin(reader.connection, SELECT_PLANS "WHERE state = 'planned' AND good_until_ms > ?1 "
                                                  "ORDER BY created_ms DESC, id DESC LIMIT ?2");

    sql_bind_integer(&sql, 1, now_ms);
    sql_bind_integer(&sql, 2, (int64_t)limit);
    return read_plans(&sql, out, count, error);
}

static CHECKED bool apply_add(struct sql_connection *connection, void *context, struct error *error)
{
    static const char INSERT[] = SQL_INSERT("fleet_plans", PLAN_STORED);
    SQL_AUTO sql = sql_begin(connection, INSERT);

    sql_row_bind(&sql, &columns, context);
    return sql_run(&sql, error);
}

bool fleet_plan_add(struct store *store, const struct fleet_plan_row *plan, struct change *change,
                    struct fleet_plan_row *out, struct error *error)
{
    struct fleet_plan_row row = *plan;

    if (row.id[0] == '\0')
        random_id("pln", row.id);
    text_copy(row.state, sizeof row.state, "planned");
    text_copy(row.principal, sizeof row.principal, store_change_principal(change));
    row.reason[0] = row.job_id[0] = '\0';
    row.finished_ms = 0;
    if (!store_change(store, change, apply_add, &row, row.id, row.verb, error))
        return false;
    *out = row;
    out->document = memory_copy_text(row.document);
    return true;
}

/* ---- Approvals ---- */

#define APPROVAL_COLUMNS(FIRST, COLUMN, OF)                                                        \
    FIRST(struct fleet_approval, TEXT, principal, OF "principal")                                  \
    COLUMN(struct fleet_approval, TEXT, way, OF "way")                                             \
    COLUMN(struct fleet_approval, TEXT, client, OF "client")                                       \
    COLUMN(struct fleet_approval, INTEGER, created_ms, OF "created_ms")
static const struct sql_columns approval_columns =
    SQL_COLUMNS(struct fleet_approval, APPROVAL_COLUMNS);

bool fleet_plan_read_approvals(struct sql_connection *connection, const char *id,
                               struct fleet_approval **out, size_t *count, struct error *error)
{
    void *rows;
    SQL_AUTO sql = sql_begin(connection, SQL_SELECT(APPROVAL_COLUMNS, "") "FROM fleet_approvals "
                                                                          "WHERE plan_id = ?1 "
                                                                          "ORDER BY created_ms, "
                                                                          "principal");

    sql_bind_text(&sql, 1, id);
    if (!sql_rows_read(&sql, &approval_columns, &rows, count, error))
        return false;
    *out = rows;
    return true;
}

bool fleet_plan_approvals(struct store *store, const char *id, struct fleet_approval **out,
                          size_t *count, struct error *error)
{
    READER_AUTO reader = database_reader(store->main);

    return fleet_plan_read_approvals(reader.connection, id, out, count, error);
}

bool fleet_plan_insert_approval(struct sql_connection *connection, const char *id, const char *way,
                                int64_t now_ms, const struct change *change, struct error *error)
{
    SQL_AUTO sql =
        sql_begin(connection, "INSERT INTO fleet_approvals (plan_id, principal, way, client, "
                              "created_ms) VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT DO NOTHING");

    sql_bind_text(&sql, 1, id);
    sql_bind_text(&sql, 2, store_change_principal(change));
    sql_bind_text(&sql, 3, way);
    sql_bind_text(&sql, 4,
                  change == NULL || change->actor.client == NULL ? "" : change->actor.client);
    sql_bind_integer(&sql, 5, now_ms);
    return sql_run(&sql, error);
}

bool fleet_plan_check_good(const struct fleet_plan_row *plan, int64_t now_ms, struct error *error)
{
    if (strcmp(plan->state, "planned") != 0)
        return error_set(error, ERROR_CONFLICT,
                         "the plan %s has already begun (%s): make a new one with "
                         "deployment_plan",
                         plan->id, plan->state);
    if (now_ms >= plan->good_until_ms)
        return error_set(error, ERROR_CONFLICT,
                         "the plan %s was valid for 24 hours and has expired: make a new one with "
                         "deployment_plan",
                         plan->id);
    return true;
}

struct approving {
    const char *id, *way;
    int64_t now_ms;
    const struct change *change;
};

static CHECKED bool apply_approve(struct sql_connection *connection, void *context,
                                  struct error *error)
{
    const struct approving *approving = context;
    struct fleet_plan_row plan;
    bool good;

    if (!fleet_plan_read(connection, approving->id, &plan, error))
        return false;
    good = fleet_plan_check_good(&plan, approving->now_ms, error);
    fleet_plan_finish(&plan);
    return good
           && fleet_plan_insert_approval(connection, approving->id, approving->way,
                                         approving->now_ms, approving->change, error);
}

bool fleet_plan_approve(struct store *store, const char *id, const char *way, int64_t now_ms,
                        struct change *change, struct error *error)
{
    struct approving approving = { id, way, now_ms, change };

    return store_change(store, change, apply_approve, &approving, id, way, error);
}
