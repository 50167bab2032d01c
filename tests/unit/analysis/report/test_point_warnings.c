/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analysis/report/point_warnings.h"
#include "tests/unit/support/cells.h"

static const struct point_warning *find(const char *name)
{
    for (size_t i = 0; i < point_warning_count; i++)
        if (strcmp(point_warnings[i].name, name) == 0)
            return &point_warnings[i];
    fail_msg("there is no warning named %s", name);
    return NULL;
}

/* The names of all warnings about the first point, with a space after each. */
static struct text warning_names(const struct cells *cells)
{
    struct text names = { 0 };
    struct cell_grid grid;
    struct grid_point point;

    cell_grid_init(&grid, cells->rows, cells->count);
    point = cell_grid_point(&grid, 0, 0, 0);
    for (size_t i = 0; i < point_warning_count; i++)
        if (point_warning_applies(&point_warnings[i], &point))
            text_addf(&names, "%s ", point_warnings[i].name);
    cell_grid_finish(&grid);
    return names;
}

static void assert_only(const struct cells *cells, const char *wanted)
{
    TEXT_AUTO names = warning_names(cells);

    assert_string_equal(text_string(&names), wanted);
}

static struct cells good(void)
{
    struct cells cells = { 0 };

    cell_measured(&cells, 64, 512, 1000, 100);
    return cells;
}

static void a_good_cell_has_no_warning(void **state)
{
    struct cells cells = good();

    (void)state;
    assert_only(&cells, "");
}

static void each_kind_of_doubtful_measurement_has_its_own_warning(void **state)
{
    struct cells cells;
    struct measurement *m = &cells.rows[0].measurement;

    (void)state;
    cells = good(), m->client_limited = true;
    assert_only(&cells, "client_limited ");
    cells = good(), m->contaminated = true;
    assert_only(&cells, "contaminated ");
    cells = good(), m->ceiling_share = 0.61;
    assert_only(&cells, "near_ceiling ");
    cells = good(), m->concurrency_actual = 60.7; /* of 64 */
    assert_only(&cells, "concurrency ");
    cells = good(), m->concurrency_actual = 60.8;
    assert_only(&cells, "");
    cells = good(), m->concurrency_actual = 32, m->concurrency_expected = 33; /* think times */
    assert_only(&cells, "");
    cells = good(), m->concurrency_expected = 64, m->concurrency_actual = 60.7;
    assert_only(&cells, "concurrency ");
    cells = good(), cells.rows[0].request_rate = 2.5; /* an open loop */
    cells.rows[0].concurrency = 10000;
    assert_only(&cells, "");
    cells = good(), m->overloaded = true;
    assert_only(&cells, "overloaded ");
    cells = good(), m->waited_for_room = 1;
    assert_only(&cells, "no_room ");
    cells = good(), m->unsettled = true;
    assert_only(&cells, "unsettled ");
    cells = good(), m->success_rate = 0.98;
    assert_only(&cells, "success ");
    cells = good(), m->held = 1;
    assert_only(&cells, "held ");
    cells = good(), m->little_ratio = 0.7;
    assert_only(&cells, "unsteady ");
    cells = good(), m->input_tokens_difference_max = 7;
    assert_only(&cells, "input_length ");
    cells = good(), m->input_tokens_difference_max = 1;
    assert_only(&cells, "");
    cells = good(), m->output_tokens_differing = 1;
    assert_only(&cells, "output_length ");
    m->output_tokens_differing = -1; /* some differ, but how many is unknown */
    assert_only(&cells, "output_length ");
    cells = good(), m->cached_tokens = m->input_tokens / 50;
    assert_only(&cells, "cached ");
    m->shared_tokens = m->cached_tokens;
    assert_only(&cells, "");
    m->cached_told = 1000, m->cached_tokens /= 3;
    assert_only(&cells, "not_cached ");
    cells = good(), m->lengths_cut = 1;
    assert_only(&cells, "lengths_cut ");
    cells = good(), m->latency[METRIC_E2E].censored = 1;
    assert_only(&cells, "censored ");
    cells = good(), m->latency[METRIC_TTFT].count = 50;
    assert_only(&cells, "few_samples ");
    cells = good(), m->output_tokens_mean = 4;
    assert_only(&cells, "short_output ");
    cells = good(), m->tokens_estimated = true;
    assert_only(&cells, "tokens_estimated ");
}

static void the_servers_own_metrics_give_warnings(void **state)
{
    static char preempted[] = "{\"restarted\":false,\"preemptions\":3}";
    static char restarted[] = "{\"seconds\":5,\"restarted\":true}";
    static char partial[] = "{\"state\":\"partial\",\"why\":\"several\"}";
    static char absent[] = "{\"state\":\"absent\",\"why\":\"404\"}";
    static char broken[] = "{";
    struct cells cells = good();

    (void)state;
    cells.rows[0].witness = preempted;
    assert_only(&cells, "preempted ");
    cells.rows[0].witness = restarted;
    assert_only(&cells, "restarted ");
    cells.rows[0].witness = partial;
    assert_only(&cells, "witness_partial ");
    cells.rows[0].witness = absent;
    assert_only(&cells, "witness_absent ");
    cells.rows[0].witness = broken;
    assert_only(&cells, "");
}

static void repetitions_that_disagree_or_fail_have_a_warning(void **state)
{
    struct cells cells = good();

    (void)state;
    cell_measured(&cells, 64, 512, 1111, 100)->repetition = 1;
    assert_only(&cells, "scattered ");
    cells.rows[1].measurement.output_throughput = 1090;
    assert_only(&cells, "");
    cells.rows[1].state = CELL_FAILED;
    assert_only(&cells, "partly_measured ");
    cells.rows[1].state = CELL_PENDING; /* not measured yet */
    assert_only(&cells, "");
}

static void a_cell_without_figures_has_no_warning(void **state)
{
    struct cells cells = { 0 };

    (void)state;
    cell_failed(&cells, 64, 512, FAILURE_RESET, "");
    assert_only(&cells, "");
}

static void not_every_warning_marks_the_figures(void **state)
{
    (void)state;
    assert_true(find("client_limited")->marks);
    assert_true(find("success")->marks);
    assert_false(find("few_samples")->marks);
    assert_false(find("short_output")->marks);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_good_cell_has_no_warning),
        cmocka_unit_test(each_kind_of_doubtful_measurement_has_its_own_warning),
        cmocka_unit_test(the_servers_own_metrics_give_warnings),
        cmocka_unit_test(repetitions_that_disagree_or_fail_have_a_warning),
        cmocka_unit_test(a_cell_without_figures_has_no_warning),
        cmocka_unit_test(not_every_warning_marks_the_figures),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
