/* SPDX-License-Identifier: Apache-2.0 */
/* In random schedules, several threads apply plans at once: the deployments on a target never cost
 * more than the target's ceiling, and no deployment has two plans applied at once.
 * OPSBRAIN_SCHEDULES sets the number of schedules (`./run clouds` sets 1000). OPSBRAIN_SEED sets
 * the seed of the first schedule; each further schedule uses the next seed. If a schedule fails,
 * the message contains its seed. */
#include <inttypes.h>
#include <pthread.h>
#include <time.h>

#include "base/core/random.h"
#include "store/fleet/fleet_managed.h"
#include "store/fleet/fleet_plans.h"
#include "store/ledger/jobs.h"
#include "tests/unit/support/ledger.h"

#define HOUR_MS 3600000LL
#define NOW 1000000LL
#define THREADS 4
#define APPLIES 6 /* the number of plans that each thread tries to begin */
#define DEFAULT_SCHEDULES 60
#define SCHEDULES_PER_STORE 50 /* the more schedules a store has seen, the slower it is */

struct schedule {
    struct store *store;
    uint64_t seed;
    char target[64];
    double ceiling;
};

struct applier {
    const struct schedule *schedule;
    uint64_t seed;
    size_t begun, refused;
    size_t above_ceiling; /* how often the target's deployments cost more than its ceiling */
    size_t two_plans;     /* how often two plans were applied to a deployment at once */
    size_t faults;        /* how often a call failed with an error that the test does not expect */
};

static const char *const verbs[] = { "create", "create", "scale", "start", "stop", "destroy" };

static bool plan_at_random(const struct schedule *schedule, struct generator *generator,
                           struct fleet_plan_row *out)
{
    struct change change = ledger_change("alice", "deployment_plan");
    const char *verb = verbs[generator_below(generator, 6)];
    bool ends = strcmp(verb, "stop") == 0 || strcmp(verb, "destroy") == 0;
    char empty[] = "{}";
    struct fleet_plan_row plan = { .digest = "d",
                                   .target_revision = 1,
                                   .document = empty,
                                   .usd_known = 1,
                                   .at_end = "destroy",
                                   .ends_ms = NOW + HOUR_MS,
                                   .created_ms = NOW,
                                   .good_until_ms = NOW + HOUR_MS };
    struct error error;

    snprintf(plan.deployment, sizeof plan.deployment, "s%" PRIu64 "-%d", schedule->seed,
             (int)generator_below(generator, 4));
    text_copy(plan.target, sizeof plan.target, schedule->target);
    text_copy(plan.verb, sizeof plan.verb, verb);
    plan.usd_per_hour = ends ? 0 : 0.5 + (double)generator_below(generator, 6) / 2;
    if (!fleet_plan_add(schedule->store, &plan, &change, out, &error))
        return false;
    fleet_plan_finish(out);
    return true;
}

/* Chooses at random whether the plan ends as done or failed. A deployment whose creation failed is
 * "failed" if resources are left, and otherwise "gone"; that is also chosen at random. */
static struct fleet_plan_end choose_end(const struct fleet_plan_row *plan,
                                        struct generator *generator)
{
    bool creates = strcmp(plan->verb, "create") == 0, fails = generator_below(generator, 4) == 0;
    const char *done = strcmp(plan->verb, "destroy") == 0 ? "gone"
                       : strcmp(plan->verb, "stop") == 0  ? "stopped"
                                                          : "running";
    const char *failed = !creates ? NULL : generator_below(generator, 2) == 0 ? "gone" : "failed";

    return (struct fleet_plan_end){ .state = fails ? "failed" : "done",
                                    .reason = "",
                                    .managed_state = fails ? failed : done,
                                    .sets_terms = !fails && strcmp(done, "running") == 0,
                                    .changed_nothing =
                                        fails && generator_below(generator, 2) == 0 };
}

