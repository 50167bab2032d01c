/* SPDX-License-Identifier: Apache-2.0 */
/* sweep_plan, _start, _show, _list, _cancel, _resume. */
#include "handlers/answers/cell_answer.h"
#include "tests/unit/support/tool_sweeps.h"

#define LARGE_GRID                                                                                 \
    "\"concurrency\":[1,64,512],\"input_tokens\":[1024,8192],\"output_tokens\":[128],"             \
    "\"window_s\":60"

static void plans_without_asking_the_server(void **state)
{
    struct world *world = *state;
    json_auto_t *answer = NULL;

    world_register(world, "demo");
    world->role = ROLE_VIEWER;
    answer = world_ok(world, "sweep_plan", "{" SMALL_GRID "}");
    assert_int_equal(json_get_integer(answer, "cells", 0), 4);
    assert_false(json_get_boolean(answer, "needs_go_ahead", true));
    assert_int_equal(strlen(json_get_text(answer, "plan_digest", "")), 64);
    assert_int_equal(json_get_integer(answer, "infeasible_cells", -1), 0);
    world_says(world, "Plan for demo (revision 1): 4 cells.");
    world_says(world, "Warning: one repetition shows no spread");
}

static void counts_cells_that_do_not_fit_the_context(void **state)
{
    struct world *world = *state;
    json_auto_t *answer = NULL;

    world_register(world, "demo");
    answer = world_ok(world, "sweep_plan",
                      "{\"concurrency\":[1,2],\"input_tokens\":[16,40000],\"output_tokens\":[1],"
                      "\"repetitions\":3}");
    assert_int_equal(json_get_integer(answer, "infeasible_cells", -1), 6);
    world_says(world, "Warning: answers under 16 tokens");
    world_says(world, "Warning: some cells are longer than the model's context");
}

static void warns_of_windows_that_see_a_burst(void **state)
{
    struct world *world = *state;
    json_auto_t *burst = NULL, *steady = NULL;

    world_register(world, "demo");
    burst = world_ok(world, "sweep_plan",
                     "{\"concurrency\":[1,8],\"input_tokens\":[16],\"requests\":15}");
    world_says(world, "Warning: \"requests\" is less than two for each user");
    steady = world_ok(world, "sweep_plan",
                      "{\"concurrency\":[1,8],\"input_tokens\":[16],\"requests\":16}");
    assert_int_equal(json_array_size(json_object_get(steady, "warnings")) + 1,
                     json_array_size(json_object_get(burst, "warnings")));
}

static void refuses_a_grid_out_of_range_with_the_limits(void **state)
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
    world_refused(world, "sweep_plan",
                  "{\"concurrency\":[1],\"input_tokens\":[16],\"http2_streams\":8}", ERROR_INVALID,
                  "HTTP/2 is negotiated over TLS");
}

#define SETTINGS(more) "{\"concurrency\":[1],\"input_tokens\":[16]," more "}"

static void refuses_settings_that_have_no_effect(void **state)
{
    static const char *const refused[][2] = {
        { SETTINGS("\"limit_percentile\":\"p50\""),
          "'limit_percentile' is p50, but no latency limit is given: give limit_ttft_ms" },
        { SETTINGS("\"think_time\":\"exponential\""), "give think_time_s too, or omit it" },
        { "{\"arrival\":\"poisson\",\"request_rate\":[1],\"input_tokens\":[16],"
          "\"think_time\":\"exponential\"}",
          "users of an open loop do not think" },
        { SETTINGS("\"request_timeout_s\":30,\"ttft_timeout_s\":31"),
          "'ttft_timeout_s' is 31, but the whole request may take 'request_timeout_s', which is "
          "30" },
        { SETTINGS("\"request_timeout_s\":30,\"idle_timeout_s\":31"), "'idle_timeout_s' is 31" },
    };
    struct world *world = *state;

    world_register(world, "demo");
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        world_refused(world, "sweep_plan", refused[i][0], ERROR_INVALID, refused[i][1]);
    world_do(world, "sweep_plan", SETTINGS("\"request_timeout_s\":30"));
    world_do(world, "sweep_plan", SETTINGS("\"limit_percentile\":\"p50\",\"limit_itl_ms\":5"));
}

