/* SPDX-License-Identifier: Apache-2.0 */
/* run_report: writes the report of a sweep, of one of its runs, or of an imported run. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/report/report.h"
#include "handlers/answer.h"
#include "handlers/answers/import_answer.h"
#include "handlers/answers/run_answer.h"
#include "handlers/answers/sweep_answer.h"
#include "handlers/answers/sweep_material.h"
#include "handlers/runs/report_document.h"

#define SWEEPS_SEARCHED_MAX 50 /* how many of the newest sweeps are searched for the default */

static const char *const formats[] = { "markdown", "html", NULL };

static const struct param params[] = {
    { "sweep", VALUE_TEXT, .low = 1, .high = 39,
      .help = "Its id; default: the newest that measured anything." },
    { "run", VALUE_TEXT, .low = 1, .high = 39, .help = "One run alone: run_... or imp_...",
      .more = "Report only this repetition; for an imported run, what its file contains." },
    { "deployment", VALUE_TEXT, .low = 1, .high = 63, .help = "Its newest sweep.",
      .more = "With `sweep`: a deployment of that sweep. For an A/B sweep, only this deployment's "
              "report is shown." },
    { "format", VALUE_CHOICE, .choices = formats, .help = "html: a file for people.",
      .more = "Default: markdown. With html, the answer only names the file, a self-contained page "
              "with charts." },
    { 0 },
};

static const struct field fields[] = {
    { "sweep", VALUE_OBJECT, .optional = true,
      .help = "The sweep; missing for imported runs and with format html.",
      .fields = sweep_answer_fields, .described_in = "sweep_show" },
    { "runs", VALUE_LIST, .optional = true, .help = "The runs in the report.",
      .fields = run_answer_fields, .described_in = "run_show" },
    { "report", VALUE_OBJECT, .optional = true,
      .help = "Figures: matrices of latency and throughput, peak, saturation, "
              "failures, warnings." },
    { "candidate_report", VALUE_OBJECT, .optional = true,
      .help = "For a whole A/B sweep, the candidate's figures; `report` has the baseline's." },
    { "resource", VALUE_TEXT, .optional = true,
      .help = "With format html, instead of the figures: the resource with the file." },
    { "bytes", VALUE_INTEGER, .optional = true, .help = "Size of that file." },
    { 0 },
};

static CHECKED bool newest_measured_sweep(const struct call *call, char out[ID_SIZE],
                                          struct error *error)
{
    const char *deployment = call_text(call, "deployment");
    struct sweep_row *sweeps = NULL;
    size_t count;

    out[0] = '\0';
    if (!sweep_list(call->services->store, deployment, 0, SWEEPS_SEARCHED_MAX, &sweeps, &count,
                    error))
        return false;
    for (size_t i = 0; i < count && out[0] == '\0'; i++)
        if (sweeps[i].cells_done > 0)
            text_copy(out, ID_SIZE, sweeps[i].id);
    sweep_answer_rows_free(sweeps, count);
    return out[0] != '\0'
           || error_set(error, ERROR_NOT_FOUND,
                        "no sweep%s%s has measured anything yet: start one with sweep_start",
                        deployment == NULL ? "" : " on ", deployment == NULL ? "" : deployment);
}

/* Finds out which sweep to report on, and which of its runs; only_run "": all runs. */
static CHECKED bool choose(const struct call *call, char sweep[ID_SIZE], char only_run[ID_SIZE],
                           struct error *error)
{
    const char *sweep_id = call_text(call, "sweep"), *run_id = call_text(call, "run");
    struct run_row row;

    only_run[0] = '\0';
    if (run_id == NULL && sweep_id == NULL)
        return newest_measured_sweep(call, sweep, error);
    if (run_id == NULL) {
        text_copy(sweep, ID_SIZE, sweep_id);
        return true;
    }
    if (!run_find(call->services->store, run_id, &row, error))
        return false;
    text_copy(sweep, ID_SIZE, row.sweep_id);
    text_copy(only_run, ID_SIZE, row.id);
    run_row_finish(&row);
    if (sweep_id != NULL && strcmp(sweep_id, sweep) != 0)
        return error_set(error, ERROR_INVALID, "the run %s belongs to the sweep %s, not to %s",
                         run_id, sweep, sweep_id);
    return true;
}

/* Adds the report on one run or one deployment to the answer, and the report's runs to `runs`.
 * `run`: "" means all runs. `deployment`: "" means all deployments. */
static void write_part(const struct sweep_material *material, const char *run,
                       const char *deployment, json_t *runs, struct answer *answer)
{
    struct sweep_material part = sweep_material_part(material, run, deployment);
    const struct report_input input = sweep_material_report(material, &part);
    bool first = json_array_size(runs) == 0;

    for (size_t i = 0; i < input.run_count; i++)
        json_array_append_new(runs, run_answer_json(&input.runs[i]));
    if (!first)
        text_add(&answer->text, "\n---\n\n");
    report_markdown(&input, &answer->text);
    json_object_set_new(answer->structured, first ? "report" : "candidate_report",
                        report_json(&input));
    sweep_material_part_finish(&part);
}

