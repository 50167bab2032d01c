/* SPDX-License-Identifier: Apache-2.0 */
/* Draws every chart for made-up runs of many shapes, and for runs that users published. No label
 * may overlap another, cross the picture's edge or lie on a line (except that figures may lie on
 * grid lines), and every figure drawn must be in the data. `test_charts --save FOLDER` saves the
 * pictures, light and dark, for people to look at. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <arpa/inet.h>
#include <cmocka.h>

#include "analysis/charts/raster.h"
#include "tests/unit/support/chart_boxes.h"
#include "tests/unit/support/chart_plots.h"
#include "tests/unit/support/imports.h"
#include "tests/unit/support/made_runs.h"

#define RUNS 200

static const char *save_folder; /* NULL: pictures are not saved */

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

/* Saves "heat of one cell" as "heat-of-one-cell.svg" and "heat-of-one-cell.dark.svg". */
static void save(const char *what, const struct chart *chart)
{
    static const char *const ends[] = { [SVG_LIGHT] = ".svg", [SVG_DARK] = ".dark.svg" };
    char name[320];

    for (enum svg_colours colours = SVG_LIGHT; colours <= SVG_DARK; colours++) {
        TEXT_AUTO svg = { 0 };

        snprintf(name, sizeof name, "%s%s", what, ends[colours]);
        for (char *c = name; *c != '\0'; c++)
            *c = *c == ' ' || *c == '/' ? '-' : *c;
        svg_write(&chart->drawing, colours, &svg);
        file_write(save_folder, name, &svg);
    }
}

static void check_and_save(const char *what, const struct chart *chart)
{
    chart_is_sound(what, chart);
    if (save_folder != NULL)
        save(what, chart);
}

static void all_are_sound(const char *run, const struct chart_runs *runs)
{
    for (size_t i = 0; i < sizeof charts / sizeof charts[0]; i++) {
        CHART_AUTO chart = { 0 };
        char what[300];

        snprintf(what, sizeof what, "%s of %s", charts[i].name, run);
        charts[i].draw(runs, &chart);
        check_and_save(what, &chart);
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

static void charts_of_made_runs_are_sound(void **state)
{
    (void)state;
    for (int i = 0; i < RUNS; i++) {
        struct maker maker = maker_create(i);
        EVIDENCE_AUTO evidence;
        char name[32];

        maker_run(&maker, &evidence);
        snprintf(name, sizeof name, "made run %d", i);
        are_sound_with_audit(name, &evidence);
    }
}

static void charts_of_every_listed_shape_are_sound(void **state)
{
    (void)state;
    for (const struct shape_of_run *shape = shapes_of_runs; shape->name != NULL; shape++) {
        EVIDENCE_AUTO evidence;
        const struct chart_runs runs = { &evidence, 1, NULL };

        shaped_run(shape, &evidence);
        all_are_sound(shape->name, &runs);
    }
}

static void charts_of_other_made_runs_are_sound(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof other_runs / sizeof other_runs[0]; i++) {
        EVIDENCE_AUTO evidence;
        const struct chart_runs runs = { &evidence, 1, NULL };

        other_runs[i].make(&evidence);
        all_are_sound(other_runs[i].name, &runs);
    }
}

/* Checks that the heat map of a run without measured cells has neither figures nor colours that
 * stand for figures, and that it has `word` and `mark` instead. */
static void has_no_figure(const struct shape_of_run *shape, const char *word, const char *mark)
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
    assert_non_null(strstr(svg.data, mark));
}

static void unmeasured_cells_have_no_figure_and_no_colour(void **state)
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

