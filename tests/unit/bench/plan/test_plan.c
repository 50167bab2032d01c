/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/plan/plan.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/core/memory.h"

static bool read_text(const char *text, struct plan *plan, struct error *error)
{
    json_auto_t *arguments = json_loads(text, 0, NULL);

    assert_non_null(arguments);
    return plan_read(arguments, plan, error);
}

static void must_read(const char *text, struct plan *plan)
{
    struct error error = { 0 };

    if (!read_text(text, plan, &error))
        fail_msg("%s", error.message);
}

static void must_refuse(const char *text, const char *because)
{
    struct plan plan;
    struct error error = { 0 };

    assert_false(read_text(text, &plan, &error));
    assert_int_equal(error.kind, ERROR_INVALID);
    if (strstr(error.message, because) == NULL)
        fail_msg("got the error '%s', expected it to contain '%s'", error.message, because);
}

static void fills_in_defaults(void **state)
{
    struct plan plan;

    (void)state;
    must_read("{\"concurrency\":[1],\"input_tokens\":[128]}", &plan);
    assert_int_equal(plan.output_count, 1);
    assert_int_equal(plan.output_tokens[0], 128);
    assert_int_equal(plan.repetitions, 1);
    assert_int_equal(plan.api, BENCH_COMPLETIONS);
    assert_true(plan.window_s == 30 && plan.warmup_limit_s == 30);
    assert_true(plan.ttft_timeout_s == 120 && plan.goodput_ttft_ms == 0);
}

static void sorts_levels_and_removes_duplicates(void **state)
{
    struct plan plan;

    (void)state;
    must_read("{\"concurrency\":[8,1,8,2],\"input_tokens\":[4]}", &plan);
    assert_int_equal(plan.concurrency_count, 3);
    assert_int_equal(plan.concurrency[0], 1);
    assert_int_equal(plan.concurrency[1], 2);
    assert_int_equal(plan.concurrency[2], 8);
}

static void refuses_missing_and_invalid_values_and_says_what_is_allowed(void **state)
{
    (void)state;
    must_refuse("{\"input_tokens\":[4]}", "'concurrency' is missing");
    must_refuse("{\"concurrency\":[],\"input_tokens\":[4]}", "'concurrency'");
    must_refuse("{\"concurrency\":[0],\"input_tokens\":[4]}",
                "'concurrency' contains 0: each value must be from 1 to 10000");
    must_refuse("{\"concurrency\":[1],\"input_tokens\":[1000001]}", "from 1 to 1000000");
    must_refuse("{\"concurrency\":[1],\"input_tokens\":[\"x\"]}", "whole numbers");
    must_refuse("{\"concurrency\":[1],\"input_tokens\":[4],\"output_tokens\":[100001]}",
                "from 1 to 100000");
    must_refuse("{\"concurrency\":[1],\"input_tokens\":[4],\"window_s\":0.5}",
                "'window_s' is 0.5: it must be from 1 to 600");
    must_refuse("{\"concurrency\":[1],\"input_tokens\":[4],\"repetitions\":21}", "from 1 to 20");
    must_refuse("{\"concurrency\":[1],\"input_tokens\":[4],\"seed\":-1}", "'seed' is -1");
    must_refuse("{\"concurrency\":[1],\"input_tokens\":[4],\"window_s\":\"5\"}",
                "'window_s' must be a number");
    must_refuse("{\"concurrency\":[1],\"input_tokens\":[4],\"http2_streams\":1001}",
                "'http2_streams' is 1001: it must be from 0 to 1000");
    must_refuse("{\"concurrency\":[1],\"input_tokens\":[4],\"api\":\"x\"}", "completions or chat");
}

static void an_open_loop_has_request_rates_as_levels(void **state)
{
    struct plan plan;
    FREE_AUTO struct cell_plan *cells = NULL;
    size_t count;

    (void)state;
    must_read("{\"arrival\":\"gamma\",\"burstiness\":0.5,\"request_rate\":[10,2.5,10],"
              "\"input_tokens\":[16],\"repetitions\":2}",
              &plan);
    assert_int_equal(plan.arrival, ARRIVAL_GAMMA);
    assert_int_equal(plan.concurrency[0], PLAN_IN_FLIGHT);
    plan_cells(&plan, 1, &cells, &count);
    assert_int_equal(count, 4);
    for (size_t i = 0; i < count; i++) {
        assert_true(cells[i].request_rate == (i % 2 == 0 ? 2.5 : 10));
        assert_int_equal(cells[i].concurrency, PLAN_IN_FLIGHT);
        assert_int_equal(cells[i].repetition, i / 2);
    }
}

