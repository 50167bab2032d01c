/* SPDX-License-Identifier: Apache-2.0 */
/* Every provider except this machine, on its fake cloud (tests/clouds/trials.c). Each fake cloud
 * has more than 50 resources that belong to others. These must stay as they are when a verb
 * (create, stop, ...) is carried out and when a deployment ends. The first provider is also tried
 * with a few quick faults; `./run clouds` tries every fault at every request. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/core/clock.h"
#include "base/json/json.h"
#include "fleet/managed/managed_reconcile.h"
#include "tests/clouds/trial_faults.h"

static int64_t later_ms; /* how far the frame's clock is ahead of the real clock, in ms */

static int64_t now_ms(void)
{
    return clock_utc_ms() + later_ms;
}

static void open_rig(struct trial_rig *rig, const struct trial *trial)
{
    later_ms = 0;
    trial_rig_open(rig, trial);
    rig->frame.now_ms = now_ms;
}

static void check_untouched(struct trial_rig *rig, const char *by)
{
    char *touched = trial_site_touched(&rig->site);

    if (touched != NULL)
        fail_msg("%s: %s touched %s", rig->site.trial->target.provider, by, touched);
}

/* Runs the block that follows for each trial, except for those on this machine, because its
 * watchdogs are slow. */
#define for_each_trial(trial)                                                                      \
    for (const struct trial *trial = trial_all(); trial->recipe != NULL; trial++)                  \
        if (!trial->is_here)

/* ---- Verbs ---- */

static void no_verb_touches_a_resource_that_belongs_to_others(void **state)
{
    (void)state;
    for_each_trial(trial)
    {
        unsigned verbs = provider_find(trial->target.provider)->verbs;
        struct trial_rig rig;

        open_rig(&rig, trial);
        assert_true(json_object_size(rig.site.before) > 50);
        for (enum provider_verb verb = VERB_CREATE; verb < VERB_COUNT; verb++) {
            struct trial_reference reference;

            if ((verbs & VERB_BIT(verb)) == 0)
                continue;
            trial_reference_measure(&rig, verb, &reference);
            check_untouched(&rig, provider_verb_name(verb));
            assert_int_equal(json_array_size(reference.made) == 0, verb == VERB_DESTROY);
            trial_reference_finish(&reference);
        }
        trial_rig_close(&rig);
    }
}

/* ---- Reconciling ---- */

static void ignore(void *context, const char *deployment, const char *sentence, bool is_warning)
{
    (void)context, (void)deployment, (void)sentence, (void)is_warning;
}

static void await_newest_plan(struct trial_rig *rig)
{
    struct fleet_plan_row *plans, last;
    struct error error;
    size_t count;

    assert_true(fleet_plan_list(rig->store, TRIAL_DEPLOYMENT, 1, &plans, &count, &error));
    assert_int_equal(count, 1);
    trial_rig_finish(rig, plans[0].id, plans[0].job_id, &last);
    assert_string_equal(last.state, "done");
    fleet_plan_finish(&last);
    fleet_plan_rows_free(plans, count);
}

/* Some of the resources that belong to others have an end that has passed, another opsbrain's
 * labels, or a name like ours. */
static void the_end_of_a_deployment_and_the_search_for_orphans_touch_no_other_resource(void **state)
{
    (void)state;
    for_each_trial(trial)
    {
        struct managed_reconciler *reconciler;
        struct managed_round round;
        struct trial_rig rig;
        struct error error;
        char final_state[16];

        open_rig(&rig, trial);
        trial_rig_do(&rig, VERB_CREATE);
        reconciler = managed_reconcile_create(&rig.frame, ignore, NULL);
        assert_true(managed_reconcile_round(reconciler, &round, &error));
        assert_int_equal(round.orphans, 0);
        assert_int_equal(round.ended, 0);
        later_ms = 86400000;
        assert_true(managed_reconcile_round(reconciler, &round, &error));
        assert_int_equal(round.ended, 1);
        await_newest_plan(&rig);
        check_untouched(&rig, "the end of a deployment");
        trial_rig_state(&rig, final_state);
        assert_string_equal(final_state, "gone");
        managed_reconcile_destroy(reconciler);
        trial_rig_close(&rig);
    }
}

/* An orphan is a server that has this opsbrain's label but is not in this opsbrain's database.
 * opsbrain finds it by that label, and removes it when the end in its labels has passed. */
static void after_its_end_an_orphan_is_removed_and_nothing_else_is(void **state)
{
    (void)state;
    for_each_trial(trial)
    {
        struct managed_reconciler *reconciler;
        struct managed_round round;
        struct trial_rig rig, second;
        json_auto_t *left = NULL;
        struct error error;

        open_rig(&rig, trial);
        trial_rig_do(&rig, VERB_CREATE);
        open_rig(&second, trial); /* its database is empty */
        json_object_update(second.site.objects, rig.site.objects);
        text_copy(second.frame.instance, sizeof second.frame.instance, rig.frame.instance);
        reconciler = managed_reconcile_create(&second.frame, ignore, NULL);
        assert_true(managed_reconcile_round(reconciler, &round, &error));
        assert_int_equal(round.orphans, 1);
        managed_reconcile_destroy(reconciler);
        later_ms = 86400000;
        reconciler = managed_reconcile_create(&second.frame, ignore, NULL);
        for (int i = 0; i < 3; i++)
            assert_true(managed_reconcile_round(reconciler, &round, &error));
        await_newest_plan(&second);
        check_untouched(&second, "the end of an orphan");
        left = trial_site_made(&second.site);
        assert_int_equal(json_array_size(left), 0);
        managed_reconcile_destroy(reconciler);
        trial_rig_close(&second);
        trial_rig_close(&rig);
    }
}

/* ---- Faults ---- */

static const struct trial_fault *fault_named(const char *name)
{
    const struct trial_fault *fault = trial_faults();

    while (strcmp(fault->fault.name, name) != 0)
        fault++;
    return fault;
}

static void try_fault(struct trial_rig *rig, enum provider_verb verb,
                      const struct trial_reference *reference, const char *name, int at)
{
    char *wrong = trial_fault_run(rig, verb, reference, fault_named(name), at);

    if (wrong != NULL)
        fail_msg("%s %s, %s at request %d: %s", rig->site.trial->target.provider,
                 provider_verb_name(verb), name, at, wrong);
}

/* Tries two quick faults, alternating from request to request, and then a server that crashes. */
static void try_faults(struct trial_rig *rig, enum provider_verb verb)
{
    static const char *const quick[] = { "403 once", "404 once" };
    struct trial_reference reference;

    trial_reference_measure(rig, verb, &reference);
    for (int at = 1; at <= reference.requests; at++)
        try_fault(rig, verb, &reference, quick[at % 2], at);
    try_fault(rig, verb, &reference, "server crashes", 1);
    trial_reference_finish(&reference);
}

/* Runs only on the first provider, because trying the faults takes long. */
static void a_fault_leaves_no_unknown_resource(void **state)
{
    struct trial_rig rig;

    (void)state;
    open_rig(&rig, trial_all());
    try_faults(&rig, VERB_CREATE);
    try_faults(&rig, VERB_DESTROY);
    trial_rig_close(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_verb_touches_a_resource_that_belongs_to_others),
        cmocka_unit_test(
            the_end_of_a_deployment_and_the_search_for_orphans_touch_no_other_resource),
        cmocka_unit_test(after_its_end_an_orphan_is_removed_and_nothing_else_is),
        cmocka_unit_test(a_fault_leaves_no_unknown_resource),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
