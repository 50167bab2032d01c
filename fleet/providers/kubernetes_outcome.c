/* SPDX-License-Identifier: Apache-2.0 */
/* Judges the API server's replies to a plan's steps. */
#include <stdio.h>
#include <string.h>

#include "fleet/providers/kubernetes.h"

/* Judges whether a Deployment is in the state that the step waits for. */
static CHECKED enum step_state judge_waiting(const struct step *step,
                                             const struct cloud_reply *reply, struct error *error)
{
    struct observed now = { 0 };
    enum step_state state = STEP_WAIT;

    kubernetes_read(reply->body, NULL, NULL, &now);
    if (strcmp(step->name, "ready") == 0 && strcmp(now.state, "failed") == 0) {
        error_set(error, ERROR_UPSTREAM, "%s",
                  now.message[0] != '\0' ? now.message
                                         : "the Deployment failed without giving a reason");
        state = STEP_FAILED;
    } else if (strcmp(now.state, step->name) == 0) /* "ready" or "stopped" */
        state = STEP_DONE;
    observed_finish(&now);
    return state;
}

static CHECKED enum step_state judge_reply(const struct step *step, const struct cloud_reply *reply,
                                           struct error *error)
{
    bool waits = strcmp(step->name, "ready") == 0 || strcmp(step->name, "stopped") == 0;

    if (strcmp(step->name, "gone") == 0)
        return STEP_WAIT;
    return waits ? judge_waiting(step, reply, error) : STEP_DONE;
}

enum step_state kubernetes_outcome(const struct step *step, const struct cloud_reply *reply,
                                   char poll_url[1024], struct error *error)
{
    enum step_state state;

    poll_url[0] = '\0';
    if (reply->verdict == CLOUD_DONE) {
        state = judge_reply(step, reply, error);
        if (state == STEP_WAIT)
            snprintf(poll_url, 1024, "%s", step->resource);
        return state;
    }
    if (reply->status == 404 && step->absent_is_done)
        return STEP_DONE;
    if (reply->status == 404 && strncmp(step->name, "secret-", 7) == 0) {
        const char *secret = strrchr(step->resource, '/') + 1;

        error_set(
            error, ERROR_NOT_FOUND,
            "the namespace has no Secret %s, which the deployment needs: create it with kubectl "
            "create secret generic %s --from-literal=KEY=...",
            secret, secret);
        return STEP_FAILED;
    }
    error_set(error, ERROR_UPSTREAM, "%s", reply->message); /* used by all returns below */
    if (reply->status == 409 && step->creates)
        return STEP_EXISTS;
    if (reply->verdict == CLOUD_AGAIN)
        return STEP_RETRY;
    if (reply->verdict == CLOUD_LOST)
        return STEP_LOST;
    return STEP_FAILED;
}