static void refuses_invalid_settings_for_load_and_window(void **state)
{
    (void)state;
    must_refuse("{\"arrival\":\"burst\",\"concurrency\":[1],\"input_tokens\":[4]}",
                "'arrival' is 'burst': it must be closed, constant, poisson or gamma");
    must_refuse("{\"arrival\":\"poisson\",\"input_tokens\":[4]}", "'request_rate' is missing");
    must_refuse("{\"arrival\":\"poisson\",\"request_rate\":[0],\"input_tokens\":[4]}",
                "'request_rate' contains 0: each value must be from 0.001 to 20000");
    must_refuse("{\"arrival\":\"poisson\",\"request_rate\":[1],\"concurrency\":[1,2],"
                "\"input_tokens\":[4]}",
                "the limit on requests in flight, so give one value, or omit it (default: 10000)");
    must_refuse("{\"arrival\":\"poisson\",\"request_rate\":[1],\"think_time_s\":1,"
                "\"input_tokens\":[4]}",
                "'think_time_s' is 1");
    must_refuse("{\"arrival\":\"poisson\",\"request_rate\":[1],\"burstiness\":2,"
                "\"input_tokens\":[4]}",
                "'burstiness' is 2: it is only for 'arrival' gamma");
    must_refuse("{\"request_rate\":[1],\"concurrency\":[1],\"input_tokens\":[4]}",
                "'request_rate' is for an open loop");
    must_refuse("{\"concurrency\":[1],\"input_tokens\":[4],\"window_limit_s\":29}",
                "'window_limit_s' is 29: it must not be below 'window_s', which is 30");
    must_refuse("{\"concurrency\":[1],\"input_tokens\":[4],\"think_time\":\"never\"}",
                "fixed or exponential");
}

/* Plans that were stored before opsbrain had open loops do not have `arrival`. */
static void plans_without_arrival_are_closed_loops(void **state)
{
    struct plan plan;

    (void)state;
    must_read("{\"concurrency\":[1],\"input_tokens\":[16],\"output_tokens\":[8],"
              "\"repetitions\":1,\"api\":\"chat\",\"seed\":1,\"window_s\":2}",
              &plan);
    assert_int_equal(plan.arrival, ARRIVAL_CLOSED);
    assert_true(plan.think_time_s == 0 && plan.ramp_s == 0 && plan.requests == 0);
    assert_true(plan_window_limit_s(&plan) == 8);
}

static void refuses_too_many_cells_and_says_how_many(void **state)
{
    TEXT_AUTO text = { 0 };

    (void)state;
    text_add(&text, "{\"repetitions\":2,\"concurrency\":[");
    for (int i = 1; i <= 64; i++)
        text_addf(&text, "%d%s", i, i < 64 ? "," : "],\"input_tokens\":[");
    for (int i = 1; i <= 33; i++)
        text_addf(&text, "%d%s", i, i < 33 ? "," : "]}");
    must_refuse(text.data, "would have 4224 cells");
    must_refuse(text.data, "at most 4096");
}

static void refuses_too_many_levels(void **state)
{
    TEXT_AUTO text = { 0 };

    (void)state;
    text_add(&text, "{\"input_tokens\":[1],\"concurrency\":[");
    for (int i = 1; i <= 65; i++)
        text_addf(&text, "%d%s", i, i < 65 ? "," : "]}");
    must_refuse(text.data, "65 values: give at most 64");
}

static void reads_search_and_limits_and_refuses_invalid_ones(void **state)
{
    struct plan plan;

    (void)state;
    must_read("{\"concurrency\":[1],\"input_tokens\":[4]}", &plan);
    assert_int_equal(plan.search, SEARCH_FULL);
    assert_int_equal(plan.limits.percentile, 99);
    assert_false(slo_are_stated(&plan.limits));
    must_read("{\"concurrency\":[1],\"input_tokens\":[4],\"output_tokens\":[1],\"search\":"
              "\"adaptive\",\"limit_percentile\":\"p50\",\"limit_ttft_ms\":5}",
              &plan);
    assert_int_equal(plan.search, SEARCH_ADAPTIVE);
    assert_int_equal(plan.limits.percentile, 50);
    assert_true(slo_are_stated(&plan.limits));
    must_refuse("{\"concurrency\":[1],\"input_tokens\":[4],\"search\":\"some\"}",
                "'search' is 'some': it must be full, adaptive or climb");
    must_refuse("{\"concurrency\":[1],\"input_tokens\":[4],\"limit_percentile\":\"p999\"}",
                "'limit_percentile' is 'p999': it must be p50, p90, p95 or p99");
    must_refuse("{\"concurrency\":[1],\"input_tokens\":[4],\"limit_percentile\":\"p9\"}",
                "'limit_percentile' is 'p9'");
    must_refuse("{\"concurrency\":[1],\"input_tokens\":[4],\"output_tokens\":[8,1],"
                "\"limit_tpot_ms\":5}",
                "'limit_tpot_ms' needs answers of 2 tokens or more");
    must_refuse("{\"concurrency\":[1],\"input_tokens\":[4],\"limit_error_rate\":2}",
                "'limit_error_rate' is 2: it must be from 0 to 1");
}

