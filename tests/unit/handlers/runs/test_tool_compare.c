/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of run_compare. */
#include "tests/unit/support/tool_sweeps.h"

static void measure_sweep(struct world *world, const char *more, size_t cells, char out[ID_SIZE])
{
    sweep_started(world, more, out);
    sweep_measured(world, out, cells, "completed", "");
}

static json_t *compare_with(struct world *world, const char *baseline, const char *candidate,
                            const char *more)
{
    TEXT_AUTO arguments = { 0 };

    text_addf(&arguments, "{\"baseline\":[\"%s\"],\"candidate\":[\"%s\"]%s}", baseline, candidate,
              more);
    return world_ok(world, "run_compare", text_string(&arguments));
}

static void compares_the_runs_of_two_sweeps(void **state)
{
    struct world *world = *state;
    json_auto_t *incomparable = NULL, *answer = NULL;
    char first[ID_SIZE], second[ID_SIZE];

    world_register(world, "demo");
    measure_sweep(world, ",\"repetitions\":2", 8, first);
    measure_sweep(world, ",\"repetitions\":2,\"seed\":7", 8, second);
    incomparable = compare_with(world, first, second, "");
    assert_string_equal(json_get_text(incomparable, "verdict", ""), "not_comparable");
    assert_null(json_object_get(incomparable, "ratio"));
    /* only the workload is unknown, since both sweeps measured the same deployment */
    world_says(world, "accept_unknown [\"workload\"]");
    answer =
        compare_with(world, first, second, ",\"detail\":true,\"accept_unknown\":[\"workload\"]");
    assert_string_equal(json_get_text(answer, "verdict", ""), "no_evidence");
    assert_int_equal(json_get_integer(answer, "cells", 0), 4);
    assert_int_equal(json_array_size(json_object_get(answer, "baseline")), 2);
    assert_int_equal(json_array_size(json_object_get(answer, "cell_list")), 4);
    world_says(world, "equal to the last digit");
    world_says(world, "| users |");
}

/* A label has no effect on what is measured, but hardware does. */
static void a_changed_label_does_not_prevent_a_comparison_but_changed_hardware_does(void **state)
{
    struct world *world = *state;
    json_auto_t *answer = NULL, *incomparable = NULL;
    char first[ID_SIZE], second[ID_SIZE], third[ID_SIZE];

    world_register(world, "demo");
    measure_sweep(world, "", 4, first);
    world_do(world, "deployment_update", "{\"labels\":{\"team\":\"blue\"}}");
    measure_sweep(world, ",\"seed\":7", 4, second);
    answer = compare_with(world, first, second, ",\"accept_unknown\":[\"workload\"]");
    assert_string_equal(json_get_text(answer, "verdict", ""), "no_evidence");
    world_do(world, "deployment_update", "{\"hardware\":\"L4\"}");
    measure_sweep(world, ",\"seed\":8", 4, third);
    incomparable = compare_with(world, second, third, ",\"accept_unknown\":[\"workload\"]");
    assert_string_equal(json_get_text(incomparable, "verdict", ""), "not_comparable");
    world_says(world,
               "Differences and unknowns that were allowed:\n- not known for either run: workload");
}

/* Imports a grid of two cells, whose mean latencies are `first_s` and `other_s`. */
static void import_grid(struct world *world, double first_s, double other_s, const char *flags,
                        char out[ID_SIZE])
{
    TEXT_AUTO arguments = { 0 };
    json_auto_t *answer = NULL;

    text_addf(&arguments,
              "{\"name\":\"a.csv\",\"model\":\"m\",\"model_revision\":\"1\",\"engine\":\"vllm\","
              "\"engine_version\":\"1\",\"flags\":\"%s\",\"hardware\":\"L4\",\"chips\":1,"
              "\"region\":\"x\",\"max_instances\":1,\"workload\":\"random\",\"output_tokens\":64,"
              "\"text\":\"concurrency,input_tokens,num_requests,success_rate,avg_latency_s,"
              "req_per_sec\\n",
              flags);
    text_addf(&arguments, "1,128,200,1.0,%.6f,%.6f\\n2,128,400,1.0,%.6f,%.6f\\n\"}", first_s,
              1 / first_s, other_s, 2 / other_s);
    answer = world_ok(world, "run_import", text_string(&arguments));
    snprintf(out, ID_SIZE, "%s", json_get_text(json_object_get(answer, "run"), "id", ""));
}

/* Imports a grid whose first cell was slowed down by a compilation. `n` makes the figures differ
 * from those of other imports. */
