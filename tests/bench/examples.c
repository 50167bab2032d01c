/* SPDX-License-Identifier: Apache-2.0 */
/* bench_examples OUT, which docs/charts.sh runs: draws an example of each kind of chart from
 * made-up figures, in a light and a dark version. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/charts/chart.h"
#include "analysis/charts/raster.h"
#include "base/core/random.h"

#define SOURCE_DIR "."
#include "tests/unit/support/published.h"

#define REPETITIONS 3
#define USERS 9 /* number of loads that are measured: 1, 2, 4, ... 256 users */
static const double contexts[] = { 128, 512, 1024, 4096, 8192, 16384 };
#define CONTEXTS (sizeof contexts / sizeof contexts[0])
#define LIMIT_MS 500

static const char *out_folder;

static void save(const char *name, const struct chart *chart)
{
    static const char *const ends[] = { [THEME_LIGHT] = ".png", [THEME_DARK] = "-dark.png" };

    for (enum theme theme = THEME_LIGHT; theme <= THEME_DARK; theme++) {
        TEXT_AUTO png = { 0 };
        struct error error;
        char file[64];

        if (!raster_write(&chart->drawing, theme, &png, &error)) {
            fprintf(stderr, "%s: %s\n", name, error.message);
            exit(1);
        }
        snprintf(file, sizeof file, "%s%s", name, ends[theme]);
        file_write(out_folder, file, &png);
    }
}

/* ---- Runs ---- */

/* A made-up server. */
struct server {
    const char *hardware;
    double speed;            /* tokens/s for a single user at short contexts */
    double capacity;         /* maximum tokens/s for all users together at short contexts */
    struct generator random; /* each run is a little different */
};

static double noise(struct server *server, double spread)
{
    return 1 + spread * (2 * generator_uniform(&server->random) - 1);
}

/* `ms`: the median; `tail`: p99 divided by the median. */
static void set_latency(struct server *server, struct evidence_latency *latency, double ms,
                        double tail)
{
    latency->count = 40;
    latency->p50_ms = ms * noise(server, 0.04);
    latency->mean_ms = 1.2 * latency->p50_ms;
    latency->p90_ms = (1 + 0.4 * (tail - 1)) * latency->p50_ms;
    latency->p95_ms = (1 + 0.6 * (tail - 1)) * latency->p50_ms;
    latency->p99_ms = tail * latency->p50_ms;
    latency->max_ms = 1.3 * latency->p99_ms;
}

static void measure(struct server *server, struct evidence_cell *cell)
{
    double users = cell->concurrency, length = cell->input_length;
    double alone = server->speed / (1 + length / 20000);
    double all = server->capacity / (1 + length / 9000);
    double each = alone / (1 + users * alone / all) * noise(server, 0.02);

    cell->output_throughput = users * each;
    cell->request_throughput = cell->output_throughput / cell->output_tokens_asked;
    cell->concurrency_actual = users * (users > 100 ? 0.93 : 0.98) * noise(server, 0.02);
    cell->attempted = cell->succeeded = floor(40 + 12 * users);
    set_latency(server, &cell->latency[METRIC_TTFT],
                15 + length / 28 + users * length / 400 + users / 2, 2.6);
    set_latency(server, &cell->latency[METRIC_ITL], 1000 / each, 1.6);
    set_latency(server, &cell->latency[METRIC_TPOT], 1000 / each, 1.3);
    set_latency(server, &cell->latency[METRIC_E2E], 1000 * cell->output_tokens_asked / each, 1.2);
}

/* Makes some cells failed, inferred, partly successful or marked, so that the pictures show how
 * these are drawn. */
static void spoil(struct evidence_cell *cell)
{
    bool is_longest = cell->input_length == contexts[CONTEXTS - 1];

    if (cell->concurrency == 256 && cell->input_length == 8192) {
        cell->state = EVIDENCE_SKIPPED;
        text_copy(cell->status, sizeof cell->status, "inferred");
    } else if (cell->concurrency >= 128 && is_longest) {
        cell->state = EVIDENCE_FAILED;
        text_copy(cell->status, sizeof cell->status, "503");
    } else if (cell->concurrency == 64 && is_longest)
        cell->success_rate = 0.95;
    else if (cell->concurrency == 256 && cell->input_length <= 1024)
        text_copy(cell->marks, sizeof cell->marks, "burst");
    else if (cell->concurrency == 1 && cell->input_length == 1024)
        text_copy(cell->marks, sizeof cell->marks, "first_shape");
}

