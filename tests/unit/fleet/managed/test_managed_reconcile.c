/* SPDX-License-Identifier: Apache-2.0 */
/* The reconciler, which checks the managed deployments in rounds: what it observes, reports, ends,
 * and leaves alone. */
#include "fleet/managed/managed_reconcile.h"
#include "tests/unit/support/test_database.h"

#include "fleet/managed/managed_check.h"
#include "tests/unit/support/fleet_world.h"

#define MINUTE_MS 60000LL
#define BEGIN_MS 1800000000000LL

static int64_t clock_ms; /* the time that the frame's now_ms returns */

static int64_t test_now(void)
{
    return clock_ms;
}

struct rig {
    char folder[FOLDER_SIZE];
    struct fleet_world *world;
    struct store *store;
    struct fleet_frame frame;
    struct managed_reconciler *reconciler;
    struct error error;
    char reported[512]; /* the last report, as "DEPLOYMENT: MESSAGE" */
    int reports;
    atomic_bool only_reads;
};

#define assert_done(rig, call)                                                                     \
    do {                                                                                           \
        if (!(call))                                                                               \
            fail_msg("%s", (rig)->error.message);                                                  \
    } while (0)

static void receive(void *context, const char *deployment, const char *sentence, bool is_warning)
{
    struct rig *rig = context;

    (void)is_warning;
    rig->reports++;
    snprintf(rig->reported, sizeof rig->reported, "%s: %s", deployment, sentence);
}

static void manage(struct rig *rig, const char *name, const char *rights, int64_t life_ms,
                   const char *at_end)
{
    char empty[] = "{}", wish[] = "{\"place\":\"east\"}", url[128];
    struct fleet_managed_row row = { .target = "lab", .wish = wish, .observed = empty };
    struct fleet_resource *resource;

    row.ends_ms = life_ms == 0 ? 0 : clock_ms + life_ms;
    text_copy(row.deployment, sizeof row.deployment, name);
    text_copy(row.rights, sizeof row.rights, rights);
    text_copy(row.at_end, sizeof row.at_end, at_end);
    assert_done(rig, fleet_managed_adopt(rig->store, &row, clock_ms, NULL, &rig->error));
    snprintf(url, sizeof url, "https://test/service/%s", name);
    resource = fleet_world_put(rig->world, url);
    resource->exists = true;
    resource->replicas = 1;
    resource->polls = 100;
    snprintf(resource->instance, sizeof resource->instance, "%s", rig->frame.instance);
    snprintf(resource->deployment, sizeof resource->deployment, "%s", name);
}

static int set_up(void **state)
{
    struct rig *rig = calloc(1, sizeof *rig);
    struct fleet_target_row target = { .name = "lab",
                                       .provider = "kubernetes",
                                       .place = "{\"project\":\"p\"}",
                                       .regions = "[\"east\"]",
                                       .source_ranges = "[]",
                                       .recipes = "[]",
                                       .credential = "none" };
    bool changed;

    clock_ms = BEGIN_MS;
    folder_create(rig->folder);
    rig->world = fleet_world_create();
    assert_done(rig,
                store_open(rig->folder, test_database(rig->folder), 2, &rig->store, &rig->error));
    rig->frame = fleet_world_frame(rig->world, rig->store);
    rig->frame.now_ms = test_now;
    rig->frame.only_reads = &rig->only_reads;
    assert_done(rig,
                fleet_target_put(rig->store, &target, 1, NULL, &target, &changed, &rig->error));
    rig->reconciler = managed_reconcile_create(&rig->frame, receive, rig);
    *state = rig;
    return 0;
}

static int tear_down(void **state)
{
    struct rig *rig = *state;

    managed_reconcile_destroy(rig->reconciler);
    store_close(rig->store);
    munmap(rig->world, sizeof *rig->world);
    folder_remove(rig->folder);
    free(rig);
    return 0;
}

/* Advances the clock by `minutes`, and runs a round. */
static struct managed_round after(struct rig *rig, int64_t minutes)
{
    struct managed_round round;

    clock_ms += minutes * MINUTE_MS;
    assert_done(rig, managed_reconcile_round(rig->reconciler, &round, &rig->error));
    return round;
}

static size_t jobs_queued(struct rig *rig)
{
    const struct job_filter filter = { .kind = JOB_KIND_APPLY, .state = -1 };
    FREE_AUTO struct job *jobs = NULL;
    size_t count;

    assert_done(rig, job_list(rig->store, &filter, 10, &jobs, &count, &rig->error));
    return count;
}

static void a_deployment_is_checked_a_minute_after_a_change_and_less_often_otherwise(void **state)
{
    struct rig *rig = *state;
    size_t checked = 0;

    manage(rig, "gemma", "created", 0, "");
    for (int i = 0; i < 60; i++)
        checked += after(rig, 1).checked;
    assert_in_range(checked, 14, 20);
    assert_int_equal(rig->reports, 0);
    rig->world->resources[0].replicas = 0;
    for (int i = 0; i < 5 && rig->reports == 0; i++)
        after(rig, 1);
    assert_string_equal(rig->reported, "gemma: it is stopped");
    rig->world->resources[0].replicas = 1;
    assert_int_equal(after(rig, 1).checked, 1);
    assert_string_equal(rig->reported, "gemma: it is ready");
}

