/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of sweep_plan. */
#include "tests/unit/support/tool_sweeps.h"

static void plans_without_querying_the_model_server(void **state)
{
    struct world *world = *state;
    json_auto_t *answer = NULL;

    world_register(world, "demo");
    world->role = ROLE_VIEWER;
    simserve_stop(&world->simserve);
    answer = world_ok(world, "sweep_plan", "{" SMALL_GRID "}");
    world->simserve = simserve_start((const char *const[]){ NULL });
    assert_int_equal(json_get_integer(answer, "cells", 0), 4);
    assert_false(json_get_boolean(answer, "needs_go_ahead", true));
    assert_int_equal(strlen(json_get_text(answer, "plan_digest", "")), 64);
    assert_int_equal(json_get_integer(answer, "infeasible_cells", -1), 0);
    world_says(world, "Plan for demo (revision 1): 4 cells.");
    world_says(world, "Warning: one repetition shows no spread");
}

static void warns_of_short_answers_and_counts_cells_longer_than_the_context(void **state)
{
    struct world *world = *state;
    json_auto_t *answer = NULL;

    world_register(world, "demo");
    answer = world_ok(world, "sweep_plan",
                      "{\"concurrency\":[1,2],\"input_tokens\":[16,40000],\"output_tokens\":[1],"
                      "\"repetitions\":3}");
    assert_int_equal(json_get_integer(answer, "infeasible_cells", -1), 6);
    world_says(world, "Warning: answers under 16 tokens");
    world_says(world, "Warning: some cells do not fit in the model's context");
}

static void warns_of_fewer_than_two_requests_per_user(void **state)
{
    struct world *world = *state;
    json_auto_t *few = NULL, *enough = NULL;

    world_register(world, "demo");
    few = world_ok(world, "sweep_plan",
                   "{\"concurrency\":[1,8],\"input_tokens\":[16],\"requests\":15}");
    world_says(world, "Warning: \"requests\" is less than twice the largest concurrency");
    enough = world_ok(world, "sweep_plan",
                      "{\"concurrency\":[1,8],\"input_tokens\":[16],\"requests\":16}");
    assert_int_equal(json_array_size(json_object_get(enough, "warnings")) + 1,
                     json_array_size(json_object_get(few, "warnings")));
}

static void refuses_values_out_of_range(void **state)
{
    struct world *world = *state;

    world_register(world, "demo");
    world_refused(world, "sweep_plan", "{\"concurrency\":[1,20000],\"input_tokens\":[16]}",
                  ERROR_INVALID, "\"concurrency\"[1] is 20000: each must be from 1 to 10000");
    world_refused(world, "sweep_start",
                  "{\"concurrency\":[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16],"
                  "\"input_tokens\":[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16],"
                  "\"output_tokens\":[1],\"repetitions\":20}",
                  ERROR_INVALID, "the grid would have 5120 cells");
    world_refused(world, "sweep_plan", "{\"concurrency\":[1],\"input_tokens\":[16],\"seed\":-1}",
                  ERROR_INVALID, "from 0 to 9007199254740991");
    world_refused(world, "sweep_plan", "{" SMALL_GRID ",\"limit_error_rate\":1.5}", ERROR_INVALID,
                  "limit_error_rate");
}

#define SETTINGS(more) "{\"concurrency\":[1],\"input_tokens\":[16]," more "}"

static void refuses_settings_that_have_no_effect(void **state)
{
    static const char *const refused[][2] = {
        { SETTINGS("\"limit_percentile\":\"p50\""),
          "'limit_percentile' is p50, but no latency limit is given: give limit_ttft_ms" },
        { SETTINGS("\"think_time\":\"exponential\""), "give think_time_s too, or omit think_time" },
        { "{\"arrival\":\"poisson\",\"request_rate\":[1],\"input_tokens\":[16],"
          "\"think_time\":\"exponential\"}",
          "an open loop has no users who pause" },
        { SETTINGS("\"request_timeout_s\":30,\"ttft_timeout_s\":31"),
          "'ttft_timeout_s' is 31, longer than 'request_timeout_s' (30)" },
        { SETTINGS("\"request_timeout_s\":30,\"idle_timeout_s\":31"), "'idle_timeout_s' is 31" },
        { SETTINGS("\"http2_streams\":8"), "HTTP/2 is negotiated over TLS" },
    };
    struct world *world = *state;

    world_register(world, "demo");
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        world_refused(world, "sweep_plan", refused[i][0], ERROR_INVALID, refused[i][1]);
    world_do(world, "sweep_plan", SETTINGS("\"request_timeout_s\":30"));
    world_do(world, "sweep_plan", SETTINGS("\"limit_percentile\":\"p50\",\"limit_itl_ms\":5"));
}

