/* SPDX-License-Identifier: Apache-2.0 */
/* The lines of jobs that wait for endpoints: how a job joins a line, gets its endpoint and leaves
 * the line. A job that needs two endpoints joins the line for the second only when it holds the
 * first. All jobs take endpoints in the order of the endpoints' names, so that no two jobs wait for
 * each other. Everything here runs in the caller's transaction. */
#include "base/core/memory.h"
#include "store/ledger/jobs.h"
#include "store/ledger/store_private.h"

/* A line is served in rounds, with at most one job of each principal in a round; `turn` is the
 * number of a job's round, counted from 1. The round that a job gets is the one after the round of
 * its principal's last job in this line, or the current round, whichever is later. So every
 * principal that waits runs one job before any of them runs a second, and leaving the line and
 * joining it again gains nothing. */
static CHECKED bool assign_turn(struct sql_connection *connection, const char *job_id,
                                const char *endpoint, int64_t *turn, struct error *error)
{
    static const char NEXT[] =
        "INSERT INTO line_turns (endpoint, principal, turn) SELECT ?2, principal, " SQL_GREATER(
            "coalesce((SELECT turn FROM served_endpoints WHERE endpoint = ?2), 0)",
            "1") "FROM jobs WHERE id = ?1 ON CONFLICT (endpoint, principal) "
                 "DO UPDATE SET turn = " SQL_GREATER("line_turns.turn + 1",
                                                     "excluded.turn") "RETURNING turn";
    bool found;
    SQL_AUTO sql = sql_begin(connection, NEXT);

    sql_bind_text(&sql, 1, job_id);
    sql_bind_text(&sql, 2, endpoint);
    if (!sql_find(&sql, &found, error))
        return false;
    *turn = sql_integer(&sql, 0);
    return true;
}

static CHECKED bool queue_at(struct sql_connection *connection, const char *job_id,
                             const char *endpoint, struct error *error)
{
    int64_t turn;
    SQL_AUTO sql = sql_begin(connection, "UPDATE endpoint_leases SET turn = ?3 "
                                         "WHERE job_id = ?1 AND endpoint = ?2");

    if (!assign_turn(connection, job_id, endpoint, &turn, error))
        return false;
    sql_bind_text(&sql, 1, job_id);
    sql_bind_text(&sql, 2, endpoint);
    sql_bind_integer(&sql, 3, turn);
    return sql_run(&sql, error);
}

/* Joins the line for the next endpoint that the job needs. *is_queued false: the job needs no more
 * endpoints. */
static CHECKED bool queue_at_next(struct sql_connection *connection, const char *job_id,
                                  bool *is_queued, struct error *error)
{
    char endpoint[ENDPOINT_NAME_SIZE];
    SQL_AUTO sql = sql_begin(connection, "SELECT endpoint FROM endpoint_leases WHERE job_id = ?1 "
                                         "AND turn IS NULL ORDER BY endpoint LIMIT 1");

    sql_bind_text(&sql, 1, job_id);
    if (!sql_find(&sql, is_queued, error))
        return false;
    if (!*is_queued)
        return true;
    sql_text(&sql, 0, endpoint, sizeof endpoint);
    return queue_at(connection, job_id, endpoint, error);
}

static CHECKED bool add_endpoint(struct sql_connection *connection, const char *job_id,
                                 const char *url, struct error *error)
{
    char endpoint[ENDPOINT_NAME_SIZE];
    struct error ignored; /* an invalid or forbidden URL has no endpoint to wait for */
    SQL_AUTO sql = sql_begin(connection, "INSERT INTO endpoint_leases (endpoint, job_id) "
                                         "VALUES (?1, ?2) ON CONFLICT DO NOTHING");

    if (!endpoint_lease_name(url, endpoint, &ignored))
        return true;
    sql_bind_text(&sql, 1, endpoint);
    sql_bind_text(&sql, 2, job_id);
    return sql_run(&sql, error);
}

bool endpoint_queue_join(struct sql_connection *connection, const char *job_id, struct error *error)
{
    static const char URLS[] =
        "SELECT r.url FROM jobs j JOIN sweep_subjects s ON s.sweep_id = j.subject "
        "JOIN deployment_revisions r ON r.deployment_id = s.deployment_id AND "
        "r.revision = s.revision WHERE j.id = ?1 AND j.kind = 'sweep' ORDER BY s.position";
    enum sql_step step;
    bool is_queued;
    SQL_AUTO sql = sql_begin(connection, URLS);

    sql_bind_text(&sql, 1, job_id);
    while ((step = sql_step(&sql, error)) == SQL_ROW) {
        FREE_AUTO char *url = sql_text_copy(&sql, 0);

        if (!add_endpoint(connection, job_id, url, error))
            return false;
    }
    return step == SQL_DONE && queue_at_next(connection, job_id, &is_queued, error);
}

