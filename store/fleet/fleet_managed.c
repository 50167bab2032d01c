/* SPDX-License-Identifier: Apache-2.0 */
#include "store/fleet/fleet_managed.h"

#include <stdlib.h>
#include <string.h>

#include "store/fleet/fleet_private.h"
#include "store/fleet/fleet_targets.h"
#include "store/ledger/store_private.h"

#define MANAGED_STORED(FIRST, COLUMN, OF)                                                          \
    FIRST(struct fleet_managed_row, TEXT, id, OF "id")                                             \
    COLUMN(struct fleet_managed_row, TEXT, deployment, OF "deployment")                            \
    COLUMN(struct fleet_managed_row, TEXT, target, OF "target")                                    \
    COLUMN(struct fleet_managed_row, TEXT, plan_id, OF "plan_id")                                  \
    COLUMN(struct fleet_managed_row, TEXT, state, OF "state")                                      \
    COLUMN(struct fleet_managed_row, TEXT, rights, OF "rights")                                    \
    COLUMN(struct fleet_managed_row, HEAP_TEXT, wish, OF "wish")                                   \
    COLUMN(struct fleet_managed_row, HEAP_TEXT, door, OF "door")                                   \
    COLUMN(struct fleet_managed_row, INTEGER, usd_known, OF "usd_known")                           \
    COLUMN(struct fleet_managed_row, REAL, usd_per_hour, OF "usd_per_hour")                        \
    COLUMN(struct fleet_managed_row, INTEGER, ends_ms, OF "ends_ms")                               \
    COLUMN(struct fleet_managed_row, TEXT, at_end, OF "at_end")                                    \
    COLUMN(struct fleet_managed_row, HEAP_TEXT, observed, OF "observed")                           \
    COLUMN(struct fleet_managed_row, INTEGER, observed_ms, OF "observed_ms")                       \
    COLUMN(struct fleet_managed_row, INTEGER, spent_ms, OF "spent_ms")                             \
    COLUMN(struct fleet_managed_row, INTEGER, created_ms, OF "created_ms")                         \
    COLUMN(struct fleet_managed_row, TEXT, created_by, OF "created_by")
#define MANAGED_COLUMNS(FIRST, COLUMN, OF)                                                         \
    MANAGED_STORED(FIRST, COLUMN, OF)                                                              \
    COLUMN(struct fleet_managed_row, INTEGER, warned, OF "warned")                                 \
    COLUMN(struct fleet_managed_row, TEXT, problem, OF "problem")                                  \
    COLUMN(struct fleet_managed_row, HEAP_TEXT, baseline, OF "baseline")                           \
    COLUMN(struct fleet_managed_row, REAL, spent_usd, OF "spent_usd")                              \
    COLUMN(struct fleet_managed_row, INTEGER, ended_ms, OF "ended_ms")
static const struct sql_columns stored = SQL_COLUMNS(struct fleet_managed_row, MANAGED_STORED);
static const struct sql_columns columns = SQL_COLUMNS(struct fleet_managed_row, MANAGED_COLUMNS);
#define SELECT_MANAGED SQL_SELECT(MANAGED_COLUMNS, "") "FROM fleet_managed "

void fleet_managed_finish(struct fleet_managed_row *row)
{
    sql_row_finish(&columns, row);
}

void fleet_managed_rows_free(struct fleet_managed_row *rows, size_t count)
{
    sql_rows_free(&columns, rows, count);
}

bool fleet_managed_read(struct sql_connection *connection, const char *deployment,
                        struct fleet_managed_row *out, bool *found, struct error *error)
{
    SQL_AUTO sql =
        sql_begin(connection, SELECT_MANAGED "WHERE deployment = ?1 AND state <> 'gone'");

    sql_bind_text(&sql, 1, deployment);
    return sql_row_find(&sql, &columns, out, found, error);
}

bool fleet_managed_find(struct store *store, const char *deployment, struct fleet_managed_row *out,
                        bool *found, struct error *error)
{
    READER_AUTO reader = database_reader(store->main);

    return fleet_managed_read(reader.connection, deployment, out, found, error);
}

bool fleet_managed_list(struct store *store, struct fleet_managed_row **out, size_t *count,
                        struct error *error)
{
    void *rows;
    READER_AUTO reader = database_reader(store->main);
    SQL_AUTO sql =
        sql_begin(reader.connection, SELECT_MANAGED "WHERE state <> 'gone' ORDER BY deployment");

    if (!sql_rows_read(&sql, &columns, &rows, count, error))
        return false;
    *out = rows;
    return true;
}

static CHECKED bool check_name_is_free(struct sql_connection *connection, const char *deployment,
                                       struct error *error)
{
    bool found;
    SQL_AUTO sql = sql_begin(
        connection, "SELECT target FROM fleet_managed WHERE deployment = ?1 AND state <> 'gone'");
    char target[64];

    sql_bind_text(&sql, 1, deployment);
    if (!sql_find(&sql, &found, error))
        return false;
    if (!found)
        return true;
    sql_text(&sql, 0, target, sizeof target);
    return error_set(error, ERROR_CONFLICT,
                     "%s is already managed, on the target %s: choose another name", deployment,
                     target);
}

bool fleet_managed_insert(struct sql_connection *connection, const struct fleet_managed_row *row,
                          struct error *error)
{
    static const char INSERT[] = SQL_INSERT("fleet_managed", MANAGED_STORED);
    struct fleet_managed_row copy = *row;
    char nothing[] = "{}";
    SQL_AUTO sql = sql_begin(connection, INSERT);