static void make_run(struct server *server, struct evidence *out)
{
    evidence_init(out);
    text_copy(out->facts.model, sizeof out->facts.model, "Gemma 4 12B");
    text_copy(out->facts.hardware, sizeof out->facts.hardware, server->hardware);
    text_copy(out->name, sizeof out->name, "grid.csv");
    out->facts.chips = 2;
    out->imported = true;
    out->input_unit = LENGTH_TOKENS;
    for (size_t i = 0; i < USERS * CONTEXTS; i++) {
        struct evidence_cell *cell = evidence_add(out);

        cell->concurrency = (double)(1 << i % USERS);
        cell->input_length = contexts[i / USERS];
        cell->output_tokens_asked = 128;
        cell->state = EVIDENCE_MEASURED;
        cell->success_rate = 1;
        spoil(cell);
        if (cell->state == EVIDENCE_MEASURED)
            measure(server, cell);
    }
}

/* ---- Charts of runs ---- */

static void draw_heat(const struct chart_runs *runs, struct chart *out)
{
    chart_heat(runs, chart_quantity_find("output_tokens_per_s"), out);
}

static void draw_latency(const struct chart_runs *runs, struct chart *out)
{
    chart_latency(runs, METRIC_TTFT, LIMIT_MS, out);
}

static void draw_tail(const struct chart_runs *runs, struct chart *out)
{
    struct chart_tail curves[CHART_TAILS_MAX];
    size_t count = chart_tails_of_runs(runs, METRIC_TTFT, curves);
    TEXT_AUTO name = { 0 };

    chart_name(runs, &name);
    chart_tail(text_string(&name), chart_latency_title(METRIC_TTFT), curves, count, out);
}

static void draw_cost(const struct chart_runs sides[SIDES])
{
    const struct chart_price prices[] = {
        { "2 \xc3\x97 L4", sides[0], 1.42, "a price list", "2026-11-01" },
        { "2 \xc3\x97 L40S", sides[1], 2.9, "a price list", "2026-11-01" },
    };
    CHART_AUTO chart = { 0 };

    chart_cost(prices, SIDES, &chart);
    save("cost", &chart);
}

static void draw_forest(const struct chart_runs sides[SIDES])
{
    static const char *const factors[] = { "hardware", NULL };
    static const char *const unknown[] = { "model_revision", "engine", "engine_version", "flags",
                                           "region",         "limits", "workload",       NULL };
    struct evidence runs[SIDES * REPETITIONS];
    const struct compare_input input = { .runs = runs,
                                         .counts = { REPETITIONS, REPETITIONS },
                                         .factors = factors,
                                         .accepted = unknown,
                                         .as_deployments = true };
    COMPARISON_AUTO comparison = { 0 };
    const struct chart_comparison compared = { &comparison,
                                               0,
                                               { "Gemma 4 12B on 2 \xc3\x97 L4",
                                                 "Gemma 4 12B on 2 \xc3\x97 L40S" },
                                               { REPETITIONS, REPETITIONS } };
    CHART_AUTO chart = { 0 };

    for (size_t i = 0; i < SIDES * REPETITIONS; i++)
        runs[i] = sides[i / REPETITIONS].runs[i % REPETITIONS];
    compare_runs(&input, &comparison);
    chart_forest(&compared, &chart);
    save("forest", &chart);
}

