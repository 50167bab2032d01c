/* SPDX-License-Identifier: Apache-2.0 */
/* Removes the oldest rows of the audit log for retention, and leaves an anchor in their place. */
#include "base/core/clock.h"
#include "store/audit/audit_chain.h"
#include "store/ledger/store_private.h"

#define BATCH 500 /* rows in one transaction */

struct shortening {
    const struct audit_keys *keys;
    int64_t before_ms;
    int64_t removed; /* rows, in this transaction */
};

/* Extends the anchor over the oldest rows: at most BATCH of them, stopping before the first row
 * that is to be kept. */
static CHECKED bool extend_anchor(struct sql_connection *connection, struct shortening *shortening,
                                  struct audit_chain_anchor *anchor, struct error *error)
{
    enum sql_step step;
    SQL_AUTO sql = sql_begin(connection, "SELECT id, at_ms, digest FROM audit WHERE id > ?1 "
                                         "ORDER BY id LIMIT ?2");

    sql_bind_integer(&sql, 1, anchor->last_id);
    sql_bind_integer(&sql, 2, BATCH);
    while ((step = sql_step(&sql, error)) == SQL_ROW) {
        int64_t at_ms = sql_integer(&sql, 1);

        if (at_ms >= shortening->before_ms)
            return true;
        anchor->last_id = sql_integer(&sql, 0);
        if (anchor->removed++ == 0)
            anchor->from_ms = at_ms;
        anchor->to_ms = at_ms;
        audit_chain_read_digest(&sql, 2, anchor->digest);
        shortening->removed++;
    }
    return step == SQL_DONE;
}

static CHECKED bool delete_up_to(struct sql_connection *connection, int64_t id, struct error *error)
{
    SQL_AUTO sql = sql_begin(connection, "DELETE FROM audit WHERE id <= ?1");

    sql_bind_integer(&sql, 1, id);
    return sql_run(&sql, error);
}

static CHECKED bool apply_shorten(struct sql_connection *connection, void *context,
                                  struct error *error)
{
    struct shortening *shortening = context;
    struct audit_chain_anchor anchor;
    bool found;

    shortening->removed = 0;
    if (!audit_chain_anchor_read(connection, shortening->keys, &anchor, &found, error)
        || !extend_anchor(connection, shortening, &anchor, error))
        return false;
    if (shortening->removed == 0)
        return true;
    anchor.at_ms = clock_utc_ms();
    return audit_chain_anchor_add(connection, shortening->keys, &anchor, error)
           && delete_up_to(connection, anchor.last_id, error);
}

bool audit_shorten(struct store *store, int64_t before_ms, struct error *error)
{
    struct shortening shortening = { .keys = &store->audit_keys, .before_ms = before_ms };

    do {
        if (!database_write(store->main, apply_shorten, &shortening, error))
            return false;
    } while (shortening.removed == BATCH);
    return true;
}