static void starts_at_once_with_sweep_and_job(void **state)
{
    struct world *world = *state;
    json_auto_t *answer = NULL;
    const json_t *sweep;

    world_register(world, "demo");
    world->role = ROLE_OPERATOR;
    answer = world_ok(world, "sweep_start", "{" SMALL_GRID ",\"seed\":7}");
    sweep = json_object_get(answer, "sweep");
    assert_int_equal(strncmp(json_get_text(sweep, "id", ""), "swp_", 4), 0);
    assert_int_equal(strncmp(json_get_text(answer, "job", ""), "job_", 4), 0);
    assert_string_equal(json_get_text(sweep, "state", ""), "planned");
    assert_string_equal(json_get_text(sweep, "principal", ""), "alice");
    assert_int_equal(json_get_integer(sweep, "cells_total", 0), 4);
    assert_int_equal(json_get_integer(json_object_get(sweep, "plan"), "seed", 0), 7);
    world_audited(world, "sweep_start", "ok", json_get_text(sweep, "id", ""));
}

static void starts_no_second_sweep_for_the_same_key(void **state)
{
    struct world *world = *state;
    json_auto_t *first = NULL, *again = NULL;

    world_register(world, "demo");
    first = world_ok(world, "sweep_start", "{" SMALL_GRID ",\"idempotency_key\":\"k\"}");
    again = world_ok(world, "sweep_start", "{\"idempotency_key\":\"k\"," SMALL_GRID "}");
    assert_true(json_get_boolean(first, "started", false));
    assert_false(json_get_boolean(again, "started", true));
    assert_string_equal(json_get_text(first, "job", "1"), json_get_text(again, "job", "2"));
    world_refused(world, "sweep_start", "{" SMALL_GRID ",\"seed\":9,\"idempotency_key\":\"k\"}",
                  ERROR_CONFLICT, "idempotency key");
}

static void wants_the_go_ahead_for_large_sweeps(void **state)
{
    struct world *world = *state;
    json_auto_t *plan = NULL;
    TEXT_AUTO arguments = { 0 };

    world_register(world, "demo");
    world_refused(world, "sweep_start", "{" LARGE_GRID "}", ERROR_INVALID,
                  "over 60 minutes or 10 million tokens it needs the go-ahead");
    assert_non_null(strstr(world->error.message, " million tokens (6 cells)"));
    plan = world_ok(world, "sweep_plan", "{" LARGE_GRID "}");
    assert_true(json_get_boolean(plan, "needs_go_ahead", false));
    text_addf(&arguments, "{" LARGE_GRID ",\"plan_digest\":\"%s\"",
              json_get_text(plan, "plan_digest", ""));
    text_add(&arguments, ",\"seed\":2}");
    world_refused(world, "sweep_start", text_string(&arguments), ERROR_CONFLICT,
                  "\"plan_digest\" is of another plan");
    arguments.length -= strlen(",\"seed\":2}");
    text_add(&arguments, "}");
    world_do(world, "sweep_start", text_string(&arguments));
}

static void starts_the_plan_that_the_digest_names(void **state)
{
    struct world *world = *state;
    TEXT_AUTO alone = { 0 };
    json_auto_t *plan = NULL, *started = NULL;
    const char *digest;

    world_register(world, "demo");
    plan = world_ok(world, "sweep_plan",
                    "{" SMALL_GRID ",\"options\":[\"seed=7\",\"purpose=night\"]}");
    world_says(world, "Next: sweep_start with this plan_digest");
    digest = json_get_text(plan, "plan_digest", "");
    text_addf(&alone, "{\"plan_digest\":\"%s\"}", digest);
    started = world_ok(world, "sweep_start", text_string(&alone));
    assert_int_equal(
        json_get_integer(json_object_get(json_object_get(started, "sweep"), "plan"), "seed", 0), 7);
    world->principal = "bob"; /* who did not look at it */
    world_refused(world, "sweep_start", text_string(&alone), ERROR_NOT_FOUND,
                  "\"plan_digest\" is of no plan that you reviewed");
    world->principal = "alice";
    text_clear(&alone);
    text_addf(&alone, "{\"plan_digest\":\"%s\",\"window_s\":77}", digest);
    world_refused(world, "sweep_start", text_string(&alone), ERROR_CONFLICT,
                  "\"plan_digest\" is of another plan");
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

static void plans_with_all_arguments_of_the_start(void **state)
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
    world_refused(world, "sweep_plan", text_string(&arguments), ERROR_CONFLICT, "is still running");
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
    world_says(world, "Warning: the plan_digest given is of another plan");
}