static void import_cold(struct world *world, int n, char out[ID_SIZE])
{
    import_grid(world, 30.1 + 0.01 * n, 0.06 + 0.0001 * n, "--eager", out);
}

static void import_warm(struct world *world, int n, char out[ID_SIZE])
{
    import_grid(world, 0.058 + 0.0001 * n, 0.0601 + 0.0001 * n, "--eager", out);
}

static json_t *compared_imports(struct world *world, char ids[4][ID_SIZE], const char *more)
{
    TEXT_AUTO arguments = { 0 };

    text_addf(&arguments,
              "{\"baseline\":[\"%s\",\"%s\"],\"candidate\":[\"%s\",\"%s\"],\"metric\":"
              "\"request_throughput\"%s}",
              ids[0], ids[1], ids[2], ids[3], more);
    return world_ok(world, "run_compare", text_string(&arguments));
}

/* In the baseline, the first cell is 500 times slower only because of a compilation, so it must not
 * be compared. */
static void cells_that_the_audit_finds_wrong_are_skipped(void **state)
{
    struct world *world = *state;
    json_auto_t *answer = NULL, *kept = NULL;
    char ids[4][ID_SIZE];

    import_cold(world, 0, ids[0]);
    import_cold(world, 1, ids[1]);
    import_warm(world, 2, ids[2]);
    import_warm(world, 3, ids[3]);
    answer = compared_imports(world, ids, "");
    assert_int_equal(json_get_integer(answer, "cells", 0), 1);
    assert_true(json_get_number(answer, "ratio", 0) < 1.1);
    world_says(world, "- 1 user, context 128: run_audit finds it wrong (keep_wrong compares it "
                      "anyway)");
    world_says(world, ", first_shape");
    kept = compared_imports(world, ids, ",\"keep_wrong\":true");
    assert_int_equal(json_get_integer(kept, "cells", 0), 2);
    assert_true(json_get_number(kept, "ratio", 0) > 10);
}

static void stated_flags_are_compared_like_other_facts(void **state)
{
    struct world *world = *state;
    json_auto_t *answer = NULL, *incomparable = NULL;
    char ids[4][ID_SIZE];

    import_warm(world, 0, ids[0]);
    import_warm(world, 1, ids[1]);
    import_grid(world, 0.05, 0.051, "--speculative", ids[2]);
    import_grid(world, 0.0501, 0.0512, "--speculative", ids[3]);
    incomparable = compared_imports(world, ids, "");
    assert_string_equal(json_get_text(incomparable, "verdict", ""), "not_comparable");
    world_says(world, "- flags: \"--eager\"");
    answer = compared_imports(world, ids, ",\"factors\":[\"flags\"]");
    assert_string_equal(json_get_text(answer, "verdict", ""), "faster");
    world_says(world, "- flags: \"--eager\"");
}

static void compares_the_runs_of_one_sweep(void **state)
{
    struct world *world = *state;
    json_auto_t *runs = NULL, *answer = NULL;
    char sweep[ID_SIZE];
    const json_t *rows;

    world_register(world, "demo");
    measure_sweep(world, ",\"repetitions\":2", 8, sweep);
    runs = world_ok(world, "run_list", "{}");
    rows = json_object_get(runs, "runs");
    answer = compare_with(world, json_get_text(json_array_get(rows, 0), "id", ""),
                          json_get_text(json_array_get(rows, 1), "id", ""), "");
    assert_string_equal(json_get_text(answer, "verdict", ""), "no_evidence");
    assert_true(json_get_number(answer, "ratio", 0) == 1);
    world_says(world, "a side with one run");
}

#define BOTH ",\"deployment\":\"demo\",\"candidate\":\"new\",\"repetitions\":2"

static json_t *compared_sweep(struct world *world, const char *sweep, const char *more)
{
    TEXT_AUTO arguments = { 0 };

    text_addf(&arguments, "{\"sweep\":\"%s\"%s}", sweep, more);
    return world_ok(world, "run_compare", text_string(&arguments));
}

