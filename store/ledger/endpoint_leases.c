/* SPDX-License-Identifier: Apache-2.0 */
/* The endpoints that jobs measure, one job at a time per endpoint: the endpoints' names, the jobs
 * that hold them, and the jobs that wait for them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/net/url.h"
#include "store/ledger/jobs.h"
#include "store/ledger/store_private.h"

/* Replaces "localhost" and "::1" with "127.0.0.1", so that all three give the same endpoint. */
static const char *unify_host(const char *host)
{
    return strcmp(host, "localhost") == 0 || strcmp(host, "::1") == 0 ? "127.0.0.1" : host;
}

bool endpoint_lease_name(const char *url, char out[ENDPOINT_NAME_SIZE], struct error *error)
{
    char host[URL_HOST_SIZE];
    int port;

    if (!url_check(url, host, &port, error))
        return false;
    snprintf(out, ENDPOINT_NAME_SIZE, "%s:%d", unify_host(host), port);
    return true;
}

#define LEASE_COLUMNS(FIRST, COLUMN, OF)                                                           \
    FIRST(struct endpoint_lease, TEXT, endpoint, OF "endpoint")                                    \
    COLUMN(struct endpoint_lease, TEXT, job_id, OF "job_id")                                       \
    COLUMN(struct endpoint_lease, TEXT, principal, "j.principal")                                  \
    COLUMN(struct endpoint_lease, TEXT, purpose, "j.subject")                                      \
    COLUMN(struct endpoint_lease, INTEGER, asked_ms, "j.created_ms")                               \
    COLUMN(struct endpoint_lease, INTEGER, granted_ms, OF "granted_ms")
static const struct sql_columns columns = SQL_COLUMNS(struct endpoint_lease, LEASE_COLUMNS);

/* Omits the rows whose turn is NULL: the jobs of those rows neither hold the endpoint nor wait for
 * it yet. */
#define SELECT_LEASES                                                                              \
    SQL_SELECT(LEASE_COLUMNS, "l.")                                                                \
    "FROM endpoint_leases l JOIN jobs j ON j.id = l.job_id WHERE l.turn IS NOT NULL "
#define LINE_ORDER "l.granted_ms IS NULL, l.turn, l.id"

static void number_places(struct endpoint_lease *rows, size_t count)
{
    size_t place = 0;

    for (size_t i = 0; i < count; i++) {
        if (i == 0 || strcmp(rows[i].endpoint, rows[i - 1].endpoint) != 0)
            place = 0;
        if (rows[i].granted_ms == 0)
            rows[i].place = ++place;
    }
}

bool endpoint_lease_list(struct store *store, struct endpoint_lease **out, size_t *count,
                         struct error *error)
{
    void *rows;
    READER_AUTO reader = database_reader(store->main);
    SQL_AUTO sql = sql_begin(reader.connection, SELECT_LEASES "ORDER BY l.endpoint, " LINE_ORDER);

    if (!sql_rows_read(&sql, &columns, &rows, count, error))
        return false;
    number_places(rows, *count);
    *out = rows;
    return true;
}

/* Finds the endpoint that the job waits for, and the job's place in line there, counted from 1. */
static CHECKED bool find_awaited(struct sql_connection *connection, const char *job_id,
                                 struct line_place *out, bool *found, struct error *error)
{
    static const char AWAITED[] =
        "SELECT mine.endpoint, (SELECT count(*) FROM endpoint_leases l WHERE "
        "l.endpoint = mine.endpoint AND l.granted_ms IS NULL AND l.turn IS NOT NULL AND "
        "(l.turn < mine.turn OR (l.turn = mine.turn AND l.id <= mine.id))) "
        "FROM endpoint_leases mine WHERE mine.job_id = ?1 AND mine.turn IS NOT NULL "
        "AND mine.granted_ms IS NULL";
    SQL_AUTO sql = sql_begin(connection, AWAITED);

    sql_bind_text(&sql, 1, job_id);
    if (!sql_find(&sql, found, error))
        return false;
    if (!*found)
        return true;
    sql_text(&sql, 0, out->endpoint, sizeof out->endpoint);
    out->place = (size_t)sql_integer(&sql, 1);
    return true;
}

/* Finds the job that holds the endpoint or, if there is none, the first job in line for it. */
static CHECKED bool find_first(struct sql_connection *connection, struct line_place *out,
                               struct error *error)
{
    bool found;
    SQL_AUTO sql =
        sql_begin(connection, SELECT_LEASES "AND l.endpoint = ?1 ORDER BY " LINE_ORDER " LIMIT 1");

    sql_bind_text(&sql, 1, out->endpoint);
    return sql_row_find(&sql, &columns, &out->first, &found, error);
}

bool job_line_place(struct store *store, const char *job_id, struct line_place *out, bool *found,
                    struct error *error)
{
    struct line_place place = { 0 };
    READER_AUTO reader = database_reader(store->main);

    if (!find_awaited(reader.connection, job_id, &place, found, error)
        || !find_first(reader.connection, &place, error))
        return false;
    *out = place;
    return true;
}
