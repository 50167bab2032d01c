/* SPDX-License-Identifier: Apache-2.0 */
/* What a plan leaves behind if its process is killed, or if a request fails or takes too long. */
#include "tests/unit/support/apply_rig.h"

/* ---- The process is killed ---- */

/* The process is killed before and after each request is carried out, at each poll, and at each
 * observation. */
static void kill_9_at_any_point_neither_duplicates_nor_loses_a_resource(void **state)
{
    struct rig *rig = *state;
    int kills = 0;

    for (int event = 1;; event++) {
        struct fleet_plan_begun begun;
        char name[NAME_SIZE], plan[ID_SIZE];
        bool killed;

        next_name(rig, name);
        begin(rig, VERB_CREATE, name, 0, &begun, plan);
        killed = killed_at(rig, begun.job_id, event);
        kills += killed;
        if (killed)
            assert_int_equal(carry_out(rig, begun.job_id), JOB_COMPLETED);
        check_plan(rig, plan, "done");
        check_managed(rig, name, "running");
        check_world(rig, name, 1, true);
        if (!killed)
            break;
    }
    assert_true(kills >= 10);
}

/* The process is killed while it waits for the new server. Then the plan is cancelled, and the next
 * process is killed while it deletes the resources. To save time, it is killed only at every second
 * event: some of these come before a deletion, and some after one. */
static void kill_9_while_undoing_leaves_nothing(void **state)
{
    struct rig *rig = *state;
    int kills = 0;

    rig->world->never_ready = true;
    for (int event = 1;; event += 2) {
        struct fleet_plan_begun begun;
        char name[NAME_SIZE], plan[ID_SIZE];
        bool killed;

        next_name(rig, name);
        begin(rig, VERB_CREATE, name, 0, &begun, plan);
        assert_true(killed_at(rig, begun.job_id, 12));
        cancel(rig, begun.job_id);
        killed = killed_at(rig, begun.job_id, event);
        kills += killed;
        if (killed)
            assert_int_equal(carry_out(rig, begun.job_id), JOB_CANCELLED);
        check_plan(rig, plan, "cancelled");
        check_managed(rig, name, "gone");
        check_world(rig, name, 1, false);
        if (!killed)
            break;
    }
    assert_true(kills >= 3);
}

/* The process is killed before and after each request of a destruction. When the plan is done, the
 * resources must be gone. */
static void a_destruction_is_completed_after_kill_9(void **state)
{
    struct rig *rig = *state;

    for (int event = 1;; event++) {
        struct fleet_plan_begun begun;
        char name[NAME_SIZE], plan[ID_SIZE];
        bool killed;

        next_name(rig, name);
        assert_int_equal(create(rig, name, plan), JOB_COMPLETED);
        begin(rig, VERB_DESTROY, name, 0, &begun, plan);
        killed = killed_at(rig, begun.job_id, event);
        if (killed)
            assert_int_equal(carry_out(rig, begun.job_id), JOB_COMPLETED);
        check_world(rig, name, 1, false);
        check_managed(rig, name, "gone");
        if (!killed)
            break;
    }
}

/* ---- A request fails ---- */

static void set_fault(struct rig *rig, enum fleet_fault fault, const char *at, int times)
{
    rig->world->fault = fault;
    rig->world->faults_left = times;
    snprintf(rig->world->fault_at, sizeof rig->world->fault_at, "%s", at);
}

static void check_reason(struct rig *rig, const char *plan_id, const char *expected)
{
    struct fleet_plan_row plan;

    assert_done(rig, fleet_plan_find(rig->store, plan_id, &plan, &rig->error));
    assert_string_equal(plan.reason, expected);
    fleet_plan_finish(&plan);
}

static void a_request_to_a_busy_platform_is_repeated(void **state)
{
    static const char *const at[] = { "/service/", "?operation" };
    struct rig *rig = *state;

    for (size_t i = 0; i < 2; i++) {
        char name[NAME_SIZE], plan[ID_SIZE];

        next_name(rig, name);
        set_fault(rig, FAULT_BUSY, at[i], 2);
        assert_int_equal(create(rig, name, plan), JOB_COMPLETED);
        check_world(rig, name, 1, true);
    }
}

static void a_plan_whose_request_fails_too_often_fails_with_the_last_reason(void **state)
{
    struct rig *rig = *state;
    char plan[ID_SIZE];

    set_fault(rig, FAULT_BUSY, "/grant/", 41);
    assert_int_equal(create(rig, "busy", plan), JOB_FAILED);
    check_reason(rig, plan, "the request \"grant\" failed 41 times, the last time with: busy");
    check_world(rig, "busy", 1, false);
}

