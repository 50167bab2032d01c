/* SPDX-License-Identifier: Apache-2.0 */
#include "fleet/managed/managed_apply.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/core/memory.h"
#include "base/json/json.h"
#include "fleet/managed/apply_private.h"
#include "fleet/managed/managed_document.h"

/* The pause between attempts to write to a busy store, and between checks of whether an admin has
 * run `opsbrain fleet resume`. */
#define RETRY_MS 1000

/* ---- Ending a plan ---- */

static CHECKED bool end_plan(struct apply *apply, const struct fleet_plan_end *end,
                             struct error *error)
{
    while (!fleet_plan_end(apply->frame->store, &apply->run->claim, apply->plan.row.id, end,
                           apply->frame->now_ms(), error)) {
        if (error->kind != ERROR_BUSY)
            return false;
        job_run_waits_for_store(apply->run, error);
        if (job_run_wait(apply->run, RETRY_MS) != JOB_STOP_NO)
            return false;
    }
    return true;
}

static char *write_outcome(const struct apply *apply, const char *state, const char *reason)
{
    json_auto_t *outcome = json_pack(
        "{s:s, s:s, s:s, s:s, s:s*, s:s*}", "plan", apply->plan.row.id, "verb",
        apply->plan.row.verb, "deployment", apply->plan.row.deployment, "state", state, "url",
        apply->plan.observed.address[0] == '\0' ? NULL : apply->plan.observed.address, "reason",
        reason[0] == '\0' ? NULL : reason);

    return json_write(outcome);
}

/* Returns, as JSON, the door to store (managed_document_door), with the address to which the
 * server's key may be sent. Returns NULL to leave the stored door unchanged. The door of a stopped
 * server is empty, because its address might be given to another server. */
static char *write_door(const struct apply *apply)
{
    json_auto_t *door =
        apply_is(apply, VERB_STOP) ? json_object() : managed_document_door(&apply->plan.observed);

    return apply_is(apply, VERB_STOP) || apply->plan.observed.address[0] != '\0' ? json_write(door)
                                                                                 : NULL;
}

static CHECKED enum job_end finish_done(struct apply *apply, char **outcome, struct error *error)
{
    bool destroyed = apply_is(apply, VERB_DESTROY), stopped = apply_is(apply, VERB_STOP);
    json_auto_t *observation = managed_document_observation(&apply->plan.observed);
    FREE_AUTO char *observed = json_write(observation);
    FREE_AUTO char *baseline =
        json_write(apply->plan.observed.fields == NULL ? observation : apply->plan.observed.fields);
    FREE_AUTO char *wish = json_write(apply->plan.wish);
    FREE_AUTO char *door = write_door(apply);
    const struct fleet_plan_end end = { .state = "done",
                                        .reason = "",
                                        .managed_state = destroyed ? "gone"
                                                         : stopped ? "stopped"
                                                                   : "running",
                                        .observed = observed,
                                        .baseline = baseline,
                                        .wish = destroyed ? NULL : wish,
                                        .door = door,
                                        .sets_terms = !destroyed && !stopped };

    if (!apply_keep_registered(apply, error) || !end_plan(apply, &end, error))
        return JOB_END_FAILED;
    *outcome = write_outcome(apply, "done", "");
    return JOB_END_COMPLETED;
}

/* Returns the deployment's state after a plan that was not carried out; NULL: unchanged. A stopped
 * deployment counts as running as soon as a plan to start or change it begins, so "stopped" is
 * restored if the plan changed nothing. */
static const char *state_after(const struct apply *apply, bool clean, bool changed_nothing)
{
    const json_t *before = json_object_get(apply->plan.document, "observed");

    if (apply_is(apply, VERB_CREATE))
        return clean ? "gone" : "failed";
    return changed_nothing && strcmp(json_get_text(before, "state", ""), "stopped") == 0 ? "stopped"
                                                                                         : NULL;
}

/* Ends a plan that failed or was cancelled. `clean`: everything that the plan created was
 * deleted. */
static CHECKED enum job_end finish_undone(struct apply *apply, bool cancelled, bool clean,
                                          char **outcome, struct error *error)
{
    const char *state = cancelled ? "cancelled" : "failed";
    bool changed_nothing = apply_changed_nothing(apply);
    const struct fleet_plan_end end = { .state = state,
                                        .reason = apply->problem,
                                        .managed_state = state_after(apply, clean, changed_nothing),
                                        .changed_nothing = changed_nothing };

    if (!end_plan(apply, &end, error))
        return JOB_END_FAILED;
    *outcome = write_outcome(apply, state, apply->problem);
    if (!cancelled)
        error_set(error, ERROR_UPSTREAM, "%s", apply->problem);
    return cancelled ? JOB_END_CANCELLED : JOB_END_FAILED;
}

