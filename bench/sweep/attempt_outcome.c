/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/sweep/attempt_outcome.h"

#include <stdio.h>
#include <string.h>

/* The server monitor can find fault with at most this many attempts at one cell: the last of them
 * is not repeated. */
#define ATTEMPTS_LIMIT 3

static void reject(struct sweep_work *work, const char *reason, struct cell_result *result)
{
    work->rejected++;
    result->state = CELL_PENDING;
    text_copy(result->reason, sizeof result->reason, reason);
}

/* The server restarted, or stopped answering, during the last allowed attempt, so the attempt's
 * figures mean nothing. */
static void fail(const char *reason, struct cell_result *result)
{
    result->state = CELL_FAILED;
    result->measurement = (struct measurement){ 0 };
    snprintf(result->reason, sizeof result->reason, "after %d attempts: %.200s", ATTEMPTS_LIMIT,
             reason);
}

static void stop(struct sweep_work *work, const char *reason)
{
    work->ends_failed = true;
    snprintf(work->stopped, sizeof work->stopped,
             "%.170s: start a new sweep, or restore the old model and call sweep_resume", reason);
}

/* A sweep measures one model on each deployment: the one that the server monitor reported first. */
static bool serves_other_model(struct subject *subject, const struct cross_check *cross_check,
                               char reason[256])
{
    if (subject->served[0] == '\0')
        text_copy(subject->served, sizeof subject->served, cross_check->served);
    if (cross_check->verdict == CROSS_CHECK_OTHER_MODEL)
        text_copy(reason, 256, cross_check->reason);
    else if (cross_check->served[0] != '\0' && strcmp(cross_check->served, subject->served) != 0)
        snprintf(reason, 256,
                 "the deployment serves a different model than when the sweep began: %.80s, then "
                 "%.80s",
                 subject->served, cross_check->served);
    else
        return false;
    return true;
}

void attempt_outcome_judge(struct sweep_work *work, struct subject *subject,
                           const struct cross_check *cross_check, struct cell_result *result)
{
    bool again = work->rejected + 1 < ATTEMPTS_LIMIT;
    char reason[256];

    if (serves_other_model(subject, cross_check, reason)) {
        reject(work, reason, result);
        stop(work, reason);
    } else if (cross_check->verdict == CROSS_CHECK_RESTARTED) {
        if (again)
            reject(work, cross_check->reason, result);
        else
            fail(cross_check->reason, result);
    } else if (cross_check->verdict == CROSS_CHECK_CONTAMINATED && result->state == CELL_MEASURED) {
        if (again)
            reject(work, cross_check->reason, result);
        else
            result->measurement.contaminated = true;
    }
}

static void mark_missing_metrics(const struct cross_check *cross_check, struct cell_result *result)
{
    if (result->measurement.uneven || !(cross_check->gap_s > 0))
        return;
    result->measurement.uneven = true;
    snprintf(result->reason, sizeof result->reason,
             "the server's metrics were unavailable for %.1f s during the window",
             cross_check->gap_s);
}

void attempt_outcome_judge_evenness(struct sweep_work *work, const struct cross_check *cross_check,
                                    struct cell_result *result)
{
    if (result->state != CELL_MEASURED)
        return;
    mark_missing_metrics(cross_check, result);
    if (!result->measurement.uneven || work->rejected > 0)
        return;
    work->rejected++;
    result->state = CELL_PENDING;
}