static void leaves_no_sweep_behind_where_the_server_is_down(void **state)
{
    struct world *world = *state;
    json_auto_t *list = NULL;

    world_do(world, "deployment_register", "{\"name\":\"off\",\"url\":\"http://127.0.0.1:1\"}");
    world_refused(world, "sweep_start", "{" SMALL_GRID "}", ERROR_UPSTREAM,
                  "off cannot be measured now: ");
    world_refused(world, "sweep_start", "{\"deployment\":\"nobody\"," SMALL_GRID "}",
                  ERROR_NOT_FOUND, "nobody");
    list = world_ok(world, "sweep_list", "{}");
    assert_int_equal(json_array_size(json_object_get(list, "sweeps")), 0);
    world_says(world, "No such sweep");
}

static void leaves_no_sweep_behind_where_the_model_does_not_exist(void **state)
{
    struct world *world = *state;

    world_register(world, "demo");
    world_do(world, "deployment_update", "{\"model\":\"no/such\"}");
    world_refused(world, "sweep_start", "{" SMALL_GRID "}", ERROR_NOT_FOUND,
                  "has no model \"no/such\" (not_found); it serves \"simserve/toy\"");
}

static void shows_cells_page_by_page(void **state)
{
    struct world *world = *state;
    char id[ID_SIZE];
    TEXT_AUTO arguments = { 0 };
    json_auto_t *first = NULL, *second = NULL;
    const json_t *cell;

    world_register(world, "demo");
    sweep_started(world, "", id);
    sweep_measured(world, id, 3, "stopped", "the time limit of 1 s passed");
    text_addf(&arguments, "{\"sweep\":\"%s\",\"limit\":2}", id);
    first = world_ok(world, "sweep_show", text_string(&arguments));
    assert_int_equal(json_array_size(json_object_get(first, "cells")), 2);
    cell = json_array_get(json_object_get(first, "cells"), 1);
    assert_int_equal(json_get_integer(cell, "concurrency", 0), 4);
    assert_string_equal(json_get_text(cell, "state", ""), "measured");
    assert_true(json_get_number(cell, "ttft_p50_ms", 0) == 20);
    assert_true(json_get_number(cell, "output_tokens_per_s", 0) == 640);
    world_says(world, "Reason: the time limit of 1 s passed");
    world_says(world, "Next: sweep_resume to measure what is missing");
    text_clear(&arguments);
    text_addf(&arguments, "{\"sweep\":\"%s\",\"cursor\":\"%s\"}", id,
              json_get_text(first, "next_cursor", ""));
    second = world_ok(world, "sweep_show", text_string(&arguments));
    cell = json_array_get(json_object_get(second, "cells"), 1);
    assert_string_equal(json_get_text(cell, "state", ""), "pending");
    assert_null(json_object_get(cell, "ttft_p50_ms"));
    assert_null(json_object_get(second, "next_cursor"));
    world_refused(world, "sweep_show", "{\"sweep\":\"swp_nobody\"}", ERROR_NOT_FOUND, "swp_nobody");
}

static void says_once_why_cells_have_no_figures(void **state)
{
    struct cell_row cells[] = {
        { .concurrency = 1, .input_tokens = 64, .state = CELL_MEASURED },
        { .concurrency = 2, .input_tokens = 64, .state = CELL_INFERRED, .reason = "it is under" },
        { .concurrency = 3, .input_tokens = 64, .state = CELL_INFERRED, .reason = "it is under" },
        { .concurrency = 4, .input_tokens = 64, .state = CELL_FAILED, .reason = "no room" },
    };
    TEXT_AUTO text = { 0 };

    (void)state;
    cell_answer_table(cells, 4, &text);
    assert_non_null(
        strstr(text_string(&text),
               "\n\n- inferred: 2 cells, the first with 2 users x 64 tokens: it is under\n"
               "- failed: 4 users x 64 tokens: no room\n"));
}

static void lists_sweeps_newest_first(void **state)
{
    struct world *world = *state;
    char older[ID_SIZE], newer[ID_SIZE];
    json_auto_t *list = NULL, *none = NULL;

    world_register(world, "demo");
    sweep_started(world, "", older);
    sweep_started(world, "", newer);
    list = world_ok(world, "sweep_list", "{\"deployment\":\"demo\"}");
    assert_int_equal(json_array_size(json_object_get(list, "sweeps")), 2);
    assert_string_equal(json_get_text(json_array_get(json_object_get(list, "sweeps"), 0), "id", ""),
                        newer);
    none = world_ok(world, "sweep_list", "{\"deployment\":\"other\"}");
    assert_int_equal(json_array_size(json_object_get(none, "sweeps")), 0);
}