static void compares_the_two_deployments_of_one_sweep(void **state)
{
    struct world *world = *state;
    json_auto_t *answer = NULL, *incomparable = NULL;
    char sweep[ID_SIZE];

    world_register(world, "demo");
    world_register(world, "new");
    measure_sweep(world, BOTH, 16, sweep);
    answer = compared_sweep(world, sweep, ",\"accept_unknown\":[\"workload\"]");
    assert_string_equal(json_get_text(answer, "verdict", ""), "no_evidence");
    assert_true(json_get_boolean(answer, "paired", false));
    assert_int_equal(json_get_integer(answer, "pairs_left_out", -1), 0);
    assert_int_equal(json_get_integer(answer, "cells", 0), 4);
    assert_int_equal(json_array_size(json_object_get(answer, "baseline")), 2);
    assert_int_equal(json_array_size(json_object_get(answer, "candidate")), 2);
    world_says(world, "candidate new alternating with baseline demo, 2 pairs of runs");
    assert_string_equal(json_get_text(answer, "pairing", ""), "all");
    world_says(world, "all pairs have the same ratio to the last digit");
    world_says(world, "which of the two deployments is faster, not why");
    incomparable = compared_sweep(world, sweep, ",\"factors\":[\"flags\"]");
    assert_string_equal(json_get_text(incomparable, "verdict", ""), "not_comparable");
}

/* Copies the ids of the sweep's four runs to `out`, in this order: the runs on demo and on new in
 * the first repetition, then the runs on demo and on new in the second. */
static void find_runs(struct world *world, const char *sweep, char out[4][ID_SIZE])
{
    TEXT_AUTO arguments = { 0 };
    json_auto_t *runs = NULL;
    const json_t *row;
    size_t i;

    text_addf(&arguments, "{\"sweep\":\"%s\"}", sweep);
    runs = world_ok(world, "run_list", text_string(&arguments));
    assert_int_equal(json_array_size(json_object_get(runs, "runs")), 4);
    json_array_foreach(json_object_get(runs, "runs"), i, row) {
        bool is_new = strcmp(json_get_text(row, "deployment", ""), "new") == 0;
        int64_t repetition = json_get_integer(row, "repetition", 0) - 1;

        assert_in_range(repetition, 0, 1);
        snprintf(out[2 * repetition + is_new], ID_SIZE, "%s", json_get_text(row, "id", ""));
    }
}

static void compares_named_runs_of_one_sweep_in_pairs(void **state)
{
    struct world *world = *state;
    char sweep[ID_SIZE], runs[4][ID_SIZE];
    json_auto_t *paired = NULL, *apart = NULL, *unpaired_runs = NULL;
    TEXT_AUTO arguments = { 0 };

    world_register(world, "demo");
    world_register(world, "new");
    measure_sweep(world, BOTH, 16, sweep);
    find_runs(world, sweep, runs);
    text_addf(&arguments,
              "{\"baseline\":[\"%s\",\"%s\"],\"candidate\":[\"%s\",\"%s\"],"
              "\"accept_unknown\":[\"workload\"]}",
              runs[0], runs[2], runs[3], runs[1]);
    paired = world_ok(world, "run_compare", text_string(&arguments));
    assert_true(json_get_boolean(paired, "paired", false));
    assert_string_equal(json_get_text(paired, "pairing", ""), "all");
    assert_null(json_object_get(paired, "pairs_left_out"));
    assert_string_equal(json_string_value(json_array_get(json_object_get(paired, "candidate"), 0)),
                        runs[1]);
    world_says(world, "candidate new alternating with baseline demo, 2 pairs of runs");
    world_says(world, "which of the two deployments is faster, not why");
    text_clear(&arguments);
    text_addf(&arguments, "{\"baseline\":[\"%s\",\"%s\"],\"candidate\":[\"%s\"]}", runs[0], runs[2],
              runs[3]);
    apart = world_ok(world, "run_compare", text_string(&arguments));
    assert_false(json_get_boolean(apart, "paired", true));
    assert_string_equal(json_get_text(apart, "pairing", ""), "some");
    world_says(world, "Not all runs of the two sides were measured alternately");
    unpaired_runs = compare_with(world, runs[0], runs[2], "");
    assert_string_equal(json_get_text(unpaired_runs, "pairing", ""), "none");
    world_says(world, "were not measured alternately");
}

static void compares_only_the_repetitions_finished_on_both_deployments(void **state)
{
    struct world *world = *state;
    json_auto_t *answer = NULL;
    char sweep[ID_SIZE], begun[ID_SIZE];
    TEXT_AUTO arguments = { 0 };

    world_register(world, "demo");
    world_register(world, "new");
    sweep_started(world, BOTH, sweep);
    sweep_measured(world, sweep, 15, "stopped", "the time limit passed");
    answer = compared_sweep(world, sweep, ",\"accept_unknown\":[\"workload\"]");
    assert_int_equal(json_get_integer(answer, "pairs_left_out", 0), 1);
    assert_int_equal(json_array_size(json_object_get(answer, "candidate")), 1);
    world_says(world, "(not finished on both deployments): 1 of 2");
    sweep_started(world, BOTH, begun);
    sweep_measured(world, begun, 3, "stopped", "the time limit passed");
    text_addf(&arguments, "{\"sweep\":\"%s\"}", begun);
    world_refused(world, "run_compare", text_string(&arguments), ERROR_CONFLICT,
                  "is finished on both deployments yet");
}

