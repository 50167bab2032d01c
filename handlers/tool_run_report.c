/* run_report: the report of a sweep, or of one of its runs. */

#include <stdlib.h>
#include <string.h>

#include "analysis/report.h"
#include "handlers/deployment_of.h"
#include "handlers/import_answer.h"
#include "handlers/sweep_answer.h"

#define RUNS_MAX 1000
#define SWEEPS_LOOKED_AT 50

static const struct param params[] = {
    { "sweep", VALUE_TEXT, .low = 1, .high = 39,
      .help = "Id of the sweep (swp_...). Left out, with `run` left out too: the newest that "
              "measured anything." },
    { "run", VALUE_TEXT, .low = 1, .high = 39,
      .help = "Id of one run (run_...): the report of this repetition alone. Of an imported one "
              "(imp_...): what its file tells." },
    { "deployment", VALUE_TEXT, .low = 1, .high = 63,
      .help = "With neither sweep nor run: the newest sweep of this deployment." },
    { 0 },
};

static const struct field fields[] = {
    { "sweep", VALUE_OBJECT, .optional = true, .help = "The sweep; null: an imported run.",
      .fields = sweep_fields },
    { "runs", VALUE_LIST, .help = "The runs that the report is of.", .fields = run_fields },
    { "report", VALUE_OBJECT,
      .help = "The report's figures: matrices of latency and throughput, peak, saturation, "
              "failures, warnings." },
    { 0 },
};

/* Everything the report is made from. */
struct material {
    struct sweep_row sweep;
    struct run_row *runs;
    size_t run_count;
    struct cell_row *cells;
    size_t cell_count;
    struct attempt_row *interrupted;
    size_t interrupted_count;
};

static void material_finish(struct material *material)
{
    sweep_row_finish(&material->sweep);
    run_rows_free(material->runs, material->run_count);
    cell_rows_free(material->cells, material->cell_count);
    free(material->interrupted);
}

static bool newest_sweep(const struct call *call, char out[ID_SIZE], struct error *error)
{
    const char *deployment = call_text(call, "deployment");
    struct sweep_row *sweeps = NULL;
    size_t count;

    out[0] = '\0';
    if (!sweep_list(call->services->store, deployment, 0, SWEEPS_LOOKED_AT, &sweeps, &count, error))
        return false;
    for (size_t i = 0; i < count && out[0] == '\0'; i++)
        if (sweeps[i].cells_done > 0)
            text_copy(out, ID_SIZE, sweeps[i].id);
    sweep_rows_free(sweeps, count);
    return out[0] != '\0'
           || error_set(error, ERROR_NOT_FOUND,
                        "no sweep%s%s has measured anything yet: start one with sweep_start",
                        deployment == NULL ? "" : " of ", deployment == NULL ? "" : deployment);
}

/* Which sweep, and which of its runs (only_run "": all). */
static bool choose(const struct call *call, char sweep[ID_SIZE], char only_run[ID_SIZE],
                   struct error *error)
{
    const char *sweep_id = call_text(call, "sweep"), *run_id = call_text(call, "run");
    struct run_row row;

    only_run[0] = '\0';
    if (run_id == NULL && sweep_id == NULL)
        return newest_sweep(call, sweep, error);
    if (run_id == NULL) {
        text_copy(sweep, ID_SIZE, sweep_id);
        return true;
    }
    if (!run_find(call->services->store, run_id, &row, error))
        return false;
    text_copy(sweep, ID_SIZE, row.sweep_id);
    text_copy(only_run, ID_SIZE, row.id);
    free(row.fingerprint_document);
    free(row.provenance);
    if (sweep_id != NULL && strcmp(sweep_id, sweep) != 0)
        return error_set(error, ERROR_INVALID, "the run %s is not of the sweep %s but of %s",
                         run_id, sweep_id, sweep);
    return true;
}

static void keep_run(struct material *material, const char *id)
{
    size_t kept = 0;

    for (size_t i = 0; i < material->run_count; i++) {
        struct run_row row = material->runs[i];

        if (strcmp(row.id, id) != 0)
            continue;
        material->runs[i] = material->runs[kept];
        material->runs[kept++] = row;
    }
    for (size_t i = kept; i < material->run_count; i++) {
        free(material->runs[i].fingerprint_document);
        free(material->runs[i].provenance);
    }
    material->run_count = kept;
}

/* Of one run, only the interrupted attempts of its repetition. */
static void keep_repetition(struct material *material)
{
    size_t kept = 0;

    for (size_t i = 0; i < material->interrupted_count; i++)
        if (material->run_count == 1
            && material->interrupted[i].repetition == material->runs[0].repetition)
            material->interrupted[kept++] = material->interrupted[i];
    material->interrupted_count = kept;
}

static bool read_material(const struct call *call, struct material *material, struct error *error)
{
    struct store *store = call->services->store;
    char sweep[ID_SIZE], only_run[ID_SIZE];

    if (!choose(call, sweep, only_run, error) || !sweep_find(store, sweep, &material->sweep, error)
        || !run_list(store, NULL, sweep, 0, RUNS_MAX, &material->runs, &material->run_count, error)
        || !cell_list(store, sweep, only_run[0] != '\0' ? only_run : NULL, &material->cells,
                      &material->cell_count, error)
        || !attempt_list(store, sweep, "interrupted", &material->interrupted,
                         &material->interrupted_count, error))
        return false;
    if (only_run[0] != '\0') {
        keep_run(material, only_run);
        keep_repetition(material);
    }
    return true;
}

static void write_answer(const struct material *material, struct answer *answer)
{
    const struct report_input input = {
        .sweep = &material->sweep,
        .runs = material->runs,
        .run_count = material->run_count,
        .cells = material->cells,
        .cell_count = material->cell_count,
        .interrupted = material->interrupted,
        .interrupted_count = material->interrupted_count,
    };
    json_t *runs = json_array();

    for (size_t i = 0; i < material->run_count; i++)
        json_array_append_new(runs, run_json(&material->runs[i]));
    answer->structured = json_pack("{s:o, s:o, s:o}", "sweep", sweep_json(&material->sweep), "runs",
                                   runs, "report", report_json(&input));
    report_markdown(&input, &answer->text);
}

static bool report_own(struct call *call, struct answer *answer, struct error *error)
{
    struct material material = { 0 };
    bool done = read_material(call, &material, error);

    if (done)
        write_answer(&material, answer);
    material_finish(&material);
    return done;
}

static bool run(struct call *call, struct answer *answer, struct error *error)
{
    const char *run_id = call_text(call, "run");

    return run_id != NULL && evidence_is_import(run_id) ? import_report(call, answer, error)
                                                        : report_own(call, answer, error);
}

const struct tool tool_run_report = {
    .name = "run_report",
    .title = "Report a benchmark's results",
    .help =
        "The report of a sweep, in markdown: what was measured, latency and throughput matrices "
        "(rows context, columns users), percentiles, peak, saturation point, where and how "
        "failures begin, warnings, key takeaways. The figures come from stored measurements: "
        "quote them, do not recompute them. Works on unfinished sweeps too. Without arguments: "
        "the newest sweep.",
    .params = params,
    .fields = fields,
    .role = ROLE_VIEWER,
    .placement = PLACE_WORKER,
    .read_only = true,
    .idempotent = true,
    .run = run,
};