    if (copy.door == NULL)
        copy.door = nothing;
    if (copy.observed == NULL)
        copy.observed = nothing;
    random_id("mng", copy.id);
    copy.spent_ms = copy.created_ms;
    sql_row_bind(&sql, &stored, &copy);
    return check_name_is_free(connection, row->deployment, error) && sql_run(&sql, error);
}

/* ---- Adoption ---- */

static CHECKED bool apply_adopt(struct sql_connection *connection, void *context,
                                struct error *error)
{
    const struct fleet_managed_row *row = context;
    struct fleet_target_row target;

    return fleet_target_read(connection, row->target, &target, error)
           && fleet_managed_insert(connection, row, error);
}

bool fleet_managed_adopt(struct store *store, const struct fleet_managed_row *row, int64_t now_ms,
                         struct change *change, struct error *error)
{
    struct fleet_managed_row copy = *row;

    copy.created_ms = now_ms;
    copy.observed_ms = copy.observed == NULL ? 0 : now_ms;
    if (copy.state[0] == '\0')
        text_copy(copy.state, sizeof copy.state, "running");
    text_copy(copy.created_by, sizeof copy.created_by, store_change_principal(change));
    return store_change(store, change, apply_adopt, &copy, copy.deployment, copy.rights, error);
}

/* ---- Observations ---- */

/* Adds the cost from spent_ms, when it was last counted, to ?2. The cost of a stopped server is
 * unknown; it is not counted. */
#define COUNT_COST                                                                                 \
    "UPDATE fleet_managed SET spent_usd = spent_usd + CASE WHEN state IN ('creating', 'running', " \
    "'failed') AND ?2 > spent_ms THEN usd_per_hour * (?2 - spent_ms) / 3600000.0 ELSE 0 END, "     \
    "spent_ms = CASE WHEN ?2 > spent_ms THEN ?2 ELSE spent_ms END "

bool fleet_managed_count_cost(struct sql_connection *connection, const char *plan_id,
                              int64_t now_ms, struct error *error)
{
    return job_execute(connection, COUNT_COST "WHERE plan_id = ?1 AND state <> 'gone'", plan_id,
                       now_ms, error);
}

static CHECKED bool apply_note(struct sql_connection *connection, void *context,
                               struct error *error)
{
    const struct fleet_observation *observation = context;
    SQL_AUTO sql = sql_begin(
        connection,
        "UPDATE fleet_managed SET state = coalesce(?2, state), observed = coalesce(?3, observed), "
        "observed_ms = CASE WHEN ?3 IS NULL THEN observed_ms ELSE ?5 END, problem = ?4, "
        "ended_ms = CASE WHEN ?2 = 'gone' THEN ?5 ELSE ended_ms END "
        "WHERE id = ?1 AND plan_id = ?6 AND state <> 'gone'");

    sql_bind_text(&sql, 1, observation->id);
    sql_bind_text(&sql, 2, observation->state);
    sql_bind_text(&sql, 3, observation->observed);
    sql_bind_text(&sql, 4, observation->problem);
    sql_bind_integer(&sql, 5, observation->now_ms);
    sql_bind_text(&sql, 6, observation->plan_id);
    return job_execute(connection, COUNT_COST "WHERE id = ?1 AND state <> 'gone'", observation->id,
                       observation->now_ms, error)
           && sql_run(&sql, error);
}

bool fleet_managed_note(struct store *store, const struct fleet_observation *observation,
                        struct error *error)
{
    struct fleet_observation copy = *observation;

    return database_write(store->main, apply_note, &copy, error);
}

struct release {
    const char *deployment;
    int64_t now_ms;
};

#define WATCHED "WHERE deployment = ?1 AND rights = 'watched' AND state <> 'gone'"

static CHECKED bool apply_release(struct sql_connection *connection, void *context,
                                  struct error *error)
{
    const struct release *release = context;

    return job_execute(connection, COUNT_COST WATCHED, release->deployment, release->now_ms, error)
           && job_execute(
               connection,
               "UPDATE fleet_managed SET state = 'gone', problem = '', ended_ms = ?2 " WATCHED,
               release->deployment, release->now_ms, error);
}

bool fleet_managed_release(struct store *store, const char *deployment, int64_t now_ms,
                           struct error *error)
{
    struct release release = { deployment, now_ms };

    return database_write(store->main, apply_release, &release, error);
}

struct warning {
    const char *id;
    int64_t level;
    bool first;
};

static CHECKED bool apply_warn(struct sql_connection *connection, void *context,
                               struct error *error)
{
    struct warning *warning = context;
    SQL_AUTO sql = sql_begin(connection, "UPDATE fleet_managed SET warned = ?2 WHERE id = ?1 AND "
                                         "warned < ?2 AND state <> 'gone'");

    sql_bind_text(&sql, 1, warning->id);
    sql_bind_integer(&sql, 2, warning->level);
    if (!sql_run(&sql, error))
        return false;
    warning->first = sql_changes(&sql) == 1;
    return true;
}

bool fleet_managed_warn(struct store *store, const char *id, int64_t level, bool *first,
                        struct error *error)
{
    struct warning warning = { id, level, false };

    if (!database_write(store->main, apply_warn, &warning, error))
        return false;
    *first = warning.first;
    return true;
}