static void requires_either_a_sweep_over_two_deployments_or_two_sides(void **state)
{
    struct world *world = *state;
    char alone[ID_SIZE], both[ID_SIZE];
    TEXT_AUTO arguments = { 0 };

    world_register(world, "demo");
    measure_sweep(world, "", 4, alone);
    world_register(world, "new");
    measure_sweep(world, BOTH, 16, both);
    world_refused(world, "run_compare", "{}", ERROR_INVALID, "run_compare needs either \"sweep\"");
    world_refused(world, "run_compare", "{\"baseline\":[\"run_x\"]}", ERROR_INVALID,
                  "run_compare needs either \"sweep\"");
    world_refused(world, "run_compare", "{\"sweep\":\"swp_x\",\"candidate\":[\"run_x\"]}",
                  ERROR_INVALID, "run_compare needs either \"sweep\"");
    world_refused(world, "run_compare", "{\"sweep\":\"swp_x\"}", ERROR_NOT_FOUND, "swp_x");
    text_addf(&arguments, "{\"sweep\":\"%s\"}", alone);
    world_refused(world, "run_compare", text_string(&arguments), ERROR_INVALID,
                  "has only one deployment, demo");
    text_clear(&arguments);
    text_addf(&arguments, "{\"baseline\":[\"%s\"],\"candidate\":[\"%s\"]}", alone, both);
    world_refused(world, "run_compare", text_string(&arguments), ERROR_INVALID,
                  "give the sweep as \"sweep\" to compare the two");
}

static void says_what_is_wrong_with_the_arguments(void **state)
{
    struct world *world = *state;
    char sweep[ID_SIZE];
    TEXT_AUTO twice = { 0 };

    world_register(world, "demo");
    measure_sweep(world, "", 4, sweep);
    text_addf(&twice, "{\"baseline\":[\"%s\"],\"candidate\":[\"%s\"]}", sweep, sweep);
    world_refused(world, "run_compare", text_string(&twice), ERROR_INVALID, "is named twice");
    world_refused(world, "run_compare", "{\"baseline\":[\"run_x\"],\"candidate\":[\"run_y\"]}",
                  ERROR_NOT_FOUND, "run_x");
    world_refused(world, "run_compare", "{\"baseline\":[\"swp_x\"],\"candidate\":[\"run_y\"]}",
                  ERROR_NOT_FOUND, "swp_x");
    world_refused(world, "run_compare",
                  "{\"baseline\":[\"run_x\"],\"candidate\":[\"run_y\"],\"factors\":[\"colour\"]}",
                  ERROR_INVALID, "names \"colour\", which is not a fact: the facts are model, ");
    world_refused(world, "run_compare", "{\"baseline\":[],\"candidate\":[\"run_y\"]}",
                  ERROR_INVALID, "or both \"baseline\" and \"candidate\"");
}

static void import_model(struct world *world, const char *model, char out[ID_SIZE])
{
    TEXT_AUTO arguments = { 0 };
    json_auto_t *answer = NULL;

    text_addf(&arguments,
              "{\"name\":\"%s.csv\",\"text\":\"model,context_size,concurrency,success_rate,"
              "req_per_sec\\n\\\"%s\\\",128,1,1,2.5\\n\\\"%s\\\",128,2,0.5,2.6\\n\"}",
              model, model, model);
    answer = world_ok(world, "run_import", text_string(&arguments));
    snprintf(out, ID_SIZE, "%s", json_get_text(json_object_get(answer, "run"), "id", ""));
}

/* Text from an imported file is quoted. */
static void compares_imports(void **state)
{
    struct world *world = *state;
    json_auto_t *incomparable = NULL, *answer = NULL;
    char first[ID_SIZE], second[ID_SIZE];

    import_model(world, "toy", first);
    import_model(world, "other", second);
    incomparable = compare_with(world, first, second, "");
    assert_string_equal(json_get_text(incomparable, "verdict", ""), "not_comparable");
    world_says(world, "- model: \"toy\" (imp_");
    world_says(world, "factors [\"model\"]");
    answer = compare_with(world, first, second,
                          ",\"metric\":\"request_throughput\",\"factors\":[\"model\"],"
                          "\"accept_unknown\":[\"model_revision\",\"engine\",\"engine_version\","
                          "\"flags\",\"hardware\",\"chips\",\"region\",\"limits\",\"workload\","
                          "\"input_unit\",\"output_length\"]");
    assert_string_equal(json_get_text(answer, "verdict", ""), "no_evidence");
    assert_int_equal(json_get_integer(answer, "cells", 0), 1);
    world_says(world, "fewer than 99 % of the requests succeeded");
}

