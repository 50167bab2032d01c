/* The line in front of each endpoint: one measurement at a time. */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "store/jobs.h"
#include "store/private.h"

#define COLUMNS "endpoint, job_id, principal, purpose, asked_ms, granted_ms, lease_until_ms "

static void read_row(const struct sql *sql, struct endpoint_lease *row)
{
    *row = (struct endpoint_lease){
        .asked_ms = sql_integer(sql, 4),
        .granted_ms = sql_integer(sql, 5),
        .lease_until_ms = sql_integer(sql, 6),
    };
    sql_text(sql, 0, row->endpoint, sizeof row->endpoint);
    sql_text(sql, 1, row->job_id, sizeof row->job_id);
    sql_text(sql, 2, row->principal, sizeof row->principal);
    sql_text(sql, 3, row->purpose, sizeof row->purpose);
}

struct asking {
    const struct claim *claim;
    const char *endpoint, *principal, *purpose;
    int64_t now_ms, lease_ms;
    bool granted;
    struct endpoint_lease holder;
};

/* The rows of this endpoint but our own: ?1 endpoint, ?2 our job, ?3 now. */
static bool run_on_others(struct connection *connection, const char *statement,
                          const struct asking *asking, struct error *error)
{
    SQL_AUTO sql = sql_begin(connection, statement);

    sql_bind_text(&sql, 1, asking->endpoint);
    sql_bind_text(&sql, 2, asking->claim->job_id);
    sql_bind_integer(&sql, 3, asking->now_ms);
    return sql_run(&sql, error);
}

/* A holder that stopped beating may still be measuring without knowing: his fence is outdated with
 * his lease, so that nothing of it is stored. */
static bool remove_ended(struct connection *connection, const struct asking *asking,
                         struct error *error)
{
    static const char FENCE_OFF[] =
        "UPDATE jobs SET fence = fence + 1, lease_until_ms = 0 WHERE state = 'running' AND id IN "
        "(SELECT job_id FROM endpoint_leases WHERE endpoint = ?1 AND job_id <> ?2 "
        "AND granted_ms IS NOT NULL AND lease_until_ms < ?3)";
    static const char REMOVE[] =
        "DELETE FROM endpoint_leases WHERE endpoint = ?1 AND job_id <> ?2 AND (lease_until_ms < ?3 "
        "OR NOT EXISTS (SELECT 1 FROM jobs WHERE id = job_id AND state = 'running'))";

    return run_on_others(connection, FENCE_OFF, asking, error)
           && run_on_others(connection, REMOVE, asking, error);
}

/* Our own row: new at the end of the line, or with a fresh lease where it stands. */
static bool stand_in_line(struct connection *connection, const struct asking *asking,
                          struct error *error)
{
    static const char STAND[] =
        "INSERT INTO endpoint_leases (endpoint, job_id, principal, purpose, asked_ms, "
        "lease_until_ms) VALUES (?1, ?2, ?3, ?4, ?5, ?6) "
        "ON CONFLICT (job_id, endpoint) DO UPDATE SET lease_until_ms = ?6";
    SQL_AUTO sql = sql_begin(connection, STAND);

    sql_bind_text(&sql, 1, asking->endpoint);
    sql_bind_text(&sql, 2, asking->claim->job_id);
    sql_bind_text(&sql, 3, asking->principal);
    sql_bind_text(&sql, 4, asking->purpose);
    sql_bind_integer(&sql, 5, asking->now_ms);
    sql_bind_integer(&sql, 6, asking->now_ms + asking->lease_ms);
    return sql_run(&sql, error);
}

/* The holder; else who is first in line. */
static bool read_first(struct connection *connection, struct asking *asking, struct error *error)
{
    bool found;
    SQL_AUTO sql = sql_begin(connection, "SELECT " COLUMNS "FROM endpoint_leases WHERE endpoint = "
                                         "?1 ORDER BY granted_ms IS NULL, id LIMIT 1");

    sql_bind_text(&sql, 1, asking->endpoint);
    if (!sql_find(&sql, &found, error))
        return false;
    if (found)
        read_row(&sql, &asking->holder);
    return true;
}

static bool grant(struct connection *connection, const struct asking *asking, struct error *error)
{
    SQL_AUTO sql = sql_begin(connection, "UPDATE endpoint_leases SET granted_ms = ?2 "
                                         "WHERE job_id = ?1 AND endpoint = ?3");

    sql_bind_text(&sql, 1, asking->claim->job_id);
    sql_bind_integer(&sql, 2, asking->now_ms);
    sql_bind_text(&sql, 3, asking->endpoint);
    return sql_run(&sql, error);
}

static bool apply_acquire(struct connection *connection, void *context, struct error *error)
{
    struct asking *asking = context;

    if (!claim_check(connection, asking->claim, error) || !remove_ended(connection, asking, error)
        || !stand_in_line(connection, asking, error) || !read_first(connection, asking, error))
        return false;
    asking->granted = strcmp(asking->holder.job_id, asking->claim->job_id) == 0;
    if (!asking->granted || asking->holder.granted_ms != 0)
        return true;
    return grant(connection, asking, error) && read_first(connection, asking, error);
}

bool endpoint_acquire(struct store *store, const struct claim *claim, const char *endpoint,
                      const char *principal, const char *purpose, int64_t now_ms, int64_t lease_ms,
                      bool *granted, struct endpoint_lease *holder, struct error *error)
{
    struct asking asking = {
        .claim = claim,
        .endpoint = endpoint,
        .principal = principal,
        .purpose = purpose,
        .now_ms = now_ms,
        .lease_ms = lease_ms,
    };

    if (!database_write(store->main, apply_acquire, &asking, error))
        return false;
    *granted = asking.granted;
    if (holder != NULL)
        *holder = asking.holder;
    return true;
}

bool endpoint_list(struct store *store, struct endpoint_lease **out, size_t *count,
                   struct error *error)
{
    struct endpoint_lease *rows = NULL;
    size_t length = 0;
    enum sql_step step;
    READER_AUTO reader = database_reader(store->main);
    SQL_AUTO sql = sql_begin(reader.connection, "SELECT " COLUMNS "FROM endpoint_leases "
                                                "ORDER BY endpoint, granted_ms IS NULL, id");

    while ((step = sql_step(&sql, error)) == SQL_ROW) {
        rows = rows_grow(rows, length, sizeof *rows);
        read_row(&sql, &rows[length++]);
    }
    if (step == SQL_FAILED) {
        free(rows);
        return false;
    }
    *out = rows;
    *count = length;
    return true;
}
