/* SPDX-License-Identifier: Apache-2.0 */
/* Stores which deployments are scraped, and how the last scrape of each one went. */
#include <stdlib.h>
#include <string.h>

#include "base/core/memory.h"
#include "base/core/text.h"
#include "store/ledger/store_private.h"
#include "store/series/scrapes.h"

struct targeting {
    int64_t deployment_id, interval_ms;
    char name[64];
    struct text changed;
};

static CHECKED bool read_name(struct sql_connection *connection, struct targeting *targeting,
                              struct error *error)
{
    bool found;
    SQL_AUTO sql = sql_begin(connection, "SELECT name FROM deployments WHERE id = ?1");

    sql_bind_integer(&sql, 1, targeting->deployment_id);
    if (!sql_find(&sql, &found, error))
        return false;
    if (!found)
        return error_set(error, ERROR_NOT_FOUND, "there is no deployment %lld",
                         (long long)targeting->deployment_id);
    sql_text(&sql, 0, targeting->name, sizeof targeting->name);
    return true;
}

static CHECKED bool note_change(struct sql_connection *connection, struct targeting *targeting,
                                struct error *error)
{
    bool found;
    SQL_AUTO sql =
        sql_begin(connection, "SELECT interval_ms FROM scrape_targets WHERE deployment_id = ?1");

    sql_bind_integer(&sql, 1, targeting->deployment_id);
    if (!sql_find(&sql, &found, error))
        return false;
    audit_changed_number(&targeting->changed, "interval_ms", found ? sql_integer(&sql, 0) : 0,
                         targeting->interval_ms);
    return true;
}

static CHECKED bool apply_target(struct sql_connection *connection, void *context,
                                 struct error *error)
{
    struct targeting *targeting = context;
    SQL_AUTO sql =
        sql_begin(connection, "INSERT INTO scrape_targets (deployment_id, interval_ms) VALUES (?1, "
                              "?2) ON CONFLICT (deployment_id) DO UPDATE SET interval_ms = ?2");

    if (!read_name(connection, targeting, error) || !note_change(connection, targeting, error))
        return false;
    sql_bind_integer(&sql, 1, targeting->deployment_id);
    sql_bind_integer(&sql, 2, targeting->interval_ms);
    return sql_run(&sql, error);
}

bool scrape_target_set(struct store *store, int64_t deployment_id, int64_t interval_ms,
                       struct change *change, struct error *error)
{
    struct targeting targeting = { .deployment_id = deployment_id, .interval_ms = interval_ms };

    return store_change_described_take(store, change, apply_target, &targeting, targeting.name, "",
                                       &targeting.changed, error);
}

#define TARGET_COLUMNS(FIRST, COLUMN, OF)                                                          \
    FIRST(struct scrape_target, INTEGER, deployment_id, OF "deployment_id")                        \
    COLUMN(struct scrape_target, INTEGER, interval_ms, OF "interval_ms")                           \
    COLUMN(struct scrape_target, INTEGER, last_ms, OF "last_ms")                                   \
    COLUMN(struct scrape_target, TEXT, last_error, OF "last_error")
static const struct sql_columns columns = SQL_COLUMNS(struct scrape_target, TARGET_COLUMNS);
#define SELECT_TARGETS                                                                             \
    SQL_SELECT(TARGET_COLUMNS, "t.")                                                               \
    "FROM scrape_targets t JOIN deployments d ON d.id = t.deployment_id "

bool scrape_target_list(struct store *store, struct scrape_target **out, size_t *count,
                        struct error *error)
{
    void *rows;
    READER_AUTO reader = database_reader(store->main);
    SQL_AUTO sql = sql_begin(reader.connection,
                             SELECT_TARGETS "WHERE d.retired_ms IS NULL ORDER BY t.deployment_id");

    if (!sql_rows_read(&sql, &columns, &rows, count, error))
        return false;
    *out = rows;
    return true;
}

bool scrape_target_find(struct store *store, int64_t deployment_id, struct scrape_target *out,
                        struct error *error)
{
    struct scrape_target *targets = NULL;
    size_t count = 0;

    if (!scrape_target_list(store, &targets, &count, error))
        return false;
    *out = (struct scrape_target){ 0 };
    for (size_t i = 0; i < count; i++)
        if (targets[i].deployment_id == deployment_id)
            *out = targets[i];
    free(targets);
    return true;
}

/* How the last scrape of a target went. */
struct outcome {
    int64_t deployment_id, at_ms;
    char error[256];
};

static CHECKED bool apply_outcome(struct sql_connection *connection, void *context,
                                  struct error *error)
{
    const struct outcome *outcome = context;
    SQL_AUTO sql = sql_begin(connection, "UPDATE scrape_targets SET last_ms = ?2, last_error = ?3 "
                                         "WHERE deployment_id = ?1");

    sql_bind_integer(&sql, 1, outcome->deployment_id);
    sql_bind_integer(&sql, 2, outcome->at_ms);
    sql_bind_text(&sql, 3, outcome->error);
    return sql_run(&sql, error);
}

bool scrape_note(struct store *store, int64_t deployment_id, int64_t at_ms, const char *problem,
                 struct error *error)
{
    struct outcome *outcome = memory_zeroed(1, sizeof *outcome);

    outcome->deployment_id = deployment_id;
    outcome->at_ms = at_ms;
    text_copy(outcome->error, sizeof outcome->error, problem == NULL ? "" : problem);
    return database_defer_take(store->main, apply_outcome, outcome, free, error);
}