static void cancels_its_own_sweep_but_not_anothers(void **state)
{
    struct world *world = *state;
    char id[ID_SIZE];
    TEXT_AUTO arguments = { 0 };
    json_auto_t *answer = NULL;

    world_register(world, "demo");
    sweep_started(world, "", id);
    text_addf(&arguments, "{\"sweep\":\"%s\"}", id);
    world->principal = "bob";
    world->role = ROLE_OPERATOR;
    world_refused(world, "sweep_cancel", text_string(&arguments), ERROR_FORBIDDEN,
                  "was started by alice: only alice or an admin may stop it");
    world->principal = "alice";
    answer = world_ok(world, "sweep_cancel", text_string(&arguments));
    assert_string_equal(json_get_text(json_object_get(answer, "sweep"), "state", ""), "cancelled");
    world_refused(world, "sweep_cancel", text_string(&arguments), ERROR_CONFLICT,
                  "is not running: it is cancelled");
}

static void lets_an_admin_cancel_anothers_sweep(void **state)
{
    struct world *world = *state;
    char id[ID_SIZE];
    TEXT_AUTO arguments = { 0 };

    world_register(world, "demo");
    sweep_started(world, "", id);
    world->principal = "root";
    text_addf(&arguments, "{\"sweep\":\"%s\"}", id);
    world_do(world, "sweep_cancel", text_string(&arguments));
}

static void resumes_with_the_cells_that_are_missing(void **state)
{
    struct world *world = *state;
    char id[ID_SIZE];
    TEXT_AUTO arguments = { 0 };
    json_auto_t *answer = NULL;

    world_register(world, "demo");
    sweep_started(world, "", id);
    text_addf(&arguments, "{\"sweep\":\"%s\"}", id);
    world_refused(world, "sweep_resume", text_string(&arguments), ERROR_CONFLICT,
                  "is already running (planned)");
    sweep_measured(world, id, 3, "stopped", "the time limit passed");
    answer = world_ok(world, "sweep_resume", text_string(&arguments));
    assert_string_equal(json_get_text(json_object_get(answer, "sweep"), "state", ""), "planned");
    assert_int_equal(json_get_integer(json_object_get(answer, "sweep"), "cells_done", 0), 3);
    sweep_claimed(world, id); /* the new job is there to be taken */
}

/* Two repetitions: the first is finished with a failed cell, and one of the second failed. */
static void begun_with_failures(struct world *world, char id[ID_SIZE], char first_run[ID_SIZE])
{
    struct store *store = world->services.store;
    struct cell_row *cells;
    struct claim claim;
    size_t total, done[2] = { 0 };

    sweep_started(world, ",\"repetitions\":2", id);
    claim = sweep_claimed(world, id);
    assert_stored(world, cell_list(store, id, NULL, &cells, &total, &world->error));
    assert_int_equal(total, 8);
    for (size_t i = 0; i < total; i++) {
        size_t turn = done[cells[i].repetition]++;

        if (cells[i].repetition == 0)
            memcpy(first_run, cells[i].run_id, ID_SIZE);
        if (turn == 1)
            cell_failed(world, &claim, &cells[i]);
        else if (cells[i].repetition == 0 || turn == 0)
            cell_measured(world, &claim, &cells[i]);
    }
    cell_rows_free(cells, total);
    assert_stored(world, job_finish(store, &claim,
                                    &(struct job_ending){ .state = JOB_COMPLETED,
                                                          .outcome_json = "{}",
                                                          .sweep_state = "stopped",
                                                          .sweep_reason = "the time limit passed" },
                                    clock_utc_ms(), &world->error));
}

static void resuming_lists_the_failed_cells_that_it_leaves_as_they_are(void **state)
{
    struct world *world = *state;
    char id[ID_SIZE], first_run[ID_SIZE], correction[128];
    TEXT_AUTO arguments = { 0 };
    json_auto_t *answer = NULL;
    const json_t *left;

    world_register(world, "demo");
    begun_with_failures(world, id, first_run);
    text_addf(&arguments, "{\"sweep\":\"%s\"}", id);
    answer = world_ok(world, "sweep_resume", text_string(&arguments));
    assert_int_equal(json_get_integer(answer, "left_failed", 0), 2);
    left = json_array_get(json_object_get(answer, "left"), 0);
    assert_string_equal(json_get_text(left, "run", ""), first_run);
    assert_true(json_get_boolean(left, "run_finished", false));
    assert_string_equal(json_get_text(left, "reason", ""), "timeout: no token within 9 s");
    assert_false(
        json_get_boolean(json_array_get(json_object_get(answer, "left"), 1), "run_finished", true));
    world_says(world, "1 failed or skipped in unfinished runs");
    snprintf(correction, sizeof correction, "repetitions 1 and \"corrects\": \"%s\"", first_run);
    world_says(world, correction);
}

