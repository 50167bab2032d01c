/* SPDX-License-Identifier: Apache-2.0 */
/* opsbrain://runs/{id}/cells.csv and opsbrain://sweeps/{id}/cells.csv: the cells of a run, or of
 * all runs of a sweep, as CSV (RFC 4180) for spreadsheets and programs. */

#include <stdlib.h>
#include <string.h>

#include "analysis/export/export.h"
#include "base/core/memory.h"
#include "base/json/json.h"
#include "handlers/answers/cell_answer.h"
#include "handlers/resource.h"

/* Returns true if a spreadsheet would run the text as a formula. The text is untrusted: a cell's
 * `reason` can quote a server. */
static bool is_formula(const char *text)
{
    return text[0] != '\0' && strchr("=+-@\t\r", text[0]) != NULL;
}

static void add_quoted(struct text *out, const char *text)
{
    text_add_char(out, '"');
    if (is_formula(text))
        text_add_char(out, '\'');
    for (; *text != '\0'; text++) {
        if (*text == '"')
            text_add_char(out, '"');
        text_add_char(out, *text);
    }
    text_add_char(out, '"');
}

static void add_value(struct text *out, const json_t *value)
{
    FREE_AUTO char *written = NULL;

    if (value == NULL || json_is_null(value))
        return;
    if (json_is_string(value)) {
        add_quoted(out, json_string_value(value));
        return;
    }
    written = json_write(value);
    text_add(out, written);
}

static void add_heading(struct text *out)
{
    for (const struct field *field = cell_answer_fields; field->name != NULL; field++)
        text_addf(out, "%s%s", field == cell_answer_fields ? "" : ",", field->name);
    text_add(out, "\r\n");
}

static void add_cell(struct text *out, const struct cell_row *cell)
{
    json_auto_t *json = cell_answer_json(cell);

    for (const struct field *field = cell_answer_fields; field->name != NULL; field++) {
        if (field != cell_answer_fields)
            text_add_char(out, ',');
        add_value(out, json_object_get(json, field->name));
    }
    text_add(out, "\r\n");
}

static CHECKED bool read_import(struct store *store, const char *id, struct text *out,
                                struct error *error)
{
    EVIDENCE_AUTO evidence;

    if (!evidence_find(store, id, &evidence, error))
        return false;
    exporter_find("csv")->write(&evidence, 0, evidence.cell_count, out);
    return true;
}

static CHECKED bool read(struct call *call, const char *value, struct text *out,
                         struct error *error)
{
    struct store *store = call->services->store;
    struct run_row run;
    struct cell_row *cells = NULL;
    size_t count = 0;
    bool done;

    if (evidence_is_import(value))
        return read_import(store, value, out, error);
    if (!run_find(store, value, &run, error))
        return false;
    done = cell_list(store, run.sweep_id, run.id, &cells, &count, error);
    run_row_finish(&run);
    if (!done)
        return false;
    add_heading(out);
    for (size_t i = 0; i < count; i++)
        add_cell(out, &cells[i]);
    cell_rows_free(cells, count);
    return true;
}

static CHECKED bool read_sweep(struct call *call, const char *value, struct text *out,
                               struct error *error)
{
    struct store *store = call->services->store;
    struct sweep_row sweep;
    struct cell_row *cells = NULL;
    size_t count = 0;

    if (!sweep_find(store, value, &sweep, error))
        return false;
    sweep_row_finish(&sweep);
    if (!cell_list(store, value, NULL, &cells, &count, error))
        return false;
    text_add(out, "run,");
    add_heading(out);
    for (size_t i = 0; i < count; i++) {
        add_quoted(out, cells[i].run_id);
        text_add_char(out, ',');
        add_cell(out, &cells[i]);
    }
    cell_rows_free(cells, count);
    return true;
}

const struct resource resource_cells = {
    .name = "cells",
    .uri = "opsbrain://runs/{id}/cells.csv",
    .title = "Cells of run",
    .help = "Every cell of a run as CSV, one line each, with the figures that run_show lists. A "
            "field is empty if its value is not known; the columns' names give the units.",
    .mime_type = "text/csv",
    .role = ROLE_VIEWER,
    .placement = PLACE_WORKER,
    .instances = &run_instances,
    .read = read,
};

const struct resource resource_sweep_cells = {
    .name = "sweep-cells",
    .uri = "opsbrain://sweeps/{id}/cells.csv",
    .title = "Cells of a sweep",
    .help = "Every cell of all runs of a sweep as CSV, one line each, with the id of its run.",
    .mime_type = "text/csv",
    .role = ROLE_VIEWER,
    .placement = PLACE_WORKER,
    .instances = &sweep_instances,
    .unlisted = true,
    .read = read_sweep,
};
