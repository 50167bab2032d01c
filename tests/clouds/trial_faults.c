/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/clouds/trial_faults.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json/json.h"

#define HTML "<!DOCTYPE html><html><body><h1>Sign in to the network</h1></body></html>"
/* The body of an error reply, with the members of both Google's and Kubernetes' errors. */
#define REFUSAL(code, status, reason)                                                              \
    "{\"kind\":\"Status\",\"status\":\"Failure\",\"reason\":\"" reason "\",\"code\":" #code        \
    ",\"message\":\"not now\",\"error\":{\"code\":" #code ",\"status\":\"" status                  \
    "\",\"message\":\"not now\"}}"

/* ---- Faults ---- */

static void add_member(struct text *body)
{
    json_auto_t *object = json_loadb(text_string(body), body->length, 0, NULL);

    if (!json_is_object(object))
        return;
    json_object_set_new(object, "surprise", json_pack("{s:[i,n,{}]}", "x", 1));
    text_clear(body);
    json_add(body, object);
}

static void cut_off(struct text *body)
{
    TEXT_AUTO half = { 0 };

    text_add_bytes(&half, text_string(body), body->length / 2);
    text_clear(body);
    text_add(body, text_string(&half));
}

/* If the name of an error reply or a reset contains "done", the request is carried out anyway. */
static const struct trial_fault faults[] = {
    { { "401 once", 1, .status = 401, .body = REFUSAL(401, "UNAUTHENTICATED", "Unauthorized") },
      DEMAND_DONE_IF_NEW },
    { { "403 once", 1, .status = 403, .body = REFUSAL(403, "PERMISSION_DENIED", "Forbidden") },
      DEMAND_ANY },
    { { "404 once", 1, .status = 404, .body = REFUSAL(404, "NOT_FOUND", "NotFound") }, DEMAND_ANY },
    { { "409 exists", 1, .status = 409, .body = REFUSAL(409, "ALREADY_EXISTS", "AlreadyExists") },
      DEMAND_ANY },
    { { "409 changed", 1, .status = 409, .body = REFUSAL(409, "ABORTED", "Conflict") },
      DEMAND_ANY },
    { { "429 for 1 s", 1, .status = 429, .header = "Retry-After", .value = "1",
        .body = REFUSAL(429, "RESOURCE_EXHAUSTED", "TooManyRequests") },
      DEMAND_DONE },
    { { "500 once", 1, .status = 500, .body = REFUSAL(500, "INTERNAL", "InternalError") },
      DEMAND_DONE },
    { { "503 twice", 2, .status = 503, .body = REFUSAL(503, "UNAVAILABLE", "ServiceUnavailable") },
      DEMAND_DONE },
    { { "504, done", 1, .is_done = true, .status = 504,
        .body = REFUSAL(504, "DEADLINE_EXCEEDED", "Timeout") },
      DEMAND_DONE },
    { { "reset", 1, .breaks_off = true }, DEMAND_DONE },
    { { "reset, done", 1, .is_done = true, .breaks_off = true }, DEMAND_DONE },
    { { "half a body", 1, .is_done = true, .is_kept = true, .change = cut_off }, DEMAND_DONE },
    { { "empty body", 1, .is_done = true, .status = 200, .body = "" }, DEMAND_DONE },
    { { "page 200", 1, .status = 200, .type = "text/html", .body = HTML }, DEMAND_DONE },
    { { "page 502", 1, .status = 502, .type = "text/html", .body = HTML }, DEMAND_DONE },
    { { "slow", 1, .is_done = true, .is_kept = true, .delay_ms = 1500 }, DEMAND_DONE },
    { { "timeout", 1, .is_done = true, .is_kept = true, .delay_ms = 62000 },
      DEMAND_DONE,
      false,
      true },
    { { "new members", 99, .is_done = true, .is_kept = true, .change = add_member }, DEMAND_DONE },
    { { "pages", 0 }, DEMAND_DONE, true, false },
    { { "int64 as numbers", 0 }, DEMAND_DONE, true, false },
    { { "operation with error", 0 }, DEMAND_ANY, true, false },
    { { "server crashes", 0 }, DEMAND_ANY, true, false },
    { { 0 } },
};

const struct trial_fault *trial_faults(void)
{
    return faults;
}

/* ---- One run ---- */

static void prepare(struct trial_rig *rig, enum provider_verb verb)
{
    trial_rig_reset(rig);
    rig->site.trial->set(&rig->site, "");
    if (verb != VERB_CREATE)
        trial_rig_do(rig, VERB_CREATE);
    if (verb == VERB_START)
        trial_rig_do(rig, VERB_STOP);
    fake_faults_set(&rig->site.faults, NULL, 0);
}

void trial_reference_measure(struct trial_rig *rig, enum provider_verb verb,
                             struct trial_reference *out)
{
    char plan_id[ID_SIZE], job_id[ID_SIZE];
    struct fleet_plan_row plan;
    struct error error;

    prepare(rig, verb);
    if (!trial_rig_begin(rig, verb, plan_id, job_id, &error)) {
        fprintf(stderr, "%s %s: %s\n", rig->site.trial->target.provider, provider_verb_name(verb),
                error.message);
        abort();
    }
    fake_faults_set(&rig->site.faults, NULL, 0);
    trial_rig_finish(rig, plan_id, job_id, &plan);
    *out = (struct trial_reference){ .requests = rig->site.faults.requests,
                                     .created = rig->site.faults.created,
                                     .made = trial_site_made(&rig->site) };
    trial_rig_state(rig, out->state);
    if (strcmp(plan.state, "done") != 0) {
        fprintf(stderr, "%s %s: %s\n", rig->site.trial->target.provider, provider_verb_name(verb),
                plan.reason);
        abort();
    }
    fleet_plan_finish(&plan);
}

