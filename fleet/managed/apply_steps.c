/* SPDX-License-Identifier: Apache-2.0 */
/* Sends the requests of a plan in order, and waits until each is done. Skips a last request that
 * only waits (apply_awaits_last). */
#include <string.h>

#include "base/json/json.h"
#include "fleet/managed/apply_private.h"

/* How many times a request may fail. An attempt to find out whether the request was carried out
 * also counts, unless the answer is yes. An accepted request has a time limit instead. */
#define FAILURES_MAX 40

/* How outcomes are named in the journal. The names must not change, because later versions of
 * opsbrain read them. */
static const char *const outcome_names[] = {
    [STEP_DONE] = "done", [STEP_WAIT] = "wait",     [STEP_RETRY] = "retry",
    [STEP_LOST] = "lost", [STEP_EXISTS] = "exists", [STEP_FAILED] = "failed",
};

static const char *content_type_of(const struct step *step)
{
    return step->content_type[0] == '\0' ? NULL : step->content_type;
}

/* ---- One exchange ---- */

/* Judges a reply. If a 404 means success for this step, a 404 is STEP_DONE; any other reply is
 * judged by the provider. *wait_s: the minimum number of seconds before the next request. Keeps the
 * step's poll_url unless the provider names a new one. */
static CHECKED enum step_state judge(struct apply *apply, size_t index,
                                     const struct cloud_reply *reply, int64_t *wait_s,
                                     struct error *error)
{
    const struct step *step = &apply->plan.steps[index];
    struct apply_step *progress = &apply->steps[index];
    char next[sizeof progress->poll_url] = "";
    enum step_state state;

    *wait_s = reply->retry_after_s > 0 ? reply->retry_after_s : 0;
    if (reply->status == 404 && step->absent_is_done)
        return STEP_DONE;
    state = apply->plan.target.provider->outcome(step, reply, next, error);
    if (state == STEP_WAIT && next[0] != '\0')
        text_copy(progress->poll_url, sizeof progress->poll_url, next);
    if (state == STEP_WAIT && reply->verdict == CLOUD_REFUSED)
        text_copy(progress->refusal, sizeof progress->refusal, reply->message);
    if (state == STEP_FAILED && progress->refusal[0] != '\0')
        error_set(error, error->kind, "%s; the request was refused with: %s", error->message,
                  progress->refusal);
    return state;
}

static CHECKED bool note_outcome(struct apply *apply, size_t index, const char *action,
                                 enum step_state state, const struct error *problem,
                                 struct error *error)
{
    static const enum apply_stage after[] = {
        [STEP_DONE] = STAGE_DONE,  [STEP_WAIT] = STAGE_WAITS,   [STEP_RETRY] = STAGE_NEW,
        [STEP_LOST] = STAGE_MAYBE, [STEP_EXISTS] = STAGE_MAYBE, [STEP_FAILED] = STAGE_FAILED,
    };
    struct apply_step *progress = &apply->steps[index];
    const char *detail = state == STEP_DONE   ? ""
                         : state == STEP_WAIT ? progress->refusal
                                              : problem->message;

    progress->stage = after[state];
    progress->since_ms = apply->frame->now_ms();
    return apply_note(apply, index, action, outcome_names[state], progress->poll_url, detail,
                      error);
}

/* Returns true if the resource exists although its deletion was answered with a 404: for a while
 * after a creation, a platform can report the new resource as absent. */
static CHECKED bool still_exists(const struct apply *apply, size_t index, struct error *problem)
{
    const struct step *step = &apply->plan.steps[index];

    if (strcmp(step->method, "DELETE") != 0 || step->resource[0] == '\0'
        || apply_find(apply, index, problem) != FOUND_OURS)
        return false;
    error_set(problem, ERROR_UPSTREAM,
              "the platform reports the resource as absent, although it exists");
    return true;
}

/* Sends the request. `error` is set unless the request is done or accepted. */
static CHECKED bool send(struct apply *apply, size_t index, enum step_state *state, int64_t *wait_s,
                         struct error *error)
{
    const struct step *step = &apply->plan.steps[index];
    CLOUD_REPLY_AUTO reply = { 0 };
    struct error problem = { 0 };