/* Claims one job, if there is one, and ends its plan. Returns false if that fails. */
static bool end_one(const struct schedule *schedule, struct generator *generator)
{
    static const char *const kinds[] = { JOB_KIND_APPLY, NULL };
    const struct job_ending ending = { .state = JOB_COMPLETED };
    struct claim claim = { 0 };
    struct fleet_plan_end end;
    struct fleet_plan_row plan;
    struct error error;
    struct job job;
    bool found, done;

    if (!job_claim(schedule->store, "me", kinds, NOW, 10000, &job, &found, &error))
        return false;
    if (!found)
        return true; /* nothing to end */
    text_copy(claim.job_id, sizeof claim.job_id, job.id);
    claim.fence = job.fence;
    if (!fleet_plan_find(schedule->store, job.subject, &plan, &error))
        return false;
    end = choose_end(&plan, generator);
    done = fleet_plan_end(schedule->store, &claim, plan.id, &end, NOW + 1, &error)
           && job_finish(schedule->store, &claim, &ending, NOW + 1, &error);
    fleet_plan_finish(&plan);
    return done;
}

/* Returns the cost per hour of the target's deployments that are not stopped. Returns a negative
 * number if they cannot be listed. */
static double running_usd(const struct schedule *schedule)
{
    struct fleet_managed_row *rows;
    struct error error;
    double sum = 0;
    size_t count;

    if (!fleet_managed_list(schedule->store, &rows, &count, &error))
        return -1;
    for (size_t i = 0; i < count; i++)
        if (strcmp(rows[i].target, schedule->target) == 0 && strcmp(rows[i].state, "stopped") != 0)
            sum += rows[i].usd_per_hour;
    fleet_managed_rows_free(rows, count);
    return sum;
}

/* Returns whether two or more of the deployment's plans are being applied. Returns true also if the
 * plans cannot be listed. */
static bool has_two_plans(const struct schedule *schedule, const char *deployment)
{
    struct fleet_plan_row *plans;
    struct error error;
    size_t count, applying = 0;

    if (!fleet_plan_list(schedule->store, deployment, 100, &plans, &count, &error))
        return true;
    for (size_t i = 0; i < count; i++)
        applying += strcmp(plans[i].state, "applying") == 0;
    fleet_plan_rows_free(plans, count);
    return applying > 1;
}

static void apply_one(struct applier *applier, struct generator *generator)
{
    const struct schedule *schedule = applier->schedule;
    struct change change = ledger_change("alice", "deployment_apply");
    struct fleet_plan_begun begun;
    struct fleet_plan_row plan;
    struct error error;
    double usd;

    if (!plan_at_random(schedule, generator, &plan)) {
        applier->faults++;
        return;
    }
    nanosleep(&(struct timespec){ .tv_nsec = (long)generator_below(generator, 200000) }, NULL);
    if (fleet_plan_begin(schedule->store, plan.id, FLEET_WAY_PERSON, NULL, NOW + 1, &change, &begun,
                         &error))
        applier->begun++;
    else if (error.kind == ERROR_CONFLICT)
        applier->refused++;
    else
        applier->faults++;
    usd = running_usd(schedule);
    applier->above_ceiling += usd > schedule->ceiling + 1e-6;
    applier->faults += usd < 0;
    applier->two_plans += has_two_plans(schedule, plan.deployment);
    if (generator_below(generator, 3) > 0)
        applier->faults += !end_one(schedule, generator);
}

static void *apply(void *context)
{
    struct applier *applier = context;
    struct generator generator;

    generator_init(&generator, applier->seed);
    for (int i = 0; i < APPLIES; i++)
        apply_one(applier, &generator);
    return NULL;
}

