/* SPDX-License-Identifier: Apache-2.0 */
/* Checks what providers read from replies, for fuzz_google_reply.c and fuzz_kubernetes_reply.c. */
#pragma once

#include <string.h>

#include "base/core/text.h"
#include "base/json/json.h"
#include "fleet/managed/managed_document.h"
#include "fleet/providers/provider.h"
#include "fleet/recipes/recipe_book.h"
#include "tests/fuzz/fuzz.h"

static inline void reply_check_text(const char *text, size_t size)
{
    size_t length = strnlen(text, size);

    must(length < size);
    must(text_is_utf8(text, length));
}
#define CHECK_TEXT(text) reply_check_text(text, sizeof(text))

/* Checks that an observation can be shown and stored, and that its strings are valid UTF-8. */
static inline void reply_check_observed(const struct observed *now)
{
    json_auto_t *observation = managed_document_observation(now);

    must(json_object_get(observation, "phase") != NULL
         && json_object_get(observation, "state") != NULL);
    CHECK_TEXT(now->name);
    CHECK_TEXT(now->resource);
    CHECK_TEXT(now->uid);
    CHECK_TEXT(now->etag);
    CHECK_TEXT(now->instance);
    CHECK_TEXT(now->deployment);
    must(now->fields == NULL || json_is_object(now->fields));
    must(now->ends_ms >= 0);
}

/* The steps for every verb of a provider, made once. */
struct reply_steps {
    const struct provider *provider;
    struct recipe_book *book; /* has the steps' recipe; like the steps, never freed */
    struct step *steps[VERB_COUNT];
    size_t counts[VERB_COUNT];
};

static inline void reply_steps_make(struct reply_steps *out, const struct fleet_target *target,
                                    const char *recipe_name)
{
    static const struct observed now = {
        .exists = true, .ours = true, .uid = "u", .etag = "e", .ends_ms = 1764003600000
    };
    struct error error;
    struct desired desired;

    must(recipe_book_create("", &out->book, &error));
    out->provider = provider_find(target->provider);
    desired = (struct desired){ .target = target,
                                .recipe = recipe_book_find(out->book, recipe_name),
                                .deployment = "gemma",
                                .instance = "ins_1",
                                .place = target->places[0],
                                .kind = "on_demand",
                                .made_ms = 1764000000000,
                                .ends_ms = 1764007200000,
                                .end_destroys = true,
                                .replicas = 2,
                                .request_seed = "pln_1" };
    must(desired.recipe != NULL);
    for (enum provider_verb verb = VERB_CREATE; verb < VERB_COUNT; verb++)
        if ((out->provider->verbs & VERB_BIT(verb)) == 0
            || !out->provider->steps(verb, &desired, verb == VERB_CREATE ? NULL : &now,
                                     &out->steps[verb], &out->counts[verb], &error))
            out->counts[verb] = 0; /* the provider lacks the verb, or has nothing to do */
    must(out->counts[VERB_CREATE] > 0 && out->counts[VERB_DESTROY] > 0);
}

/* Passes a reply to one of the steps, and checks the outcome: the state is valid, there is a
 * message unless the step is done or waits, and a step that waits has a URL to poll. A URL to poll
 * is a path or leads to Google. `which` chooses the step and, if the status is at least 300, the
 * verdict. */
static inline void reply_try_outcome(const struct reply_steps *all, uint8_t which, long status,
                                     json_t *body)
{
    static const enum cloud_verdict verdicts[] = { CLOUD_DONE, CLOUD_AGAIN, CLOUD_LOST,
                                                   CLOUD_REFUSED };
    enum provider_verb verb = VERB_CREATE + which % (VERB_COUNT - VERB_CREATE);
    struct cloud_reply reply = { .status = status,
                                 .verdict = status < 300 ? CLOUD_DONE : verdicts[which / 64],
                                 .body = body,
                                 .kind = "ABORTED",
                                 .message = "not now" };
    char poll_url[1024];
    struct error error = { 0 };
    enum step_state state;

    if (all->counts[verb] == 0)
        return;
    state = all->provider->outcome(&all->steps[verb][which / 7 % all->counts[verb]], &reply,
                                   poll_url, &error);
    must(state >= STEP_DONE && state <= STEP_FAILED);
    must(state == STEP_DONE || state == STEP_WAIT || error.message[0] != '\0');
    must(state != STEP_WAIT || poll_url[0] != '\0');
    CHECK_TEXT(error.message);
    CHECK_TEXT(poll_url);
    must(poll_url[0] == '\0' || poll_url[0] == '/'
         || (strncmp(poll_url, "https://", 8) == 0
             && strstr(poll_url, ".googleapis.com/") == strchr(poll_url + 8, '.')));
}

#define REPLY_STATUSES                                                                             \
    {                                                                                              \
        200, 201, 400, 401, 403, 404, 409, 412, 429, 500, 503, 504                                 \
    }