/* Long values are shown from the point where they differ, since their beginnings look alike. */
static void shows_long_facts_from_the_point_where_they_differ(void **state)
{
    static const char same[] =
        "a-name-of-a-model-that-is-longer-than-what-an-answer-shows-of-a-fact-"
        "that-differs-between-the-sides-of-a-comparison,";
    struct world *world = *state;
    char model[160], first[ID_SIZE], second[ID_SIZE];

    snprintf(model, sizeof model, "%sone", same);
    import_model(world, model, first);
    snprintf(model, sizeof model, "%stwo", same);
    import_model(world, model, second);
    json_decref(compare_with(world, first, second, ""));
    world_says(world, "- model: \"...one\" (imp_");
    world_says(world, "; \"...two\" (imp_");
}

/* Stating facts later makes a new run with the same figures. */
static void refuses_two_imports_of_the_same_file(void **state)
{
    struct world *world = *state;
    char first[ID_SIZE], other[ID_SIZE], again[ID_SIZE];
    json_auto_t *answer = NULL;
    TEXT_AUTO arguments = { 0 };

    import_model(world, "toy", first);
    import_model(world, "other", other);
    text_addf(&arguments, "{\"run\":\"%s\",\"hardware\":\"L4\"}", first);
    answer = world_ok(world, "run_import", text_string(&arguments));
    snprintf(again, ID_SIZE, "%s", json_get_text(json_object_get(answer, "run"), "id", ""));
    assert_string_not_equal(first, again);
    text_clear(&arguments);
    text_addf(&arguments, "{\"baseline\":[\"%s\",\"%s\"],\"candidate\":[\"%s\"]}", first, again,
              other);
    world_refused(world, "run_compare", text_string(&arguments), ERROR_INVALID,
                  "come from the same file");
}

#define EVERY_FACT_ACCEPTED                                                                        \
    ",\"accept_unknown\":[\"model\",\"model_revision\",\"engine\",\"engine_version\","             \
    "\"flags\",\"hardware\",\"chips\",\"region\",\"limits\",\"workload\",\"input_unit\","          \
    "\"output_length\"]"

static void a_skipped_row_without_users_is_listed(void **state)
{
    struct world *world = *state;
    json_auto_t *first = world_ok(world, "run_import",
                                  "{\"text\":\"concurrency,context_len,success_rate,avg_latency_s,"
                                  "req_per_sec\\n1,64,1.0,0.5,2.0\\n,,1.0,0.25,4.0\\n\"}");
    json_auto_t *second = world_ok(world, "run_import",
                                   "{\"text\":\"concurrency,context_len,success_rate,avg_latency_s,"
                                   "req_per_sec\\n1,64,1.0,0.4,2.5\\n\"}");

    json_decref(compare_with(world, json_get_text(json_object_get(first, "run"), "id", ""),
                             json_get_text(json_object_get(second, "run"), "id", ""),
                             EVERY_FACT_ACCEPTED));
    world_says(world, "\n- ? users, context ?: ");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(compares_the_runs_of_two_sweeps),
        cmocka_unit_test(a_changed_label_does_not_prevent_a_comparison_but_changed_hardware_does),
        cmocka_unit_test(stated_flags_are_compared_like_other_facts),
        cmocka_unit_test(a_skipped_row_without_users_is_listed),
        cmocka_unit_test(cells_that_the_audit_finds_wrong_are_skipped),
        cmocka_unit_test(compares_the_runs_of_one_sweep),
        cmocka_unit_test(compares_the_two_deployments_of_one_sweep),
        cmocka_unit_test(compares_named_runs_of_one_sweep_in_pairs),
        cmocka_unit_test(compares_only_the_repetitions_finished_on_both_deployments),
        cmocka_unit_test(requires_either_a_sweep_over_two_deployments_or_two_sides),
        cmocka_unit_test(compares_imports),
        cmocka_unit_test(shows_long_facts_from_the_point_where_they_differ),
        cmocka_unit_test(refuses_two_imports_of_the_same_file),
        cmocka_unit_test(says_what_is_wrong_with_the_arguments),
    };

    return world_run(tests);
}