static void lists_the_options_until_one_is_given(void **state)
{
    struct world *world = *state;
    json_auto_t *bare = NULL, *given = NULL;
    const json_t *aside;

    world_register(world, "demo");
    bare = world_ok(world, "sweep_plan", "{\"concurrency\":[1],\"input_tokens\":[16]}");
    assert_non_null(strstr(json_get_text(bare, "options", ""), "arrival=\"closed\""));
    assert_null(strstr(text_string(&world->text), "arrival=\"closed\""));
    aside = json_array_get(world->content, 1);
    assert_non_null(strstr(json_get_text(aside, "text", ""),
                           "More `options` (opsbrain://arguments/sweep_plan): arrival=\"closed\""));
    assert_string_equal(json_string_value(json_array_get(
                            json_object_get(json_object_get(aside, "annotations"), "audience"), 0)),
                        "assistant");
    given = world_ok(world, "sweep_plan", "{" SMALL_GRID ",\"options\":[\"seed=7\"]}");
    assert_null(json_object_get(given, "options"));
}

static void accepts_the_arguments_corrects_purpose_and_plan_digest_of_sweep_start(void **state)
{
    struct world *world = *state;
    char earlier[ID_SIZE];
    TEXT_AUTO arguments = { 0 };
    json_auto_t *plan = NULL, *again = NULL;

    world_register(world, "demo");
    sweep_started(world, "", earlier);
    world_refused(world, "sweep_plan", "{" SMALL_GRID ",\"corrects\":\"swp_none\"}",
                  ERROR_NOT_FOUND, "swp_none");
    text_addf(&arguments, "{" SMALL_GRID ",\"purpose\":\"once more\",\"corrects\":\"%s\"", earlier);
    text_add(&arguments, "}");
    world_refused(world, "sweep_plan", text_string(&arguments), ERROR_CONFLICT, "has not ended");
    sweep_measured(world, earlier, 4, "completed", "");
    plan = world_ok(world, "sweep_plan", text_string(&arguments));
    arguments.length -= 1;
    text_addf(&arguments, ",\"plan_digest\":\"%s\"}", json_get_text(plan, "plan_digest", ""));
    again = world_ok(world, "sweep_plan", text_string(&arguments));
    assert_true(json_equal(plan, again));
    world_do(world, "sweep_start", text_string(&arguments));
    world_do(world, "sweep_plan",
             "{" SMALL_GRID ",\"plan_digest\":"
             "\"0000000000000000000000000000000000000000000000000000000000000000\"}");
    world_says(world, "Warning: the given plan_digest belongs to a different plan");
}

static void shows_the_maximum_number_of_cells_of_an_adaptive_search(void **state)
{
    struct world *world = *state;
    json_auto_t *answer = NULL, *few = NULL;
    TEXT_AUTO arguments = { 0 };

    world_register(world, "demo");
    text_add(&arguments, "{\"input_tokens\":[64],\"search\":\"adaptive\",\"limit_ttft_ms\":500,"
                         "\"concurrency\":[");
    for (int i = 1; i <= 24; i++)
        text_addf(&arguments, "%d%s", i, i < 24 ? "," : "]}");
    answer = world_ok(world, "sweep_plan", text_string(&arguments));
    assert_int_equal(json_get_integer(answer, "cells", 0), 16);
    assert_int_equal(json_get_integer(answer, "grid_cells", 0), 24);
    world_says(world, "at most 16 of 24 cells, by adaptive search.");
    few = world_ok(world, "sweep_plan", "{" SMALL_GRID ",\"search\":\"adaptive\"}");
    assert_non_null(few);
    world_says(world, "an adaptive search saves little with fewer than 10 loads");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plans_without_querying_the_model_server),
        cmocka_unit_test(warns_of_short_answers_and_counts_cells_longer_than_the_context),
        cmocka_unit_test(warns_of_fewer_than_two_requests_per_user),
        cmocka_unit_test(refuses_values_out_of_range),
        cmocka_unit_test(refuses_settings_that_have_no_effect),
        cmocka_unit_test(lists_the_options_until_one_is_given),
        cmocka_unit_test(accepts_the_arguments_corrects_purpose_and_plan_digest_of_sweep_start),
        cmocka_unit_test(shows_the_maximum_number_of_cells_of_an_adaptive_search),
    };

    return world_run(tests);
}