static void retrying_what_failed_leaves_only_that_of_finished_runs(void **state)
{
    struct world *world = *state;
    char id[ID_SIZE], first_run[ID_SIZE];
    TEXT_AUTO arguments = { 0 };
    json_auto_t *answer = NULL;

    world_register(world, "demo");
    begun_with_failures(world, id, first_run);
    text_addf(&arguments, "{\"sweep\":\"%s\",\"retry_failed\":true}", id);
    answer = world_ok(world, "sweep_resume", text_string(&arguments));
    assert_int_equal(json_get_integer(answer, "left_failed", 0), 1);
    assert_int_equal(json_get_integer(json_object_get(answer, "sweep"), "cells_done", 0), 5);
    assert_null(strstr(text_string(&world->text), "unfinished runs"));
}

static void resumes_only_on_the_revision_that_was_measured(void **state)
{
    struct world *world = *state;
    char id[ID_SIZE];
    TEXT_AUTO arguments = { 0 };

    world_register(world, "demo");
    sweep_started(world, "", id);
    sweep_measured(world, id, 1, "stopped", "the time limit passed");
    world_do(world, "deployment_update", "{\"hardware\":\"2x L4\"}");
    text_addf(&arguments, "{\"sweep\":\"%s\"}", id);
    world_refused(world, "sweep_resume", text_string(&arguments), ERROR_CONFLICT,
                  "its cells would mix two revisions");
}

/* The label is not part of what was measured. */
static void resumes_though_a_label_was_changed(void **state)
{
    struct world *world = *state;
    char id[ID_SIZE];
    TEXT_AUTO arguments = { 0 };
    json_auto_t *answer = NULL;

    world_register(world, "demo");
    sweep_started(world, "", id);
    sweep_measured(world, id, 1, "stopped", "the time limit passed");
    world_do(world, "deployment_update", "{\"labels\":{\"team\":\"blue\"}}");
    text_addf(&arguments, "{\"sweep\":\"%s\"}", id);
    answer = world_ok(world, "sweep_resume", text_string(&arguments));
    assert_string_equal(json_get_text(json_object_get(answer, "sweep"), "id", ""), id);
}

/* ---- Adaptive search ---- */

static void plans_an_adaptive_search_by_the_cells_it_may_take(void **state)
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
    world_refused(world, "sweep_plan", "{" SMALL_GRID ",\"limit_error_rate\":1.5}", ERROR_INVALID,
                  "limit_error_rate");
}

static void shows_saturation_and_limits_of_what_is_measured(void **state)
{
    struct world *world = *state;
    char id[ID_SIZE];
    TEXT_AUTO arguments = { 0 };
    json_auto_t *shown = NULL;
    const json_t *findings;

    world_register(world, "demo");
    sweep_started(world, ",\"limit_e2e_ms\":100000", id);
    sweep_measured(world, id, 4, "completed", "");
    text_addf(&arguments, "{\"sweep\":\"%s\"}", id);
    shown = world_ok(world, "sweep_show", text_string(&arguments));
    findings = json_array_get(json_object_get(shown, "findings"), 0);
    assert_int_equal(json_array_size(json_object_get(findings, "saturation")), 2);
    assert_int_equal(json_array_size(json_object_get(findings, "limits")), 2);
    world_says(world, "- 64 tokens in, 16 out: not saturated below 4; throughput may still grow at "
                      "4 users, the largest load");
}

/* ---- Two deployments ---- */

static void plans_a_sweep_over_two_deployments(void **state)
{
    struct world *world = *state;
    json_auto_t *alone = NULL, *both = NULL;

    world_register(world, "demo");
    alone = world_ok(world, "sweep_plan", "{" SMALL_GRID "}");
    assert_true(json_is_null(json_object_get(alone, "candidate"))
                || json_object_get(alone, "candidate") == NULL);
    world_register(world, "new");
    both = world_ok(world, "sweep_plan",
                    "{\"deployment\":\"demo\",\"candidate\":\"new\",\"repetitions\":2," SMALL_GRID
                    "}");
    assert_string_equal(json_get_text(both, "candidate", ""), "new");
    assert_int_equal(json_get_integer(both, "cells", 0), 16);
    assert_string_not_equal(json_get_text(both, "plan_digest", ""),
                            json_get_text(alone, "plan_digest", ""));
    world_says(world, "Plan for demo (revision 1), in turns with new (revision 1): 16 cells.");
    world_says(world, "fewer than 5 pairs of runs");
    world_says(world, "both deployments have the same host and port");
    world_refused(world, "sweep_plan",
                  "{\"deployment\":\"demo\",\"candidate\":\"demo\"," SMALL_GRID "}", ERROR_INVALID,
                  "\"candidate\" is demo, the deployment itself");
    world_refused(world, "sweep_start",
                  "{\"deployment\":\"demo\",\"candidate\":\"nobody\"," SMALL_GRID "}",
                  ERROR_NOT_FOUND, "nobody");
}

