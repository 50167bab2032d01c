/* SPDX-License-Identifier: Apache-2.0 */
/* Loads the evidence for imported runs from the store. */
#include <math.h>
#include <string.h>

#include "analysis/evidence/evidence_private.h"
#include "base/core/memory.h"
#include "base/json/json.h"
#include "store/ledger/imports.h"

json_t *evidence_document(const struct evidence *evidence)
{
    json_t *json = json_pack("{s:o, s:s}", "facts", evidence_facts_json(&evidence->facts),
                             "input_unit", length_unit_name(evidence->input_unit));

    if (evidence->remarks != NULL)
        json_object_set(json, "remarks", evidence->remarks);
    if (evidence->notes != NULL)
        json_object_set_new(json, "notes", json_string(evidence->notes));
    return json;
}

static void read_document(const char *document, struct evidence *out)
{
    json_auto_t *json = NULL;
    struct error ignored;
    const char *notes;

    if (!json_parse(document, strlen(document), &json, &ignored))
        return;
    evidence_facts_read(json_object_get(json, "facts"), &out->facts);
    out->input_unit = length_unit_find(json_get_text(json, "input_unit", ""));
    out->remarks = json_incref(json_object_get(json, "remarks"));
    notes = json_get_text(json, "notes", NULL);
    out->notes = notes == NULL ? NULL : memory_copy_text(notes);
}

/* Reads everything except the cells. */
static void read_import(const struct import_row *row, struct evidence *out)
{
    struct error ignored;

    evidence_init(out);
    out->imported = true;
    text_copy(out->id, sizeof out->id, row->id);
    text_copy(out->corrects, sizeof out->corrects, row->corrects);
    text_copy(out->format, sizeof out->format, row->format);
    text_copy(out->name, sizeof out->name, row->name);
    text_copy(out->digest, sizeof out->digest, row->digest);
    text_copy(out->principal, sizeof out->principal, row->principal);
    out->created_ms = row->created_ms;
    read_document(row->document, out);
    if (!json_parse(row->other_names, strlen(row->other_names), &out->other_names, &ignored))
        out->other_names = NULL;
}

static CHECKED bool read_cell(void *context, const char *written, struct error *error)
{
    json_auto_t *json = NULL;
    struct evidence_cell *cell;

    if (!json_parse(written, strlen(written), &json, error))
        return error_set(error, ERROR_INTERNAL, "a stored cell of an import is damaged: %s",
                         error->message);
    cell = evidence_add(context);
    if (cell != NULL)
        evidence_cell_read(json, cell);
    return true;
}

/* Copies the run's output tokens and timeout into the cells that do not state their own. */
static void complete_cells(struct evidence *evidence)
{
    const struct evidence_facts *facts = &evidence->facts;

    for (size_t i = 0; i < evidence->cell_count; i++) {
        struct evidence_cell *cell = &evidence->cells[i];

        if (isnan(cell->output_tokens_asked))
            cell->output_tokens_asked = facts->output_tokens;
        if (isnan(cell->timeout_s))
            cell->timeout_s = facts->timeout_s;
    }
}

bool evidence_is_import(const char *id)
{
    return strncmp(id, "imp_", 4) == 0;
}

bool evidence_find_import(struct store *store, const char *id, struct evidence *out,
                          struct error *error)
{
    struct import_row row;

    evidence_init(out);
    if (!import_find(store, id, &row, error))
        return false;
    read_import(&row, out);
    import_row_finish(&row);
    return import_each_cell(store, id, read_cell, out, error);
}

bool evidence_find(struct store *store, const char *id, struct evidence *out, struct error *error)
{
    if (!evidence_is_import(id)) {
        evidence_init(out);
        return evidence_find_run(store, id, out, error);
    }
    if (!evidence_find_import(store, id, out, error))
        return false;
    complete_cells(out);
    return true;
}