/* Reports get the limits from the stored plan. */
static void limits_read_from_a_plan_are_those_that_were_written(void **state)
{
    json_auto_t *written = NULL;
    struct plan plan;
    struct slo limits;

    (void)state;
    must_read("{\"concurrency\":[1],\"input_tokens\":[4],\"limit_percentile\":\"p90\","
              "\"limit_ttft_ms\":1,\"limit_itl_ms\":2,\"limit_tpot_ms\":3,\"limit_e2e_ms\":4,"
              "\"limit_error_rate\":0.5}",
              &plan);
    written = plan_to_json(&plan);
    slo_from_plan(written, &limits);
    assert_memory_equal(&limits, &plan.limits, sizeof limits);
}

static void an_adaptive_search_is_estimated_with_the_maximum_number_of_cells(void **state)
{
    struct plan plan;
    struct plan_estimate full, adaptive;

    (void)state;
    must_read("{\"concurrency\":[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24],"
              "\"input_tokens\":[4,8]}",
              &plan);
    plan_estimate(&plan, 1, &full);
    plan.search = SEARCH_ADAPTIVE;
    plan_estimate(&plan, 1, &adaptive);
    assert_int_equal(full.cells, 48);
    assert_int_equal(adaptive.grid_cells, 48);
    assert_int_equal(adaptive.cells, 32);
    assert_true(adaptive.duration_s < full.duration_s && adaptive.requests < full.requests);
}

static void refuses_invalid_or_contradictory_settings_for_the_workload(void **state)
{
#define GRID "{\"concurrency\":[1],\"input_tokens\":[64,32],"

    (void)state;
    must_refuse(GRID "\"input_spread\":0.5}", "the lengths are not drawn at random");
    must_refuse(GRID "\"output_distribution\":\"lognormal\"}", "'output_spread' is missing");
    must_refuse(GRID "\"input_distribution\":\"uniform\",\"input_spread\":1.5}", "at most 1");
    must_refuse(GRID "\"input_distribution\":\"x\"}", "fixed, uniform, lognormal or dataset");
    must_refuse(GRID "\"shared_prefix_tokens\":32}", "less than every value of input_tokens");
    must_refuse(GRID "\"prefix_pools\":2}", "nothing is shared");
    must_refuse("{\"concurrency\":[1],\"input_tokens\":[60000],\"shared_prefix_tokens\":50000,"
                "\"prefix_pools\":100}",
                "are 5000000 tokens");
    must_refuse(GRID "\"stop\":[\"x\"]}", "give natural_output true");
    must_refuse(GRID "\"stop\":[\"1\",\"2\",\"3\",\"4\",\"5\"]}", "at most 4");
    must_refuse(GRID "\"stop\":[\"\"]}",
                "'stop' contains a string of 0 bytes: each value must be from 1 to 64 bytes long");
    must_refuse(GRID "\"temperature\":2.5}", "'temperature' is 2.5");
    must_refuse(GRID "\"output_distribution\":\"dataset\"}", "'dataset' is missing");
    must_refuse(GRID "\"unique_prompts\":true}", "'dataset' is missing");
    must_refuse(GRID "\"dataset\":\"chats\"}", "omit input_distribution");
    must_refuse(GRID "\"dataset\":\"chats\",\"input_distribution\":\"dataset\","
                     "\"shared_prefix_tokens\":8}",
                "'shared_prefix_tokens' cannot be combined with a dataset");
#undef GRID
}