#define BOTH "\"deployment\":\"demo\",\"candidate\":\"new\""

static void starts_and_shows_a_sweep_over_two_deployments(void **state)
{
    struct world *world = *state;
    char id[ID_SIZE];
    TEXT_AUTO arguments = { 0 };
    json_auto_t *shown = NULL, *of_candidate = NULL, *runs = NULL;
    const json_t *sweep;

    world_register(world, "demo");
    world_register(world, "new");
    sweep_started(world, "," BOTH, id);
    world_says(world, "on demo (revision 1) in turns with new (revision 1) is planned: 0 of 8");
    world_says(world, "then run_compare with this sweep");
    world_refused(world, "deployment_remove", "{\"deployment\":\"new\",\"confirm\":\"new\"}",
                  ERROR_CONFLICT, "is using new");
    sweep_measured(world, id, 8, "completed", "");
    text_addf(&arguments, "{\"sweep\":\"%s\"}", id);
    shown = world_ok(world, "sweep_show", text_string(&arguments));
    sweep = json_object_get(shown, "sweep");
    assert_string_equal(json_get_text(sweep, "deployment", ""), "demo");
    assert_string_equal(json_get_text(sweep, "candidate", ""), "new");
    assert_int_equal(json_get_integer(sweep, "candidate_revision", 0), 1);
    assert_string_equal(
        json_get_text(json_array_get(json_object_get(shown, "cells"), 1), "deployment", ""), "new");
    world_says(world, "Deployment");
    world_says(world, "Next: run_compare with this sweep");
    of_candidate = world_ok(world, "sweep_list", "{\"deployment\":\"new\"}");
    assert_int_equal(json_array_size(json_object_get(of_candidate, "sweeps")), 1);
    runs = world_ok(world, "run_list", "{\"deployment\":\"new\"}");
    assert_int_equal(json_array_size(json_object_get(runs, "runs")), 1);
}

static void resumes_two_deployments_only_at_the_revisions_that_were_measured(void **state)
{
    struct world *world = *state;
    char id[ID_SIZE];
    TEXT_AUTO arguments = { 0 };

    world_register(world, "demo");
    world_register(world, "new");
    sweep_started(world, "," BOTH, id);
    sweep_measured(world, id, 1, "stopped", "the time limit passed");
    world_do(world, "deployment_update", "{\"deployment\":\"new\",\"hardware\":\"2x L4\"}");
    text_addf(&arguments, "{\"sweep\":\"%s\"}", id);
    world_refused(world, "sweep_resume", text_string(&arguments), ERROR_CONFLICT,
                  "measured revision 1 of new, which is at revision 2 now");
}

static void reports_two_deployments_separately(void **state)
{
    struct world *world = *state;
    char id[ID_SIZE];
    TEXT_AUTO arguments = { 0 };
    TEXT_AUTO one = { 0 };
    json_auto_t *report = NULL, *of_new = NULL;
    const json_t *first, *second;

    world_register(world, "demo");
    world_register(world, "new");
    sweep_started(world, "," BOTH, id);
    sweep_measured(world, id, 8, "completed", "");
    text_addf(&arguments, "{\"sweep\":\"%s\"}", id);
    report = world_ok(world, "run_report", text_string(&arguments));
    first = json_object_get(report, "report");
    second = json_object_get(report, "candidate_report");
    assert_string_equal(json_get_text(json_object_get(first, "sweep"), "deployment", ""), "demo");
    assert_string_equal(json_get_text(json_object_get(second, "sweep"), "deployment", ""), "new");
    assert_int_equal(json_get_integer(first, "repetitions", 0), 1);
    assert_int_equal(json_array_size(json_object_get(report, "runs")), 2);
    world_says(world, " of demo\n");
    world_says(world, " of new\n");
    world_says(world, "in turns with new, cell by cell");
    text_addf(&one, "{\"sweep\":\"%s\",\"deployment\":\"new\"}", id);
    of_new = world_ok(world, "run_report", text_string(&one));
    assert_null(json_object_get(of_new, "candidate_report"));
    assert_string_equal(json_get_text(json_object_get(json_object_get(of_new, "report"), "sweep"),
                                      "deployment", ""),
                        "new");
    text_clear(&one);
    text_addf(&one, "{\"sweep\":\"%s\",\"deployment\":\"else\"}", id);
    world_refused(world, "run_report", text_string(&one), ERROR_INVALID, "of demo and new");
}

