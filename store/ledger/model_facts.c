/* SPDX-License-Identifier: Apache-2.0 */
/* What model servers said of themselves, each time they said something new. */
#include <string.h>

#include "store/ledger/deployments.h"
#include "store/ledger/store_private.h"

static void read_row(const struct sql *sql, struct model_facts *row)
{
    *row = (struct model_facts){
        .deployment_id = sql_integer(sql, 0),
        .revision = sql_integer(sql, 1),
        .observed_ms = sql_integer(sql, 2),
        .context_tokens = sql_integer(sql, 6),
    };
    sql_text(sql, 3, row->model, sizeof row->model);
    sql_text(sql, 4, row->engine, sizeof row->engine);
    sql_text(sql, 5, row->engine_version, sizeof row->engine_version);
    sql_text(sql, 7, row->details, sizeof row->details);
}

static CHECKED bool latest(struct sql_connection *connection, int64_t deployment_id,
                           struct model_facts *out, bool *found, struct error *error)
{
    SQL_AUTO sql = sql_begin(connection,
                             "SELECT deployment_id, revision, observed_ms, model, engine, "
                             "engine_version, context_tokens, details FROM model_facts "
                             "WHERE deployment_id = ?1 ORDER BY observed_ms DESC, id DESC LIMIT 1");

    sql_bind_integer(&sql, 1, deployment_id);
    if (!sql_find(&sql, found, error))
        return false;
    if (*found)
        read_row(&sql, out);
    return true;
}

static const char *details_of(const struct model_facts *facts)
{
    return *facts->details == '\0' ? "{}" : facts->details;
}

static bool same(const struct model_facts *a, const struct model_facts *b)
{
    return a->revision == b->revision && a->context_tokens == b->context_tokens
           && strcmp(a->model, b->model) == 0 && strcmp(a->engine, b->engine) == 0
           && strcmp(a->engine_version, b->engine_version) == 0
           && strcmp(details_of(a), details_of(b)) == 0;
}

static CHECKED bool apply_note(struct sql_connection *connection, void *context,
                               struct error *error)
{
    const struct model_facts *facts = *(const struct model_facts *const *)context;
    struct model_facts newest;
    bool found;
    SQL_AUTO sql = sql_begin(
        connection, "INSERT INTO model_facts (deployment_id, revision, observed_ms, model, "
                    "engine, engine_version, context_tokens, details) "
                    "VALUES (?1, ?2, ?3, ?4, ?5, ?6, nullif(?7, 0), ?8)");

    if (!latest(connection, facts->deployment_id, &newest, &found, error))
        return false;
    if (found && same(&newest, facts))
        return true;
    sql_bind_integer(&sql, 1, facts->deployment_id);
    sql_bind_integer(&sql, 2, facts->revision);
    sql_bind_integer(&sql, 3, facts->observed_ms);
    sql_bind_text(&sql, 4, facts->model);
    sql_bind_text(&sql, 5, facts->engine);
    sql_bind_text(&sql, 6, facts->engine_version);
    sql_bind_integer(&sql, 7, facts->context_tokens);
    sql_bind_text(&sql, 8, details_of(facts));
    return sql_run(&sql, error);
}

bool model_facts_note(struct store *store, const struct model_facts *facts, struct error *error)
{
    struct model_facts newest;
    bool found;

    if (!model_facts_latest(store, facts->deployment_id, &newest, &found, error))
        return false;
    if (found && same(&newest, facts))
        return true; /* the usual case costs no transaction */
    return database_write(store->main, apply_note, &facts, error);
}

bool model_facts_latest(struct store *store, int64_t deployment_id, struct model_facts *out,
                        bool *found, struct error *error)
{
    READER_AUTO reader = database_reader(store->main);

    return latest(reader.connection, deployment_id, out, found, error);
}
