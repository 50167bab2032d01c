/* SPDX-License-Identifier: Apache-2.0 */
/* Judges Google's replies to a step. */
#include <stdio.h>
#include <string.h>

#include "base/json/json.h"
#include "fleet/cloud/cloud_problem.h"
#include "fleet/providers/google.h"

enum step_state google_fail(struct error *error, const char *message)
{
    error_set(error, ERROR_UPSTREAM, "%s", message);
    return STEP_FAILED;
}

enum step_state google_judge_failure(const struct step *step, const struct cloud_reply *reply,
                                     struct error *error)
{
    if (reply->status == 404 && step->absent_is_done)
        return STEP_DONE;
    if (reply->status == 404 && strncmp(step->name, "secret-", 7) == 0) {
        const char *secret = google_last_part(step->resource);

        error_set(error, ERROR_NOT_FOUND,
                  "the project has no secret %s, which the recipe needs: gcloud secrets create %s "
                  "--data-file=-",
                  secret, secret);
        return STEP_FAILED;
    }
    error_set(error, ERROR_UPSTREAM, "%s", reply->message);
    if (reply->status == 409 && step->creates && strcmp(reply->kind, "ABORTED") != 0)
        return STEP_EXISTS;
    if (reply->verdict == CLOUD_AGAIN)
        return STEP_RETRY;
    return reply->verdict == CLOUD_LOST ? STEP_LOST : STEP_FAILED;
}

enum step_state google_judge_operation(const json_t *operation, const char *base,
                                       char poll_url[1024], struct error *error)
{
    const char *name = json_get_text(operation, "name", "");
    struct cloud_problem problem;

    if (!json_get_boolean(operation, "done", false)) {
        snprintf(poll_url, 1024, "%.100s%.900s", base, name);
        return STEP_WAIT;
    }
    if (json_object_get(operation, "error") == NULL)
        return STEP_DONE; /* "response" can be missing, and is not needed */
    cloud_problem_read(200, operation, &problem);
    return google_fail(error, problem.message);
}

enum step_state google_judge_wait(const struct step *step, const struct observed *now,
                                  char poll_url[1024], struct error *error)
{
    if (strcmp(step->name, now->state) == 0)
        return STEP_DONE;
    if (strcmp(step->name, "ready") == 0 && strcmp(now->state, "failed") == 0)
        return google_fail(error, now->message);
    text_copy(poll_url, 1024, step->resource);
    return STEP_WAIT;
}

bool google_is_one_of(const char *name, const char *const *names)
{
    while (*names != NULL && strcmp(name, *names) != 0)
        names++;
    return *names != NULL;
}
