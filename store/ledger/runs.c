/* SPDX-License-Identifier: Apache-2.0 */
/* Runs: repetitions of a sweep's plan, and the fingerprint of what was measured. */
#include <stdlib.h>
#include <string.h>

#include "base/core/digest.h"
#include "base/core/memory.h"
#include "base/json/json.h"
#include "store/engine/sql_row.h"
#include "store/ledger/store_private.h"
#include "store/ledger/sweeps.h"

#define RUN_COLUMNS(FIRST, COLUMN)                                                                 \
    FIRST(struct run_row, TEXT, id, "r.id")                                                        \
    COLUMN(struct run_row, TEXT, sweep_id, "r.sweep_id")                                           \
    COLUMN(struct run_row, INTEGER, repetition, "r.repetition")                                    \
    COLUMN(struct run_row, TEXT, deployment, "d.name")                                             \
    COLUMN(struct run_row, INTEGER, deployment_id, "r.deployment_id")                              \
    COLUMN(struct run_row, INTEGER, revision, "r.revision")                                        \
    COLUMN(struct run_row, TEXT, fingerprint, "r.fingerprint")                                     \
    COLUMN(struct run_row, HEAP_TEXT, fingerprint_document, "f.document")                          \
    COLUMN(struct run_row, HEAP_TEXT, provenance, "r.provenance")                                  \
    COLUMN(struct run_row, INTEGER, created_ms, "r.created_ms")                                    \
    COLUMN(struct run_row, INTEGER, finished_ms, "r.finished_ms")                                  \
    COLUMN(struct run_row, TEXT, sweep_state, "s.state")                                           \
    COLUMN(struct run_row, INTEGER, cells_total,                                                   \
           "(SELECT count(*) FROM cells WHERE run_id = r.id)")                                     \
    COLUMN(struct run_row, INTEGER, cells_done,                                                    \
           "(SELECT count(*) FROM cells WHERE run_id = r.id AND state <> 'pending')")              \
    COLUMN(struct run_row, TEXT, corrects, "r.corrects")                                           \
    COLUMN(struct run_row, TEXT, corrected_by,                                                     \
           "(SELECT c.id FROM runs c WHERE c.corrects = r.id AND c.finished_ms IS NOT NULL "       \
           "AND EXISTS (SELECT 1 FROM cells WHERE run_id = c.id AND state = 'measured') "          \
           "ORDER BY c.sequence DESC LIMIT 1)")

static const struct sql_member run_members[] = { RUN_COLUMNS(SQL_MEMBER, SQL_MEMBER) };
#define RUN_MEMBERS (sizeof run_members / sizeof *run_members)

#define FROM_RUNS                                                                                  \
    " FROM runs r JOIN sweeps s ON s.id = r.sweep_id "                                             \
    "JOIN deployments d ON d.id = r.deployment_id "                                                \
    "LEFT JOIN fingerprints f ON f.digest = r.fingerprint "
#define SELECT_RUNS "SELECT " RUN_COLUMNS(SQL_FIRST_COLUMN, SQL_COLUMN) FROM_RUNS

static void read_row(const struct sql *sql, struct run_row *row)
{
    *row = (struct run_row){ .id = "" };
    sql_row_read(sql, run_members, RUN_MEMBERS, row);
}

bool run_find(struct store *store, const char *id, struct run_row *out, struct error *error)
{
    bool found;
    READER_AUTO reader = database_reader(store->main);
    SQL_AUTO sql = sql_begin(reader.connection, SELECT_RUNS "WHERE r.id = ?1");

    sql_bind_text(&sql, 1, id);
    if (!sql_find(&sql, &found, error))
        return false;
    if (!found)
        return error_set(error, ERROR_NOT_FOUND,
                         "no run has the id \"%s\": run_list shows the runs there are", id);
    read_row(&sql, out);
    return true;
}

void run_rows_free(struct run_row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++)
        sql_row_finish(run_members, RUN_MEMBERS, &rows[i]);
    free(rows);
}

bool run_list(struct store *store, const char *deployment, const char *sweep_id, int64_t before_ms,
              size_t limit, struct run_row **out, size_t *count, struct error *error)
{
    struct run_row *rows = NULL;
    size_t length = 0;
    enum sql_step step;
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
    while ((step = sql_step(&sql, error)) == SQL_ROW) {
        rows = sql_rows_grow(rows, length, sizeof *rows);
        read_row(&sql, &rows[length++]);
    }
    if (step == SQL_FAILED) {
        run_rows_free(rows, length);
        return false;
    }
    *out = rows;
    *count = length;
    return true;
}

struct fingerprinting {
    const struct claim *claim;
    const char *sweep_id, *document;
    int64_t deployment_id;
    char digest[DIGEST_TEXT_SIZE];
};

static CHECKED bool insert_document(struct sql_connection *connection,
                                    const struct fingerprinting *print, struct error *error)
{
    SQL_AUTO sql = sql_begin(connection, "INSERT INTO fingerprints (digest, document) "
                                         "VALUES (?1, ?2) ON CONFLICT DO NOTHING");

    sql_bind_text(&sql, 1, print->digest);
    sql_bind_text(&sql, 2, print->document);
    return sql_run(&sql, error);
}

static CHECKED bool apply_fingerprint(struct sql_connection *connection, void *context,
                                      struct error *error)
{
    const struct fingerprinting *print = context;
    SQL_AUTO sql = sql_begin(connection, "UPDATE runs SET fingerprint = ?3 WHERE sweep_id = "
                                         "(SELECT id FROM sweeps WHERE id = ?1 AND job_id = ?2) "
                                         "AND deployment_id = ?4 AND fingerprint IS NULL");

    if (!job_claim_check(connection, print->claim, error)
        || !insert_document(connection, print, error))
        return false;
    sql_bind_text(&sql, 1, print->sweep_id);
    sql_bind_text(&sql, 2, print->claim->job_id);
    sql_bind_text(&sql, 3, print->digest);
    sql_bind_integer(&sql, 4, print->deployment_id);
    return sql_run(&sql, error);
}

bool run_fingerprint_set(struct store *store, const struct claim *claim, const char *sweep_id,
                         int64_t deployment_id, const char *fingerprint_json, struct error *error)
{
    struct fingerprinting print = { .claim = claim,
                                    .sweep_id = sweep_id,
                                    .deployment_id = deployment_id };
    json_auto_t *document = NULL;

    if (!json_parse(fingerprint_json, strlen(fingerprint_json), &document, error))
        return false;
    FREE_AUTO char *canonical = json_write_canonical(document);
    digest_sha256_text(canonical, strlen(canonical), print.digest);
    print.document = canonical;
    return database_write(store->main, apply_fingerprint, &print, error);
}
