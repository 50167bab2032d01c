/* SPDX-License-Identifier: Apache-2.0 */
/* Every chart of every run: made-up ones of all shapes, and what users published. No label overlaps
 * another or is cut by the picture's edge, and no figure is drawn that is not in the data. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analysis/charts/raster.h"
#include "tests/unit/support/chart_boxes.h"
#include "tests/unit/support/imports.h"
#include "tests/unit/support/made_runs.h"
#include "tests/unit/support/shaped_runs.h"

#define RUNS 200
#define PNG_LIMIT 65536
#define COMPARED_MAX 5000
static void draw_heat(const struct chart_runs *runs, struct chart *out)
{
    chart_heat(runs, chart_quantity_default(runs), out);
}

static void draw_heat_of_ttft(const struct chart_runs *runs, struct chart *out)
{
    chart_heat(runs, chart_quantity_find("ttft_p50_ms"), out);
}

static void draw_ttft(const struct chart_runs *runs, struct chart *out)
{
    chart_latency(runs, METRIC_TTFT, 300, out);
}

static void draw_e2e(const struct chart_runs *runs, struct chart *out)
{
    chart_latency(runs, METRIC_E2E, 0, out);
}

static void draw_cost(const struct chart_runs *runs, struct chart *out)
{
    const struct chart_price prices[] = {
        { LONG_NAME, *runs, 0.7, "a price list", "2026-08-01" },
        { "other", *runs, 1.4, "a price list", "2026-08-01" },
    };

    chart_cost(prices, 2, out);
}

static void draw_tail(const struct chart_runs *runs, struct chart *out)
{
    struct chart_tail curves[CHART_TAILS_MAX];
    size_t count = chart_tails_of_runs(runs, METRIC_E2E, curves);

    chart_tail(runs->runs[0].facts.model, "whole request", curves, count, out);
}

/* Every fact may be unknown. */
static const char *const facts[] = { "model",    "model_revision", "quantization",
                                     "engine",   "engine_version", "flags",
                                     "hardware", "chips",          "provider",
                                     "region",   "limits",         "workload",
                                     "tool",     "dataset",        NULL };

/* The runs against themselves. */
static void draw_forest(const struct chart_runs *runs, struct chart *out)
{
    static const char *const none[] = { NULL };
    struct evidence sides[] = { runs->runs[0], runs->runs[runs->count - 1] };
    const struct compare_input input = { .runs = sides,
                                         .counts = { 1, 1 },
                                         .factors = none,
                                         .accepted = facts,
                                         .as_deployments = true,
                                         .keeps_wrong = true };
    COMPARISON_AUTO comparison = { 0 };
    const struct chart_comparison compared = { &comparison, 0, { "one", LONG_NAME }, { 1, 1 } };

    if (runs->runs[0].cell_count < COMPARED_MAX)
        compare_runs(&input, &comparison);
    chart_forest(&compared, out);
}

static const struct {
    const char *name;
    void (*draw)(const struct chart_runs *runs, struct chart *out);
} charts[] = {
    { "heat", draw_heat },      { "heat of TTFT", draw_heat_of_ttft },
    { "Pareto", chart_pareto }, { "residuals", chart_residuals },
    { "TTFT", draw_ttft },      { "E2E", draw_e2e },
    { "cost", draw_cost },      { "tail", draw_tail },
    { "forest", draw_forest },
};

static void all_are_sound(const char *run, const struct chart_runs *runs)
{
    for (size_t i = 0; i < sizeof charts / sizeof charts[0]; i++) {
        CHART_AUTO chart = { 0 };
        char what[300];

        snprintf(what, sizeof what, "%s of %s", charts[i].name, run);
        charts[i].draw(runs, &chart);
        chart_is_sound(what, &chart);
    }
}

static void are_sound_with_audit(const char *run, const struct evidence *evidence)
{
    FINDINGS_AUTO findings = { 0 };
    const struct audit_input input = {
        .evidence = evidence, .hardware = "", .model = "", .chips = NAN
    };
    const struct chart_runs runs = { evidence, 1, &findings };

    audit_run(&input, &findings);
    all_are_sound(run, &runs);
}

/* ---- Runs ---- */

static void made_runs_of_every_kind(void **state)
{
    (void)state;
    for (int i = 0; i < RUNS; i++) {
        struct maker maker = maker_number(i);
        EVIDENCE_AUTO evidence;
        char name[32];

        maker_run(&maker, &evidence);
        snprintf(name, sizeof name, "made run %d", i);
        are_sound_with_audit(name, &evidence);
    }
}

static void runs_of_every_shape(void **state)
{

    (void)state;
    for (const struct shape_of_run *shape = shapes_of_runs; shape->name != NULL; shape++) {
        EVIDENCE_AUTO evidence;
        const struct chart_runs runs = { &evidence, 1, NULL };

        shaped_run(shape, &evidence);
        all_are_sound(shape->name, &runs);
    }
}

/* Neither a figure nor one of the ramp's colours: only the word, and its shape. */
static void has_no_figure(const struct shape_of_run *shape, const char *word, const char *outline)
{
    EVIDENCE_AUTO evidence;
    const struct chart_runs runs = { &evidence, 1, NULL };
    CHART_AUTO chart = { 0 };
    TEXT_AUTO svg = { 0 };

    shaped_run(shape, &evidence);
    chart_heat(&runs, chart_quantity_find("requests_per_s"), &chart);
    svg_write(&chart.drawing, SVG_CLASSES, &svg);
    assert_null(strstr(svg.data, "t-figure"));
    assert_null(strstr(svg.data, "f-step"));
    assert_non_null(strstr(svg.data, word));
    assert_non_null(strstr(svg.data, outline));
}

