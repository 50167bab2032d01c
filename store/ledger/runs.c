/* SPDX-License-Identifier: Apache-2.0 */
/* Runs: repetitions of a sweep's plan, and the fingerprint of what was measured. */
#include <stdlib.h>
#include <string.h>

#include "base/core/digest.h"
#include "base/core/memory.h"
#include "base/json/json.h"
#include "store/ledger/store_private.h"
#include "store/ledger/sweeps.h"

#define COLUMNS                                                                                    \
    "r.id, r.sweep_id, r.repetition, d.name, r.fingerprint, f.document, r.provenance, "            \
    "r.created_ms, r.finished_ms, s.state, "                                                       \
    "(SELECT count(*) FROM cells WHERE run_id = r.id), "                                           \
    "(SELECT count(*) FROM cells WHERE run_id = r.id AND state <> 'pending'), "                    \
    "r.deployment_id, r.revision, r.corrects, (SELECT c.id FROM runs c WHERE c.corrects = r.id "   \
    "AND c.finished_ms IS NOT NULL "                                                               \
    "AND EXISTS (SELECT 1 FROM cells WHERE run_id = c.id AND state = 'measured') "                 \
    "ORDER BY c.sequence DESC LIMIT 1) "                                                           \
    "FROM runs r JOIN sweeps s ON s.id = r.sweep_id JOIN deployments d ON d.id = "                 \
    "r.deployment_id LEFT JOIN fingerprints f ON f.digest = r.fingerprint "

static void read_row(const struct sql *sql, struct run_row *row)
{
    *row = (struct run_row){
        .repetition = sql_integer(sql, 2),
        .fingerprint_document = sql_text_copy(sql, 5),
        .provenance = sql_text_copy(sql, 6),
        .created_ms = sql_integer(sql, 7),
        .finished_ms = sql_integer(sql, 8),
        .cells_total = sql_integer(sql, 10),
        .cells_done = sql_integer(sql, 11),
        .deployment_id = sql_integer(sql, 12),
        .revision = sql_integer(sql, 13),
    };
    sql_text(sql, 0, row->id, sizeof row->id);
    sql_text(sql, 1, row->sweep_id, sizeof row->sweep_id);
    sql_text(sql, 3, row->deployment, sizeof row->deployment);
    sql_text(sql, 4, row->fingerprint, sizeof row->fingerprint);
    sql_text(sql, 9, row->sweep_state, sizeof row->sweep_state);
    sql_text(sql, 14, row->corrects, sizeof row->corrects);
    sql_text(sql, 15, row->corrected_by, sizeof row->corrected_by);
}

bool run_find(struct store *store, const char *id, struct run_row *out, struct error *error)
{
    bool found;
    READER_AUTO reader = database_reader(store->main);
    SQL_AUTO sql = sql_begin(reader.connection, "SELECT " COLUMNS "WHERE r.id = ?1");

    sql_bind_text(&sql, 1, id);
    if (!sql_find(&sql, &found, error))
        return false;
    if (!found)
        return error_set(error, ERROR_NOT_FOUND,
                         "no run has the id \"%s\": run_list shows the runs there are", id);
    read_row(&sql, out);
    return true;
}

static void row_finish(struct run_row *row)
{
    free(row->fingerprint_document);
    free(row->provenance);
}

void run_rows_free(struct run_row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++)
        row_finish(&rows[i]);
    free(rows);
}

bool run_list(struct store *store, const char *deployment, const char *sweep_id, int64_t before_ms,
              size_t limit, struct run_row **out, size_t *count, struct error *error)
{
    struct run_row *rows = NULL;
    size_t length = 0;
    enum sql_step step;
    READER_AUTO reader = database_reader(store->main);
    SQL_AUTO sql = sql_begin(reader.connection,
                             "SELECT " COLUMNS "WHERE (?1 IS NULL OR d.name = ?1) "
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
