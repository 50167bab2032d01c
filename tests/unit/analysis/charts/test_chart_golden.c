/* SPDX-License-Identifier: Apache-2.0 */
/* Draws every plot of a plain run and of runs that are hard to draw, and a history, and compares
 * the SVGs with golden/: those of the plain run and of the history byte for byte, those of all runs
 * by their digests. `test_chart_golden --write` writes what is drawn now into golden/: look at the
 * new pictures before you commit them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "analysis/charts/svg.h"
#include "base/core/digest.h"
#include "tests/unit/support/chart_plots.h"
#include "tests/unit/support/published.h"

#define GOLDEN SOURCE_DIR "/tests/unit/analysis/charts/golden"
#define REPETITIONS 4

static bool is_writing;

static const struct {
    const char *name;
    void (*draw)(const struct chart_runs *runs, struct chart *out);
} plots[] = {
    { "heat", draw_heat },       { "latency", draw_ttft }, { "pareto", chart_pareto },
    { "load", chart_residuals }, { "cost", draw_cost },    { "tail", draw_tail },
    { "forest", draw_forest },
};

/* The first is the plain run, which has REPETITIONS repetitions; the others have one. */
static const struct shape_of_run shapes[] = {
    { "plain", "Gemma 4 12B", 5, 3, ALL(EVIDENCE_MEASURED), "", 1 },
    { "one-cell", "m", 1, 1, ALL(EVIDENCE_MEASURED), "", 1 },
    { "all-failed", "m", 4, 4, ALL(EVIDENCE_FAILED), "503", 1 },
    { "all-inferred", "m", 4, 4, ALL(EVIDENCE_SKIPPED), "inferred", 1 },
    { "13-by-12", "m", 12, 13, ALL(EVIDENCE_MEASURED), "", 1 },
    { "6-contexts", "m", 5, 6, ALL(EVIDENCE_MEASURED), "", 1 },
    { "long-name", LONG_NAME, 4, 2, ALL(EVIDENCE_MEASURED), "", 1 },
};

/* Adds the line "latency 6-contexts 3f2a...". */
static void add_digest(const char *plot, const char *shape, const struct text *svg,
                       struct text *digests)
{
    char digest[DIGEST_TEXT_SIZE];

    digest_sha256_text(svg->data, svg->length, digest);
    text_addf(digests, "%s %s %.16s\n", plot, shape, digest);
}

/* Checks that the SVG is the golden picture of the plot; with --write, makes it that picture. */
static void check_picture(const char *plot, const struct text *svg)
{
    TEXT_AUTO golden = { 0 };
    char name[64];
    size_t same = 0;

    snprintf(name, sizeof name, "%s.svg", plot);
    if (is_writing) {
        file_write(GOLDEN, name, svg);
        return;
    }
    file_read(GOLDEN, name, &golden);
    while (same < svg->length && same < golden.length && svg->data[same] == golden.data[same])
        same++;
    if (same < svg->length || same < golden.length)
        fail_msg("%s differs from byte %zu: is %.80s", name, same, svg->data + same);
}

static void write_svg(const struct chart *chart, struct text *out)
{
    svg_write(&chart->drawing, SVG_CLASSES, out);
}

static void draw_shape(const struct shape_of_run *shape, struct text *digests)
{
    const size_t count = shape == shapes ? REPETITIONS : 1;
    struct evidence evidence[REPETITIONS];
    const struct chart_runs runs = { evidence, count, NULL };

    for (size_t i = 0; i < count; i++) {
        shaped_run(shape, &evidence[i]);
        for (size_t c = 0; count > 1 && c < evidence[i].cell_count; c++)
            shaped_figures(&evidence[i].cells[c],
                           (i >= count / 2 ? 1.1 : 1) + 0.01 * (double)((3 * c + i) % 5));
    }
    for (size_t p = 0; p < sizeof plots / sizeof plots[0]; p++) {
        CHART_AUTO chart = { 0 };
        TEXT_AUTO svg = { 0 };

        plots[p].draw(&runs, &chart);
        write_svg(&chart, &svg);
        if (shape == shapes)
            check_picture(plots[p].name, &svg);
        add_digest(plots[p].name, shape->name, &svg, digests);
    }
    for (size_t i = 0; i < count; i++)
        evidence_finish(&evidence[i]);
}

static void every_plot_is_unchanged(void **state)
{
    TEXT_AUTO digests = { 0 };
    TEXT_AUTO golden = { 0 };
    char *line, *next = NULL;

    (void)state;
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++)
        draw_shape(&shapes[i], &digests);
    if (is_writing) {
        file_write(GOLDEN, "digests.txt", &digests);
        return;
    }
    file_read(GOLDEN, "digests.txt", &golden);
    for (line = strtok_r(digests.data, "\n", &next); line != NULL;
         line = strtok_r(NULL, "\n", &next))
        if (strstr(text_string(&golden), line) == NULL)
            print_error("not as in digests.txt: %s\n", line);
    for (size_t i = 0; i < digests.length; i++) /* strtok_r has replaced the line ends */
        digests.data[i] = digests.data[i] == '\0' ? '\n' : digests.data[i];
    assert_string_equal(text_string(&digests), text_string(&golden));
}

static void a_history_is_unchanged(void **state)
{
    CHART_AUTO chart = { 0 };
    TEXT_AUTO svg = { 0 };

    (void)state;
    draw_history_to("demo", 86400000, &chart);
    write_svg(&chart, &svg);
    check_picture("history", &svg);
}

int main(int count, char **arguments)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_plot_is_unchanged),
        cmocka_unit_test(a_history_is_unchanged),
    };

    is_writing = count > 1 && strcmp(arguments[1], "--write") == 0;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