/* The chart says how it selects or merges cells, and its table has all of them. */
static void large_grids_say_what_they_show(void **state)
{
    static const struct shape_of_run shape = { "", "m", 50, 40, ALL(EVIDENCE_MEASURED), "", 1 };
    static const struct {
        void (*draw)(const struct chart_runs *runs, struct chart *out);
        const char *words;
    } large[] = {
        { draw_ttft, "6 of 40 contexts, evenly chosen" },
        { draw_ttft, "shaded: from the lowest to the highest of all" },
        { chart_pareto, "shaded: where all points lie" },
        { chart_residuals, "cells at the same place are one dot" },
    };
    EVIDENCE_AUTO evidence;
    const struct chart_runs runs = { &evidence, 1, NULL };

    (void)state;
    shaped_run(&shape, &evidence);
    for (size_t i = 0; i < sizeof large / sizeof large[0]; i++) {
        CHART_AUTO chart = { 0 };
        TEXT_AUTO svg = { 0 };

        large[i].draw(&runs, &chart);
        svg_write(&chart.drawing, SVG_CLASSES, &svg);
        assert_non_null(strstr(svg.data, large[i].words));
        assert_int_equal(chart_table_rows(&chart.table), 50 * 40);
    }
}

/* Checks that the chart of a run with this many loads and contexts has the label `times` times. */
static void has_label(void (*draw)(const struct chart_runs *runs, struct chart *out), size_t loads,
                      size_t contexts, const char *label, size_t times)
{
    const struct shape_of_run shape = { "", "m", loads, contexts, ALL(EVIDENCE_MEASURED), "", 1 };
    EVIDENCE_AUTO evidence;
    const struct chart_runs runs = { &evidence, 1, NULL };
    CHART_AUTO chart = { 0 };
    size_t found = 0;

    shaped_run(&shape, &evidence);
    draw(&runs, &chart);
    for (size_t i = 0; i < chart.drawing.count; i++)
        found += chart.drawing.shapes[i].kind == SHAPE_TEXT
                 && strcmp(chart.drawing.shapes[i].string, label) == 0;
    if (found != times)
        fail_msg("\"%s\" occurs %zu times in the chart, expected %zu", label, found, times);
}

static void crowded_charts_show_an_important_label_once_in_each_panel(void **state)
{
    (void)state;
    has_label(draw_ttft, 30, 6, "30", 1);    /* the last load, even on a crowded axis */
    has_label(draw_ttft, 12, 13, "2048", 3); /* the last load of each of three panels */
    has_label(chart_pareto, 8, 4, "64", 1);  /* one label for four points that are close together */
    has_label(draw_heat, 100, 10, "97", 1);  /* every fourth column has a label */
    has_label(draw_heat, 100, 10, "5", 1);
    has_label(draw_heat, 100, 10, "3", 0);
    has_label(draw_heat, 100, 10, "4", 0);
}

/* The last context of the mixed run, 1024 tokens, is too long for the model. */
static void a_context_without_a_point_is_not_named(void **state)
{
    static void (*const draws[])(const struct chart_runs *runs, struct chart *out) = { chart_pareto,
                                                                                       draw_ttft };
    EVIDENCE_AUTO evidence;
    const struct chart_runs runs = { &evidence, 1, NULL };

    (void)state;
    mixed_run(&evidence);
    for (size_t i = 0; i < sizeof draws / sizeof draws[0]; i++) {
        CHART_AUTO chart = { 0 };

        draws[i](&runs, &chart);
        for (size_t s = 0; s < chart.drawing.count; s++)
            if (chart.drawing.shapes[s].kind == SHAPE_TEXT)
                assert_string_not_equal(chart.drawing.shapes[s].string, "1024");
    }
}

/* Returns how many marks in the drawing stand for this row of the table. */
static size_t marks_of(const struct drawing *drawing, int64_t row)
{
    size_t found = 0;

    for (size_t i = 0; i < drawing->count; i++)
        found += drawing->shapes[i].kind == SHAPE_GROUP && drawing->shapes[i].row == row;
    return found;
}

