/* SPDX-License-Identifier: Apache-2.0 */
/* Runs, which are repetitions of a sweep's plan, and the fingerprints of what they measured. */
#include <stdlib.h>
#include <string.h>

#include "base/core/digest.h"
#include "base/core/memory.h"
#include "base/core/text.h"
#include "base/json/json.h"
#include "store/ledger/store_private.h"
#include "store/ledger/sweeps.h"

#define RUN_STORED(FIRST, COLUMN, OF)                                                              \
    FIRST(struct run_row, TEXT, id, OF "id")                                                       \
    COLUMN(struct run_row, TEXT, sweep_id, OF "sweep_id")                                          \
    COLUMN(struct run_row, INTEGER, repetition, OF "repetition")                                   \
    COLUMN(struct run_row, INTEGER, deployment_id, OF "deployment_id")                             \
    COLUMN(struct run_row, INTEGER, revision, OF "revision")                                       \
    COLUMN(struct run_row, TEXT_OR_NULL, corrects, OF "corrects")                                  \
    COLUMN(struct run_row, HEAP_TEXT, provenance, OF "provenance")                                 \
    COLUMN(struct run_row, INTEGER, created_ms, OF "created_ms")
#define RUN_COLUMNS(FIRST, COLUMN, OF)                                                             \
    RUN_STORED(FIRST, COLUMN, OF)                                                                  \
    COLUMN(struct run_row, INTEGER, finished_ms, OF "finished_ms")                                 \
    COLUMN(struct run_row, TEXT, deployment, "d.name")                                             \
    COLUMN(struct run_row, TEXT, fingerprint, OF "fingerprint")                                    \
    COLUMN(struct run_row, HEAP_TEXT, fingerprint_document, "f.document")                          \
    COLUMN(struct run_row, TEXT, sweep_state, "s.state")                                           \
    COLUMN(struct run_row, INTEGER, cells_total,                                                   \
           "(SELECT count(*) FROM cells WHERE run_id = r.id)")                                     \
    COLUMN(struct run_row, INTEGER, cells_done,                                                    \
           "(SELECT count(*) FROM cells WHERE run_id = r.id AND state <> 'pending')")              \
    COLUMN(struct run_row, TEXT, corrected_by,                                                     \
           "(SELECT c.id FROM runs c WHERE c.corrects = r.id AND c.finished_ms IS NOT NULL "       \
           "AND EXISTS (SELECT 1 FROM cells WHERE run_id = c.id AND state = 'measured') "          \
           "ORDER BY c.sequence DESC LIMIT 1)")

static const struct sql_columns stored = SQL_COLUMNS(struct run_row, RUN_STORED);
static const struct sql_columns columns = SQL_COLUMNS(struct run_row, RUN_COLUMNS);

#define SELECT_RUNS                                                                                \
    SQL_SELECT(RUN_COLUMNS, "r.")                                                                  \
    "FROM runs r JOIN sweeps s ON s.id = r.sweep_id "                                              \
    "JOIN deployments d ON d.id = r.deployment_id "                                                \
    "LEFT JOIN fingerprints f ON f.digest = r.fingerprint "

bool run_find(struct store *store, const char *id, struct run_row *out, struct error *error)
{
    bool found;
    READER_AUTO reader = database_reader(store->main);
    SQL_AUTO sql = sql_begin(reader.connection, SELECT_RUNS "WHERE r.id = ?1");

    sql_bind_text(&sql, 1, id);
    if (!sql_row_find(&sql, &columns, out, &found, error))
        return false;
    return found
           || error_set(error, ERROR_NOT_FOUND, "no run has the id \"%s\": run_list shows all runs",
                        id);
}

void run_row_finish(struct run_row *row)
{
    free(row->fingerprint_document);
    free(row->provenance);
    row->fingerprint_document = row->provenance = NULL;
}

void run_rows_free(struct run_row *rows, size_t count)
{
    sql_rows_free(&columns, rows, count);
}

