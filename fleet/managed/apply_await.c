/* SPDX-License-Identifier: Apache-2.0 */
/* Waits until the provider shows that a plan has been carried out. */
#include <stdio.h>
#include <string.h>

#include "fleet/managed/apply_private.h"

/* A plan fails if this many polls in a row show the state "failed", unless the plan destroys the
 * deployment. One poll is not enough, because a server can be "failed" for a moment between two
 * other states. */
#define FAILED_POLLS 3

/* Also returns true if the server exists and the platform shows no end for it. */
static bool has_wanted_end(const struct apply *apply, const struct observed *observed)
{
    return observed->exists
           && (observed->ends_ms == 0 || !observed_end_moves(observed, &apply->plan.desired));
}

static bool is_reached(const struct apply *apply, const struct observed *observed)
{
    if (apply_is(apply, VERB_DESTROY))
        return !observed->exists;
    if (apply_is(apply, VERB_STOP))
        return !observed->exists || strcmp(observed->state, "stopped") == 0;
    if (apply_is(apply, VERB_EXTEND) && !has_wanted_end(apply, observed))
        return false;
    /* an extension waits for a ready server only if it restarts the server */
    return (apply_is(apply, VERB_EXTEND) && !apply_awaits_last(&apply->plan))
           || strcmp(observed->state, "ready") == 0;
}

static const struct {
    const char *name;
    double done; /* share of the start that is done when the phase begins */
} phases[] = {
    { "capacity", 0 }, { "image", 0.2 }, { "weights", 0.4 }, { "compile", 0.7 }, { "ready", 1 },
};

static double phase_done(const char *name)
{
    for (size_t i = 0; i < sizeof phases / sizeof *phases; i++)
        if (strcmp(phases[i].name, name) == 0)
            return phases[i].done;
    return 0;
}

static void show(const struct apply *apply, const struct observed *observed)
{
    double steps = (double)apply->plan.step_count;
    char message[256];

    observed_write(message, sizeof message, "%s: %s%s%s%s%.120s", apply->plan.row.deployment,
                   observed->exists ? observed->state : "absent",
                   observed->phase[0] == '\0' ? "" : ", ", observed->phase,
                   observed->log_line[0] == '\0' ? "" : ": ", observed->log_line);
    job_run_progress(apply->run, steps + phase_done(observed->phase), steps + 1, message);
}

/* Observes once. If that fails, *problem says why, and the caller tries again. */
static CHECKED bool observe(struct apply *apply, struct error *problem)
{
    struct observed *observed = &apply->plan.observed;

    observed_finish(observed);
    *observed = (struct observed){ 0 };
    if (!apply->plan.target.provider->observe(apply->cloud, &apply->plan.desired, observed,
                                              problem))
        return false;
    show(apply, observed);
    return true;
}

int64_t apply_patience_ms(const struct apply *apply)
{
    const struct recipe *recipe = apply->plan.desired.recipe;
    int64_t start_s = recipe == NULL
                          ? 0
                          : recipe_integer(recipe, "probes.startup.initial_s", 0)
                                + recipe_integer(recipe, "probes.startup.period_s", 0)
                                      * recipe_integer(recipe, "probes.startup.failures", 0);

    return apply->frame->patience_ms + start_s * 1000;
}

/* A wait for capacity, which nobody can shorten, does not count: each poll that shows such a wait
 * restarts the clock. */
static bool is_overdue(const struct apply *apply, int64_t *since_ms)
{
    int64_t now_ms = apply->frame->now_ms();

    if (strcmp(apply->plan.observed.phase, "capacity") == 0)
        *since_ms = now_ms;
    return now_ms - *since_ms > apply_patience_ms(apply);
}

bool apply_check_end(const struct apply *apply, struct error *error)
{
    const struct fleet_plan_row *row = &apply->plan.row;

    if (row->ends_ms == 0 || apply->frame->now_ms() < row->ends_ms || apply_is(apply, VERB_STOP)
        || apply_is(apply, VERB_DESTROY))
        return true;
    return error_set(error, ERROR_TIMEOUT, "%s reached its end before the plan was carried out",
                     row->deployment);
}

enum apply_end apply_await(struct apply *apply, struct error *error)
{
    const struct observed *observed = &apply->plan.observed;
    int64_t since_ms = apply->frame->now_ms();
    unsigned failures = 0;

    for (unsigned round = 0;; round++) {
        struct error problem = { 0 };
        bool is_observed = observe(apply, &problem);

        if (is_observed && is_reached(apply, observed))
            return APPLY_DONE;
        failures = is_observed && strcmp(observed->state, "failed") == 0 ? failures + 1 : 0;
        if (failures == FAILED_POLLS && !apply_is(apply, VERB_DESTROY)) {
            error_set(error, ERROR_UPSTREAM, "%s failed: %.400s", apply->plan.row.deployment,
                      observed->message);
            return APPLY_FAILED;
        }
        if (!apply_check_end(apply, error))
            return APPLY_FAILED;
        if (is_overdue(apply, &since_ms)) {
            error_set(error, ERROR_TIMEOUT, "%s is still %s after %lld min: %.300s",
                      apply->plan.row.deployment, is_observed ? observed->state : "not observable",
                      (long long)(apply_patience_ms(apply) / 60000),
                      is_observed ? observed->message : problem.message);
            return APPLY_FAILED;
        }
        if (!apply_pause(apply, round, 0))
            return APPLY_STOPPED;
    }
}
