/* SPDX-License-Identifier: Apache-2.0 */
/* Deletes the resources that a plan created, in reverse order. */
#include <stdio.h>
#include <string.h>

#include "fleet/managed/apply_private.h"

#define POLLS_MAX 200 /* maximum number of polls to see that a resource is gone */

static bool may_exist(const struct apply *apply, size_t index)
{
    const struct step *step = &apply->plan.steps[index];
    enum apply_stage stage = apply->steps[index].stage;

    return step->creates && step->undo_url[0] != '\0'
           && (stage == STAGE_MAYBE || stage == STAGE_WAITS || stage == STAGE_DONE
               || stage == STAGE_BROKEN);
}

static CHECKED bool note(struct apply *apply, size_t index, const char *outcome,
                         struct error *error)
{
    return apply_note(apply, index, "undo", outcome, "", apply->problem, error);
}

/* A creation that is not known to be done might still take effect, so its resource counts as gone
 * only if two polls in a row do not find it. */
static bool is_gone(enum apply_found found, bool is_unsettled, unsigned *absences)
{
    if (found != FOUND_NOTHING) {
        *absences = 0;
        return found == FOUND_FOREIGN; /* it is somebody else's, and is not touched */
    }
    return ++*absences > (is_unsettled ? 1U : 0U);
}

/* Sends the deletion. If that fails, sets *problem, but returns true, because the caller sends it
 * again. Returns false if the journal cannot be written. */
static CHECKED bool request_delete(struct apply *apply, size_t index, struct error *problem,
                                   struct error *error)
{
    CLOUD_REPLY_AUTO reply = { 0 };

    if (!note(apply, index, "", error))
        return false;
    if (apply->frame->call(apply->cloud, "DELETE", apply->plan.steps[index].undo_url, NULL, NULL,
                           &reply, problem)
        || reply.status == 404)
        return true;
    return note(apply, index, reply.verdict == CLOUD_REFUSED ? "refused" : "retry", error);
}

static CHECKED enum apply_end undo_step(struct apply *apply, size_t index, struct error *error)
{
    bool is_unsettled = apply->steps[index].stage != STAGE_DONE;
    struct error problem = { 0 }; /* the latest problem */
    unsigned absences = 0;

    for (unsigned round = 0; round < POLLS_MAX; round++) {
        enum apply_found found = apply_find(apply, index, &problem);

        if (is_gone(found, is_unsettled, &absences)) {
            apply->steps[index].stage = STAGE_UNDONE;
            return note(apply, index, "done", error) ? APPLY_DONE : APPLY_FAILED;
        }
        if (found == FOUND_OURS && round % 8 == 0 && !request_delete(apply, index, &problem, error))
            return APPLY_FAILED;
        if (!apply_pause(apply, round, 0))
            return APPLY_STOPPED;
    }
    error_set(error, ERROR_UPSTREAM, "\"%s\" could not be undone: %.200s may still exist%s%s",
              apply->plan.steps[index].name, apply->plan.steps[index].resource,
              problem.message[0] == '\0' ? "" : ": ", problem.message);
    return APPLY_FAILED;
}

enum apply_end apply_undo(struct apply *apply, struct error *error)
{
    enum apply_end worst = APPLY_DONE;

    job_run_undoes(apply->run);
    for (size_t i = apply->plan.step_count; i-- > 0;) {
        char message[300];
        enum apply_end end;

        if (!may_exist(apply, i))
            continue;
        snprintf(message, sizeof message, "Undoing: %.250s", apply->plan.steps[i].summary);
        job_run_progress(apply->run, (double)i, (double)apply->plan.step_count + 1, message);
        end = undo_step(apply, i, error);
        if (end == APPLY_STOPPED)
            return end;
        worst = end == APPLY_FAILED ? end : worst;
    }
    return worst;
}
