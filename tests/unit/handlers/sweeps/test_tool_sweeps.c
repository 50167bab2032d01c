/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of sweep_start, sweep_show, sweep_list and sweep_cancel, and of the table of cells. */
#include "handlers/answers/cell_answer.h"
#include "tests/unit/support/tool_sweeps.h"

#define LARGE_GRID                                                                                 \
    "\"concurrency\":[1,64,512],\"input_tokens\":[1024,8192],\"output_tokens\":[128],"             \
    "\"window_s\":60"

static void sweep_start_returns_the_sweep_and_its_job(void **state)
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

static void starts_no_second_sweep_for_the_same_idempotency_key(void **state)
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

static void large_sweeps_need_a_go_ahead(void **state)
{
    struct world *world = *state;
    json_auto_t *plan = NULL;
    TEXT_AUTO arguments = { 0 };

    world_register(world, "demo");
    world_refused(world, "sweep_start", "{" LARGE_GRID "}", ERROR_INVALID,
                  "over 60 minutes or 10 million tokens needs a go-ahead");
    assert_non_null(strstr(world->error.message, " million tokens (cells: 6)"));
    plan = world_ok(world, "sweep_plan", "{" LARGE_GRID "}");
    assert_true(json_get_boolean(plan, "needs_go_ahead", false));
    text_addf(&arguments, "{" LARGE_GRID ",\"plan_digest\":\"%s\"",
              json_get_text(plan, "plan_digest", ""));
    text_add(&arguments, ",\"seed\":2}");
    world_refused(world, "sweep_start", text_string(&arguments), ERROR_CONFLICT,
                  "\"plan_digest\" belongs to a different plan");
    arguments.length -= strlen(",\"seed\":2}");
    text_add(&arguments, "}");
    world_do(world, "sweep_start", text_string(&arguments));
}

static void starts_the_plan_that_has_the_given_digest(void **state)
{
    struct world *world = *state;
    TEXT_AUTO arguments = { 0 };
    json_auto_t *plan = NULL, *started = NULL;
    const char *digest;

    world_register(world, "demo");
    plan = world_ok(world, "sweep_plan",
                    "{" SMALL_GRID ",\"options\":[\"seed=7\",\"purpose=night\"]}");
    world_says(world, "Next: sweep_start with this plan_digest");
    digest = json_get_text(plan, "plan_digest", "");
    text_addf(&arguments, "{\"plan_digest\":\"%s\"}", digest);
    started = world_ok(world, "sweep_start", text_string(&arguments));
    assert_int_equal(
        json_get_integer(json_object_get(json_object_get(started, "sweep"), "plan"), "seed", 0), 7);
    world->principal = "bob"; /* who did not call sweep_plan */
    world_refused(world, "sweep_start", text_string(&arguments), ERROR_NOT_FOUND,
                  "\"plan_digest\" matches none of your plans");
    world->principal = "alice";
    text_clear(&arguments);
    text_addf(&arguments, "{\"plan_digest\":\"%s\",\"window_s\":77}", digest);
    world_refused(world, "sweep_start", text_string(&arguments), ERROR_CONFLICT,
                  "\"plan_digest\" belongs to a different plan");
}

static void a_refused_start_leaves_no_sweep_behind(void **state)
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
    world_says(world, "No sweeps were found.");
}

static void starts_no_sweep_if_the_server_does_not_have_the_model(void **state)
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
        { .concurrency = 2,
          .input_tokens = 64,
          .state = CELL_INFERRED,
          .reason = "lower loads are saturated" },
        { .concurrency = 3,
          .input_tokens = 64,
          .state = CELL_INFERRED,
          .reason = "lower loads are saturated" },
        { .concurrency = 4, .input_tokens = 64, .state = CELL_FAILED, .reason = "no room" },
    };
    TEXT_AUTO text = { 0 };

    (void)state;
    cell_answer_table(&(struct cell_page){ cells, 4, 0, 4 }, &text);
    assert_non_null(strstr(
        text_string(&text),
        "\n\n- inferred: 2 cells, the first with 2 users x 64 tokens: lower loads are saturated\n"
        "- failed: 4 users x 64 tokens: no room\n"));
}

static void shows_the_newest_of_many_rejected_attempts(void **state)
{
    struct world *world = *state;
    struct store *store = world->services.store;
    struct cell_row *cells;
    char id[ID_SIZE];
    TEXT_AUTO arguments = { 0 };
    struct claim claim;
    size_t total;
    int64_t attempt;

    world_register(world, "demo");
    sweep_started(world, "", id);
    claim = sweep_claimed(world, id);
    assert_stored(world, cell_list(store, id, NULL, &cells, &total, &world->error));
    for (int i = 1; i <= 10; i++) {
        struct cell_result result = { .state = CELL_PENDING, .reason = "a restart" };

        assert_stored(world, attempt_begin(store, &claim, cells[0].id, clock_utc_ms(), &attempt,
                                           &world->error));
        assert_stored(world,
                      attempt_end(store, &claim, attempt, &result, clock_utc_ms(), &world->error));
    }
    cell_rows_free(cells, total);
    text_addf(&arguments, "{\"sweep\":\"%s\"}", id);
    json_decref(world_ok(world, "sweep_show", text_string(&arguments)));
    world_says(world, "Rejected attempts (they do not count): 10, the newest:\n");
    world_says(world, ", attempt 10: a restart");
    assert_null(strstr(text_string(&world->text), ", attempt 2: "));
}

static void lists_the_sweeps_of_a_deployment_newest_first(void **state)
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

static void operators_cancel_only_their_own_sweeps(void **state)
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

static void lets_an_admin_cancel_the_sweep_of_another_user(void **state)
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

static void shows_saturation_and_limits_of_the_measured_cells(void **state)
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
    world_says(world,
               "- 64 tokens in, 16 out: not saturated below 4; throughput may still be growing at "
               "4 users, the largest measured load");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sweep_start_returns_the_sweep_and_its_job),
        cmocka_unit_test(starts_no_second_sweep_for_the_same_idempotency_key),
        cmocka_unit_test(large_sweeps_need_a_go_ahead),
        cmocka_unit_test(starts_the_plan_that_has_the_given_digest),
        cmocka_unit_test(a_refused_start_leaves_no_sweep_behind),
        cmocka_unit_test(starts_no_sweep_if_the_server_does_not_have_the_model),
        cmocka_unit_test(shows_cells_page_by_page),
        cmocka_unit_test(says_once_why_cells_have_no_figures),
        cmocka_unit_test(shows_the_newest_of_many_rejected_attempts),
        cmocka_unit_test(lists_the_sweeps_of_a_deployment_newest_first),
        cmocka_unit_test(operators_cancel_only_their_own_sweeps),
        cmocka_unit_test(lets_an_admin_cancel_the_sweep_of_another_user),
        cmocka_unit_test(shows_saturation_and_limits_of_the_measured_cells),
    };

    return world_run(tests);
}
