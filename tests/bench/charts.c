/* SPDX-License-Identifier: Apache-2.0 */
/* bench_charts FOLDER OUT, which `./run bench charts` runs: draws the charts of each result file in
 * FOLDER, and writes them to OUT as SVG and as a light and a dark PNG, with a report on each file.
 * For each chart, prints a line with the sizes of the SVG and the light PNG, and how many
 * milliseconds it took to draw the chart, to write the SVG, and to write a PNG (the mean of the
 * two). Also prints a line for each report. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/charts/chart.h"
#include "analysis/charts/raster.h"
#include "analysis/charts/svg.h"
#include "analysis/document/document.h"
#include "analysis/import/import.h"
#include "base/core/clock.h"

#define SOURCE_DIR "."
#include "tests/unit/support/published.h"

static const char *out_folder;

static void draw_heat(const struct chart_runs *runs, struct chart *out)
{
    chart_heat(runs, chart_quantity_default(runs), out);
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
        { "one", *runs, 0.7, "a price list", "2026-08-01" },
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

static const struct bench_chart {
    const char *name;
    void (*draw)(const struct chart_runs *runs, struct chart *out);
} bench_charts[] = {
    { "heat", draw_heat },      { "ttft", draw_ttft },
    { "pareto", chart_pareto }, { "residuals", chart_residuals },
    { "cost", draw_cost },      { "tail", draw_tail },
    { "e2e", draw_e2e },        { 0 },
};

static void save(const char *file_name, const char *chart, const char *end,
                 const struct text *bytes)
{
    char path[4096];
    FILE *file;

    snprintf(path, sizeof path, "%s/%s.%s%s", out_folder, file_name, chart, end);
    file = fopen(path, "wb");
    if (file == NULL || fwrite(bytes->data, 1, bytes->length, file) != bytes->length
        || fclose(file) != 0) {
        perror(path);
        exit(1);
    }
}

static void write_chart(const char *file_name, const char *name, const struct chart *chart,
                        double draw_ms)
{
    TEXT_AUTO svg = { 0 };
    TEXT_AUTO light = { 0 };
    TEXT_AUTO dark = { 0 };
    struct error error;
    int64_t began = clock_monotonic_ns();
    double svg_ms;

    svg_write(&chart->drawing, SVG_LIGHT, &svg);
    svg_ms = (double)(clock_monotonic_ns() - began) / 1e6;
    began = clock_monotonic_ns();
    if (!raster_write(&chart->drawing, THEME_LIGHT, &light, &error)
        || !raster_write(&chart->drawing, THEME_DARK, &dark, &error)) {
        fprintf(stderr, "%s\n", error.message);
        exit(1);
    }
    printf("%-10s %7zu B svg %7zu B png  draw %6.2f svg %5.2f png %6.1f ms  %s\n", name, svg.length,
           light.length, draw_ms, svg_ms, (double)(clock_monotonic_ns() - began) / 2e6, file_name);
    save(file_name, name, ".svg", &svg);
    save(file_name, name, ".png", &light);
    save(file_name, name, "-dark.png", &dark);
}

static void write_report(const char *file_name, const struct chart_runs *runs)
{
    const struct document_part part = { .runs = *runs };
    const struct document document = {
        .kind = "Imported run", .id = "imp_1", .parts = &part, .part_count = 1
    };
    TEXT_AUTO html = { 0 };
    int64_t began = clock_monotonic_ns();

    document_write(&document, &html);
    printf("%-10s %7zu B html                write %6.1f ms  %s\n", "report", html.length,
           (double)(clock_monotonic_ns() - began) / 1e6, file_name);
    save(file_name, "report", ".html", &html);
}

static void draw_file(const char *file_name, const struct text *bytes)
{
    const struct import_file file = { .bytes = bytes->data, .length = bytes->length };
    EVIDENCE_AUTO evidence;
    FINDINGS_AUTO findings = { 0 };
    const struct audit_input input = {
        .evidence = &evidence, .hardware = "", .model = "", .chips = NAN
    };
    const struct chart_runs runs = { &evidence, 1, &findings };
    const char *underscore = strrchr(file_name, '_');
    struct error error;

    if (!import_read_file(&file, &evidence, &error)) {
        fprintf(stderr, "%s: %s\n", file_name, error.message);
        return;
    }
    evidence.imported = true;
    text_copy(evidence.name, sizeof evidence.name, underscore != NULL ? underscore + 1 : file_name);
    audit_run(&input, &findings);
    for (const struct bench_chart *row = bench_charts; row->name != NULL; row++) {
        CHART_AUTO chart = { 0 };
        int64_t began = clock_monotonic_ns();

        row->draw(&runs, &chart);
        write_chart(file_name, row->name, &chart, (double)(clock_monotonic_ns() - began) / 1e6);
    }
    write_report(file_name, &runs);
}

int main(int count, char **arguments)
{
    if (count != 3) {
        fprintf(stderr, "usage: bench_charts FOLDER OUT\n");
        return 2;
    }
    out_folder = arguments[2];
    return published_each(arguments[1], draw_file) == 0;
}