static void draw_runs(void)
{
    static const struct {
        const char *name;
        void (*draw)(const struct chart_runs *runs, struct chart *out);
    } charts[] = {
        { "heat", draw_heat },       { "latency", draw_latency }, { "pareto", chart_pareto },
        { "load", chart_residuals }, { "tail", draw_tail },
    };
    struct server servers[SIDES] = { { "L4", 110, 8000, { { 0 } } },
                                     { "L40S", 160, 8100, { { 0 } } } };
    struct evidence evidence[SIDES][REPETITIONS];
    const struct chart_runs sides[SIDES] = { { evidence[0], REPETITIONS, NULL },
                                             { evidence[1], REPETITIONS, NULL } };

    for (size_t side = 0; side < SIDES; side++) {
        generator_init(&servers[side].random, side);
        for (size_t i = 0; i < REPETITIONS; i++)
            make_run(&servers[side], &evidence[side][i]);
    }
    for (size_t i = 0; i < sizeof charts / sizeof charts[0]; i++) {
        CHART_AUTO chart = { 0 };

        charts[i].draw(&sides[0], &chart);
        save(charts[i].name, &chart);
    }
    draw_cost(sides);
    draw_forest(sides);
    for (size_t i = 0; i < SIDES * REPETITIONS; i++)
        evidence_finish(&evidence[i / REPETITIONS][i % REPETITIONS]);
}

/* ---- A day ---- */

#define STEP_MS INT64_C(300000)
#define STEPS 288
#define DAY_BEGINS_MS INT64_C(1795392000000) /* 2026-11-23 */

enum { RUNNING, WAITING, TTFT_P50, TTFT_P99, TOKENS, CACHE, SERIES };

/* The server has little load at night, is unreachable for a while in the morning, and is measured
 * by a sweep in the afternoon. */
static void make_day(struct chart_moment day[SERIES][STEPS])
{
    struct server server = { "", 0, 0, { { 0 } } };

    generator_init(&server.random, 7);
    for (int i = 0; i < STEPS; i++) {
        bool is_unreachable = i >= 97 && i<103, is_swept = i> 150 && i < 190;
        double load = is_swept ? 45 : 14 + 11 * sin((i - 40) * 6.2832 / STEPS);
        double running = load * noise(&server, 0.06);
        const double values[SERIES] = { [RUNNING] = running,
                                        [WAITING] = fmax(0, running / 3 - 7),
                                        [TTFT_P50] = 60 + 5 * running * noise(&server, 0.05),
                                        [TTFT_P99] = 250 + 17 * running * noise(&server, 0.1),
                                        [TOKENS] = 49 * running * noise(&server, 0.04),
                                        [CACHE] = 10 + 1.8 * running };

        for (int s = 0; s < SERIES; s++)
            day[s][i] = (struct chart_moment){ DAY_BEGINS_MS + i * STEP_MS,
                                               is_unreachable ? NAN : values[s] };
    }
}

static void draw_history(void)
{
    static struct chart_moment day[SERIES][STEPS];
    const struct chart_series load[] = { { "running", day[RUNNING], STEPS },
                                         { "waiting", day[WAITING], STEPS } };
    const struct chart_series ttft[] = { { "p50", day[TTFT_P50], STEPS },
                                         { "p99", day[TTFT_P99], STEPS } };
    const struct chart_series tokens = { "tokens/s", day[TOKENS], STEPS };
    const struct chart_series cache = { "KV cache", day[CACHE], STEPS };
    const struct chart_panel panels[] = { { "requests", false, load, 2 },
                                          { "TTFT, ms", true, ttft, 2 },
                                          { "output tokens/s", false, &tokens, 1 },
                                          { "KV cache in use, %", false, &cache, 1 } };
    const struct chart_span sweep = { DAY_BEGINS_MS + 151 * STEP_MS,
                                      DAY_BEGINS_MS + 190 * STEP_MS };
    const int64_t restart = DAY_BEGINS_MS + 103 * STEP_MS;
    const struct chart_note note = { restart, "revision 4" };
    const struct chart_history history = { DAY_BEGINS_MS,
                                           DAY_BEGINS_MS + STEPS * STEP_MS,
                                           STEP_MS,
                                           panels,
                                           4,
                                           &sweep,
                                           1,
                                           &restart,
                                           1,
                                           &note,
                                           1 };
    CHART_AUTO chart = { 0 };

    make_day(day);
    chart_history("demo", &history, &chart);
    save("history", &chart);
}

int main(int count, char **arguments)
{
    if (count != 2) {
        fprintf(stderr, "usage: bench_examples OUT\n");
        return 2;
    }
    out_folder = arguments[1];
    draw_runs();
    draw_history();
    return 0;
}