/* ---- The run ---- */

static CHECKED enum job_end undo(struct apply *apply, char **outcome, struct error *error)
{
    bool cancelled =
        job_run_stop(apply->run) == JOB_STOP_CANCEL || apply->run->job.cancel_requested_ms != 0;
    struct error problem = { 0 };
    enum apply_end end = apply_undo(apply, &problem);

    if (end == APPLY_STOPPED)
        return JOB_END_YIELDED;
    if (end == APPLY_FAILED) {
        size_t length = strlen(apply->problem);

        snprintf(apply->problem + length, sizeof apply->problem - length, "%s%s",
                 length == 0 ? "" : "; ", problem.message);
    }
    return finish_undone(apply, cancelled, end == APPLY_DONE, outcome, error);
}

/* Returns true if another process must continue the job, because this one has lost its claim on the
 * job or is shutting down. (During a shutdown, calls to the platform fail.) */
static bool must_yield(const struct apply *apply, enum apply_end end)
{
    enum job_stop stop = job_run_stop(apply->run);

    return stop == JOB_STOP_YIELD || stop == JOB_STOP_LOST
           || (end == APPLY_STOPPED && stop != JOB_STOP_CANCEL);
}

/* Carries out the plan, or undoes it if it fails or is cancelled. Undoing only deletes what the
 * plan created. A change that is half done is left for the next plan. */
static CHECKED enum job_end carry_out(struct apply *apply, char **outcome, struct error *error)
{
    enum apply_end end;

    if (apply->undoing || job_run_stop(apply->run) == JOB_STOP_CANCEL) {
        if (apply->problem[0] == '\0')
            text_copy(apply->problem, sizeof apply->problem, "it was cancelled");
        return undo(apply, outcome, error);
    }
    end = apply_steps(apply, error);
    if (end == APPLY_DONE)
        end = apply_await(apply, error);
    if (end == APPLY_DONE)
        return finish_done(apply, outcome, error);
    if (must_yield(apply, end))
        return JOB_END_YIELDED;
    text_copy(apply->problem, sizeof apply->problem,
              end == APPLY_STOPPED ? "it was cancelled" : error->message);
    return undo(apply, outcome, error);
}

/* Waits as long as clouds may only be read. A cancelled plan also waits, because undoing it is a
 * change, too. Returns false if the process is stopping or has lost the job's claim. */
static bool await_resume(struct apply *apply)
{
    const atomic_bool *only_reads = apply->frame->only_reads;

    while (only_reads != NULL && atomic_load(only_reads)) {
        enum job_stop stop;

        job_run_progress(apply->run, 0, 1,
                         "waiting because the database was moved or restored: `opsbrain fleet "
                         "resume` continues the plan");
        stop = job_run_wait(apply->run, RETRY_MS);
        if (stop == JOB_STOP_CANCEL) {
            job_run_undoes(apply->run);
            apply->undoing = true;
        } else if (stop != JOB_STOP_NO)
            return false;
    }
    return true;
}

static CHECKED enum job_end run(struct apply *apply, char **outcome, struct error *error)
{
    const struct fleet_frame *frame = apply->frame;

    if (strcmp(apply->plan.row.state, "applying") != 0) {
        *outcome = write_outcome(apply, apply->plan.row.state, apply->plan.row.reason);
        return strcmp(apply->plan.row.state, "done") == 0 ? JOB_END_COMPLETED : JOB_END_CANCELLED;
    }
    if (!await_resume(apply))
        return JOB_END_YIELDED;
    if (!frame->cloud(frame->context, &apply->plan.target.plain, &apply->cloud, error)
        || !apply_recall(apply, error))
        return JOB_END_FAILED;
    return carry_out(apply, outcome, error);
}

enum job_end managed_apply_run(const struct fleet_frame *frame, struct job_run *job,
                               char **outcome_json, struct error *error)
{
    struct apply apply = { .frame = frame, .run = job };
    struct fleet_plan_row row;
    enum job_end end;

    if (!fleet_plan_find(frame->store, job->job.subject, &row, error))
        return JOB_END_FAILED;
    if (!managed_plan_load(frame, &row, &apply.plan, error)) {
        fleet_plan_finish(&row);
        return JOB_END_FAILED;
    }
    fleet_plan_finish(&row);
    apply.steps = memory_zeroed(apply.plan.step_count + 1, sizeof *apply.steps);
    end = run(&apply, outcome_json, error);
    free(apply.steps);
    managed_plan_finish(&apply.plan);
    return end;
}