static const char closed_plan[] =
    "{\"concurrency\":[1,4],\"input_tokens\":[16,32],\"output_tokens\":[8,9],\"repetitions\":2,"
    "\"window_s\":2.5,\"warmup_limit_s\":0,\"api\":\"chat\",\"seed\":9007199254740991,"
    "\"time_limit_s\":77,\"ttft_timeout_s\":2,\"idle_timeout_s\":3,\"request_timeout_s\":4,"
    "\"search\":\"adaptive\",\"limit_ttft_ms\":1.5,\"limit_itl_ms\":2.5,\"limit_tpot_ms\":3.5,"
    "\"limit_e2e_ms\":4.5,\"limit_percentile\":\"p95\",\"limit_error_rate\":0.002,"
    "\"goodput_ttft_ms\":0.1,\"goodput_tpot_ms\":6,\"think_time_s\":0.5,"
    "\"think_time\":\"exponential\",\"ramp_s\":3,\"requests\":500,\"ci_width\":0.03,"
    "\"http2_streams\":7,"
    "\"window_limit_s\":9,"
    "\"input_distribution\":\"uniform\","
    "\"input_spread\":0.25,\"output_distribution\":\"lognormal\",\"output_spread\":1.5,"
    "\"shared_prefix_tokens\":7,\"prefix_pools\":9,\"temperature\":0.7,\"top_p\":0.9,"
    "\"top_k\":40,\"presence_penalty\":-0.5,\"frequency_penalty\":0.25,\"stop\":[\"a\",\"b\"],"
    "\"natural_output\":true}";

static const char open_plan[] =
    "{\"arrival\":\"gamma\",\"request_rate\":[0.1,300],\"burstiness\":0.25,\"concurrency\":[64],"
    "\"input_tokens\":[16]}";

static void reads_back_what_it_wrote(void **state)
{
    static const char *const texts[] = { closed_plan, open_plan };

    (void)state;
    for (int i = 0; i < 2; i++) {
        struct plan plan, again;
        struct error error = { 0 };

        must_read(texts[i], &plan);
        json_auto_t *json = plan_to_json(&plan);
        assert_true(plan_read(json, &again, &error));
        assert_memory_equal(&plan, &again, sizeof plan);
        assert_int_equal(again.seed, i == 0 ? 9007199254740991 : 1);
    }
}

static void lists_cells_in_the_order_of_the_plan(void **state)
{
    struct plan plan;
    FREE_AUTO struct cell_plan *cells = NULL;
    size_t count;

    (void)state;
    must_read(closed_plan, &plan);
    plan_cells(&plan, 1, &cells, &count);
    assert_int_equal(count, 16);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(cells[i].position, i);
        assert_int_equal(cells[i].repetition, i / 8);
        assert_int_equal(cells[i].input_tokens, i / 4 % 2 == 0 ? 16 : 32);
        assert_int_equal(cells[i].output_tokens, i / 2 % 2 == 0 ? 8 : 9);
        assert_int_equal(cells[i].concurrency, i % 2 == 0 ? 1 : 4);
    }
}

static void two_deployments_take_turns_and_each_is_first_half_the_time(void **state)
{
    struct plan plan;
    FREE_AUTO struct cell_plan *cells = NULL;
    size_t count, first[2] = { 0, 0 };

    (void)state;
    must_read(closed_plan, &plan);
    plan_cells(&plan, 2, &cells, &count);
    assert_int_equal(count, 32);
    for (size_t i = 0; i < count; i += 2) {
        const struct cell_plan *a = &cells[i], *b = &cells[i + 1];

        assert_int_equal(a->position, i);
        assert_int_equal(b->position, i + 1);
        assert_int_equal(a->subject + b->subject, 1);
        assert_int_equal(a->repetition, i / 16);
        assert_int_equal(a->repetition, b->repetition);
        assert_int_equal(a->concurrency, b->concurrency);
        assert_int_equal(a->input_tokens, b->input_tokens);
        assert_int_equal(a->output_tokens, b->output_tokens);
        if (i < 16) /* in the next repetition, the pair is in the opposite order */
            assert_int_equal(a->subject, cells[i + 17].subject);
        first[a->subject]++;
    }
    assert_int_equal(cells[0].subject, 0);
    assert_int_equal(first[0], first[1]);
}