static void after_a_lost_answer_the_resource_shows_that_the_request_was_carried_out(void **state)
{
    static const char *const at[] = { "/guard/", "/service/", "/grant/" };
    struct rig *rig = *state;

    for (size_t i = 0; i < 3; i++) {
        char name[NAME_SIZE], plan[ID_SIZE];

        next_name(rig, name);
        set_fault(rig, FAULT_LOST, at[i], 1);
        assert_int_equal(create(rig, name, plan), JOB_COMPLETED);
        check_world(rig, name, 1, true);
    }
}

static void a_change_whose_answer_was_lost_is_not_sent_twice(void **state)
{
    static const struct {
        enum provider_verb verb;
        int replicas;
    } changes[] = { { VERB_SCALE, 3 }, { VERB_STOP, 0 } };
    struct rig *rig = *state;
    char plan[ID_SIZE];

    rig->world->needs_etag = true;
    assert_int_equal(create(rig, "gemma", plan), JOB_COMPLETED);
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        set_fault(rig, FAULT_LOST, "/service/", 1);
        assert_int_equal(change(rig, changes[i].verb, "gemma", changes[i].replicas), JOB_COMPLETED);
    }
    assert_int_equal(fleet_world_find(rig->world, "https://test/service/gemma")->changes, 2);
}

static void a_failed_plan_is_undone_and_has_a_reason(void **state)
{
    struct rig *rig = *state;
    char id[ID_SIZE];

    set_fault(rig, FAULT_REFUSE, "/grant/", 1);
    assert_int_equal(create(rig, "refused", id), JOB_FAILED);
    check_world(rig, "refused", 1, false);
    check_managed(rig, "refused", "gone");
    check_plan(rig, id, "failed");
    check_reason(rig, id, "grant: not allowed");
    set_fault(rig, FAULT_BREAK, "/service/", 0);
    assert_int_equal(create(rig, "broken", id), JOB_FAILED);
    check_world(rig, "broken", 1, false);
    set_fault(rig, FAULT_NONE, "", 0);
    rig->world->broken_service = true;
    assert_int_equal(create(rig, "crashing", id), JOB_FAILED);
    check_world(rig, "crashing", 1, false);
}

/* In the second round, a different process continues the plan, and reads the refusal from the
 * journal. */
static void a_refused_request_whose_resource_is_absent_fails_with_both_reasons(void **state)
{
    struct rig *rig = *state;

    for (int i = 0; i < 2; i++) {
        struct fleet_plan_begun begun;
        char name[NAME_SIZE], id[ID_SIZE];

        next_name(rig, name);
        set_fault(rig, FAULT_DOUBT, "/service/", 1);
        begin(rig, VERB_CREATE, name, 0, &begun, id);
        if (i > 0)
            assert_true(killed_at(rig, begun.job_id, 4)); /* at the poll after the refusal */
        assert_int_equal(carry_out(rig, begun.job_id), JOB_FAILED);
        check_reason(rig, id,
                     "service: it does not exist; the request was refused with: it is busy with "
                     "another request");
    }
}

static void a_failed_undo_is_reported_with_the_reason(void **state)
{
    struct rig *rig = *state;
    struct fleet_plan_begun begun;
    char plan[ID_SIZE];

    rig->world->never_ready = true;
    begin(rig, VERB_CREATE, "stuck", 0, &begun, plan);
    assert_true(killed_at(rig, begun.job_id, 12));
    cancel(rig, begun.job_id);
    set_fault(rig, FAULT_REFUSE, "/guard/", -1);
    assert_int_equal(carry_out(rig, begun.job_id), JOB_CANCELLED);
    check_managed(rig, "stuck", "failed");
    check_reason(rig, plan,
                 "it was cancelled; \"guard\" could not be undone: https://test/guard/stuck may "
                 "still exist: not allowed");
}

/* ---- What a failed change leaves ---- */

/* Returns the deployment's row. The strings that the row points to have been freed, so only its
 * other members can be read. */
static struct fleet_managed_row terms_of(struct rig *rig, const char *name)
{
    struct fleet_managed_row row;
    bool found;

    assert_done(rig, fleet_managed_find(rig->store, name, &row, &found, &rig->error));
    assert_true(found);
    fleet_managed_finish(&row);
    return row;
}

