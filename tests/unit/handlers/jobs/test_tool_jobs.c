/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of job_list, job_show, job_cancel, lease_list and audit_list. */
#include <unistd.h>

#include "tests/unit/support/tool_sweeps.h"

/* A job that counts to 20 and then ends. */
static enum job_end count_to_20(struct job_run *run, char **outcome_json, struct error *error)
{
    (void)outcome_json;
    (void)error;
    for (int i = 1; i <= 20; i++) {
        char message[32];

        snprintf(message, sizeof message, "step %d", i);
        job_run_progress(run, i, 20, message);
        if (job_run_wait(run, 25) == JOB_STOP_CANCEL)
            return JOB_END_CANCELLED;
    }
    return JOB_END_COMPLETED;
}

/* A job that waits until it is cancelled, for at most 60 s. */
static enum job_end wait_for_cancel(struct job_run *run, char **outcome_json, struct error *error)
{
    (void)outcome_json;
    (void)error;
    return job_run_wait(run, 60000) == JOB_STOP_CANCEL ? JOB_END_CANCELLED : JOB_END_YIELDED;
}

/* Sweep jobs only count to 20 instead of measuring. */
static int set_up_counting(void **state)
{
    static const struct job_kind kinds[] = { { "sweep", count_to_20 }, { 0 } };

    world_set_up_with(state, NULL, kinds);
    return 0;
}

static int set_up_waiting(void **state)
{
    static const struct job_kind kinds[] = { { "sweep", wait_for_cancel }, { 0 } };

    world_set_up_with(state, NULL, kinds);
    return 0;
}

/* Copies `format` to `out`, replacing each '@' with the id. */
static const char *arguments_with_id(struct text *out, const char *format, const char *id)
{
    text_clear(out);
    for (; *format != '\0'; format++)
        if (*format == '@')
            text_add(out, id);
        else
            text_add_char(out, *format);
    return text_string(out);
}

static void job_show_waits_for_the_end_and_reports_progress(void **state)
{
    struct world *world = *state;
    char sweep[ID_SIZE];
    TEXT_AUTO arguments = { 0 };
    json_auto_t *answer = NULL;

    world_register(world, "demo");
    sweep_started(world, "", sweep);
    answer = world_ok(world, "job_show",
                      arguments_with_id(&arguments, "{\"job\":\"@\",\"wait_s\":20}", sweep));
    assert_true(json_get_boolean(answer, "over", false));
    assert_string_equal(json_get_text(json_object_get(answer, "job"), "state", ""), "completed");
    assert_true(world->progress_count >= 5);
    for (size_t i = 1; i < world->progress_count; i++)
        assert_true(world->done[i] >= world->done[i - 1]);
    world_says(world, "Next: run_report with this sweep.");
}

static void job_show_answers_at_once_without_wait_s(void **state)
{
    struct world *world = *state;
    char sweep[ID_SIZE];
    TEXT_AUTO arguments = { 0 };
    json_auto_t *answer = NULL;
    int64_t start_ns;

    world_register(world, "demo");
    sweep_started(world, "", sweep);
    start_ns = clock_monotonic_ns();
    answer = world_ok(world, "job_show", arguments_with_id(&arguments, "{\"job\":\"@\"}", sweep));
    assert_true(clock_monotonic_ns() - start_ns < 400000000);
    assert_false(json_get_boolean(answer, "over", true));
    assert_int_equal(world->progress_count, 0);
}

static void cancelling_a_wait_does_not_cancel_the_job(void **state)
{
    struct world *world = *state;
    char sweep[ID_SIZE];
    TEXT_AUTO arguments = { 0 };
    json_auto_t *answer = NULL;

    world_register(world, "demo");
    sweep_started(world, "", sweep);
    world->cancel_after = 2;
    world_refused(world, "job_show",
                  arguments_with_id(&arguments, "{\"job\":\"@\",\"wait_s\":20}", sweep),
                  ERROR_CANCELLED, "the job itself continues");
    world->cancel_after = -1;
    answer = world_ok(world, "job_show",
                      arguments_with_id(&arguments, "{\"job\":\"@\",\"wait_s\":20}", sweep));
    assert_string_equal(json_get_text(json_object_get(answer, "job"), "state", ""), "completed");
}

