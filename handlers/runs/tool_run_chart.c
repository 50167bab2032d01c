/* SPDX-License-Identifier: Apache-2.0 */
/* run_chart: one chart of a run, an import or a sweep, as a picture. It answers no structure: some
 * hosts would then drop the image. */

#include <stdlib.h>
#include <string.h>

#include "analysis/charts/chart.h"
#include "analysis/charts/raster.h"
#include "base/core/base64.h"
#include "base/core/memory.h"
#include "handlers/answer.h"
#include "handlers/runs/export_find.h"
#include "store/ledger/sweeps.h"

#define RUNS_MAX 100 /* repetitions of a sweep */

static const char *const plots[] = { "heat", "latency", "pareto", "load", "tail", NULL };

static const struct param params[] = {
    { "run", VALUE_TEXT, .required = true, .low = 1, .high = 39,
      .help = "Id: run_..., imp_... or swp_..." },
    { "plot", VALUE_CHOICE, .choices = plots, .initial = "\"heat\"",
      .help = "load: measured against asked.",
      .more = "heat: users by context. latency: by users, a line per context. pareto: speed for "
              "each user against throughput. load: what was in flight, divided by what was asked "
              "for. tail: the share of requests slower than a time." },
    { "quantity", VALUE_TEXT, .rare = true, .low = 1, .high = 39,
      .help = "Of heat: requests_per_s, ttft_p50_ms, ...",
      .more = "Without: the first that the run has. For latency and tail its first word counts: "
              "ttft, itl, tpot, e2e." },
    { "dark", VALUE_BOOLEAN, .rare = true, .initial = "false", .help = "On dark paper." },
    { 0 },
};

/* ---- What is drawn ---- */

struct subject {
    struct evidence *runs; /* heap; each to be finished */
    size_t count;
};

static void subject_finish(struct subject *subject)
{
    for (size_t i = 0; i < subject->count; i++)
        evidence_finish(&subject->runs[i]);
    free(subject->runs);
}
#define SUBJECT_AUTO __attribute__((cleanup(subject_finish))) struct subject

static CHECKED bool add_run(struct call *call, const char *id, struct subject *subject,
                            struct error *error)
{
    subject->runs = memory_resize(subject->runs, subject->count + 1, sizeof *subject->runs);
    evidence_init(&subject->runs[subject->count]);
    return export_find(call, id, &subject->runs[subject->count++], error);
}

/* Of an A/B sweep the baseline's runs: the others are no repetitions of them. */
static CHECKED bool add_sweep(struct call *call, const char *id, struct subject *subject,
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
            done = add_run(call, rows[i].id, subject, error);
    run_rows_free(rows, count);
    sweep_row_finish(&sweep);
    return done
           && (subject->count > 0
               || error_set(error, ERROR_NOT_FOUND, "the sweep %s has no runs", id));
}

/* ---- Plots ---- */

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

static void draw_tail(const struct chart_runs *runs, enum metric metric, struct chart *out)
{
    struct chart_tail curves[CHART_TAILS_MAX];
    size_t count = chart_tails_of_runs(runs, metric, curves);
    TEXT_AUTO name = { 0 };

    chart_name(runs, &name);
    chart_tail(text_string(&name), metric_name(metric), curves, count, out);
}

static CHECKED bool draw_heat(const struct chart_runs *runs, const char *name, struct chart *out,
                              struct error *error)
{
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

static CHECKED bool draw(struct call *call, const struct chart_runs *runs, struct chart *out,
                         struct error *error)
{
    const char *plot = call_text(call, "plot"), *quantity = call_text(call, "quantity");
    enum metric metric = metric_of(quantity);

    if (strcmp(plot, "heat") == 0)
        return draw_heat(runs, quantity, out, error);
    if (metric == METRIC_COUNT)
        return error_set(error, ERROR_INVALID,
                         "quantity is \"%s\", but must be ttft, itl, tpot or e2e for %s", quantity,
                         plot);
    if (strcmp(plot, "latency") == 0)
        chart_latency(runs, metric, 0, out);
    else if (strcmp(plot, "pareto") == 0)
        chart_pareto(runs, out);
    else if (strcmp(plot, "load") == 0)
        chart_residuals(runs, out);
    else
        draw_tail(runs, metric, out);
    return true;
}

/* ---- The answer ---- */

static json_t *image_block(const struct text *png)
{
    TEXT_AUTO data = { 0 };

    base64_add(&data, png->data, png->length);
    return json_pack("{s:s, s:s, s:s}", "type", "image", "data", text_string(&data), "mimeType",
                     "image/png");
}

static CHECKED bool answer_chart(struct call *call, const struct chart *chart,
                                 struct answer *answer, struct error *error)
{
    enum theme theme = call_boolean(call, "dark", false) ? THEME_DARK : THEME_LIGHT;
    TEXT_AUTO png = { 0 };

    if (!raster_write(&chart->drawing, theme, &png, error))
        return false;
    text_addf(&answer->text, "The %s chart of %s, of %zu cells; run_report has its figures.",
              call_text(call, "plot"), call_text(call, "run"), chart_table_rows(&chart->table));
    answer->content = json_pack("[o, {s:s, s:s}]", image_block(&png), "type", "text", "text",
                                text_string(&answer->text));
    return true;
}

static CHECKED bool run(struct call *call, struct answer *answer, struct error *error)
{
    const char *id = call_text(call, "run");
    SUBJECT_AUTO subject = { 0 };
    CHART_AUTO chart = { 0 };
    struct chart_runs runs;

    if (strncmp(id, "swp_", 4) == 0 ? !add_sweep(call, id, &subject, error)
                                    : !add_run(call, id, &subject, error))
        return false;
    runs = (struct chart_runs){ subject.runs, subject.count, NULL };
    return draw(call, &runs, &chart, error) && answer_chart(call, &chart, answer, error);
}

const struct tool tool_run_chart = {
    .name = "run_chart",
    .title = "Draw a run's figures",
    .help = "A picture (PNG) of a run, an import or a sweep, for people. For figures take "
            "run_report.",
    .more = "Failed, inferred and unmeasured cells are told apart; bounds come from measured cells "
            "alone.",
    .sets = SET_MEASURE,
    .params = params,
    .role = ROLE_VIEWER,
    .placement = PLACE_WORKER,
    .read_only = true,
    .idempotent = true,
    .run = run,
};
