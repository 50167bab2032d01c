/* SPDX-License-Identifier: Apache-2.0 */
/* The journal of the requests that carry out a plan. */
#include <stdlib.h>

#include "store/fleet/fleet_plans.h"
#include "store/ledger/store_private.h"

#define JOURNAL_COLUMNS(FIRST, COLUMN, OF)                                                         \
    FIRST(struct fleet_journal_row, INTEGER, sequence, OF "sequence")                              \
    COLUMN(struct fleet_journal_row, TEXT, step, OF "step")                                        \
    COLUMN(struct fleet_journal_row, TEXT, action, OF "action")                                    \
    COLUMN(struct fleet_journal_row, TEXT, outcome, OF "outcome")                                  \
    COLUMN(struct fleet_journal_row, HEAP_TEXT, poll_url, OF "poll_url")                           \
    COLUMN(struct fleet_journal_row, HEAP_TEXT, detail, OF "detail")                               \
    COLUMN(struct fleet_journal_row, INTEGER, at_ms, OF "at_ms")
static const struct sql_columns columns = SQL_COLUMNS(struct fleet_journal_row, JOURNAL_COLUMNS);

struct noting {
    const struct claim *claim;
    const char *plan_id;
    const struct fleet_journal_row *row;
};

static CHECKED bool apply_note(struct sql_connection *connection, void *context,
                               struct error *error)
{
    static const char INSERT[] =
        "INSERT INTO fleet_journal (plan_id, sequence, step, action, outcome, poll_url, detail, "
        "at_ms) VALUES (?1, (SELECT coalesce(max(sequence), 0) + 1 FROM fleet_journal WHERE "
        "plan_id = ?1), ?2, ?3, ?4, ?5, ?6, ?7)";
    const struct noting *noting = context;
    const struct fleet_journal_row *row = noting->row;
    SQL_AUTO sql = sql_begin(connection, INSERT);

    sql_bind_text(&sql, 1, noting->plan_id);
    sql_bind_text(&sql, 2, row->step);
    sql_bind_text(&sql, 3, row->action);
    sql_bind_text(&sql, 4, row->outcome);
    sql_bind_text(&sql, 5, row->poll_url == NULL ? "" : row->poll_url);
    sql_bind_text(&sql, 6, row->detail == NULL ? "" : row->detail);
    sql_bind_integer(&sql, 7, row->at_ms);
    return job_claim_check(connection, noting->claim, error) && sql_run(&sql, error);
}

bool fleet_journal_add(struct store *store, const struct claim *claim, const char *plan_id,
                       const struct fleet_journal_row *row, struct error *error)
{
    struct noting noting = { claim, plan_id, row };

    return database_write(store->main, apply_note, &noting, error);
}

bool fleet_journal_list(struct store *store, const char *plan_id, struct fleet_journal_row **out,
                        size_t *count, struct error *error)
{
    void *rows;
    READER_AUTO reader = database_reader(store->main);
    SQL_AUTO sql = sql_begin(
        reader.connection, SQL_SELECT(JOURNAL_COLUMNS, "") "FROM fleet_journal "
                                                           "WHERE plan_id = ?1 ORDER BY sequence");

    sql_bind_text(&sql, 1, plan_id);
    if (!sql_rows_read(&sql, &columns, &rows, count, error))
        return false;
    *out = rows;
    return true;
}

void fleet_journal_rows_free(struct fleet_journal_row *rows, size_t count)
{
    sql_rows_free(&columns, rows, count);
}