/* A condition on a row of endpoint_leases: the job waits for the row's endpoint. */
#define WAITING_ROW "job_id = ?1 AND turn IS NOT NULL AND granted_ms IS NULL "

bool endpoint_queue_advance(struct sql_connection *connection, const char *job_id, int64_t now_ms,
                            bool *holds, struct error *error)
{
    static const char SERVED[] =
        "INSERT INTO served_endpoints (endpoint, number, turn) SELECT endpoint, "
        "(SELECT coalesce(max(number), 0) + 1 FROM served_endpoints), turn "
        "FROM endpoint_leases WHERE " WAITING_ROW
        "ON CONFLICT (endpoint) DO UPDATE SET number = excluded.number, turn = excluded.turn";
    static const char GRANT[] = "UPDATE endpoint_leases SET granted_ms = ?2 WHERE " WAITING_ROW;
    bool is_queued;

    if (!job_execute(connection, SERVED, job_id, 0, error)
        || !job_execute(connection, GRANT, job_id, now_ms, error)
        || !queue_at_next(connection, job_id, &is_queued, error))
        return false;
    *holds = !is_queued;
    return true;
}

/* If the job waits in a line, decrements the round of each later job of its principal in that
 * line. */
static CHECKED bool advance_later_jobs(struct sql_connection *connection, const char *job_id,
                                       struct error *error)
{
    static const char LATER[] =
        "UPDATE endpoint_leases SET turn = turn - 1 WHERE granted_ms IS NULL AND EXISTS "
        "(SELECT 1 FROM endpoint_leases gone WHERE gone.job_id = ?1 AND gone.granted_ms IS NULL "
        "AND gone.endpoint = endpoint_leases.endpoint AND gone.turn < endpoint_leases.turn) "
        "AND (SELECT principal FROM jobs WHERE id = job_id) = "
        "(SELECT principal FROM jobs WHERE id = ?1)";
    static const char LAST[] = "UPDATE line_turns SET turn = turn - 1 WHERE principal = "
                               "(SELECT principal FROM jobs WHERE id = ?1) AND endpoint IN "
                               "(SELECT endpoint FROM endpoint_leases WHERE " WAITING_ROW ")";

    return job_execute(connection, LATER, job_id, 0, error)
           && job_execute(connection, LAST, job_id, 0, error);
}

bool endpoint_queue_leave(struct sql_connection *connection, const char *job_id,
                          struct error *error)
{
    static const char LEAVE[] = "DELETE FROM endpoint_leases WHERE job_id = ?1";

    return advance_later_jobs(connection, job_id, error)
           && job_execute(connection, LEAVE, job_id, 0, error);
}

bool endpoint_queue_step_aside(struct sql_connection *connection, const char *job_id,
                               struct error *error)
{
    static const char ASIDE[] =
        "UPDATE endpoint_leases SET turn = NULL, granted_ms = NULL WHERE job_id = ?1 AND EXISTS "
        "(SELECT 1 FROM job_questions WHERE job_questions.job_id = ?1 AND answer IS NULL)";

    return job_execute(connection, ASIDE, job_id, 0, error);
}

static CHECKED bool list_without_leases(struct sql_connection *connection, char (**ids)[ID_SIZE],
                                        size_t *count, struct error *error)
{
    static const char WITHOUT_LEASES[] =
        "SELECT id FROM jobs WHERE state IN ('queued', 'running') AND kind = 'sweep' AND "
        "NOT EXISTS (SELECT 1 FROM endpoint_leases WHERE job_id = jobs.id) "
        "ORDER BY started_ms IS NULL, started_ms, created_ms, sequence";
    enum sql_step step;
    SQL_AUTO sql = sql_begin(connection, WITHOUT_LEASES);

    *ids = NULL;
    *count = 0;
    while ((step = sql_step(&sql, error)) == SQL_ROW) {
        *ids = sql_rows_grow(*ids, *count, sizeof **ids);
        sql_text(&sql, 0, (*ids)[(*count)++], ID_SIZE);
    }
    return step == SQL_DONE;
}

bool endpoint_queue_restore(struct sql_connection *connection, struct error *error)
{
    FREE_AUTO char(*ids)[ID_SIZE] = NULL;
    size_t count;

    if (!list_without_leases(connection, &ids, &count, error))
        return false;
    for (size_t i = 0; i < count; i++)
        if (!endpoint_queue_join(connection, ids[i], error))
            return false;
    return true;
}