static void cells_of_both_deployments_count_towards_the_limit(void **state)
{
    struct plan plan;
    struct plan_estimate alone, both;
    struct error error;

    (void)state;
    must_read(closed_plan, &plan);
    assert_true(plan_check_cells(&plan, 2, &error));
    plan_estimate(&plan, 1, &alone);
    plan_estimate(&plan, 2, &both);
    assert_int_equal(both.cells, 2 * alone.cells);
    assert_int_equal(both.requests, 2 * alone.requests);
    must_read("{\"concurrency\":[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15],\"input_tokens\":"
              "[1,2,3,4,5,6,7,8,9,10],\"repetitions\":20}",
              &plan);
    assert_true(plan_check_cells(&plan, 1, &error));
    assert_false(plan_check_cells(&plan, 2, &error));
    assert_non_null(strstr(error.message, "6000 cells"));
    assert_non_null(strstr(error.message, "x 2 deployments"));
}

static void the_digest_depends_on_the_plan_the_deployments_and_their_revisions(void **state)
{
    struct plan plan, other;
    struct deployment deployment = { .id = 1, .revision = 1, .name = "demo" };
    struct deployment candidate = { .id = 2, .revision = 1, .name = "new" };
    char first[65], same[65], revised[65], replanned[65], with_candidate[65],
        with_revised_candidate[65];

    (void)state;
    must_read(closed_plan, &plan);
    must_read("{\"concurrency\":[1],\"input_tokens\":[16]}", &other);
    plan_digest(&plan, &deployment, NULL, first);
    plan_digest(&plan, &deployment, NULL, same);
    plan_digest(&other, &deployment, NULL, replanned);
    plan_digest(&plan, &deployment, &candidate, with_candidate);
    candidate.revision = 2;
    plan_digest(&plan, &deployment, &candidate, with_revised_candidate);
    assert_string_not_equal(with_candidate, first);
    assert_string_not_equal(with_candidate, with_revised_candidate);
    deployment.revision = 2;
    plan_digest(&plan, &deployment, NULL, revised);
    assert_string_equal(first, same);
    assert_string_not_equal(first, replanned);
    assert_string_not_equal(first, revised);
}

static void an_estimate_follows_from_the_plan_and_the_assumed_server(void **state)
{
    struct plan plan;
    struct plan_estimate estimate;

    (void)state;
    must_read("{\"concurrency\":[2],\"input_tokens\":[1000],\"output_tokens\":[98],"
              "\"window_s\":20,\"warmup_limit_s\":10}",
              &plan);
    /* A request is assumed to take one second. In 30 s, the two users complete 60 requests; 2 more
     * are in flight at the end and take one more second. The overhead is 4 s. */
    plan_estimate(&plan, 1, &estimate);
    assert_int_equal(estimate.cells, 1);
    assert_int_equal(estimate.requests, 62);
    assert_int_equal(estimate.input_tokens, 62000);
    assert_int_equal(estimate.output_tokens, 62 * 98);
    assert_true(estimate.duration_s > 34.9 && estimate.duration_s < 35.1);
    must_read("{\"arrival\":\"constant\",\"request_rate\":[4],\"input_tokens\":[1000],"
              "\"window_s\":20,\"warmup_limit_s\":10,\"ramp_s\":5}",
              &plan);
    plan_estimate(&plan, 1, &estimate);
    assert_int_equal(estimate.requests, 4 * 35);
    assert_true(estimate.duration_s == 39);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_search_and_limits_and_refuses_invalid_ones),
        cmocka_unit_test(limits_read_from_a_plan_are_those_that_were_written),
        cmocka_unit_test(an_adaptive_search_is_estimated_with_the_maximum_number_of_cells),
        cmocka_unit_test(fills_in_defaults),
        cmocka_unit_test(sorts_levels_and_removes_duplicates),
        cmocka_unit_test(refuses_missing_and_invalid_values_and_says_what_is_allowed),
        cmocka_unit_test(an_open_loop_has_request_rates_as_levels),
        cmocka_unit_test(refuses_invalid_settings_for_load_and_window),
        cmocka_unit_test(plans_without_arrival_are_closed_loops),
        cmocka_unit_test(refuses_too_many_cells_and_says_how_many),
        cmocka_unit_test(refuses_too_many_levels),
        cmocka_unit_test(refuses_invalid_or_contradictory_settings_for_the_workload),
        cmocka_unit_test(reads_back_what_it_wrote),
        cmocka_unit_test(lists_cells_in_the_order_of_the_plan),
        cmocka_unit_test(two_deployments_take_turns_and_each_is_first_half_the_time),
        cmocka_unit_test(cells_of_both_deployments_count_towards_the_limit),
        cmocka_unit_test(the_digest_depends_on_the_plan_the_deployments_and_their_revisions),
        cmocka_unit_test(an_estimate_follows_from_the_plan_and_the_assumed_server),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