static void both_ends_of_a_line_have_a_marker(void **state)
{
    static const struct shape_of_run shape = { "", "m", 200, 1, ALL(EVIDENCE_MEASURED), "", 1 };
    EVIDENCE_AUTO evidence;
    const struct chart_runs runs = { &evidence, 1, NULL };
    CHART_AUTO chart = { 0 };

    (void)state;
    shaped_run(&shape, &evidence);
    draw_ttft(&runs, &chart);
    assert_int_equal(marks_of(&chart.drawing, 0), 1);
    assert_int_equal(marks_of(&chart.drawing, 198), 0);
    assert_int_equal(marks_of(&chart.drawing, 199), 1);
}

static void a_single_cell_fills_the_plot_with_its_hatch(void **state)
{
    static const struct shape_of_run shape = { "", "m", 1, 1, ALL(EVIDENCE_FAILED), "503", 1 };
    EVIDENCE_AUTO evidence;
    const struct chart_runs runs = { &evidence, 1, NULL };
    CHART_AUTO chart = { 0 };
    const struct shape *cell = NULL;

    (void)state;
    shaped_run(&shape, &evidence);
    draw_heat(&runs, &chart);
    for (size_t i = 0; i < chart.drawing.count && cell == NULL; i++)
        if (chart.drawing.shapes[i].kind == SHAPE_GROUP)
            cell = &chart.drawing.shapes[i + 1];
    assert_non_null(cell);
    assert_true(cell->box.width > 600 && cell->box.height > 250);
    assert_int_equal(cell[1].kind, SHAPE_SEGMENTS);
    assert_float_equal(box_of_lines(&cell[1]).width, cell->box.width, 6);
    assert_float_equal(box_of_lines(&cell[1]).height, cell->box.height, 6);
}

/* At the last two loads, where figures are highest, all contexts but one fail. */
static void failures_do_not_touch_the_figures(void **state)
{
    static const struct shape_of_run shape = { "", "m", 9, 6, ALL(EVIDENCE_MEASURED), "", 1 };

    (void)state;
    for (size_t measured = 0; measured < 6; measured++) {
        EVIDENCE_AUTO evidence;
        const struct chart_runs runs = { &evidence, 1, NULL };
        CHART_AUTO chart = { 0 };
        size_t crosses = 0;

        shaped_run(&shape, &evidence);
        for (size_t row = 0; row < 6; row++)
            if (row != measured)
                evidence.cells[9 * row + 8].state = evidence.cells[9 * row + 7].state =
                    EVIDENCE_FAILED;
        draw_ttft(&runs, &chart);
        chart_is_sound("failures", &chart);
        for (size_t i = 0; i < chart.drawing.count; i++)
            crosses += chart.drawing.shapes[i].kind == SHAPE_GROUP
                       && strcmp(chart.drawing.shapes[i].name, "failure") == 0;
        assert_int_equal(crosses, 2 * 5);
    }
}

/* Failures are drawn above the figures, so a limit line above the figures must avoid them. */
static void a_limit_crosses_no_failure(void **state)
{
    static const struct shape_of_run shape = { "", "m", 9, 6, ALL(EVIDENCE_MEASURED), "", 1 };
    EVIDENCE_AUTO evidence;
    const struct chart_runs runs = { &evidence, 1, NULL };

    (void)state;
    shaped_run(&shape, &evidence);
    for (size_t row = 1; row < 6; row++)
        evidence.cells[9 * row + 8].state = EVIDENCE_FAILED;
    for (double limit_ms = 300; limit_ms < 10000; limit_ms *= 1.03) {
        CHART_AUTO chart = { 0 };

        chart_latency(&runs, METRIC_TTFT, limit_ms, &chart);
        check_failures_are_clear("a limit", &chart.drawing);
    }
}