void trial_reference_finish(struct trial_reference *reference)
{
    json_decref(reference->made);
}

static bool must_be_done(const struct trial_rig *rig, const struct trial_fault *fault)
{
    const struct trial *trial = rig->site.trial;

    return !trial->is_here
           && (fault->demand == DEMAND_DONE
               || (fault->demand == DEMAND_DONE_IF_NEW && trial->renews_token));
}

/* Returns true if both lists have the same paths, in any order. */
static bool has_same(const json_t *a, const json_t *b)
{
    const json_t *one, *other;
    size_t i, j, found = 0;

    json_array_foreach(a, i, one)
        json_array_foreach(b, j, other)
            found += json_equal(one, other);
    return found == json_array_size(a) && found == json_array_size(b);
}

static const char *judge_done(const struct trial_rig *rig, const struct trial_reference *reference,
                              const json_t *made, const char *state)
{
    if (!has_same(made, reference->made))
        return "the resources differ from those after a run without a fault";
    if (rig->site.faults.created > reference->created)
        return "a resource was created twice";
    return strcmp(state, reference->state) == 0 ? NULL
                                                : "the managed deployment is in the wrong state";
}

static const char *judge_failed(enum provider_verb verb, const struct fleet_plan_row *plan,
                                const json_t *made, const char *state)
{
    if (plan->reason[0] == '\0' || strchr(plan->reason, '<') != NULL
        || strstr(plan->reason, "canary") != NULL)
        return "the plan failed, and its reason is empty, or contains HTML or a secret";
    if (verb == VERB_CREATE && json_array_size(made) > 0)
        return "the plan failed, but resources that it created are left";
    if (verb == VERB_CREATE && strcmp(state, "gone") != 0)
        return "the plan failed, but its deployment is still managed";
    if (verb != VERB_CREATE && json_array_size(made) > 0 && strcmp(state, "gone") == 0)
        return "the deployment is no longer managed, but some of its resources are left";
    return NULL;
}

static const char *judge(const struct trial_rig *rig, enum provider_verb verb,
                         const struct trial_reference *reference, const struct trial_fault *fault,
                         const struct fleet_plan_row *plan, const json_t *made, const char *state)
{
    if (strcmp(plan->state, "done") == 0)
        return judge_done(rig, reference, made, state);
    if (strcmp(plan->state, "failed") != 0)
        return "the job has ended, but the plan is neither done nor failed";
    if (must_be_done(rig, fault))
        return "the plan failed, although the fault is temporary or harmless";
    return judge_failed(verb, plan, made, state);
}

/* Destroys the deployment unless it is gone. Afterwards the resources that existed at the start
 * must be unchanged, and there must be no others. Returns NULL, or a message that says what is
 * wrong. */
static const char *clean_up(struct trial_rig *rig, char state[16])
{
    char plan_id[ID_SIZE], job_id[ID_SIZE];
    struct fleet_plan_row plan;
    struct error error;
    json_auto_t *left = NULL;
    char *touched;
    bool is_done, is_touched;

    rig->site.trial->set(&rig->site, "");
    fake_faults_set(&rig->site.faults, NULL, 0);
    if (strcmp(state, "gone") != 0) {
        if (!trial_rig_begin(rig, VERB_DESTROY, plan_id, job_id, &error))
            return "the plan to destroy the deployment was refused";
        trial_rig_finish(rig, plan_id, job_id, &plan);
        is_done = strcmp(plan.state, "done") == 0;
        fleet_plan_finish(&plan);
        if (!is_done)
            return "the plan to destroy the deployment failed";
    }
    touched = trial_site_touched(&rig->site);
    left = trial_site_made(&rig->site);
    is_touched = touched != NULL;
    free(touched);
    return is_touched ? "a resource that existed at the start was changed or deleted"
           : json_array_size(left) > 0
               ? "the deployment is gone, but some of its resources are left"
               : NULL;
}

static void set_fault(struct trial_rig *rig, const struct trial_fault *fault, int at)
{
    if (fault->is_condition)
        rig->site.trial->set(&rig->site, fault->fault.name);
    fake_faults_set(&rig->site.faults, fault->is_condition ? NULL : &fault->fault, at);
}

static char *say(const char *what, const struct fleet_plan_row *plan, const json_t *made)
{
    TEXT_AUTO out = { 0 };
    char *list = json_dumps(made, 0);

    text_addf(&out, "%s (plan state: %s, reason: \"%s\", new resources after the plan: %s)", what,
              plan->state, plan->reason, list);
    free(list);
    return text_take(&out);
}

char *trial_fault_run(struct trial_rig *rig, enum provider_verb verb,
                      const struct trial_reference *reference, const struct trial_fault *fault,
                      int at)
{
    char plan_id[ID_SIZE], job_id[ID_SIZE], state[16];
    struct fleet_plan_row plan;
    json_auto_t *made = NULL;
    const char *wrong, *left;
    struct error error;
    char *out = NULL;

    prepare(rig, verb);
    if (!trial_rig_begin(rig, verb, plan_id, job_id, &error))
        return strdup(error.message);
    set_fault(rig, fault, at);
    trial_rig_finish(rig, plan_id, job_id, &plan);
    made = trial_site_made(&rig->site);
    trial_rig_state(rig, state);
    wrong = judge(rig, verb, reference, fault, &plan, made, state);
    left = clean_up(rig, state);
    if (wrong != NULL || left != NULL)
        out = say(wrong != NULL ? wrong : left, &plan, made);
    fleet_plan_finish(&plan);
    return out;
}
