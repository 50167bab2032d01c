/* SPDX-License-Identifier: Apache-2.0 */
#include "handlers/runs/import_keep.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/import/import.h"
#include "base/core/memory.h"
#include "base/json/json.h"

/* Replaces the facts and notes of the evidence that `stated` contains. Keeps the others. */
static void apply_stated(const json_t *stated, struct evidence *evidence)
{
    json_auto_t *facts = evidence_facts_json(&evidence->facts);
    const char *notes = json_get_text(stated, "notes", NULL);

    json_object_update(facts, json_iterable(stated));
    evidence_facts_read(facts, &evidence->facts);
    if (notes == NULL)
        return;
    free(evidence->notes);
    evidence->notes = memory_copy_text(notes);
}

static void free_cells(char **cells, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(cells[i]);
    free(cells);
}

static char **write_cells(const struct evidence *evidence)
{
    char **cells = memory_zeroed(evidence->cell_count + 1, sizeof *cells);

    for (size_t i = 0; i < evidence->cell_count; i++) {
        json_auto_t *json = evidence_cell_json(&evidence->cells[i]);

        cells[i] = json_write(json);
    }
    return cells;
}

static CHECKED bool keep(struct store *store, const struct evidence *evidence, const json_t *stated,
                         int64_t file_bytes, int64_t now_ms, struct change *change,
                         struct import_row *out, bool *existed, struct error *error)
{
    json_auto_t *document = evidence_document(evidence);
    FREE_AUTO char *written = json_write(document);
    FREE_AUTO char *stated_text = json_write_canonical(stated);
    char **cells = write_cells(evidence);
    const struct import_order order = {
        .digest = evidence->digest,
        .format = evidence->format,
        .name = evidence->name,
        .file_bytes = file_bytes,
        .stated = stated_text,
        .deployment = evidence->facts.deployment,
        .document = written,
        .cells = (const char *const *)cells,
        .cell_count = evidence->cell_count,
    };
    bool done = import_create(store, &order, now_ms, change, out, existed, error);

    free_cells(cells, evidence->cell_count);
    return done;
}

bool import_offer_keep(struct store *store, const struct import_offer *offer, int64_t now_ms,
                       struct change *change, struct import_row *out, bool *existed,
                       struct error *error)
{
    const struct import_file file = { .bytes = offer->bytes,
                                      .length = offer->length,
                                      .format = offer->format,
                                      .columns = offer->columns };
    EVIDENCE_AUTO evidence;

    if (!import_read_file(&file, &evidence, error))
        return false;
    text_copy(evidence.name, sizeof evidence.name, offer->name);
    apply_stated(offer->stated, &evidence);
    return keep(store, &evidence, offer->stated, (int64_t)offer->length, now_ms, change, out,
                existed, error);
}

static CHECKED bool restate(struct store *store, const struct import_row *row,
                            const struct import_offer *offer, int64_t now_ms, struct change *change,
                            struct import_row *out, bool *existed, struct error *error)
{
    json_auto_t *stated = NULL;
    EVIDENCE_AUTO evidence;

    if (!evidence_find_import(store, row->id, &evidence, error)
        || !json_parse(row->stated, strlen(row->stated), &stated, error))
        return false;
    json_object_update(stated, json_iterable(offer->stated));
    apply_stated(stated, &evidence);
    if (offer->name[0] != '\0')
        text_copy(evidence.name, sizeof evidence.name, offer->name);
    return keep(store, &evidence, stated, row->file_bytes, now_ms, change, out, existed, error);
}

bool import_keep_restate(struct store *store, const char *earlier, const struct import_offer *offer,
                         int64_t now_ms, struct change *change, struct import_row *out,
                         bool *existed, struct error *error)
{
    struct import_row row;
    bool done;

    if (!import_find(store, earlier, &row, error))
        return false;
    done = restate(store, &row, offer, now_ms, change, out, existed, error);
    import_row_finish(&row);
    return done;
}