static CHECKED bool check_deployment(const struct sweep_row *sweep, const char *name,
                                     struct error *error)
{
    if (name == NULL)
        return true;
    for (size_t i = 0; i < sweep->subject_count; i++)
        if (strcmp(sweep->subjects[i].deployment, name) == 0)
            return true;
    return error_set(error, ERROR_INVALID, "the sweep %s measures %s%s%s, not %s", sweep->id,
                     sweep->deployment, sweep->subject_count > 1 ? " and " : "",
                     sweep->subject_count > 1 ? sweep_answer_candidate(sweep) : "", name);
}

/* Shows the sweep without its job, which a report does not need. */
static json_t *sweep_without_job(const struct sweep_row *sweep)
{
    json_t *json = sweep_answer_json(sweep);

    json_object_del(json, "job");
    return json;
}

/* In an A/B sweep, each deployment has its own report, because the cells of one deployment do not
 * repeat those of the other. */
static void write_sweep(const struct sweep_material *material, const char *deployment,
                        struct answer *answer)
{
    const struct sweep_row *sweep = &material->sweep;
    json_t *runs = json_array();

    answer->structured = json_pack("{s:o, s:o}", "sweep", sweep_without_job(sweep), "runs", runs);
    for (size_t i = 0; i < sweep->subject_count; i++)
        if (deployment == NULL || strcmp(deployment, sweep->subjects[i].deployment) == 0)
            write_part(material, "", sweep->subjects[i].deployment, runs, answer);
    answer_shows(answer, "/sweeps/%s", sweep->id);
}

static void write_run(const struct sweep_material *material, const char *only_run,
                      struct answer *answer)
{
    json_t *runs = json_array();

    answer->structured =
        json_pack("{s:o, s:o}", "sweep", sweep_without_job(&material->sweep), "runs", runs);
    write_part(material, only_run, "", runs, answer);
    answer_shows(answer, "/runs/%s", only_run);
}

static CHECKED bool report_own(struct call *call, struct answer *answer, struct error *error)
{
    const char *deployment = call_text(call, "deployment");
    struct sweep_material material = { 0 };
    char only_run[ID_SIZE];
    char sweep[ID_SIZE];
    bool done = choose(call, sweep, only_run, error)
                && sweep_material_read(call->services, sweep, &material, error)
                && check_deployment(&material.sweep, deployment, error);

    if (done && only_run[0] != '\0')
        write_run(&material, only_run, answer);
    else if (done)
        write_sweep(&material, deployment, answer);
    sweep_material_finish(&material);
    return done;
}

/* Answers with the URI of the HTML file, which is too large for a model's context. The file is
 * written here only to find out its size, and whether it can be written. */
static CHECKED bool answer_file(struct call *call, const char *id, struct answer *answer,
                                struct error *error)
{
    const char *kind = strncmp(id, "swp_", 4) == 0 ? "sweeps" : "runs";
    REPORT_DOCUMENT_AUTO document = { 0 };
    TEXT_AUTO html = { 0 };

    if (!report_document_find(call, id, &document, error))
        return false;
    document_write(&document.document, &html);
    snprintf(answer->file, sizeof answer->file, "opsbrain://%s/%s/report.html", kind,
             document.document.id);
    answer->structured =
        json_pack("{s:s, s:I}", "resource", answer->file, "bytes", (json_int_t)html.length);
    text_addf(&answer->text,
              "The report on %s is one HTML file of %zu bytes, for people: resource %s. It is "
              "large: give people the link, or save the file, instead of reading it.\n",
              document.document.id, html.length, answer->file);
    answer_shows(answer, "/%s/%s", kind, document.document.id);
    return true;
}

static CHECKED bool report_html(struct call *call, struct answer *answer, struct error *error)
{
    const char *run_id = call_text(call, "run");
    char sweep[ID_SIZE], only_run[ID_SIZE];

    if (run_id != NULL && evidence_is_import(run_id))
        return answer_file(call, run_id, answer, error);
    if (call_text(call, "sweep") != NULL && call_text(call, "deployment") != NULL)
        return error_set(
            error, ERROR_INVALID,
            "the html report of a sweep covers all its deployments: omit \"deployment\"");
    return choose(call, sweep, only_run, error)
           && answer_file(call, only_run[0] != '\0' ? only_run : sweep, answer, error);
}

static CHECKED bool run(struct call *call, struct answer *answer, struct error *error)
{
    const char *run_id = call_text(call, "run"), *format = call_text(call, "format");

    if (format != NULL && strcmp(format, "html") == 0)
        return report_html(call, answer, error);
    return run_id != NULL && evidence_is_import(run_id) ? import_answer_report(call, answer, error)
                                                        : report_own(call, answer, error);
}

const struct tool tool_run_report = {
    .name = "run_report",
    .title = "Report a benchmark's results",
    .help = "A sweep's report: matrices, percentiles, peak, saturation, failures, "
            "takeaways. Quote its figures.",
    .more = "Rows are context, columns load. The figures come from stored measurements: do not "
            "recompute them. Works on unfinished sweeps and imported runs too. Without arguments: "
            "the newest measured sweep.",
    .sets = SET_MEASURE,
    .params = params,
    .fields = fields,
    .role = ROLE_VIEWER,
    .placement = PLACE_WORKER,
    .read_only = true,
    .idempotent = true,
    .run = run,
};