static void what_was_not_measured_has_no_figure_and_no_colour(void **state)
{
    static const struct shape_of_run failed = { "", "m", 2, 2, ALL(EVIDENCE_FAILED), "503", 1 };
    static const struct shape_of_run inferred = { "",         "m", 2, 2, ALL(EVIDENCE_SKIPPED),
                                                  "inferred", 1 };
    static const struct shape_of_run pending = {
        "", "m", 2, 2, ALL(EVIDENCE_SKIPPED), "pending", 1
    };

    (void)state;
    has_no_figure(&failed, ">503</text>", "f-fail-pale");
    has_no_figure(&inferred, ">inferred</text>", "stroke-dasharray");
    has_no_figure(&pending, ">not measured</text>", "<circle");
}

static void repetitions_of_a_run(void **state)
{
    const struct shape_of_run shape = { "repeated", "m", 5, 8, ALL(EVIDENCE_MEASURED), "", 1 };
    struct evidence evidence[3];
    const struct chart_runs runs = { evidence, 3, NULL };

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        shaped_run(&shape, &evidence[i]);
        for (size_t c = 0; c < evidence[i].cell_count; c++)
            shaped_figures(&evidence[i].cells[c], 1 + 0.1 * (double)i);
    }
    all_are_sound("three repetitions", &runs);
    for (size_t i = 0; i < 3; i++)
        evidence_finish(&evidence[i]);
}

/* A day of a server with a gap, a restart, two sweeps and notes, one of them outside; a series that
 * it does not have. */
static void a_history(void **state)
{
    static struct chart_moment moments[2][288];
    const struct chart_series load[] = { { "running", moments[0], 288 },
                                         { LONG_NAME, moments[1], 288 } };
    const struct chart_panel panels[] = { { "requests", false, load, 2 },
                                          { "TTFT, ms", true, load, 1 },
                                          { "KV cache, %", false, NULL, 0 },
                                          { "tokens/s", false, load, 1 } };
    const struct chart_span spans[] = { { 3600000, 7200000 }, { -5, 90000000 } };
    const int64_t restarts[] = { 40000000, 90000000 };
    const struct chart_note notes[] = { { 20000000, "deployed " LONG_NAME },
                                        { 20000001, "again" },
                                        { 99000000000, "later" } };
    struct chart_history history = {
        0, 86400000, 300000, panels, 4, spans, 2, restarts, 2, notes, 3
    };

    (void)state;
    for (int i = 0; i < 288; i++) {
        moments[0][i] = (struct chart_moment){ i * 300000, i > 100 && i < 120 ? NAN : i % 40 };
        moments[1][i] = (struct chart_moment){ i * 300000 + (i > 200 ? 3000000 : 0), 1e6 * i };
    }
    for (int i = 0; i < 5; i++) {
        static const int64_t ends[] = { 86400000, 60000, 86400000ll * 400, 1, 0 };
        CHART_AUTO chart = { 0 };

        history.to_ms = ends[i];
        chart_history(ARABIC_NAME, &history, &chart);
        chart_is_sound("history", &chart);
    }
}

/* What a chat shows of it: 1200 x 800 pixels, and no more bytes than a client's limit bears. */
static void fits_a_chat(const char *name, const struct evidence *evidence)
{
    FINDINGS_AUTO findings = { 0 };
    const struct audit_input input = {
        .evidence = evidence, .hardware = "", .model = "", .chips = NAN
    };
    const struct chart_runs runs = { evidence, 1, &findings };
    CHART_AUTO chart = { 0 };
    TEXT_AUTO png = { 0 };
    struct error error;

    audit_run(&input, &findings);
    draw_heat(&runs, &chart);
    assert_true(raster_write(&chart.drawing, THEME_LIGHT, &png, &error));
    if (chart.drawing.width != 720 || chart.drawing.height != 480 || png.length > PNG_LIMIT)
        fail_msg("%s: %.0f x %.0f, %zu bytes", name, chart.drawing.width, chart.drawing.height,
                 png.length);
}

static void draw_published(const char *name, const struct text *bytes)
{
    EVIDENCE_AUTO evidence;
    struct error error;

    if (!import_read(bytes->data, bytes->length, NULL, &evidence, &error))
        fail_msg("%s: %s", name, error.message);
    text_copy(evidence.name, sizeof evidence.name, name);
    evidence.imported = true;
    are_sound_with_audit(name, &evidence);
    fits_a_chat(name, &evidence);
}

static void published_results(void **state)
{
    char folder[4096];

    (void)state;
    if (published_folder(folder) == NULL)
        skip();
    assert_true(published_each(folder, draw_published) > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(made_runs_of_every_kind),
        cmocka_unit_test(runs_of_every_shape),
        cmocka_unit_test(what_was_not_measured_has_no_figure_and_no_colour),
        cmocka_unit_test(repetitions_of_a_run),
        cmocka_unit_test(a_history),
        cmocka_unit_test(published_results),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
