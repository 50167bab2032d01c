/* SPDX-License-Identifier: Apache-2.0 */
/* Judges the replies to a step. */
#include <stdio.h>
#include <string.h>

#include "base/json/json.h"
#include "fleet/providers/tpu.h"

/* Judges a queued resource for the step that waits until there is a machine. A queued resource that
 * has failed, or that is being suspended or deleted, never gets a machine. */
static CHECKED enum step_state judge_queued(const struct step *step, const json_t *queued,
                                            char poll_url[1024], struct error *error)
{
    static const char *const fatal[] = { "failed", "stopping", "deleting", NULL };
    const char *word = json_get_text(json_object_get(queued, "state"), "state", "");
    struct observed now = { 0 };
    enum step_state state = STEP_WAIT;

    tpu_read_queued(queued, &now);
    if (strcmp(word, "ACTIVE") == 0)
        state = STEP_DONE;
    else if (google_is_one_of(now.state, fatal))
        state = google_fail(error, now.message[0] != '\0' ? now.message
                                                          : "the queued resource is being deleted");
    else
        text_copy(poll_url, 1024, step->resource);
    observed_finish(&now);
    return state;
}

static CHECKED enum step_state judge_node(const struct step *step, const json_t *node,
                                          char poll_url[1024], struct error *error)
{
    const char *word = json_get_text(node, "state", "");
    struct observed now = { 0 };
    enum step_state state;

    tpu_read_node(node, false, &now);
    if (strcmp(step->name, "running") != 0)
        state = google_judge_wait(step, &now, poll_url, error);
    else if (strcmp(word, "READY") == 0)
        state = STEP_DONE;
    else if (strcmp(now.state, "failed") == 0)
        state = google_fail(error, now.message);
    else {
        text_copy(poll_url, 1024, step->resource);
        state = STEP_WAIT;
    }
    observed_finish(&now);
    return state;
}

/* A request to stop or start a node cannot have a request id, so if it is repeated, the platform
 * refuses it while the first request is in progress. The node's state then shows whether the first
 * request was carried out. */
static bool is_refused_switch(const struct step *step, const struct cloud_reply *reply)
{
    static const char *const switches[] = { "stop", "start", NULL };

    return reply->status == 400 && google_is_one_of(step->name, switches);
}

static CHECKED enum step_state judge_switch(const struct step *step, const char *word,
                                            struct error *error)
{
    static const char *const stopped[] = { "STOPPING", "STOPPED", NULL };
    static const char *const started[] = { "STARTING", "RESTARTING", "READY", NULL };
    bool stops = strcmp(step->name, "stop") == 0;

    if (google_is_one_of(word, stops ? stopped : started))
        return STEP_DONE;
    error_set(error, ERROR_UPSTREAM, "the TPU is %.40s, and cannot be %s now", word,
              stops ? "stopped" : "started");
    return STEP_FAILED;
}

/* An operation is polled in the API version of the request that started it. */
static CHECKED enum step_state judge_operation(const struct step *step, const json_t *operation,
                                               char poll_url[1024], struct error *error)
{
    bool is_alpha = strncmp(step->url, TPU_ALPHA, strlen(TPU_ALPHA)) == 0;

    return google_judge_operation(operation, is_alpha ? TPU_ALPHA : TPU, poll_url, error);
}

static CHECKED enum step_state judge_done(const struct step *step, const json_t *body,
                                          char poll_url[1024], struct error *error)
{
    static const char *const of_nodes[] = { "stopped", "running", NULL };
    static const char *const of_absence[] = { "gone", "node-gone", NULL };
    const char *word = json_get_text(body, "state", NULL); /* an operation has no state */

    if (strncmp(step->resource, GOOGLE_COMPUTE, strlen(GOOGLE_COMPUTE)) == 0)
        return google_machine_judge(step, body, poll_url, error);
    if (strcmp(step->name, "machine") == 0)
        return judge_queued(step, body, poll_url, error);
    if (google_is_one_of(step->name, of_nodes))
        return judge_node(step, body, poll_url, error);
    if (google_is_one_of(step->name, of_absence)) {
        text_copy(poll_url, 1024, step->resource);
        return STEP_WAIT;
    }
    if (strcmp(step->method, "GET") == 0 || strncmp(step->resource, TPU, strlen(TPU)) != 0)
        return STEP_DONE;
    if (word != NULL)
        return judge_switch(step, word, error);
    return judge_operation(step, body, poll_url, error);
}

/* Returns true if the quota for chips is exceeded. Waiting does not help, unlike with a quota for
 * requests. */
static bool is_out_of_chips(const struct cloud_reply *reply)
{
    return reply->status == 429 && strstr(reply->message, "PerProjectPerZone") != NULL;
}

enum step_state tpu_outcome(const struct step *step, const struct cloud_reply *reply,
                            char poll_url[1024], struct error *error)
{
    poll_url[0] = '\0';
    if (reply->verdict == CLOUD_DONE)
        return judge_done(step, reply->body, poll_url, error);
    if (is_refused_switch(step, reply)) {
        text_copy(poll_url, 1024, step->resource);
        return STEP_WAIT;
    }
    if (is_out_of_chips(reply)) {
        error_set(error, ERROR_UPSTREAM, "%.400s; ask Google for more quota, or use another zone",
                  reply->message);
        return STEP_FAILED;
    }
    return google_machine_judge_failure(step, reply, error);
}