bool run_list(struct store *store, const char *deployment, const char *sweep_id, int64_t before_ms,
              size_t limit, struct run_row **out, size_t *count, struct error *error)
{
    void *rows;
    READER_AUTO reader = database_reader(store->main);
    SQL_AUTO sql = sql_begin(reader.connection, SELECT_RUNS
                             "WHERE (?1 IS NULL OR d.name = ?1) "
                             "AND (?2 IS NULL OR r.sweep_id = ?2) "
                             "AND (?3 = 0 OR r.created_ms < ?3) "
                             "ORDER BY r.created_ms DESC, r.repetition, r.sequence LIMIT ?4");

    sql_bind_text(&sql, 1, deployment);
    sql_bind_text(&sql, 2, sweep_id);
    sql_bind_integer(&sql, 3, before_ms);
    sql_bind_integer(&sql, 4, (int64_t)limit);
    if (!sql_rows_read(&sql, &columns, &rows, count, error))
        return false;
    *out = rows;
    return true;
}

/* Returns the id of the earlier run that the new run corrects; "": none. */
static const char *find_corrected(const struct run_order *run)
{
    const struct sweep_order *order = run->sweep;

    for (size_t i = 0; i < order->correction_count; i++)
        if (order->corrections[i].subject == run->subject
            && order->corrections[i].repetition == run->repetition)
            return order->corrections[i].run_id;
    return "";
}

bool run_insert(struct sql_connection *connection, const struct run_order *run, struct error *error)
{
    static const char INSERT[] =
        SQL_INSERT_WITH("runs", RUN_STORED, ", sequence", ", " SQL_NEXT_SEQUENCE("runs"));
    const struct sweep_order *order = run->sweep;
    const struct deployment *deployment = run->subject == 0 ? order->deployment : order->candidate;
    FREE_AUTO char *provenance = memory_copy_text(order->provenance_json);
    struct run_row row = {
        .repetition = run->repetition,
        .deployment_id = deployment->id,
        .revision = deployment->revision,
        .provenance = provenance,
        .created_ms = run->now_ms,
    };
    SQL_AUTO sql = sql_begin(connection, INSERT);

    text_copy(row.id, sizeof row.id, run->id);
    text_copy(row.sweep_id, sizeof row.sweep_id, run->sweep_id);
    text_copy(row.corrects, sizeof row.corrects, find_corrected(run));
    sql_row_bind(&sql, &stored, &row);
    return sql_run(&sql, error);
}

struct fingerprinting {
    const struct claim *claim;
    const char *sweep_id, *document;
    int64_t deployment_id;
    char digest[DIGEST_TEXT_SIZE];
};

static CHECKED bool insert_document(struct sql_connection *connection,
                                    const struct fingerprinting *fingerprinting,
                                    struct error *error)
{
    SQL_AUTO sql = sql_begin(connection, "INSERT INTO fingerprints (digest, document) "
                                         "VALUES (?1, ?2) ON CONFLICT DO NOTHING");

    sql_bind_text(&sql, 1, fingerprinting->digest);
    sql_bind_text(&sql, 2, fingerprinting->document);
    return sql_run(&sql, error);
}

static CHECKED bool apply_fingerprint(struct sql_connection *connection, void *context,
                                      struct error *error)
{
    const struct fingerprinting *fingerprinting = context;
    SQL_AUTO sql = sql_begin(connection, "UPDATE runs SET fingerprint = ?3 WHERE sweep_id = "
                                         "(SELECT id FROM sweeps WHERE id = ?1 AND job_id = ?2) "
                                         "AND deployment_id = ?4 AND fingerprint IS NULL");

    if (!job_claim_check(connection, fingerprinting->claim, error)
        || !insert_document(connection, fingerprinting, error))
        return false;
    sql_bind_text(&sql, 1, fingerprinting->sweep_id);
    sql_bind_text(&sql, 2, fingerprinting->claim->job_id);
    sql_bind_text(&sql, 3, fingerprinting->digest);
    sql_bind_integer(&sql, 4, fingerprinting->deployment_id);
    return sql_run(&sql, error);
}

bool run_fingerprint_set(struct store *store, const struct claim *claim, const char *sweep_id,
                         int64_t deployment_id, const char *fingerprint_json, struct error *error)
{
    struct fingerprinting fingerprinting = { .claim = claim,
                                             .sweep_id = sweep_id,
                                             .deployment_id = deployment_id };
    json_auto_t *document = NULL;

    if (!json_parse(fingerprint_json, strlen(fingerprint_json), &document, error))
        return false;
    FREE_AUTO char *canonical = json_write_canonical(document);
    digest_sha256_text(canonical, strlen(canonical), fingerprinting.digest);
    fingerprinting.document = canonical;
    return database_write(store->main, apply_fingerprint, &fingerprinting, error);
}
