/* SPDX-License-Identifier: Apache-2.0 */
#include "handlers/charts/chart_request.h"

#include <stdlib.h>
#include <string.h>

#include "base/core/memory.h"
#include "handlers/audit_arguments.h"
#include "handlers/call.h"
#include "handlers/charts/chart_request_parts.h"
#include "handlers/metrics/metric_range.h"
#include "handlers/runs/export_find.h"
#include "store/ledger/sweeps.h"

#define RUNS_MAX 100 /* at most this many runs of a sweep are read */

/* ---- The arguments ---- */

const struct param chart_request_params[] = {
    { "run", VALUE_TEXT, .low = 1, .high = 39,
      .help = "Id: run_..., imp_... or swp_...; for all but history.",
      .more = "For forest: the baseline, or an A/B sweep." },
    { "plot", VALUE_CHOICE, .choices = chart_request_plots, .initial = "\"heat\"",
      .help = "load: measured against planned. forest: `candidate` / `run`.",
      .more =
          "heat: users by context. latency: against users, a line per context. pareto: speed for "
          "each user against throughput. load: requests in flight, divided by the planned "
          "number. tail: the share of requests slower than a given time. forest: candidate "
          "divided by run, cell by cell. cost: dollars per million output tokens under a TTFT "
          "limit. history: a deployment's metrics, with its sweeps, restarts and revisions." },
    { "candidate", VALUE_TEXT, .low = 1, .high = 39, .rare = true,
      .help = "For forest and cost: the run to compare with." },
    { "deployment", VALUE_TEXT, .low = 1, .high = 63, .rare = true,
      .help = "For history: the registered name; not needed if there is only one." },
    { "quantity", VALUE_TEXT, .rare = true, .low = 1, .high = 39,
      .help = "For heat: the figure, such as requests_per_s or ttft_p50_ms.",
      .more =
          "Default: the first that the run has. For latency and tail, only the first word counts: "
          "ttft, itl, tpot or e2e. For forest: one of run_compare's metrics." },
    { "usd_per_hour", VALUE_NUMBERS, .high = 2, .item_low = 0.0001, .item_high = 1e6, .rare = true,
      .help = "For cost: price of all the run's chips, then of the candidate's.",
      .more = "Not needed where an import states its price." },
    { "minutes", VALUE_NUMBER, .low = 1, .high = METRIC_RANGE_MINUTES_MAX, .initial = "60",
      .rare = true, .help = "For history: how far back." },
    { "until_minutes_ago", VALUE_NUMBER, .low = 0, .high = METRIC_RANGE_MINUTES_MAX, .initial = "0",
      .rare = true, .help = "For history: ends this many minutes ago; 0: now." },
    { "factors", VALUE_TEXTS, .high = 31, .item_low = 1, .item_high = 40, .rare = true,
      .help = "For forest: as in run_compare." },
    { "accept_unknown", VALUE_TEXTS, .high = 31, .item_low = 1, .item_high = 40, .rare = true,
      .help = "For forest: as in run_compare." },
    { "keep_wrong", VALUE_BOOLEAN, .initial = "false", .rare = true,
      .help = "For forest: as in run_compare." },
    { "dark", VALUE_BOOLEAN, .rare = true, .initial = "false", .help = "For a dark background." },
    { 0 },
};

/* ---- The runs ---- */

void chart_request_subject_finish(struct chart_request_subject *subject)
{
    for (size_t i = 0; i < subject->count; i++)
        evidence_finish(&subject->runs[i]);
    free(subject->runs);
}

static CHECKED bool add_run(struct call *call, const char *id, struct chart_request_subject *out,
                            struct error *error)
{
    out->runs = memory_resize(out->runs, out->count + 1, sizeof *out->runs);
    evidence_init(&out->runs[out->count]);
    return export_find(call, id, &out->runs[out->count++], error);
}

/* From an A/B sweep, adds only the baseline's runs: the candidate's are not repetitions of them. */
static CHECKED bool add_sweep(struct call *call, const char *id, struct chart_request_subject *out,
                              struct error *error)
{
    struct run_row *rows = NULL;
    struct sweep_row sweep;
    size_t count = 0;
    bool done = true;

    if (!sweep_find(call->services->store, id, &sweep, error))
        return false;
    if (!run_list(call->services->store, NULL, id, 0, RUNS_MAX, &rows, &count, error))
        count = 0, done = false;
    for (size_t i = 0; i < count && done; i++)
        if (rows[i].deployment_id == sweep.deployment_id)
            done = add_run(call, rows[i].id, out, error);
    run_rows_free(rows, count);
    sweep_row_finish(&sweep);
    return done
           && (out->count > 0 || error_set(error, ERROR_NOT_FOUND, "the sweep %s has no runs", id));
}

bool chart_request_subject_find(struct call *call, const char *id,
                                struct chart_request_subject *out, struct error *error)
{
    return (strncmp(id, "swp_", 4) == 0 ? add_sweep : add_run)(call, id, out, error);
}

/* ---- Plots of the runs' cells ---- */

static enum metric metric_of(const char *quantity)
{
    for (enum metric metric = METRIC_TTFT; quantity != NULL && metric < METRIC_COUNT; metric++) {
        size_t length = strlen(metric_name(metric));

        if (strncmp(quantity, metric_name(metric), length) == 0
            && (quantity[length] == '\0' || quantity[length] == '_'))
            return metric;
    }
    return quantity == NULL ? METRIC_TTFT : METRIC_COUNT;
}

static CHECKED bool read_metric(const struct call *call, enum metric *out, struct error *error)
{
    const char *quantity = call_text(call, "quantity");

    *out = metric_of(quantity);
    return *out != METRIC_COUNT
           || error_set(error, ERROR_INVALID,
                        "quantity is \"%s\", but must be ttft, itl, tpot or e2e for %s", quantity,
                        call_text(call, "plot"));
}