/* ---- Corrections ---- */

static void run_of_sweep(struct world *world, const char *sweep, size_t which, char out[ID_SIZE])
{
    TEXT_AUTO arguments = { 0 };
    json_auto_t *runs = NULL;

    text_addf(&arguments, "{\"sweep\":\"%s\"}", sweep);
    runs = world_ok(world, "run_list", text_string(&arguments));
    snprintf(out, ID_SIZE, "%s",
             json_get_text(json_array_get(json_object_get(runs, "runs"), which), "id", ""));
}

static void a_correction_is_a_new_sweep_that_points_at_the_old(void **state)
{
    struct world *world = *state;
    char first[ID_SIZE], second[ID_SIZE], before[ID_SIZE], after[ID_SIZE];
    TEXT_AUTO arguments = { 0 };
    TEXT_AUTO words = { 0 };
    json_auto_t *shown = NULL, *report = NULL;

    world_register(world, "demo");
    sweep_started(world, "", first);
    sweep_measured(world, first, 4, "completed", "");
    run_of_sweep(world, first, 0, before);
    text_addf(&arguments, ",\"corrects\":\"%s\"", first);
    sweep_started(world, text_string(&arguments), second);
    run_of_sweep(world, second, 0, after);
    text_addf(&words, "%s corrects %s.", after, before);
    world_says(world, text_string(&words));
    sweep_measured(world, second, 4, "completed", "");
    text_clear(&arguments);
    text_addf(&arguments, "{\"run\":\"%s\"}", before);
    shown = world_ok(world, "run_show", text_string(&arguments));
    assert_string_equal(json_get_text(json_object_get(shown, "run"), "corrected_by", ""), after);
    assert_int_equal(json_get_integer(json_object_get(shown, "run"), "cells_done", 0), 4);
    text_clear(&words);
    text_addf(&words, "%s was corrected by %s: use that one.", before, after);
    world_says(world, text_string(&words));
    report = world_ok(world, "run_report", text_string(&arguments));
    assert_non_null(report);
    world_says(world, "was corrected by run_");
    text_clear(&arguments);
    text_addf(&arguments, "{\"baseline\":[\"%s\"],\"candidate\":[\"%s\"]}", before, after);
    world_do(world, "run_compare", text_string(&arguments));
    world_says(world, "was corrected by run_");
}

static void corrects_only_what_is_the_same_and_over(void **state)
{
    struct world *world = *state;
    char first[ID_SIZE], run[ID_SIZE], second[ID_SIZE];
    TEXT_AUTO same = { 0 };
    TEXT_AUTO more = { 0 };
    TEXT_AUTO other = { 0 };

    world_register(world, "demo");
    sweep_started(world, "", first);
    text_addf(&same, "{" SMALL_GRID ",\"deployment\":\"demo\",\"corrects\":\"%s\"}", first);
    world_refused(world, "sweep_start", text_string(&same), ERROR_CONFLICT, "is still running");
    sweep_measured(world, first, 4, "completed", "");
    text_addf(&more, "{" SMALL_GRID ",\"repetitions\":2,\"corrects\":\"%s\"}", first);
    world_refused(world, "sweep_start", text_string(&more), ERROR_INVALID,
                  "has other cells than this call");
    world_refused(world, "sweep_start", "{" SMALL_GRID ",\"corrects\":\"run_nobody\"}",
                  ERROR_NOT_FOUND, "run_nobody");
    world_register(world, "new");
    text_addf(&other, "{" SMALL_GRID ",\"deployment\":\"new\",\"corrects\":\"%s\"}", first);
    world_refused(world, "sweep_start", text_string(&other), ERROR_INVALID,
                  "was measured on demo, not on the deployments of this call");
    run_of_sweep(world, first, 0, run);
    text_clear(&more);
    text_addf(&more, ",\"deployment\":\"demo\",\"corrects\":\"%s\"", run);
    sweep_started(world, text_string(&more), second);
    sweep_measured(world, second, 4, "completed", "");
    world_refused(world, "sweep_start", text_string(&same), ERROR_CONFLICT, ": correct that one");
}