/* Short names beside a plot leave no empty margin. */
static void names_take_no_more_room_than_they_need(void **state)
{
    static const struct shape_of_run shape = { "", "m", 5, 3, ALL(EVIDENCE_MEASURED), "", 1 };
    static void (*const draws[])(const struct chart_runs *runs,
                                 struct chart *out) = { chart_residuals, draw_tail, draw_cost };
    EVIDENCE_AUTO evidence;
    const struct chart_runs runs = { &evidence, 1, NULL };

    (void)state;
    shaped_run(&shape, &evidence);
    for (size_t i = 0; i < sizeof draws / sizeof draws[0]; i++) {
        CHART_AUTO chart = { 0 };
        TEXT_AUTO svg = { 0 };
        struct svg_text *texts;
        size_t count;
        double right = 0;

        draws[i](&runs, &chart);
        svg_write(&chart.drawing, SVG_CLASSES, &svg);
        count = svg_texts(&svg, &texts);
        for (size_t t = 0; t < count; t++)
            if (strcmp(texts[t].kind, "name") == 0)
                right = fmax(right, texts[t].box.x + texts[t].box.width);
        free(texts);
        if (right < chart.drawing.width - 40)
            fail_msg("chart %zu: names end at x = %.0f, far from the edge", i, right);
    }
}

static void the_cost_of_runs_at_one_context_names_the_output_length(void **state)
{
    static const struct shape_of_run shape = { "", "m", 5, 2, ALL(EVIDENCE_MEASURED), "", 1 };
    EVIDENCE_AUTO evidence;
    const struct chart_runs runs = { &evidence, 1, NULL };
    CHART_AUTO chart = { 0 };
    TEXT_AUTO svg = { 0 };

    (void)state;
    shaped_run(&shape, &evidence);
    for (size_t i = 0; i < evidence.cell_count; i++) {
        evidence.cells[i].output_tokens_asked = evidence.cells[i].input_length;
        evidence.cells[i].input_length = 512;
    }
    draw_cost(&runs, &chart);
    svg_write(&chart.drawing, SVG_CLASSES, &svg);
    assert_non_null(strstr(svg.data, "output 128"));
    assert_null(strstr(svg.data, "context"));
}

/* A square stays on its axis, however large the ratio is. */
static void a_large_ratio_is_not_drawn_beyond_the_axis(void **state)
{
    static const struct shape_of_run shape = { "", "m", 5, 3, ALL(EVIDENCE_MEASURED), "", 1 };
    struct evidence evidence[4];
    const struct chart_runs runs = { evidence, 4, NULL };
    CHART_AUTO chart = { 0 };

    (void)state;
    for (size_t i = 0; i < 4; i++) {
        shaped_run(&shape, &evidence[i]);
        for (size_t c = 0; c < evidence[i].cell_count; c++)
            shaped_figures(&evidence[i].cells[c], (i < 2 ? 1 : 300) + 0.01 * (double)i);
    }
    draw_forest(&runs, &chart);
    chart_is_sound("a large ratio", &chart);
    for (size_t i = 0; i < chart.drawing.count; i++)
        if (chart.drawing.shapes[i].kind == SHAPE_RECT
            && chart.drawing.shapes[i].box.x + chart.drawing.shapes[i].box.width > 560)
            fail_msg("a square at x = %.0f lies on the figures", chart.drawing.shapes[i].box.x);
    for (size_t i = 0; i < 4; i++)
        evidence_finish(&evidence[i]);
}

static void charts_of_repetitions_are_sound(void **state)
{
    const struct shape_of_run shape = { "repeated", "m", 17, 3, ALL(EVIDENCE_MEASURED), "", 1 };
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

static void charts_of_short_and_long_histories_are_sound(void **state)
{
    static const int64_t ends[] = { 86400000, 60000, 86400000ll * 400, 1, 0 };

    (void)state;
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        CHART_AUTO chart = { 0 };
        char what[40];

        draw_history_to(ARABIC_NAME, ends[i], &chart);
        snprintf(what, sizeof what, "history to %lld", (long long)ends[i]);
        check_and_save(what, &chart);
    }
}

/* Checks that the chart's PNG has at most RASTER_BYTES_MAX bytes; returns its width in pixels. */
static uint32_t picture_fits(const char *name, const struct chart *chart)
{
    TEXT_AUTO png = { 0 };
    struct error error;

    assert_true(raster_write(&chart->drawing, THEME_LIGHT, &png, &error));
    if (png.length > RASTER_BYTES_MAX)
        fail_msg("%s: %zu bytes", name, png.length);
    return ntohl(*(const uint32_t *)(const void *)(png.data + 16));
}