static void an_end_is_announced_once_60_and_once_10_minutes_before_it(void **state)
{
    struct rig *rig = *state;

    manage(rig, "gemma", "created", 120 * MINUTE_MS, "destroy");
    after(rig, 59);
    assert_int_equal(rig->reports, 0);
    after(rig, 1);
    assert_string_equal(rig->reported,
                        "gemma: it ends in 60 min (destroy): deployment_extend plans a later end");
    after(rig, 30);
    assert_int_equal(rig->reports, 1);
    after(rig, 20);
    assert_string_equal(rig->reported,
                        "gemma: it ends in 10 min (destroy): deployment_extend plans a later end");
    after(rig, 5);
    assert_int_equal(rig->reports, 2);
}

/* The deployment was adopted without the right to extend it. */
static void the_end_of_a_watched_deployment_is_announced_without_advice(void **state)
{
    struct rig *rig = *state;

    manage(rig, "gemma", "watched", 120 * MINUTE_MS, "destroy");
    after(rig, 60);
    assert_string_equal(rig->reported, "gemma: it ends in 60 min (destroy)");
}

static void a_deployment_is_ended_once_at_its_end(void **state)
{
    struct rig *rig = *state;
    struct fleet_plan_row *plans;
    size_t count;

    manage(rig, "gemma", "created", 60 * MINUTE_MS, "destroy");
    assert_int_equal(after(rig, 59).ended, 0);
    assert_int_equal(after(rig, 1).ended, 1);
    assert_int_equal(after(rig, 1).ended, 0);
    assert_int_equal(jobs_queued(rig), 1);
    assert_done(rig, fleet_plan_list(rig->store, "gemma", 5, &plans, &count, &rig->error));
    assert_int_equal(count, 1);
    assert_string_equal(plans[0].verb, "destroy");
    assert_string_equal(plans[0].principal, "opsbrain");
    fleet_plan_rows_free(plans, count);
}

static void a_deployment_that_is_watched_or_has_no_end_is_not_ended(void **state)
{
    struct rig *rig = *state;

    manage(rig, "watched", "watched", 60 * MINUTE_MS, "destroy");
    manage(rig, "endless", "adopted", 0, "");
    assert_int_equal(after(rig, 600).ended, 0);
    assert_int_equal(jobs_queued(rig), 0);
}

static void no_deployment_is_ended_until_a_moved_database_is_resumed(void **state)
{
    struct rig *rig = *state;

    manage(rig, "gemma", "created", 60 * MINUTE_MS, "destroy");
    atomic_store(&rig->only_reads, true);
    assert_int_equal(after(rig, 70).ended, 0);
    assert_int_equal(rig->world->writes, 0);
    atomic_store(&rig->only_reads, false);
    assert_int_equal(after(rig, 1).ended, 1);
}

static void a_missing_server_counts_as_failed_before_its_end_and_is_forgotten_after_it(void **state)
{
    struct rig *rig = *state;
    struct fleet_managed_row row;
    bool found;

    manage(rig, "gemma", "watched", 60 * MINUTE_MS, "destroy");
    rig->world->resources[0].exists = false;
    after(rig, 1);
    assert_non_null(strstr(rig->reported, "it no longer exists on its platform"));
    assert_done(rig, fleet_managed_find(rig->store, "gemma", &row, &found, &rig->error));
    assert_string_equal(row.state, "failed");
    fleet_managed_finish(&row);
    after(rig, 60);
    assert_non_null(strstr(rig->reported, "it no longer exists, and its end has passed"));
    assert_done(rig, fleet_managed_find(rig->store, "gemma", &row, &found, &rig->error));
    assert_false(found);
}

static void a_missing_server_that_was_to_be_stopped_is_reported_once_an_hour(void **state)
{
    struct rig *rig = *state;
    struct fleet_managed_row row;
    bool found;

    manage(rig, "gemma", "created", 60 * MINUTE_MS, "stop");
    rig->world->resources[0].exists = false;
    after(rig, 60);
    assert_non_null(strstr(rig->reported, "it no longer exists on its platform"));
    assert_done(rig, fleet_managed_find(rig->store, "gemma", &row, &found, &rig->error));
    assert_string_equal(row.state, "failed");
    fleet_managed_finish(&row);
    rig->reports = 0;
    for (int i = 0; i < 59; i++)
        assert_int_equal(after(rig, 1).ended, 0);
    assert_int_equal(rig->reports, 0);
    after(rig, 1);
    assert_int_equal(rig->reports, 1);
    rig->world->resources[0].exists = true;
    assert_int_equal(after(rig, 1).ended, 1);
}