static void cancels_a_running_job(void **state)
{
    struct world *world = *state;
    char sweep[ID_SIZE];
    TEXT_AUTO arguments = { 0 };
    json_auto_t *cancelled = NULL, *answer = NULL;

    world_register(world, "demo");
    sweep_started(world, "", sweep);
    world->principal = "bob";
    world->role = ROLE_OPERATOR;
    world_refused(world, "job_cancel", arguments_with_id(&arguments, "{\"job\":\"@\"}", sweep),
                  ERROR_FORBIDDEN, "only alice or an admin may stop it");
    world->principal = "alice";
    cancelled = world_ok(world, "job_cancel", text_string(&arguments));
    assert_non_null(json_object_get(cancelled, "job"));
    answer = world_ok(world, "job_show",
                      arguments_with_id(&arguments, "{\"job\":\"@\",\"wait_s\":20}", sweep));
    assert_string_equal(json_get_text(json_object_get(answer, "job"), "state", ""), "cancelled");
    world_refused(world, "job_cancel", arguments_with_id(&arguments, "{\"job\":\"@\"}", sweep),
                  ERROR_CONFLICT, "");
}

static void refuses_unknown_jobs_and_waiting_times_over_an_hour(void **state)
{
    struct world *world = *state;

    world_refused(world, "job_show", "{\"job\":\"job_nobody\"}", ERROR_NOT_FOUND, "job_nobody");
    world_refused(world, "job_show", "{\"job\":\"job_a\",\"wait_s\":3601}", ERROR_INVALID,
                  "\"wait_s\" is 3601: it must be from 0 to 3600");
    world_refused(world, "job_cancel", "{\"job\":\"swp_nobody\"}", ERROR_NOT_FOUND, "swp_nobody");
}

static void lists_jobs_by_state_and_principal(void **state)
{
    struct world *world = *state;
    char sweep[ID_SIZE];
    json_auto_t *queued = NULL, *running = NULL, *bobs = NULL;

    world_register(world, "demo");
    sweep_started(world, "", sweep);
    queued = world_ok(world, "job_list", "{\"state\":\"queued\",\"principal\":\"alice\"}");
    assert_int_equal(json_array_size(json_object_get(queued, "jobs")), 1);
    running = world_ok(world, "job_list", "{\"state\":\"running\"}");
    assert_int_equal(json_array_size(json_object_get(running, "jobs")), 0);
    bobs = world_ok(world, "job_list", "{\"principal\":\"bob\"}");
    assert_int_equal(json_array_size(json_object_get(bobs, "jobs")), 0);
    world_says(world, "No job matches.");
}

static void lists_the_sweep_that_is_measuring_and_those_that_wait(void **state)
{
    struct world *world = *state;
    char measuring[ID_SIZE], waiting[ID_SIZE];
    json_auto_t *none = world_ok(world, "lease_list", "{}"), *list = NULL, *jobs = NULL;
    const json_t *row;

    assert_int_equal(json_array_size(json_object_get(none, "leases")), 0);
    world_register(world, "demo");
    sweep_started(world, "", measuring);
    sweep_claimed(world, measuring);
    sweep_started(world, "", waiting);
    sweep_started(world, "", waiting);
    sweep_started(world, "", waiting);
    list = world_ok(world, "lease_list", "{\"limit\":2}");
    assert_int_equal(json_array_size(json_object_get(list, "leases")), 3);
    assert_int_equal(json_get_integer(list, "unlisted", 0), 1);
    row = json_array_get(json_object_get(list, "leases"), 0);
    assert_true(json_get_boolean(row, "held", 0));
    assert_string_equal(json_get_text(row, "purpose", ""), measuring);
    row = json_array_get(json_object_get(list, "leases"), 2);
    assert_false(json_get_boolean(row, "held", 1));
    assert_int_equal(json_get_integer(row, "place", 0), 2);
    world_says(world, "waits, 2");
    world_says(world, "1 more is waiting");
    jobs = world_ok(world, "job_list", "{\"state\":\"queued\"}");
    row = json_array_get(json_object_get(jobs, "jobs"), 0);
    assert_non_null(strstr(json_get_text(row, "message", ""), "; 3rd in line"));
}

