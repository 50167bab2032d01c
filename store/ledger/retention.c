/* SPDX-License-Identifier: Apache-2.0 */
/* Deletes rows that are too old, in small transactions. */
#include <stddef.h>

#include "store/ledger/store.h"
#include "store/ledger/store_private.h"
#include "store/series/series.h"

#define DAY_MS (24 * 60 * 60 * 1000LL)
#define SHRINK_ROUNDS 64

struct rule {
    size_t days_offset;    /* offset of the number of days within struct retention */
    bool of_scrapes;       /* the table is in store->scrapes, not in store->main */
    int64_t batch;         /* at most this many rows are deleted in one transaction */
    const char *statement; /* ?1: the time before which rows are too old; ?2: `batch` */
    int64_t fixed_days;    /* if not 0: replaces the number at days_offset */
};

/* A trigger in the schema also deletes the chunks of these blocks. */
#define DELETE_BLOCKS(level)                                                                       \
    "DELETE FROM blocks WHERE id IN (SELECT id FROM blocks WHERE level = " level                   \
    " AND to_ms <= ?1 LIMIT ?2)"

static const struct rule rules[] = {
    { offsetof(struct retention, records_days), false, 16,
      "DELETE FROM request_records WHERE attempt_id IN "
      "(SELECT attempt_id FROM request_records WHERE created_ms < ?1 LIMIT ?2)" },
    { offsetof(struct retention, jobs_days), false, 500,
      "DELETE FROM jobs WHERE id IN (SELECT id FROM jobs j WHERE finished_ms < ?1 "
      "AND NOT EXISTS (SELECT 1 FROM sweeps WHERE job_id = j.id) "
      "AND NOT EXISTS (SELECT 1 FROM attempts WHERE job_id = j.id) LIMIT ?2)" },
    { offsetof(struct retention, jobs_days), false, 500,
      "DELETE FROM idempotency WHERE (principal, tool, key) IN "
      "(SELECT principal, tool, key FROM idempotency WHERE created_ms < ?1 LIMIT ?2)" },
    { 0, false, 500,
      "DELETE FROM settled_requests WHERE nonce IN "
      "(SELECT nonce FROM settled_requests WHERE created_ms < ?1 LIMIT ?2)",
      .fixed_days = 1 }, /* a client can use a request's state for 15 minutes */
    { 0, false, 500,
      "DELETE FROM page_questions WHERE id IN "
      "(SELECT id FROM page_questions WHERE asked_ms < ?1 LIMIT ?2)",
      .fixed_days = 1 }, /* a question can be answered for at most an hour */
    { offsetof(struct retention, samples_days), true, 100,
      "DELETE FROM samples WHERE (deployment_id, at_ms) IN "
      "(SELECT deployment_id, at_ms FROM samples WHERE at_ms < ?1 LIMIT ?2)" },
    { offsetof(struct retention, samples_days), true, 8, DELETE_BLOCKS("0") },
    { offsetof(struct retention, samples_10s_days), true, 8, DELETE_BLOCKS("1") },
    { offsetof(struct retention, samples_1m_days), true, 8, DELETE_BLOCKS("2") },
    { offsetof(struct retention, samples_1h_days), true, 8, DELETE_BLOCKS("3") },
};

struct deletion {
    const struct rule *rule;
    int64_t before_ms, deleted;
};

static CHECKED bool apply_delete(struct sql_connection *connection, void *context,
                                 struct error *error)
{
    struct deletion *deletion = context;
    SQL_AUTO sql = sql_begin(connection, deletion->rule->statement);

    sql_bind_integer(&sql, 1, deletion->before_ms);
    sql_bind_integer(&sql, 2, deletion->rule->batch);
    if (!sql_run(&sql, error))
        return false;
    deletion->deleted = sql_changes(&sql);
    return true;
}

static CHECKED bool apply_rule(struct database *database, const struct rule *rule,
                               int64_t before_ms, struct error *error)
{
    struct deletion deletion = { .rule = rule, .before_ms = before_ms };

    do {
        if (!database_write(database, apply_delete, &deletion, error))
            return false;
    } while (deletion.deleted == rule->batch);
    return true;
}

/* If much of an SQLite file is free space, returns some of it to the file system, in at most
 * SHRINK_ROUNDS transactions. */
static CHECKED bool shrink(struct database *database, struct error *error)
{
    bool more = true;

    for (int i = 0; more && i < SHRINK_ROUNDS; i++)
        if (!database_shrink(database, &more, error))
            return false;
    return true;
}

static int64_t days_of(const struct rule *rule, const struct retention *retention)
{
    if (rule->fixed_days > 0)
        return rule->fixed_days;
    return *(const int64_t *)((const char *)retention + rule->days_offset);
}

bool store_apply_retention(struct store *store, const struct retention *retention, int64_t now_ms,
                           struct error *error)
{
    bool ok = true;

    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++) {
        const struct rule *rule = &rules[i];
        int64_t days = days_of(rule, retention);
        struct database *database = rule->of_scrapes ? store->scrapes : store->main;

        if (days > 0)
            ok = apply_rule(database, rule, now_ms - days * DAY_MS, error) && ok;
    }
    if (retention->audit_days > 0)
        ok = audit_shorten(store, now_ms - retention->audit_days * DAY_MS, error) && ok;
    ok = series_delete_unused(store, error) && ok;
    ok = shrink(store->main, error) && ok;
    return shrink(store->scrapes, error) && ok;
}