/* The charts with the most shapes have at most RASTER_BYTES_MAX bytes as PNG files. */
static void the_largest_pictures_are_small_enough_for_a_chat(void **state)
{
    static const struct {
        struct shape_of_run shape;
        void (*draw)(const struct chart_runs *runs, struct chart *out);
    } largest[] = {
        { { "30 contexts", "m", 6, 30, ALL(EVIDENCE_MEASURED), "", 1 }, draw_heat },
        { { "60 rows", "m", 13, 12, ALL(EVIDENCE_MEASURED), "", 1 }, draw_forest },
        { { "many panels", "m", 40, 40, ALL(EVIDENCE_MEASURED), "", 1 }, draw_ttft },
    };

    (void)state;
    for (size_t i = 0; i < sizeof largest / sizeof largest[0]; i++) {
        EVIDENCE_AUTO evidence;
        const struct chart_runs runs = { &evidence, 1, NULL };
        CHART_AUTO chart = { 0 };

        shaped_run(&largest[i].shape, &evidence);
        largest[i].draw(&runs, &chart);
        picture_fits(largest[i].shape.name, &chart);
    }
}

/* Checks that the heat map has its full 1200 x 800 pixels, and that the PNG files of the heat map
 * and the forest plot are small enough for a chat. */
static void fits_a_chat(const char *name, const struct evidence *evidence)
{
    FINDINGS_AUTO findings = { 0 };
    const struct audit_input input = {
        .evidence = evidence, .hardware = "", .model = "", .chips = NAN
    };
    const struct chart_runs runs = { evidence, 1, &findings };
    CHART_AUTO heat = { 0 };
    CHART_AUTO forest = { 0 };

    audit_run(&input, &findings);
    draw_heat(&runs, &heat);
    assert_int_equal(picture_fits(name, &heat), 1200);
    if (heat.drawing.width != 720 || heat.drawing.height != 480)
        fail_msg("%s: %.0f x %.0f", name, heat.drawing.width, heat.drawing.height);
    draw_forest(&runs, &forest);
    picture_fits(name, &forest);
}

static void check_published(const char *name, const struct text *bytes)
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

static void charts_of_published_results_are_sound(void **state)
{
    char folder[4096];

    (void)state;
    if (published_folder(folder) == NULL)
        skip();
    assert_true(published_each(folder, check_published) > 0);
}

int main(int count, char **arguments)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(charts_of_made_runs_are_sound),
        cmocka_unit_test(charts_of_every_listed_shape_are_sound),
        cmocka_unit_test(charts_of_other_made_runs_are_sound),
        cmocka_unit_test(unmeasured_cells_have_no_figure_and_no_colour),
        cmocka_unit_test(large_grids_say_what_they_show),
        cmocka_unit_test(crowded_charts_show_an_important_label_once_in_each_panel),
        cmocka_unit_test(a_context_without_a_point_is_not_named),
        cmocka_unit_test(both_ends_of_a_line_have_a_marker),
        cmocka_unit_test(a_single_cell_fills_the_plot_with_its_hatch),
        cmocka_unit_test(failures_do_not_touch_the_figures),
        cmocka_unit_test(a_limit_crosses_no_failure),
        cmocka_unit_test(names_take_no_more_room_than_they_need),
        cmocka_unit_test(the_cost_of_runs_at_one_context_names_the_output_length),
        cmocka_unit_test(a_large_ratio_is_not_drawn_beyond_the_axis),
        cmocka_unit_test(charts_of_repetitions_are_sound),
        cmocka_unit_test(charts_of_short_and_long_histories_are_sound),
        cmocka_unit_test(the_largest_pictures_are_small_enough_for_a_chat),
        cmocka_unit_test(charts_of_published_results_are_sound),
    };

    save_folder = count > 2 && strcmp(arguments[1], "--save") == 0 ? arguments[2] : NULL;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
