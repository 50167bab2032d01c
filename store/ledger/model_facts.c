/* SPDX-License-Identifier: Apache-2.0 */
/* Facts that model servers reported about themselves. A row is added only if a deployment's facts
 * or revision differ from those in its newest row. */
#include <string.h>

#include "base/core/text.h"
#include "store/ledger/deployments.h"
#include "store/ledger/store_private.h"

#define FACTS_COLUMNS(FIRST, COLUMN, OF)                                                           \
    FIRST(struct model_facts, INTEGER, deployment_id, OF "deployment_id")                          \
    COLUMN(struct model_facts, INTEGER, revision, OF "revision")                                   \
    COLUMN(struct model_facts, INTEGER, observed_ms, OF "observed_ms")                             \
    COLUMN(struct model_facts, TEXT, model, OF "model")                                            \
    COLUMN(struct model_facts, TEXT, engine, OF "engine")                                          \
    COLUMN(struct model_facts, TEXT, engine_version, OF "engine_version")                          \
    COLUMN(struct model_facts, INTEGER_OR_NULL, context_tokens, OF "context_tokens")               \
    COLUMN(struct model_facts, TEXT, details, OF "details")
static const struct sql_columns columns = SQL_COLUMNS(struct model_facts, FACTS_COLUMNS);
#define SELECT_FACTS SQL_SELECT(FACTS_COLUMNS, "") "FROM model_facts "

static CHECKED bool latest(struct sql_connection *connection, int64_t deployment_id,
                           struct model_facts *out, bool *found, struct error *error)
{
    SQL_AUTO sql = sql_begin(connection, SELECT_FACTS
                             "WHERE deployment_id = ?1 ORDER BY observed_ms DESC, id DESC LIMIT 1");

    sql_bind_integer(&sql, 1, deployment_id);
    return sql_row_find(&sql, &columns, out, found, error);
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
    static const char INSERT[] = SQL_INSERT("model_facts", FACTS_COLUMNS);
    struct model_facts newest, facts = **(const struct model_facts *const *)context;
    bool found;
    SQL_AUTO sql = sql_begin(connection, INSERT);

    if (!latest(connection, facts.deployment_id, &newest, &found, error))
        return false;
    if (found && same(&newest, &facts))
        return true;
    if (facts.details[0] == '\0')
        text_copy(facts.details, sizeof facts.details, "{}");
    sql_row_bind(&sql, &columns, &facts);
    return sql_run(&sql, error);
}

bool model_facts_note(struct store *store, const struct model_facts *facts, struct error *error)
{
    struct model_facts newest;
    bool found;

    if (!model_facts_latest(store, facts->deployment_id, &newest, &found, error))
        return false;
    if (found && same(&newest, facts))
        return true; /* the usual case, which needs no write transaction */
    return database_write(store->main, apply_note, &facts, error);
}

bool model_facts_latest(struct store *store, int64_t deployment_id, struct model_facts *out,
                        bool *found, struct error *error)
{
    READER_AUTO reader = database_reader(store->main);

    return latest(reader.connection, deployment_id, out, found, error);
}
