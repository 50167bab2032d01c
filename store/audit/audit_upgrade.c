/* SPDX-License-Identifier: Apache-2.0 */
/* Brings an older audit log up to date. When the store is opened, adds to the chain the rows that
 * were written by a version of opsbrain without a chain; a migration has moved them to the table
 * audit_unchained. When the store gets its keys, begins to use the first of them, unless the chain
 * has a key already. */
#include <stdio.h>

#include "base/core/log.h"
#include "store/audit/audit_chain.h"
#include "store/ledger/store_private.h"

#define BATCH 10000 /* rows in one transaction */

/* Old rows do not link an outcome to its intent, but the two have the same request id and tool. */
static const char UNCHAINED_ROWS[] =
    "SELECT id, at_ms, coalesce((SELECT max(i.id) FROM audit_unchained i WHERE i.phase = 'intent' "
    "AND i.request_id = a.request_id AND i.tool = a.tool AND i.id < a.id "
    "AND a.phase = 'outcome'), 0), 1, request_id, principal, role, client, tool, arguments, phase, "
    "outcome, detail, subject, '{}', '' FROM audit_unchained a "
    "WHERE id > ?1 ORDER BY id LIMIT ?2";

static const struct audit_keys no_keys = { 0 };

struct upgrade {
    int64_t chained; /* rows that this transaction added to the chain */
    int64_t total;   /* rows that all transactions added, including those before an interruption */
};

/* *found: the table audit_unchained exists, and its rows are to be added to the chain. The upgrade
 * drops the table, and only then can the chain get its first key. So if the chain has a key,
 * another program made this table, and *found is false. */
static CHECKED bool find_unchained(struct sql_connection *connection, bool *found,
                                   struct error *error)
{
    bool has_table, has_key;
    SQL_AUTO sql = sql_begin(connection, "SELECT 1 FROM audit_head WHERE key_id <> ''");

    if (!sql_connection_has_table(connection, "audit_unchained", &has_table, error)
        || !sql_find(&sql, &has_key, error))
        return false;
    *found = has_table && !has_key;
    return true;
}

static CHECKED bool chain_rows(struct sql_connection *connection, struct audit_chain_head *head,
                               struct upgrade *upgrade, struct error *error)
{
    enum sql_step step;
    SQL_AUTO sql = sql_begin(connection, UNCHAINED_ROWS);

    sql_bind_integer(&sql, 1, head->id);
    sql_bind_integer(&sql, 2, BATCH);
    while ((step = sql_step(&sql, error)) == SQL_ROW) {
        struct audit_link link;

        audit_chain_read(&sql, &link);
        if (!audit_chain_extend(connection, &no_keys, head, &link, error))
            return false;
        upgrade->chained++;
    }
    return step == SQL_DONE;
}

static CHECKED bool apply_batch(struct sql_connection *connection, void *context,
                                struct error *error)
{
    struct upgrade *upgrade = context;
    struct audit_chain_head head;

    upgrade->chained = 0;
    if (!audit_chain_head_read(connection, &no_keys, &head, error)
        || !chain_rows(connection, &head, upgrade, error))
        return false;
    return audit_chain_head_write(connection, &no_keys, &head, error);
}

static CHECKED bool count_all(struct sql_connection *connection, int64_t *out, struct error *error)
{
    SQL_AUTO sql = sql_begin(connection, "SELECT count(*) FROM audit_unchained");

    if (sql_step(&sql, error) != SQL_ROW)
        return false;
    *out = sql_integer(&sql, 0);
    return true;
}

/* If rows were added, records the upgrade in the chain itself. Then drops the old table. */
static CHECKED bool apply_end(struct sql_connection *connection, void *context, struct error *error)
{
    struct upgrade *upgrade = context;
    struct change change = { .actor = { .principal = AUDIT_SERVER }, .tool = "audit_chain" };
    char detail[160];
    int64_t id;

    if (!count_all(connection, &upgrade->total, error))
        return false;
    snprintf(detail, sizeof detail,
             "%lld rows are older than the chain: they were added to it unchecked",
             (long long)upgrade->total);
    const struct audit_note note = { &change, "outcome", "ok", detail, "", 1 };
    return (upgrade->total == 0 || audit_log_insert(connection, &no_keys, &note, &id, error))
           && sql_connection_run(connection, "DROP TABLE audit_unchained", error);
}

bool audit_upgrade(struct store *store, struct error *error)
{
    struct upgrade upgrade = { 0 };
    bool found;

    {
        READER_AUTO reader = database_reader(store->main);

        if (!find_unchained(reader.connection, &found, error))
            return false;
    }
    if (!found)
        return true;
    do {
        if (!database_write(store->main, apply_batch, &upgrade, error))
            return false;
    } while (upgrade.chained == BATCH);
    if (!database_write(store->main, apply_end, &upgrade, error))
        return false;
    if (upgrade.total > 0)
        log_info("the audit log is now a chain: %lld rows", (long long)upgrade.total);
    return true;
}

/* ---- The first key ---- */

struct keying {
    const struct audit_keys *keys;
    /* The id of the first row that will use a key; 0: there are no keys, or one is already used. */
    int64_t first_id;
};

static CHECKED bool apply_key(struct sql_connection *connection, void *context, struct error *error)
{
    struct keying *keying = context;
    const struct audit_keys *keys = keying->keys;
    struct audit_chain_anchor anchor;
    struct audit_chain_head head;
    bool found;

    if (!audit_chain_head_read(connection, keys, &head, error)
        || !audit_chain_anchor_read(connection, keys, &anchor, &found, error)
        || !audit_chain_check_key(keys, &head, error))
        return false;
    keying->first_id = 0;
    if (head.key_id[0] != '\0' || keys->count == 0)
        return true;
    keying->first_id = head.id + 1;
    return !found || audit_chain_anchor_add(connection, keys, &anchor, error);
}

bool audit_upgrade_begin_key(struct store *store, struct error *error)
{
    struct keying keying = { .keys = &store->audit_keys };

    if (!database_write(store->main, apply_key, &keying, error))
        return false;
    if (keying.first_id > 0)
        log_info("the audit log uses the key %s from row %lld on", audit_keys_current(keying.keys),
                 (long long)keying.first_id);
    return true;
}