static CHECKED bool draw_heat(struct call *call, const struct chart_runs *runs, struct chart *out,
                              struct error *error)
{
    const char *name = call_text(call, "quantity");
    const struct chart_quantity *quantity =
        name == NULL ? chart_quantity_default(runs) : chart_quantity_find(name);
    TEXT_AUTO names = { 0 };

    if (quantity != NULL) {
        chart_heat(runs, quantity, out);
        return true;
    }
    for (const struct chart_quantity *row = chart_quantities; row->name != NULL; row++)
        text_addf(&names, "%s%s", names.length > 0 ? ", " : "", row->name);
    return error_set(error, ERROR_INVALID, "quantity is \"%s\", but must be one of %s", name,
                     text_string(&names));
}

static CHECKED bool draw_latency(struct call *call, const struct chart_runs *runs,
                                 struct chart *out, struct error *error)
{
    enum metric metric;

    if (!read_metric(call, &metric, error))
        return false;
    chart_latency(runs, metric, 0, out);
    return true;
}

static CHECKED bool draw_pareto(struct call *call, const struct chart_runs *runs, struct chart *out,
                                struct error *error)
{
    (void)call, (void)error;
    chart_pareto(runs, out);
    return true;
}

static CHECKED bool draw_load(struct call *call, const struct chart_runs *runs, struct chart *out,
                              struct error *error)
{
    (void)call, (void)error;
    chart_residuals(runs, out);
    return true;
}

/* If the store has a histogram of the cell's latencies, replaces the curve with one made from it.
 * Only runs that were measured here have histograms. */
static CHECKED bool refine(const struct call *call, enum metric metric, struct chart_tail *curve,
                           struct error *error)
{
    struct histogram *histogram;

    if (curve->cell->attempt_id == 0)
        return true;
    if (!cell_histogram_find(call->services->store, curve->cell->attempt_id, metric, &histogram,
                             error))
        return error->kind == ERROR_NOT_FOUND;
    chart_tail_of_histogram(histogram, curve);
    histogram_destroy(histogram);
    return true;
}

static CHECKED bool draw_tail(struct call *call, const struct chart_runs *runs, struct chart *out,
                              struct error *error)
{
    struct chart_tail curves[CHART_TAILS_MAX];
    enum metric metric;
    TEXT_AUTO name = { 0 };
    size_t count;

    if (!read_metric(call, &metric, error))
        return false;
    count = chart_tails_of_runs(runs, metric, curves);
    for (size_t i = 0; i < count; i++)
        if (!refine(call, metric, &curves[i], error))
            return false;
    chart_name(runs, &name);
    chart_tail(text_string(&name), chart_latency_title(metric), curves, count, out);
    return true;
}

/* ---- The table of plots ---- */

static const struct plot {
    /* Draws a run, or the repetitions of a sweep. NULL: the plot has `of_call`. */
    CHECKED bool (*of_runs)(struct call *call, const struct chart_runs *runs, struct chart *out,
                            struct error *error);
    /* Finds what to draw from the call's arguments, and draws it. NULL: the plot has `of_runs`. */
    CHECKED bool (*of_call)(struct call *call, struct chart *out, struct error *error);
} plots[] = {
    { .of_runs = draw_heat },          { .of_runs = draw_latency },
    { .of_runs = draw_pareto },        { .of_runs = draw_load },
    { .of_runs = draw_tail },          { .of_call = chart_request_forest },
    { .of_call = chart_request_cost }, { .of_call = chart_request_history },
};

const char *const chart_request_plots[] = { "heat",   "latency", "pareto",  "load", "tail",
                                            "forest", "cost",    "history", NULL };

_Static_assert(sizeof plots / sizeof plots[0] + 1
                   == sizeof chart_request_plots / sizeof chart_request_plots[0],
               "each plot has a name");

static const struct plot *find_plot(const char *name)
{
    size_t index = 0;

    while (strcmp(chart_request_plots[index], name) != 0)
        index++;
    return &plots[index];
}

static CHECKED bool draw_of_runs(const struct plot *plot, struct call *call, struct chart *out,
                                 struct error *error)
{
    const char *id = call_text(call, "run");
    CHART_SUBJECT_AUTO subject = { 0 };

    if (id == NULL)
        return error_set(error, ERROR_INVALID,
                         "\"run\" is missing: %s draws a run (run_..., imp_... or swp_...)",
                         call_text(call, "plot"));
    if (!chart_request_subject_find(call, id, &subject, error))
        return false;
    return plot->of_runs(call, &(struct chart_runs){ subject.runs, subject.count, NULL }, out,
                         error);
}

bool chart_request_draw(struct call *call, struct chart *out, struct error *error)
{
    const struct plot *plot = find_plot(call_text(call, "plot"));

    *out = (struct chart){ 0 };
    return plot->of_runs != NULL ? draw_of_runs(plot, call, out, error)
                                 : plot->of_call(call, out, error);
}

bool chart_request_call(struct call *call, const json_t *arguments, struct chart *out,
                        struct error *error)
{
    const struct tool *tool = tool_find("run_chart");
    FREE_AUTO char *audited = audit_arguments(tool, arguments);
    const json_t *before = call->arguments;
    json_auto_t *checked = NULL;
    bool done;

    *out = (struct chart){ 0 };
    call_begin(call, tool->name, audited);
    done = tool_check(tool, arguments, &checked, error);
    if (done) {
        call->arguments = checked;
        done = chart_request_draw(call, out, error);
        call->arguments = before;
    }
    if (!done)
        call_refused(call, error);
    call->change.arguments = NULL;
    return done;
}
