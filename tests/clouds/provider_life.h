/* SPDX-License-Identifier: Apache-2.0 */
/* Applies a verb (create, stop, ...) by sending the provider's steps in order. Polls a step that is
 * still in progress. Stops at the first step that fails or is still in progress after the last
 * poll. A step whose resource already exists and is ours counts as done. */
#pragma once

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/json/json.h"
#include "fleet/providers/provider.h"

struct life {
    const struct provider *provider;
    struct cloud *cloud;
    struct desired desired;
    int polls_max; /* the maximum number of polls for each step */
    long pause_ms; /* the pause before each poll */
    /* The state of the last step that was sent; dry runs do not change it. */
    enum step_state state;
    /* The name of the last step that was sent, even if only its dry run was sent; "": none was. */
    char step[64];
    struct error error;
};

static inline enum step_state life_send(struct life *life, const struct step *step,
                                        const char *method, const char *url, const json_t *body,
                                        char poll_url[1024])
{
    CLOUD_REPLY_AUTO reply = { 0 };

    error_ignore(
        cloud_call(life->cloud, method, url, step->content_type, body, &reply, &life->error));
    return life->provider->outcome(step, &reply, poll_url, &life->error);
}

static inline enum step_state life_do(struct life *life, const struct step *step)
{
    char poll_url[1024];
    enum step_state state = life_send(life, step, step->method, step->url, step->body, poll_url);

    for (int polls = 0; state == STEP_WAIT && polls < life->polls_max; polls++) {
        char url[1024];

        snprintf(url, sizeof url, "%s", poll_url);
        nanosleep(&(struct timespec){ life->pause_ms / 1000, life->pause_ms % 1000 * 1000000 },
                  NULL);
        state = life_send(life, step, "GET", url, NULL, poll_url);
    }
    snprintf(life->step, sizeof life->step, "%s", step->name);
    return life->state = state;
}

/* Returns true if the step failed because its resource already exists, and the resource is ours:
 * this opsbrain's id is in its description or labels. */
static inline bool life_finds_ours(struct life *life, const struct step *step)
{
    CLOUD_REPLY_AUTO reply = { 0 };
    const json_t *about;

    if (life->state != STEP_EXISTS
        || !cloud_call(life->cloud, "GET", step->resource, NULL, NULL, &reply, &life->error))
        return false;
    about = json_object_get(reply.body, "metadata");
    return strstr(json_get_text(reply.body, "description", ""), life->desired.instance) != NULL
           || strcmp(json_get_text(json_object_get(about, "labels"), "opsbrain/instance", ""),
                     life->desired.instance)
                  == 0;
}

/* Returns true if every step of the verb succeeded. A step also succeeds if its resource already
 * exists and is ours. */
static inline bool life_apply(struct life *life, enum provider_verb verb)
{
    struct observed now;
    struct step *steps = NULL;
    size_t count = 0, done = 0;

    life->step[0] = '\0';
    if (!life->provider->observe(life->cloud, &life->desired, &now, &life->error))
        return false;
    if (!life->provider->steps(verb, &life->desired, &now, &steps, &count, &life->error)) {
        observed_finish(&now);
        step_list_free(steps, count);
        return false;
    }
    while (done < count
           && (life_do(life, &steps[done]) == STEP_DONE || life_finds_ours(life, &steps[done])))
        done++;
    step_list_free(steps, count);
    observed_finish(&now);
    return done == count;
}

/* Sends the dry runs of the verb's steps; steps without a dry run are skipped. Stops and returns
 * false at the first dry run that is not accepted. */
static inline bool life_plan(struct life *life, enum provider_verb verb)
{
    struct observed now;
    struct step *steps = NULL;
    size_t count = 0;
    bool good = life->provider->observe(life->cloud, &life->desired, &now, &life->error)
                && life->provider->steps(verb, &life->desired, &now, &steps, &count, &life->error);

    for (size_t i = 0; good && i < count; i++) {
        enum step_state state;
        char ignored[1024];

        if (steps[i].dry_run_url[0] == '\0')
            continue;
        snprintf(life->step, sizeof life->step, "%s", steps[i].name);
        state = life_send(life, &steps[i], steps[i].method, steps[i].dry_run_url, steps[i].body,
                          ignored);
        good = state == STEP_DONE || state == STEP_WAIT;
    }
    step_list_free(steps, count);
    observed_finish(&now);
    return good;
}
