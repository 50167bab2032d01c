/* SPDX-License-Identifier: Apache-2.0 */
#include "handlers/runs/report_document.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/export/export.h"
#include "base/core/clock.h"
#include "base/core/memory.h"

static void side_finish(struct report_document_side *side)
{
    for (size_t i = 0; i < side->count; i++) {
        evidence_finish(&side->runs[i]);
        findings_finish(&side->findings[i]);
    }
    free(side->runs);
    free(side->findings);
    sweep_material_part_finish(&side->rows);
}

void report_document_finish(struct report_document *document)
{
    for (size_t i = 0; i < SIDES; i++) {
        side_finish(&document->sides[i]);
        text_finish(&document->names.of[i]);
    }
    compare_request_finish(&document->compared);
    sweep_material_finish(&document->sweep);
}

static void begin(struct report_document *out)
{
    *out = (struct report_document){ 0 };
    out->document = (struct document){
        .kind = "", .id = "", .written_ms = clock_utc_ms(), .parts = out->parts
    };
}

/* ---- Runs and what is wrong with them ---- */

static struct evidence *side_add(struct report_document_side *side)
{
    size_t count = side->count + 1;

    side->runs = memory_resize(side->runs, count, sizeof *side->runs);
    side->findings = memory_resize(side->findings, count, sizeof *side->findings);
    side->findings[side->count] = (struct findings){ 0 };
    evidence_init(&side->runs[side->count]);
    return &side->runs[side->count++];
}

static void audit_last(const struct call *call, struct report_document_side *side)
{
    struct evidence *evidence = &side->runs[side->count - 1];
    const struct audit_input input = { .evidence = evidence,
                                       .catalog = call->services->catalog,
                                       .chips = NAN };

    audit_run(&input, &side->findings[side->count - 1]);
    export_mark(evidence, &side->findings[side->count - 1]);
}

static CHECKED bool add_run(struct call *call, const char *id, struct report_document_side *side,
                            struct error *error)
{
    if (!evidence_find(call->services->store, id, side_add(side), error))
        return false;
    audit_last(call, side);
    return true;
}

/* Adds the runs in the side's rows, and audits them. */
static void add_rows(struct call *call, struct report_document_side *side)
{
    for (size_t i = 0; i < side->rows.run_count; i++) {
        struct sweep_material run = sweep_material_part(&side->rows, side->rows.runs[i].id, "");

        evidence_of_run(run.runs, run.cells, run.cell_count, side_add(side));
        audit_last(call, side);
        sweep_material_part_finish(&run);
    }
}

static void name_page(const struct call *call, struct report_document *out, const char *folder,
                      const char *id)
{
    if (call->base_url == NULL || call->base_url[0] == '\0')
        return;
    snprintf(out->page, sizeof out->page, "%s/%s/%s", call->base_url, folder, id);
    out->document.page = out->page;
}

static void add_part(struct report_document *out, size_t side, const char *name)
{
    struct report_document_side *from = &out->sides[side];

    out->parts[out->document.part_count++] = (struct document_part){
        .name = name,
        .runs = { from->runs, from->count, from->findings },
        .report = from->report.sweep != NULL ? &from->report : NULL,
    };
}

/* ---- Two sides ---- */

static CHECKED bool compare(struct call *call, const json_t *arguments, struct report_document *out,
                            struct error *error)
{
    const json_t *before = call->arguments;
    json_auto_t *checked = NULL;
    bool compared;

    if (!tool_check(tool_find("run_compare"), arguments, &checked, error))
        return false;
    call->arguments = checked;
    compared = compare_request_run(call, &out->compared, error);
    call->arguments = before;
    if (!compared)
        return false;
    for (enum side side = SIDE_BASELINE; side < SIDES; side++)
        compare_request_name_side(&out->compared, side, &out->names.of[side]);
    out->comparison = (struct chart_comparison){
        .comparison = &out->compared.comparison,
        .metric = out->compared.input.metric,
        .names = { text_string(&out->names.of[SIDE_BASELINE]),
                   text_string(&out->names.of[SIDE_CANDIDATE]) },
        .runs = { out->compared.counts[SIDE_BASELINE], out->compared.counts[SIDE_CANDIDATE] },
    };
    out->document.comparison = &out->comparison;
    return true;
}

bool report_document_compare(struct call *call, const json_t *arguments,
                             struct report_document *out, struct error *error)
{
    begin(out);
    out->document.kind = "Comparison";
    if (!compare(call, arguments, out, error))
        return false;
    for (enum side side = SIDE_BASELINE; side < SIDES; side++) {
        size_t first = side == SIDE_BASELINE ? 0 : out->compared.counts[SIDE_BASELINE];

        for (size_t i = first; i < first + out->compared.counts[side]; i++)
            if (!add_run(call, out->compared.runs[i].id, &out->sides[side], error))
                return false;
        add_part(out, side, out->comparison.names[side]);
    }
    return true;
}

/* ---- A run, an import, a sweep ---- */

static CHECKED bool find_import(struct call *call, const char *id, struct report_document *out,
                                struct error *error)
{
    out->document.kind = "Imported run";
    name_page(call, out, "runs", id);
    if (!add_run(call, id, &out->sides[0], error))
        return false;
    out->document.id = out->sides[0].runs[0].id;
    add_part(out, 0, NULL);
    return true;
}

static void add_side(struct call *call, size_t side, const char *run, const char *deployment,
                     const char *name, struct report_document *out)
{
    struct report_document_side *to = &out->sides[side];

    to->rows = sweep_material_part(&out->sweep, run, deployment);
    to->report = sweep_material_report(&out->sweep, &to->rows);
    add_rows(call, to);
    add_part(out, side, name);
}

static CHECKED bool find_run(struct call *call, const char *id, struct report_document *out,
                             struct error *error)
{
    struct run_row row;

    out->document.kind = "Run";
    name_page(call, out, "runs", id);
    if (!run_find(call->services->store, id, &row, error))
        return false;
    run_row_finish(&row);
    if (!sweep_material_read(call->services, row.sweep_id, &out->sweep, error))
        return false;
    add_side(call, 0, id, "", NULL, out);
    out->document.id = out->sides[0].runs[0].id;
    return true;
}

static CHECKED bool find_sweep(struct call *call, const char *id, struct report_document *out,
                               struct error *error)
{
    const struct sweep_row *sweep = &out->sweep.sweep;
    json_auto_t *arguments = json_pack("{s:s}", "sweep", id);
    struct error ignored;

    out->document.kind = "Sweep";
    name_page(call, out, "sweeps", id);
    if (!sweep_material_read(call->services, id, &out->sweep, error))
        return false;
    out->document.id = sweep->id;
    for (size_t i = 0; i < sweep->subject_count; i++)
        add_side(call, i, "", sweep->subjects[i].deployment,
                 sweep->subject_count > 1 ? sweep->subjects[i].deployment : NULL, out);
    if (out->sides[0].count == 0)
        return error_set(error, ERROR_NOT_FOUND, "the sweep %s has no runs", id);
    /* If the comparison fails, the report is still useful: for example, there is nothing to compare
     * until one repetition is finished on both deployments. */
    if (sweep->subject_count > 1)
        error_ignore(compare(call, arguments, out, &ignored));
    return true;
}

bool report_document_find(struct call *call, const char *id, struct report_document *out,
                          struct error *error)
{
    begin(out);
    if (strncmp(id, "swp_", 4) == 0)
        return find_sweep(call, id, out, error);
    return (evidence_is_import(id) ? find_import : find_run)(call, id, out, error);
}
