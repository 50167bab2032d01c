/* SPDX-License-Identifier: Apache-2.0 */
/* What a plan changes when it is carried out, and what it leaves alone. */
#include "store/ledger/deployments.h"
#include "store/series/scrapes.h"
#include "tests/unit/support/apply_rig.h"

static int64_t scrape_interval_ms(struct rig *rig, const struct deployment *deployment)
{
    struct scrape_target target;

    assert_done(rig, scrape_target_find(rig->store, deployment->id, &target, &rig->error));
    return target.interval_ms;
}

static void a_plan_is_carried_out_and_its_deployment_is_registered(void **state)
{
    struct rig *rig = *state;
    struct deployment deployment;
    struct fleet_journal_row *rows;
    char plan[ID_SIZE];
    size_t count;

    assert_int_equal(create(rig, "gemma", plan), JOB_COMPLETED);
    check_plan(rig, plan, "done");
    check_managed(rig, "gemma", "running");
    check_world(rig, "gemma", 1, true);
    assert_done(rig, deployment_find(rig->store, "gemma", &deployment, &rig->error));
    assert_string_equal(deployment.url, "http://127.0.0.1:9/gemma");
    assert_string_equal(deployment.engine, "vllm");
    assert_string_equal(deployment.owner, "alice");
    assert_int_equal(scrape_interval_ms(rig, &deployment), SCRAPE_USUAL_MS);
    assert_done(rig, fleet_journal_list(rig->store, plan, &rows, &count, &rig->error));
    assert_int_equal(count, 7); /* two rows for each of three requests, and one for the polls */
    assert_string_equal(rows[0].step, "guard");
    assert_string_equal(rows[0].outcome, "");
    assert_string_equal(rows[3].outcome, "wait");
    assert_string_equal(rows[4].action, "poll");
    fleet_journal_rows_free(rows, count);
}

static void a_resource_of_another_opsbrain_is_not_touched(void **state)
{
    struct rig *rig = *state;
    struct fleet_resource *guard = fleet_world_put(rig->world, "https://test/guard/gemma");
    char plan[ID_SIZE];

    guard->exists = true;
    snprintf(guard->instance, sizeof guard->instance, "theirs");
    assert_int_equal(create(rig, "gemma", plan), JOB_FAILED);
    check_plan(rig, plan, "failed");
    assert_true(guard->exists);
    assert_int_equal(guard->created, 0);
    assert_int_equal(rig->world->touched_foreign, 0);
    assert_int_equal(fleet_world_existing(rig->world), 1);
}

static void a_deployment_is_scaled_stopped_started_extended_and_destroyed(void **state)
{
    struct rig *rig = *state;
    struct fleet_managed_row row;
    struct deployment deployment;
    int64_t ends_ms;
    char plan[ID_SIZE];
    bool found;

    assert_int_equal(create(rig, "gemma", plan), JOB_COMPLETED);
    assert_int_equal(change(rig, VERB_SCALE, "gemma", 3), JOB_COMPLETED);
    assert_done(rig, fleet_managed_find(rig->store, "gemma", &row, &found, &rig->error));
    assert_true(row.usd_per_hour > 2.9 && row.usd_per_hour < 3.1);
    ends_ms = row.ends_ms;
    fleet_managed_finish(&row);
    assert_int_equal(change(rig, VERB_STOP, "gemma", 0), JOB_COMPLETED);
    check_managed(rig, "gemma", "stopped");
    assert_done(rig, deployment_find(rig->store, "gemma", &deployment, &rig->error));
    assert_int_equal(scrape_interval_ms(rig, &deployment), 0);
    assert_int_equal(change(rig, VERB_START, "gemma", 0), JOB_COMPLETED);
    assert_int_equal(scrape_interval_ms(rig, &deployment), SCRAPE_USUAL_MS);
    assert_int_equal(change(rig, VERB_EXTEND, "gemma", 0), JOB_COMPLETED);
    assert_done(rig, fleet_managed_find(rig->store, "gemma", &row, &found, &rig->error));
    assert_string_equal(row.state, "running");
    assert_true(row.ends_ms > ends_ms);
    assert_true(row.usd_per_hour > 2.9 && row.usd_per_hour < 3.1);
    fleet_managed_finish(&row);
    assert_int_equal(change(rig, VERB_DESTROY, "gemma", 0), JOB_COMPLETED);
    check_managed(rig, "gemma", "gone");
    check_world(rig, "gemma", 1, false);
    assert_false(deployment_find(rig->store, "gemma", &deployment, &rig->error));
}

/* Some platforms can change a server's end only while the server is stopped. There, the plan stops
 * the server and starts it again. */
static void an_extension_is_done_when_its_server_is_ready_again(void **state)
{
    struct rig *rig = *state;
    struct fleet_managed_row row;
    json_auto_t *observed = NULL;
    char plan[ID_SIZE];
    bool found;

    assert_int_equal(create(rig, "gemma", plan), JOB_COMPLETED);
    rig->world->extends_stopped = true;
    assert_int_equal(change(rig, VERB_EXTEND, "gemma", 0), JOB_COMPLETED);
    assert_done(rig, fleet_managed_find(rig->store, "gemma", &row, &found, &rig->error));
    observed = json_loads(row.observed, 0, NULL);
    assert_string_equal(json_get_text(observed, "state", ""), "ready");
    fleet_managed_finish(&row);
}

/* After its database was moved or restored, opsbrain changes nothing in clouds until an admin runs
 * `opsbrain fleet resume`. */
static void a_plan_waits_until_a_moved_database_is_resumed(void **state)
{
    struct rig *rig = *state;
    atomic_bool only_reads = true;
    struct fleet_plan_begun begun;
    struct job_pool *jobs;
    char plan[ID_SIZE];
    struct job job;

    rig->frame.only_reads = &only_reads;
    begin(rig, VERB_CREATE, "gemma", 0, &begun, plan);
    assert_done(rig, job_pool_create(rig->store, kinds, 1, &rig->frame, &jobs, &rig->error));
    job.message[0] = '\0';
    for (int i = 0; i < 10000 && strstr(job.message, "fleet resume") == NULL; i++) {
        usleep(1000);
        assert_done(rig, job_pool_show(jobs, begun.job_id, &job, &rig->error));
    }
    assert_non_null(strstr(job.message, "fleet resume"));
    assert_int_equal(rig->world->writes, 0);
    atomic_store(&only_reads, false);
    for (int i = 0; i < 30 && !job_is_over(&job); i++)
        assert_done(rig,
                    job_pool_wait(jobs, begun.job_id, &job, 1000, NULL, NULL, &job, &rig->error));
    assert_int_equal(job.state, JOB_COMPLETED);
    job_pool_destroy(jobs, 5000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        RIG_TEST(a_plan_is_carried_out_and_its_deployment_is_registered),
        RIG_TEST(a_resource_of_another_opsbrain_is_not_touched),
        RIG_TEST(a_deployment_is_scaled_stopped_started_extended_and_destroyed),
        RIG_TEST(an_extension_is_done_when_its_server_is_ready_again),
        RIG_TEST(a_plan_waits_until_a_moved_database_is_resumed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