static void lists_the_audit_log_with_filters_and_pages(void **state)
{
    struct world *world = *state;
    json_auto_t *none = world_ok(world, "audit_list", "{}"), *first = NULL, *second = NULL;
    const json_t *row;
    TEXT_AUTO arguments = { 0 };

    assert_int_equal(json_array_size(json_object_get(none, "rows")), 0);
    world_register(world, "a");
    world_register(world, "b");
    world_refused(world, "job_list", "{\"limit\":0}", ERROR_INVALID, "limit");
    first = world_ok(world, "audit_list", "{\"limit\":1,\"since\":\"1h\"}");
    row = json_array_get(json_object_get(first, "rows"), 0);
    assert_string_equal(json_get_text(row, "tool", ""), "job_list");
    assert_string_equal(json_get_text(row, "outcome", ""), "invalid");
    text_addf(&arguments, "{\"cursor\":\"%s\",\"tool\":\"deployment_register\",\"detail\":true}",
              json_get_text(first, "next_cursor", ""));
    second = world_ok(world, "audit_list", text_string(&arguments));
    assert_int_equal(json_array_size(json_object_get(second, "rows")),
                     2); /* an intent and its outcome share one row */
    row = json_array_get(json_object_get(second, "rows"), 0);
    assert_int_equal(json_get_integer(row, "times", 0), 1);
    assert_string_equal(json_get_text(row, "subject", ""), "b");
    assert_string_equal(json_get_text(json_object_get(row, "arguments"), "name", ""), "b");
}

static void only_an_admin_can_check_the_audit_log_but_viewers_see_the_result(void **state)
{
    struct world *world = *state;
    json_auto_t *checked = NULL, *read = NULL;

    world_register(world, "a");
    world->role = ROLE_OPERATOR;
    world_refused(world, "audit_list", "{\"check\":true}", ERROR_FORBIDDEN, "the role admin");
    world->role = ROLE_ADMIN;
    checked = world_ok(world, "audit_list", "{\"check\":true}");
    assert_non_null(strstr(json_get_text(checked, "check", ""), "the audit log is intact"));
    world_says(world, "the audit log is intact");
    world->role = ROLE_VIEWER;
    read = world_ok(world, "audit_list", "{\"detail\":true}");
    assert_string_equal(json_get_text(read, "check", ""), json_get_text(checked, "check", "-"));
}

int main(void)
{
    const struct CMUnitTest counting[] = {
        cmocka_unit_test(job_show_waits_for_the_end_and_reports_progress),
        cmocka_unit_test(job_show_answers_at_once_without_wait_s),
        cmocka_unit_test(cancelling_a_wait_does_not_cancel_the_job),
    };
    const struct CMUnitTest waiting[] = { cmocka_unit_test(cancels_a_running_job) };
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(refuses_unknown_jobs_and_waiting_times_over_an_hour),
        cmocka_unit_test(lists_jobs_by_state_and_principal),
        cmocka_unit_test(lists_the_sweep_that_is_measuring_and_those_that_wait),
        cmocka_unit_test(lists_the_audit_log_with_filters_and_pages),
        cmocka_unit_test(only_an_admin_can_check_the_audit_log_but_viewers_see_the_result),
    };

    return world_run_all(counting, sizeof counting / sizeof counting[0], set_up_counting)
           + world_run_all(waiting, 1, set_up_waiting) + world_run(tests);
}