static void corrects_one_run_or_all_of_two_deployments(void **state)
{
    struct world *world = *state;
    char first[ID_SIZE], second[ID_SIZE], run[ID_SIZE];
    TEXT_AUTO arguments = { 0 };
    TEXT_AUTO of_one = { 0 };
    json_auto_t *runs = NULL;
    const json_t *rows, *row;
    size_t i;

    world_register(world, "demo");
    world_register(world, "new");
    sweep_started(world, "," BOTH ",\"repetitions\":2", first);
    sweep_measured(world, first, 16, "completed", "");
    text_addf(&arguments, "," BOTH ",\"repetitions\":2,\"corrects\":\"%s\"", first);
    sweep_started(world, text_string(&arguments), second);
    text_clear(&arguments);
    text_addf(&arguments, "{\"sweep\":\"%s\"}", second);
    runs = world_ok(world, "run_list", text_string(&arguments));
    rows = json_object_get(runs, "runs");
    assert_int_equal(json_array_size(rows), 4);
    json_array_foreach(rows, i, row) {
        json_auto_t *earlier = NULL;

        text_clear(&arguments);
        text_addf(&arguments, "{\"run\":\"%s\"}", json_get_text(row, "corrects", ""));
        earlier = world_ok(world, "run_show", text_string(&arguments));
        assert_string_equal(json_get_text(json_object_get(earlier, "run"), "deployment", "1"),
                            json_get_text(row, "deployment", "2"));
        assert_int_equal(json_get_integer(json_object_get(earlier, "run"), "repetition", -1),
                         json_get_integer(row, "repetition", -2));
    }
    run_of_sweep(world, second, 3, run);
    sweep_measured(world, second, 16, "completed", "");
    text_addf(&of_one, ",\"deployment\":\"%s\",\"corrects\":\"%s\"",
              json_get_text(json_array_get(rows, 3), "deployment", ""), run);
    sweep_started(world, text_string(&of_one), first);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plans_without_asking_the_server),
        cmocka_unit_test(counts_cells_that_do_not_fit_the_context),
        cmocka_unit_test(warns_of_windows_that_see_a_burst),
        cmocka_unit_test(refuses_a_grid_out_of_range_with_the_limits),
        cmocka_unit_test(refuses_settings_that_have_no_effect),
        cmocka_unit_test(starts_at_once_with_sweep_and_job),
        cmocka_unit_test(starts_no_second_sweep_for_the_same_key),
        cmocka_unit_test(wants_the_go_ahead_for_large_sweeps),
        cmocka_unit_test(starts_the_plan_that_the_digest_names),
        cmocka_unit_test(lists_the_options_until_one_is_given),
        cmocka_unit_test(plans_with_all_arguments_of_the_start),
        cmocka_unit_test(leaves_no_sweep_behind_where_the_server_is_down),
        cmocka_unit_test(leaves_no_sweep_behind_where_the_model_does_not_exist),
        cmocka_unit_test(shows_cells_page_by_page),
        cmocka_unit_test(says_once_why_cells_have_no_figures),
        cmocka_unit_test(lists_sweeps_newest_first),
        cmocka_unit_test(cancels_its_own_sweep_but_not_anothers),
        cmocka_unit_test(lets_an_admin_cancel_anothers_sweep),
        cmocka_unit_test(resumes_with_the_cells_that_are_missing),
        cmocka_unit_test(resuming_lists_the_failed_cells_that_it_leaves_as_they_are),
        cmocka_unit_test(retrying_what_failed_leaves_only_that_of_finished_runs),
        cmocka_unit_test(resumes_only_on_the_revision_that_was_measured),
        cmocka_unit_test(resumes_though_a_label_was_changed),
        cmocka_unit_test(plans_an_adaptive_search_by_the_cells_it_may_take),
        cmocka_unit_test(shows_saturation_and_limits_of_what_is_measured),
        cmocka_unit_test(plans_a_sweep_over_two_deployments),
        cmocka_unit_test(starts_and_shows_a_sweep_over_two_deployments),
        cmocka_unit_test(resumes_two_deployments_only_at_the_revisions_that_were_measured),
        cmocka_unit_test(reports_two_deployments_separately),
        cmocka_unit_test(a_correction_is_a_new_sweep_that_points_at_the_old),
        cmocka_unit_test(corrects_only_what_is_the_same_and_over),
        cmocka_unit_test(corrects_one_run_or_all_of_two_deployments),
    };

    return world_run(tests);
}
