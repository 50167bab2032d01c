/* SPDX-License-Identifier: Apache-2.0 */
#include "fleet/managed/managed_check.h"

#include <stdio.h>
#include <string.h>

#include "base/core/log.h"
#include "base/core/memory.h"
#include "base/json/json.h"
#include "fleet/managed/managed_document.h"

#define DRIFT_BYTES 240

/* ---- Observing ---- */

static CHECKED bool observe(const struct fleet_frame *frame, const struct fleet_managed_row *row,
                            struct observed *out, struct error *error)
{
    json_auto_t *wish = json_loads(row->wish, 0, NULL);
    struct managed_target target;
    struct desired desired;
    struct cloud *cloud;
    const char *place;

    if (!managed_target_find(frame, row->target, &target, error)
        || !managed_target_place(&target, json_get_text(wish, "place", ""), &place, error)
        || !frame->cloud(frame->context, &target.plain, &cloud, error))
        return false;
    desired = (struct desired){ .target = &target.plain,
                                .deployment = row->deployment,
                                .instance = frame->instance,
                                .place = place,
                                .kind = json_get_text(wish, "kind", ""),
                                .ends_ms = row->ends_ms,
                                .end_destroys = strcmp(row->at_end, "stop") != 0,
                                .replicas = json_get_integer(wish, "replicas", 0),
                                .request_seed = row->plan_id };
    *out = (struct observed){ 0 };
    return target.provider->observe(cloud, &desired, out, error);
}

/* ---- Drift ---- */

static void describe_drift(const char *baseline, const json_t *observed, struct text *out)
{
    json_auto_t *before = json_loads(baseline, 0, NULL);
    const json_t *now = json_object_get(observed, "fields");
    const char *by = json_get_text(observed, "last_changed_by", "");

    if (json_object_size(before) == 0 || now == NULL)
        return;
    managed_document_differences(before, now, DRIFT_BYTES, out);
    if (out->length > 0 && by[0] != '\0')
        text_addf(out, " (last changed by %.100s)", by);
}

void managed_check_drift(const struct fleet_managed_row *row, struct text *out)
{
    json_auto_t *observed = json_loads(row->observed, 0, NULL);

    describe_drift(row->baseline, observed, out);
}

/* ---- The verdict ---- */

const char *managed_check_state(const struct fleet_managed_row *row,
                                const struct observed *observed, int64_t now_ms)
{
    bool was_due = row->ends_ms != 0 && now_ms >= row->ends_ms;

    if (!observed->exists)
        return was_due && strcmp(row->at_end, "destroy") == 0 ? "gone" : "failed";
    if (strcmp(observed->state, "failed") == 0)
        return "failed";
    return strcmp(observed->state, "stopped") == 0 ? "stopped" : "running";
}

static bool differ(const char *a, const char *b)
{
    return a[0] != '\0' && b[0] != '\0' && strcmp(a, b) != 0;
}

bool managed_check_is_same(const struct fleet_managed_row *row, const char *target,
                           const struct observed *resource)
{
    json_auto_t *wish = json_loads(row->wish, 0, NULL);
    json_auto_t *observed = json_loads(row->observed, 0, NULL);
    bool is_elsewhere = strcmp(row->target, target) != 0
                        || differ(json_get_text(wish, "place", ""), resource->place);

    return !is_elsewhere || !differ(json_get_text(observed, "uid", ""), resource->uid);
}

static const char *why_absent(const struct fleet_managed_row *row, const char *state)
{
    if (strcmp(state, "gone") == 0)
        return "it no longer exists, and its end has passed";
    return strcmp(row->rights, "watched") == 0
               ? "it no longer exists on its platform: deployment_remove forgets it"
               : "it no longer exists on its platform: deployment_destroy closes its record";
}

static void describe(const struct fleet_managed_row *row, const struct observed *observed,
                     const char *state, const json_t *observation, struct managed_check *out)
{
    TEXT_AUTO drift = { 0 };

    describe_drift(row->baseline, observation, &drift);
    out->is_trouble = strcmp(state, "failed") == 0 || drift.length > 0;
    if (!observed->exists)
        text_copy(out->sentence, sizeof out->sentence, why_absent(row, state));
    else
        snprintf(out->sentence, sizeof out->sentence, "it is %s%s%.120s%s%.200s", observed->state,
                 observed->message[0] == '\0' ? "" : ": ", observed->message,
                 drift.length == 0 ? "" : "; drift: ", text_string(&drift));
}

/* Stores the observation. Sets out->changed to false if the last check reported the same. */
static CHECKED bool store(const struct fleet_frame *frame, const struct fleet_managed_row *row,
                          const struct observed *observed, struct managed_check *out,
                          struct error *error)
{
    int64_t now_ms = frame->now_ms();
    const char *state = managed_check_state(row, observed, now_ms);
    json_auto_t *observation = managed_document_observation(observed);
    FREE_AUTO char *written = json_write(observation);
    struct fleet_observation noted = { .id = row->id,
                                       .plan_id = row->plan_id,
                                       .state = state,
                                       .observed = written,
                                       .now_ms = now_ms };

    describe(row, observed, state, observation, out);
    noted.problem = out->is_trouble ? out->sentence : "";
    out->changed = strcmp(row->state, state) != 0 || strcmp(row->problem, noted.problem) != 0;
    return fleet_managed_note(frame->store, &noted, error);
}

bool managed_check_run(const struct fleet_frame *frame, const struct fleet_managed_row *row,
                       struct managed_check *out, struct error *error)
{
    struct observed observed = { 0 };
    bool done;

    *out = (struct managed_check){ 0 };
    if (!observe(frame, row, &observed, error)) {
        const struct fleet_observation noted = { .id = row->id,
                                                 .plan_id = row->plan_id,
                                                 .problem = error->message,
                                                 .now_ms = frame->now_ms() };
        struct error problem;

        if (!fleet_managed_note(frame->store, &noted, &problem))
            log_warning("%s: the failed observation could not be stored: %s", row->deployment,
                        problem.message);
        return false;
    }
    done = store(frame, row, &observed, out, error);
    observed_finish(&observed);
    return done;
}