static void begin_schedule(struct ledger *ledger, uint64_t seed, struct schedule *out)
{
    struct fleet_target_row target = { .provider = "testing",
                                       .place = "{\"project\":\"p\"}",
                                       .regions = "[\"east\"]",
                                       .source_ranges = "[]",
                                       .recipes = "[]",
                                       .credential = "none",
                                       .deployment_usd = 3,
                                       .life_limit_s = 7200 };
    struct change change = ledger_change("root", "target_register");
    struct generator generator;
    bool changed;

    generator_init(&generator, seed);
    *out = (struct schedule){ .store = ledger->store,
                              .seed = seed,
                              .ceiling = 1 + (double)generator_below(&generator, 10) / 2 };
    snprintf(out->target, sizeof out->target, "lab-%" PRIu64, seed);
    text_copy(target.name, sizeof target.name, out->target);
    target.total_usd = out->ceiling;
    assert_ok(ledger, fleet_target_put(ledger->store, &target, NOW, &change, &target, &changed,
                                       &ledger->error));
}

/* Ends the plans that are still being applied, so that no job is left for the next schedule. */
static void finish_schedule(const struct schedule *schedule)
{
    struct generator generator;

    generator_init(&generator, schedule->seed);
    for (int i = 0; i < THREADS * APPLIES; i++)
        assert_true(end_one(schedule, &generator));
    if (running_usd(schedule) > schedule->ceiling + 1e-6)
        fail_msg("seed %" PRIu64 ": the cost is above the ceiling at the end", schedule->seed);
}

static void run_schedule(struct ledger *ledger, uint64_t seed, size_t *begun, size_t *refused)
{
    struct applier appliers[THREADS];
    pthread_t threads[THREADS];
    struct schedule schedule;

    begin_schedule(ledger, seed, &schedule);
    for (size_t i = 0; i < THREADS; i++) {
        appliers[i] = (struct applier){ .schedule = &schedule, .seed = seed * THREADS + i };
        assert_int_equal(pthread_create(&threads[i], NULL, apply, &appliers[i]), 0);
    }
    for (size_t i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (size_t i = 0; i < THREADS; i++) {
        if (appliers[i].above_ceiling + appliers[i].two_plans + appliers[i].faults > 0)
            fail_msg("seed %" PRIu64 ": %zu times above the ceiling, %zu times two plans at once, "
                     "%zu faults",
                     seed, appliers[i].above_ceiling, appliers[i].two_plans, appliers[i].faults);
        *begun += appliers[i].begun;
        *refused += appliers[i].refused;
    }
    finish_schedule(&schedule);
}

static uint64_t number_from(const char *variable, uint64_t fallback)
{
    const char *text = getenv(variable);

    return text != NULL ? strtoull(text, NULL, 10) : fallback;
}

static void open_store(struct ledger *ledger)
{
    folder_create_in_memory(ledger->folder);
    assert_ok(ledger, store_open(ledger->folder, test_database(ledger->folder), 4, &ledger->store,
                                 &ledger->error));
}

static void open_another_store(struct ledger *ledger)
{
    store_close(ledger->store);
    folder_remove(ledger->folder);
    open_store(ledger);
}

static void no_ceiling_is_exceeded_and_no_deployment_has_two_plans_applied_at_once(void **state)
{
    struct ledger *ledger = *state;
    uint64_t count = number_from("OPSBRAIN_SCHEDULES", DEFAULT_SCHEDULES);
    uint64_t first = number_from("OPSBRAIN_SEED", (uint64_t)time(NULL) * 10000);
    size_t begun = 0, refused = 0;

    for (uint64_t i = 0; i < count; i++) {
        if (i > 0 && i % SCHEDULES_PER_STORE == 0)
            open_another_store(ledger);
        run_schedule(ledger, first + i, &begun, &refused);
    }
    printf("%" PRIu64 " schedules from seed %" PRIu64 ": %zu applies begun, %zu refused\n", count,
           first, begun, refused);
    assert_true(begun > count && refused > count);
}

static int set_up(void **state)
{
    struct ledger *ledger = calloc(1, sizeof *ledger);

    open_store(ledger);
    *state = ledger;
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            no_ceiling_is_exceeded_and_no_deployment_has_two_plans_applied_at_once, set_up,
            ledger_tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
