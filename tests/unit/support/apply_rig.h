/* SPDX-License-Identifier: Apache-2.0 */
/* A store and the test's cloud, for tests that begin plans and carry them out, sometimes in a
 * process that is killed halfway. */
#pragma once

#include "tests/unit/support/fleet_world.h"
#include "tests/unit/support/test_database.h"

#define NAME_SIZE 64

struct rig {
    char folder[FOLDER_SIZE];
    struct fleet_world *world;
    struct store *store; /* NULL while a child process has it open */
    struct fleet_frame frame;
    struct catalog *catalog;
    struct error error;
    int names_given; /* how many names next_name has given */
};

#define assert_done(rig, call)                                                                     \
    do {                                                                                           \
        if (!(call))                                                                               \
            fail_msg("%s", (rig)->error.message);                                                  \
    } while (0)

static inline void open_store(struct rig *rig)
{
    assert_done(rig,
                store_open(rig->folder, test_database(rig->folder), 2, &rig->store, &rig->error));
    rig->frame = fleet_world_frame(rig->world, rig->store);
    rig->frame.catalog = rig->catalog;
}

static inline void close_store(struct rig *rig)
{
    store_close(rig->store);
    rig->store = NULL;
}

static inline int rig_set_up(void **state)
{
    struct rig *rig = calloc(1, sizeof *rig);
    struct fleet_target_row target = { .name = "lab",
                                       .provider = "kubernetes",
                                       .place = "{\"project\":\"p\"}",
                                       .regions = "[\"east\"]",
                                       .source_ranges = "[]",
                                       .recipes = "[]",
                                       .credential = "none",
                                       .deployment_usd = 100,
                                       .total_usd = 1000 };
    bool changed;

    folder_create_in_memory(rig->folder);
    rig->world = fleet_world_create();
    assert_done(rig, catalog_create(&rig->catalog, &rig->error));
    open_store(rig);
    assert_done(rig,
                fleet_target_put(rig->store, &target, 1, NULL, &target, &changed, &rig->error));
    *state = rig;
    return 0;
}

static inline int rig_tear_down(void **state)
{
    struct rig *rig = *state;

    close_store(rig);
    catalog_destroy(rig->catalog);
    munmap(rig->world, sizeof *rig->world);
    folder_remove(rig->folder);
    free(rig);
    return 0;
}

#define RIG_TEST(function) cmocka_unit_test_setup_teardown(function, rig_set_up, rig_tear_down)

static inline struct change user_change(void)
{
    return (struct change){ .actor = { "alice", "operator", "test/1", "req_1" },
                            .tool = "deployment_apply",
                            .arguments = "{}" };
}

/* ---- Beginning a plan ---- */

/* Makes a plan and begins it, as if a user had approved it. */
static inline void begin(struct rig *rig, enum provider_verb verb, const char *name,
                         int64_t replicas, struct fleet_plan_begun *out, char plan_id[ID_SIZE])
{
    struct managed_wish wish = { .verb = verb,
                                 .deployment = name,
                                 .target = "lab",
                                 .recipe = verb == VERB_CREATE ? "gemma-small" : "",
                                 .place = "",
                                 .kind = "",
                                 .at_end = "",
                                 .replicas = replicas,
                                 .life_s = verb == VERB_CREATE || verb == VERB_EXTEND ? 7200 : 0 };
    struct change change = user_change();
    struct fleet_plan_row stored;
    struct managed_plan plan;
    FREE_AUTO char *text = NULL;

    assert_done(rig, managed_plan_make(&rig->frame, &wish, &plan, &rig->error));
    text = json_write(plan.wish);
    assert_done(rig, fleet_plan_add(rig->store, &plan.row, &change, &stored, &rig->error));
    text_copy(plan_id, ID_SIZE, stored.id);
    assert_done(rig, fleet_plan_begin(rig->store, stored.id, FLEET_WAY_PERSON, text, clock_utc_ms(),
                                      &change, out, &rig->error));
    fleet_plan_finish(&stored);
    managed_plan_finish(&plan);
}

/* ---- Carrying out a plan ---- */

