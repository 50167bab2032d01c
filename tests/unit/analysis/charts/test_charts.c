/* SPDX-License-Identifier: Apache-2.0 */
/* Every chart of every run: made-up ones of all shapes, and what users published. No label overlaps
 * another or is cut by the picture's edge, and no figure is drawn that is not in the data. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/support/chart_boxes.h"
#include "tests/unit/support/imports.h"
#include "tests/unit/support/made_runs.h"

#define RUNS 200
#define LONG_NAME "a-model-with-a-name-of-sixty-characters-and-a-few-more-of-them"
#define ARABIC_NAME "\xd9\x86\xd9\x85\xd9\x88\xd8\xb0\xd8\xac 7B <script>alert(1)</script>\"&"

static void draw_heat(const struct chart_runs *runs, struct chart *out)
{
    chart_heat(runs, chart_quantity_default(runs), out);
}

static void draw_heat_of_ttft(const struct chart_runs *runs, struct chart *out)
{
    chart_heat(runs, chart_quantity_find("ttft_p50_ms"), out);
}

static const struct {
    const char *name;
    void (*draw)(const struct chart_runs *runs, struct chart *out);
} charts[] = {
    { "heat", draw_heat },
    { "heat of TTFT", draw_heat_of_ttft },
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

struct shape_of_run {
    const char *name, *model;
    size_t users, contexts;
    enum evidence_state states[3]; /* in turns */
    const char *status;
    double scale; /* of the figures; NaN: there are none */
};

static void set_latency(struct evidence_latency *latency, double ms)
{
    latency->count = 40;
    latency->mean_ms = 1.2 * ms;
    latency->p50_ms = ms;
    latency->p90_ms = 2 * ms;
    latency->p95_ms = 3 * ms;
    latency->p99_ms = 5 * ms;
    latency->max_ms = 7 * ms;
}

static void set_figures(struct evidence_cell *cell, double scale)
{
    double users = cell->concurrency, length = cell->input_length;

    cell->request_throughput = scale * users / (1 + users / 20) / (1 + length / 5000);
    cell->output_throughput = 128 * cell->request_throughput;
    cell->concurrency_actual = 0.97 * users;
    cell->attempted = cell->succeeded = 20 + users;
    cell->success_rate = users > 50 ? 0.9 : 1;
    set_latency(&cell->latency[METRIC_TTFT], scale * (10 + users * length / 900));
    set_latency(&cell->latency[METRIC_ITL], scale * (5 + users / 7));
    set_latency(&cell->latency[METRIC_TPOT], scale * (5 + users / 7));
    set_latency(&cell->latency[METRIC_E2E], scale * (900 + users * length / 900));
}

static void make(const struct shape_of_run *shape, struct evidence *out)
{
    evidence_init(out);
    text_copy(out->facts.model, sizeof out->facts.model, shape->model);
    text_copy(out->facts.hardware, sizeof out->facts.hardware, shape->model);
    text_copy(out->name, sizeof out->name, "a file.csv");
    out->imported = true;
    out->input_unit = LENGTH_TOKENS;
    for (size_t i = 0; i < shape->users * shape->contexts; i++) {
        struct evidence_cell *cell = evidence_add(out);

        cell->state = shape->states[i % 3];
        cell->concurrency =
            shape->users > 20 ? (double)(1 + i % shape->users) : pow(2, (double)(i % shape->users));
        cell->input_length = 128 * (double)(1 + i / shape->users);
        cell->output_tokens_asked = 128;
        text_copy(cell->status, sizeof cell->status, shape->status);
        if (cell->state == EVIDENCE_MEASURED)
            set_figures(cell, shape->scale);
        else
            cell->error = memory_copy_text("saturated at 4 users, and so what \xd7\x90\xd7\x91");
    }
}

#define ALL(state)                                                                                 \
    {                                                                                              \
        state, state, state                                                                        \
    }

static void runs_of_every_shape(void **state)
{
    static const struct shape_of_run shapes[] = {
        { "one cell", "m", 1, 1, ALL(EVIDENCE_MEASURED), "", 1 },
        { "one point of each",
          "m",
          3,
          1,
          { EVIDENCE_MEASURED, EVIDENCE_FAILED, EVIDENCE_SKIPPED },
          "inferred",
          1 },
        { "all failed", "m", 4, 4, ALL(EVIDENCE_FAILED), "503", 1 },
        { "all inferred", "m", 4, 4, ALL(EVIDENCE_SKIPPED), "inferred", 1 },
        { "all pending", "m", 4, 4, ALL(EVIDENCE_SKIPPED), "pending", 1 },
        { "all too long", "m", 12, 2, ALL(EVIDENCE_INFEASIBLE), "", 1 },
        { "nothing", "m", 0, 0, ALL(EVIDENCE_MEASURED), "", 1 },
        { "30 contexts",
          "m",
          12,
          30,
          { EVIDENCE_MEASURED, EVIDENCE_MEASURED, EVIDENCE_FAILED },
          "",
          1 },
        { "30 users", "m", 30, 13, ALL(EVIDENCE_MEASURED), "", 1 },
        { "13 by 12", LONG_NAME, 12, 13, ALL(EVIDENCE_MEASURED), "", 1 },
        { "long names", LONG_NAME " " LONG_NAME, 4, 6, ALL(EVIDENCE_MEASURED), "", 1 },
        { "foreign names", ARABIC_NAME, 4, 6, ALL(EVIDENCE_MEASURED), "", 1 },
        { "no figures", "m", 4, 6, ALL(EVIDENCE_MEASURED), "", NAN },
        { "zeros", "m", 4, 6, ALL(EVIDENCE_MEASURED), "", 0 },
        { "huge figures", "m", 4, 6, ALL(EVIDENCE_MEASURED), "", 1e13 },
        { "infinite figures", "m", 4, 6, ALL(EVIDENCE_MEASURED), "", INFINITY },
        { "tiny figures", "m", 4, 6, ALL(EVIDENCE_MEASURED), "", 1e-7 },
        { "10,000 cells",
          "m",
          100,
          100,
          { EVIDENCE_MEASURED, EVIDENCE_MEASURED, EVIDENCE_FAILED },
          "",
          1 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        EVIDENCE_AUTO evidence;
        const struct chart_runs runs = { &evidence, 1, NULL };

        make(&shapes[i], &evidence);
        all_are_sound(shapes[i].name, &runs);
    }
}

static void repetitions_of_a_run(void **state)
{
    const struct shape_of_run shape = { "repeated", "m", 5, 8, ALL(EVIDENCE_MEASURED), "", 1 };
    struct evidence evidence[3];
    const struct chart_runs runs = { evidence, 3, NULL };

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        make(&shape, &evidence[i]);
        for (size_t c = 0; c < evidence[i].cell_count; c++)
            set_figures(&evidence[i].cells[c], 1 + 0.1 * (double)i);
    }
    all_are_sound("three repetitions", &runs);
    for (size_t i = 0; i < 3; i++)
        evidence_finish(&evidence[i]);
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
        cmocka_unit_test(repetitions_of_a_run),
        cmocka_unit_test(published_results),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