    apply->steps[index].poll_url[0] = '\0';
    apply->steps[index].refusal[0] = '\0';
    if (!apply_note(apply, index, "do", "", "", "", error))
        return false;
    error_ignore(apply->frame->call(apply->cloud, step->method, step->url, content_type_of(step),
                                    step->body, &reply, &problem)); /* `reply` records a failure */
    *state = judge(apply, index, &reply, wait_s, &problem);
    if (*state == STEP_DONE && reply.status == 404 && still_exists(apply, index, &problem))
        *state = STEP_RETRY;
    if (!note_outcome(apply, index, "do", *state, &problem, error))
        return false;
    if (*state != STEP_DONE && *state != STEP_WAIT)
        *error = problem;
    return true;
}

/* Polls a request that was accepted. The journal gets a row only when the wait is over. */
static CHECKED bool poll(struct apply *apply, size_t index, enum step_state *state, int64_t *wait_s,
                         struct error *error)
{
    struct apply_step *step = &apply->steps[index];
    CLOUD_REPLY_AUTO reply = { 0 };
    struct error problem = { 0 };

    error_ignore(apply->frame->call(apply->cloud, "GET", step->poll_url, NULL, NULL, &reply,
                                    &problem)); /* `reply` records a failure */
    *state = judge(apply, index, &reply, wait_s, &problem);
    if (*state == STEP_RETRY || *state == STEP_LOST || reply.status == 0)
        *state = STEP_WAIT; /* only the poll failed */
    if (*state == STEP_WAIT)
        return true;
    if (!note_outcome(apply, index, "poll", *state, &problem, error))
        return false;
    if (*state == STEP_FAILED) {
        step->stage = STAGE_BROKEN;
        *error = problem;
    }
    return true;
}

/* Returns true for values that protocol buffers omit from their JSON. */
static bool is_default(const json_t *value)
{
    return json_is_null(value) || json_is_false(value)
           || (json_is_number(value) && json_number_value(value) == 0)
           || (json_is_string(value) && json_string_length(value) == 0);
}

/* Returns true if the existing value has every wanted member (except etags) with the wanted value;
 * a platform may have added members. */
static bool has_all(const json_t *existing, const json_t *wanted)
{
    const json_t *value;
    const char *name;
    size_t i;

    if (json_is_array(wanted)) {
        bool same = json_array_size(existing) == json_array_size(wanted);

        json_array_foreach(wanted, i, value)
            same = same && has_all(json_array_get(existing, i), value);
        return same;
    }
    if (!json_is_object(wanted))
        return json_equal(existing, wanted) || (existing == NULL && is_default(wanted));
    json_object_foreach(json_iterable(wanted), name, value)
        if (strcmp(name, "etag") != 0 && !has_all(json_object_get(existing, name), value))
            return false;
    return true;
}

/* Settles a step that creates no resource with a URL and might have been carried out. Usually the
 * request is sent again. A change that names the revision to which it applies (etag) would be
 * refused the second time, so the resource is read to find out whether the change was made. */
static CHECKED bool settle_change(struct apply *apply, size_t index, enum step_state *state,
                                  struct error *error)
{
    const struct step *step = &apply->plan.steps[index];
    CLOUD_REPLY_AUTO reply = { 0 };
    struct error problem;

    if (json_object_get(step->body, "etag") == NULL) {
        apply->steps[index].stage = STAGE_NEW; /* sending it twice has the same effect */
        return true;
    }
    if (!apply->frame->call(apply->cloud, "GET", step->resource, NULL, NULL, &reply, error))
        return true;
    if (!has_all(reply.body, step->body)) {
        apply->steps[index].stage = STAGE_NEW;
        return true;
    }
    *state = STEP_DONE;
    return note_outcome(apply, index, "do", STEP_DONE, &problem, error);
}

/* Settles a step that might have been carried out: reads its resource to find out, unless the
 * request can simply be sent again. If the resource is not ours or cannot be read, returns true,
 * but sets `error`. */
static CHECKED bool settle(struct apply *apply, size_t index, enum step_state *state,
                           struct error *error)
{
    const struct step *step = &apply->plan.steps[index];
    struct error problem;