static void an_orphan_without_an_end_is_reported_and_stays(void **state)
{
    struct rig *rig = *state;
    struct fleet_resource *server;

    manage(rig, "gemma", "created", 0, "");
    server = fleet_world_put(rig->world, "https://test/service/lost");
    server->exists = true;
    snprintf(server->instance, sizeof server->instance, "%s", rig->frame.instance);
    snprintf(server->deployment, sizeof server->deployment, "lost");
    server = fleet_world_put(rig->world, "https://test/service/foreign");
    server->exists = true;
    snprintf(server->instance, sizeof server->instance, "ins_another");
    assert_int_equal(after(rig, 1).orphans, 1);
    assert_non_null(strstr(rig->reported, "lost: it has this opsbrain's label"));
    assert_int_equal(fleet_world_existing(rig->world), 3);
    assert_int_equal(rig->world->writes, 0);
}

/* If two targets are in the same project, each might list the other target's managed servers, too.
 * These are not orphans. */
static void a_different_server_with_the_same_name_on_another_target_is_reported(void **state)
{
    struct rig *rig = *state;
    struct fleet_target_row other;
    bool changed;

    assert_done(rig, fleet_target_find(rig->store, "lab", &other, &rig->error));
    text_copy(other.name, sizeof other.name, "other");
    assert_done(rig, fleet_target_put(rig->store, &other, 1, NULL, &other, &changed, &rig->error));
    manage(rig, "gemma", "created", 0, "");
    for (int i = 0; i < 11; i++)
        assert_int_equal(after(rig, 1).orphans, 0);
    text_copy(rig->world->twins_on, sizeof rig->world->twins_on, "other");
    for (int i = 0; i < 9; i++)
        assert_int_equal(after(rig, 1).orphans, 0);
    assert_int_equal(after(rig, 1).orphans, 1);
    assert_non_null(strstr(rig->reported,
                           "gemma: another server with this name and this opsbrain's label exists "
                           "on other, but"));
    assert_int_equal(jobs_queued(rig), 0);
}

static void expect_plan(struct rig *rig, const char *deployment, const char *verb)
{
    struct fleet_plan_row *plans;
    size_t count;

    assert_done(rig, fleet_plan_list(rig->store, deployment, 5, &plans, &count, &rig->error));
    assert_int_equal(count, 1);
    assert_string_equal(plans[0].verb, verb);
    fleet_plan_rows_free(plans, count);
}

static void an_orphan_whose_end_has_passed_is_destroyed_only_if_its_labels_say_so(void **state)
{
    static const struct {
        const char *name, *at_end, *verb, *reported;
    } cases[] = {
        { "removed", "destroy", "destroy", "its end has passed: it is removed" },
        { "stopped", "stop", "stop", "its end has passed: it is stopped" },
        { "older", "", "stop", "do not say whether to destroy it: deployment_destroy" },
    };
    struct rig *rig = *state;
    char url[64];

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct fleet_resource *lost;
        size_t before = jobs_queued(rig);

        snprintf(url, sizeof url, "https://test/service/%s", cases[i].name);
        lost = fleet_world_put(rig->world, url);
        lost->exists = true;
        lost->replicas = 1;
        lost->ends_ms = clock_ms + 15 * MINUTE_MS;
        snprintf(lost->at_end, sizeof lost->at_end, "%s", cases[i].at_end);
        snprintf(lost->instance, sizeof lost->instance, "%s", rig->frame.instance);
        snprintf(lost->deployment, sizeof lost->deployment, "%s", cases[i].name);
        for (int rounds = 0; rounds < 10; rounds++)
            assert_int_equal(after(rig, 1).ended, 0);
        while (strstr(rig->reported, cases[i].reported) == NULL
               && clock_ms < lost->ends_ms + 20 * MINUTE_MS)
            after(rig, 1);
        assert_non_null(strstr(rig->reported, cases[i].reported));
        assert_true(clock_ms >= lost->ends_ms);
        after(rig, 1);
        assert_int_equal(jobs_queued(rig), before + 1);
        expect_plan(rig, cases[i].name, cases[i].verb);
    }
    assert_int_equal(rig->world->writes, 0); /* only the jobs write to clouds, and no job has run */
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_deployment_is_checked_a_minute_after_a_change_and_less_often_otherwise),
        TEST(an_end_is_announced_once_60_and_once_10_minutes_before_it),
        TEST(the_end_of_a_watched_deployment_is_announced_without_advice),
        TEST(a_deployment_is_ended_once_at_its_end),
        TEST(a_deployment_that_is_watched_or_has_no_end_is_not_ended),
        TEST(no_deployment_is_ended_until_a_moved_database_is_resumed),
        TEST(a_missing_server_counts_as_failed_before_its_end_and_is_forgotten_after_it),
        TEST(a_missing_server_that_was_to_be_stopped_is_reported_once_an_hour),
        TEST(an_orphan_without_an_end_is_reported_and_stays),
        TEST(a_different_server_with_the_same_name_on_another_target_is_reported),
        TEST(an_orphan_whose_end_has_passed_is_destroyed_only_if_its_labels_say_so),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