/* A change that was accepted but failed later might have taken effect, and would then be billed, so
 * the new price is kept. */
static void a_change_sets_the_new_price_only_if_it_was_accepted(void **state)
{
    struct rig *rig = *state;
    char plan[ID_SIZE];

    assert_int_equal(create(rig, "gemma", plan), JOB_COMPLETED);
    set_fault(rig, FAULT_REFUSE, "/service/", 1);
    assert_int_equal(change(rig, VERB_SCALE, "gemma", 3), JOB_FAILED);
    assert_true(terms_of(rig, "gemma").usd_per_hour < 1.1);
    set_fault(rig, FAULT_BREAK, "/service/", 0);
    assert_int_equal(change(rig, VERB_SCALE, "gemma", 3), JOB_FAILED);
    assert_true(terms_of(rig, "gemma").usd_per_hour > 2.9);
}

static void a_stopped_deployment_whose_start_is_refused_stays_stopped(void **state)
{
    struct rig *rig = *state;
    char plan[ID_SIZE];

    assert_int_equal(create(rig, "gemma", plan), JOB_COMPLETED);
    assert_int_equal(change(rig, VERB_STOP, "gemma", 0), JOB_COMPLETED);
    set_fault(rig, FAULT_REFUSE, "/service/", 1);
    assert_int_equal(change(rig, VERB_START, "gemma", 0), JOB_FAILED);
    check_managed(rig, "gemma", "stopped");
}

/* The process is killed before it gets the answer. If the repeated request is refused, it is still
 * unknown whether the first one took effect. */
static void a_change_that_might_have_taken_effect_keeps_the_higher_price(void **state)
{
    struct rig *rig = *state;
    struct fleet_plan_begun begun;
    char plan[ID_SIZE];

    assert_int_equal(create(rig, "gemma", plan), JOB_COMPLETED);
    begin(rig, VERB_SCALE, "gemma", 3, &begun, plan);
    assert_true(killed_at(rig, begun.job_id, 2));
    set_fault(rig, FAULT_REFUSE, "/service/", 1);
    assert_int_equal(carry_out(rig, begun.job_id), JOB_FAILED);
    assert_true(terms_of(rig, "gemma").usd_per_hour > 2.9);
}

/* The server is already stopped when the extension fails. The end that is shown must still be the
 * old one. */
static void after_a_failed_extension_the_old_end_is_shown(void **state)
{
    struct rig *rig = *state;
    struct fleet_managed_row before, after;
    char plan[ID_SIZE];

    assert_int_equal(create(rig, "gemma", plan), JOB_COMPLETED);
    before = terms_of(rig, "gemma");
    rig->world->extends_stopped = true;
    set_fault(rig, FAULT_REFUSE, "/guard/", 1);
    assert_int_equal(change(rig, VERB_EXTEND, "gemma", 0), JOB_FAILED);
    after = terms_of(rig, "gemma");
    assert_true(after.ends_ms == before.ends_ms);
    assert_string_equal(after.at_end, before.at_end);
}

static _Atomic int64_t ahead_ms; /* how far later_ms() is ahead of the real clock, in ms */

static int64_t later_ms(void)
{
    return clock_utc_ms() + atomic_load(&ahead_ms);
}

/* If the request for an earlier end is refused, the old end stays in force. If the request is
 * accepted, the earlier end is in force and must be shown, even if the plan then fails because the
 * server does not start again. */
static void after_a_failed_change_to_an_earlier_end_the_end_in_force_is_shown(void **state)
{
    struct rig *rig = *state;
    struct fleet_managed_row before, after;
    char plan[ID_SIZE];

    rig->frame.now_ms = later_ms;
    atomic_store(&ahead_ms, 60 * 60000);
    assert_int_equal(create(rig, "gemma", plan), JOB_COMPLETED);
    atomic_store(&ahead_ms, 0);
    before = terms_of(rig, "gemma");
    set_fault(rig, FAULT_REFUSE, "/guard/", 1);
    assert_int_equal(change(rig, VERB_EXTEND, "gemma", 0), JOB_FAILED);
    after = terms_of(rig, "gemma");
    assert_true(after.ends_ms == before.ends_ms);
    rig->world->extends_stopped = rig->world->broken_service = true;
    assert_int_equal(change(rig, VERB_EXTEND, "gemma", 0), JOB_FAILED);
    after = terms_of(rig, "gemma");
    assert_true(after.ends_ms < before.ends_ms);
    assert_true(after.ends_ms == fleet_world_find(rig->world, "https://test/guard/gemma")->ends_ms);
    assert_string_equal(after.at_end, "destroy");
}