    *state = STEP_RETRY;
    if (!step->creates || step->resource[0] == '\0')
        return settle_change(apply, index, state, error);
    switch (apply_find(apply, index, &problem)) {
    case FOUND_OURS:
        *state = STEP_DONE;
        return note_outcome(apply, index, "do", STEP_DONE, &problem, error);
    case FOUND_NOTHING:
        apply->steps[index].stage = STAGE_NEW;
        return true;
    case FOUND_FOREIGN:
        *state = STEP_FAILED;
        error_set(&problem, ERROR_CONFLICT,
                  "the resource that the request \"%s\" would create already exists and does not "
                  "belong to this deployment: it was not touched",
                  step->name);
        if (!note_outcome(apply, index, "do", STEP_FAILED, &problem, error))
            return false;
        *error = problem;
        return true;
    case FOUND_UNKNOWN:
        *error = problem;
        return true;
    }
    return true;
}

/* ---- One step ---- */

static CHECKED bool advance(struct apply *apply, size_t index, enum step_state *state,
                            int64_t *wait_s, struct error *error)
{
    *wait_s = 0;
    switch (apply->steps[index].stage) {
    case STAGE_NEW:
        return send(apply, index, state, wait_s, error);
    case STAGE_WAITS:
        return poll(apply, index, state, wait_s, error);
    case STAGE_MAYBE:
        return settle(apply, index, state, error);
    case STAGE_DONE:
        *state = STEP_DONE;
        return true;
    case STAGE_FAILED:
    case STAGE_BROKEN:
    case STAGE_UNDONE:
        break;
    }
    *state = STEP_FAILED;
    return error_set(error, ERROR_UPSTREAM, "the request \"%s\" has already failed",
                     apply->plan.steps[index].name);
}

/* TIMEOUT if a request was accepted, but is not done in time. This is noted in the journal, so that
 * no later process waits for the request again. */
static CHECKED bool check_wait(struct apply *apply, size_t index, struct error *error)
{
    const struct step *step = &apply->plan.steps[index];
    struct apply_step *progress = &apply->steps[index];
    int64_t waited_ms = apply->frame->now_ms() - progress->since_ms;
    int64_t limit_ms = step->wait_s > 0 ? step->wait_s * 1000 : apply_patience_ms(apply);
    struct error problem;

    if (progress->stage != STAGE_WAITS || step->wait_s == STEP_WAITS_TO_END
        || waited_ms <= limit_ms)
        return true;
    error_set(&problem, ERROR_TIMEOUT,
              "the request \"%s\" was accepted, but is not done after %lld min", step->name,
              (long long)(waited_ms / 60000));
    if (!note_outcome(apply, index, "poll", STEP_FAILED, &problem, error))
        return false;
    progress->stage = STAGE_BROKEN;
    *error = problem;
    return false;
}

static CHECKED enum apply_end run_step(struct apply *apply, size_t index, struct error *error)
{
    enum step_state state;
    unsigned failures = 0;
    int64_t wait_s;

    for (unsigned round = 0; apply->steps[index].stage != STAGE_DONE; round++) {
        if (job_run_stop(apply->run) != JOB_STOP_NO)
            return APPLY_STOPPED;
        if (!apply_check_end(apply, error) || !check_wait(apply, index, error)
            || !advance(apply, index, &state, &wait_s, error) || state == STEP_FAILED)
            return APPLY_FAILED;
        failures += state == STEP_RETRY;
        if (failures > FAILURES_MAX) {
            error_set(error, ERROR_UPSTREAM,
                      "the request \"%s\" failed %u times, the last time with: %s",
                      apply->plan.steps[index].name, failures, error->message);
            return APPLY_FAILED;
        }
        if (state != STEP_DONE && state != STEP_EXISTS && !apply_pause(apply, round, wait_s))
            return APPLY_STOPPED;
    }
    return APPLY_DONE;
}

enum apply_end apply_steps(struct apply *apply, struct error *error)
{
    double total = (double)apply->plan.step_count + 1;
    size_t count = apply->plan.step_count - apply_awaits_last(&apply->plan);

    for (size_t i = 0; i < count; i++) {
        enum apply_end end;

        job_run_progress(apply->run, (double)i, total, apply->plan.steps[i].summary);
        end = run_step(apply, i, error);
        if (end != APPLY_DONE)
            return end;
    }
    return APPLY_DONE;
}