static inline enum job_end run_apply(struct job_run *run, char **outcome, struct error *error)
{
    return managed_apply_run(run->services, run, outcome, error);
}

static const struct job_kind kinds[] = { { JOB_KIND_APPLY, run_apply }, { 0 } };

static inline enum job_state carry_out(struct rig *rig, const char *job_id)
{
    struct job_pool *jobs;
    struct job job;

    assert_done(rig, job_pool_create(rig->store, kinds, 1, &rig->frame, &jobs, &rig->error));
    for (int i = 0; i < 400; i++) {
        assert_done(rig, job_pool_show(jobs, job_id, &job, &rig->error));
        if (job_is_over(&job))
            break;
        assert_done(rig, job_pool_wait(jobs, job_id, &job, 50, NULL, NULL, &job, &rig->error));
    }
    job_pool_destroy(jobs, 5000);
    return job.state;
}

/* Carries out the job in a child process, which is killed at event number `event`
 * (fleet_world_event). Returns false if the child ended before that event. */
static inline bool killed_at(struct rig *rig, const char *job_id, int event)
{
    pid_t child;
    int status;

    close_store(rig);
    rig->world->events = 0;
    rig->world->kill_at = event;
    child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        open_store(rig);
        carry_out(rig, job_id);
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    rig->world->kill_at = 0;
    open_store(rig);
    assert_true(WIFSIGNALED(status) ? WTERMSIG(status) == SIGKILL : WEXITSTATUS(status) == 0);
    return WIFSIGNALED(status);
}

static inline void cancel(struct rig *rig, const char *job_id)
{
    struct change change = user_change();
    struct job job;

    assert_done(rig, job_cancel(rig->store, job_id, clock_utc_ms(), &change, &job, &rig->error));
}

/* ---- Checks ---- */

/* Checks that all three resources of a deployment exist (or none of them, if `exist` is false), and
 * that none was created more than `created_max` times. */
static inline void check_world(const struct rig *rig, const char *name, int created_max, bool exist)
{
    static const char *const kinds_made[] = { "guard", "service", "grant" };

    for (size_t i = 0; i < 3; i++) {
        char url[128];
        const struct fleet_resource *resource;

        snprintf(url, sizeof url, "https://test/%s/%s", kinds_made[i], name);
        resource = fleet_world_find(rig->world, url);
        if (resource != NULL && resource->created > created_max)
            fail_msg("%s was created %d times, expected at most %d", url, resource->created,
                     created_max);
        if (exist != (resource != NULL && resource->exists))
            fail_msg("%s %s", url, exist ? "is missing" : "still exists");
    }
}

static inline void check_plan(struct rig *rig, const char *id, const char *state)
{
    struct fleet_plan_row plan;

    assert_done(rig, fleet_plan_find(rig->store, id, &plan, &rig->error));
    if (strcmp(plan.state, state) != 0)
        fail_msg("got state %s, expected %s: %s", plan.state, state, plan.reason);
    fleet_plan_finish(&plan);
}

static inline void check_managed(struct rig *rig, const char *name, const char *state)
{
    struct fleet_managed_row row;
    bool found;

    assert_done(rig, fleet_managed_find(rig->store, name, &row, &found, &rig->error));
    assert_int_equal(found, strcmp(state, "gone") != 0);
    if (found)
        assert_string_equal(row.state, state);
    if (found)
        fleet_managed_finish(&row);
}

/* ---- Making a plan and carrying it out ---- */

static inline void next_name(struct rig *rig, char out[NAME_SIZE])
{
    snprintf(out, NAME_SIZE, "gemma%d", ++rig->names_given);
}

static inline enum job_state create(struct rig *rig, const char *name, char plan_id[ID_SIZE])
{
    struct fleet_plan_begun begun;

    begin(rig, VERB_CREATE, name, 0, &begun, plan_id);
    return carry_out(rig, begun.job_id);
}

static inline enum job_state change(struct rig *rig, enum provider_verb verb, const char *name,
                                    int64_t replicas)
{
    struct fleet_plan_begun begun;
    char plan_id[ID_SIZE];

    begin(rig, verb, name, replicas, &begun, plan_id);
    return carry_out(rig, begun.job_id);
}