/* ---- A request takes too long ---- */

static void await_polls(struct rig *rig, const char *url, int polls)
{
    const struct fleet_resource *resource = NULL;

    for (int i = 0; i < 5000 && (resource == NULL || resource->polls < polls); i++, usleep(1000))
        resource = fleet_world_find(rig->world, url);
    assert_non_null(resource);
    assert_true(resource->polls >= polls);
}

/* The time limit starts when the request is accepted, even if a different process (here, a second
 * job pool) continues the plan. */
static void a_plan_gives_up_on_an_operation_that_never_ends(void **state)
{
    struct rig *rig = *state;
    struct fleet_plan_begun begun;
    struct fleet_journal_row *rows;
    struct fleet_plan_row plan;
    struct job_pool *jobs;
    char id[ID_SIZE];
    size_t count;

    rig->frame.now_ms = later_ms;
    rig->world->never_done = true;
    begin(rig, VERB_CREATE, "slow", 0, &begun, id);
    assert_done(rig, job_pool_create(rig->store, kinds, 1, &rig->frame, &jobs, &rig->error));
    await_polls(rig, "https://test/service/slow", 3);
    job_pool_destroy(jobs, 5000);
    atomic_store(&ahead_ms, 45 * 60000); /* the recipe allows 30 minutes */
    assert_int_equal(carry_out(rig, begun.job_id), JOB_FAILED);
    atomic_store(&ahead_ms, 0);
    check_world(rig, "slow", 1, false);
    assert_done(rig, fleet_plan_find(rig->store, id, &plan, &rig->error));
    assert_string_equal(plan.reason,
                        "the request \"service\" was accepted, but is not done after 45 min");
    fleet_plan_finish(&plan);
    assert_done(rig, fleet_journal_list(rig->store, id, &rows, &count, &rig->error));
    assert_string_equal(rows[4].action, "poll");
    assert_string_equal(rows[4].outcome, "failed");
    fleet_journal_rows_free(rows, count);
}

static void a_waiting_plan_is_undone_when_it_is_cancelled(void **state)
{
    struct rig *rig = *state;
    struct fleet_plan_begun begun;
    struct job_pool *jobs;
    char id[ID_SIZE];

    rig->world->never_done = true;
    begin(rig, VERB_CREATE, "slow", 0, &begun, id);
    assert_done(rig, job_pool_create(rig->store, kinds, 1, &rig->frame, &jobs, &rig->error));
    await_polls(rig, "https://test/service/slow", 3);
    cancel(rig, begun.job_id);
    job_pool_destroy(jobs, 5000);
    carry_out(rig, begun.job_id);
    check_plan(rig, id, "cancelled");
    check_world(rig, "slow", 1, false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        RIG_TEST(kill_9_at_any_point_neither_duplicates_nor_loses_a_resource),
        RIG_TEST(kill_9_while_undoing_leaves_nothing),
        RIG_TEST(a_destruction_is_completed_after_kill_9),
        RIG_TEST(a_request_to_a_busy_platform_is_repeated),
        RIG_TEST(a_plan_whose_request_fails_too_often_fails_with_the_last_reason),
        RIG_TEST(after_a_lost_answer_the_resource_shows_that_the_request_was_carried_out),
        RIG_TEST(a_change_whose_answer_was_lost_is_not_sent_twice),
        RIG_TEST(a_failed_plan_is_undone_and_has_a_reason),
        RIG_TEST(a_refused_request_whose_resource_is_absent_fails_with_both_reasons),
        RIG_TEST(a_failed_undo_is_reported_with_the_reason),
        RIG_TEST(a_change_sets_the_new_price_only_if_it_was_accepted),
        RIG_TEST(a_stopped_deployment_whose_start_is_refused_stays_stopped),
        RIG_TEST(a_change_that_might_have_taken_effect_keeps_the_higher_price),
        RIG_TEST(after_a_failed_extension_the_old_end_is_shown),
        RIG_TEST(after_a_failed_change_to_an_earlier_end_the_end_in_force_is_shown),
        RIG_TEST(a_plan_gives_up_on_an_operation_that_never_ends),
        RIG_TEST(a_waiting_plan_is_undone_when_it_is_cancelled),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
