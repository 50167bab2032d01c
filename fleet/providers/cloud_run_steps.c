/* SPDX-License-Identifier: Apache-2.0 */
/* Turns verbs (create, update, stop, ...) into requests and commands, and judges the replies. */
#include <stdio.h>
#include <string.h>

#include "base/formats/percent.h"
#include "fleet/providers/cloud_run.h"

#define STOPPED "{\"scaling\":{\"scalingMode\":\"MANUAL\",\"manualInstanceCount\":0}}"

static void name_parts(struct google_list *list)
{
    char name[CLOUD_RUN_NAME_SIZE];

    cloud_run_name(list->desired, name);
    snprintf(list->url, sizeof list->url, CLOUD_RUN "%s", name);
    google_end_name(list->desired, name, list->desired->place, &list->end);
}

/* ---- Steps ---- */

static struct step *add(const struct google_list *list, const char *name, const char *method,
                        const char *summary)
{
    return google_add(list, name, method, list->url, summary);
}

/* Gives the step a dry run. Must be called after the query of its URL is set. */
static void set_dry_run(struct step *step)
{
    struct step dry = *step;

    google_add_query(&dry, "validateOnly", "true");
    text_copy(step->dry_run_url, sizeof step->dry_run_url, dry.url);
}

/* Adds the steps that create the Cloud Scheduler job or, if `is_change`, the step that changes the
 * job's request and time. */
static void add_end(const struct google_list *list, bool is_change)
{
    bool destroys = list->desired->end_destroys;
    char url[600];

    snprintf(url, sizeof url, "%s%s", list->url, destroys ? "" : "?updateMask=scaling");
    (is_change ? google_end_add_change : google_end_add_job)(list, destroys ? "DELETE" : "PATCH",
                                                             url, destroys ? NULL : STOPPED);
}

/* Replaces all rights on the service. The service is new, so nobody else has rights on it yet; the
 * right to call it is granted for the whole project. */
static void add_right(const struct google_list *list)
{
    struct step *step = add(list, "end-right", "POST", "Gives the new account the right to end");

    snprintf(step->url, sizeof step->url, "%s:setIamPolicy", step->resource);
    step->body = json_pack("{s:{s:[{s:s, s:[s+]}]}}", "policy", "bindings", "role",
                           "roles/run.developer", "members", "serviceAccount:", list->end.account);
}

/* With the etag, a request is refused if somebody has changed the service since it was observed. */
static void set_etag(json_t *body, const struct observed *now)
{
    if (now->etag[0] != '\0')
        json_object_set_new(body, "etag", json_string(now->etag));
}

static void add_creation(const struct google_list *list)
{
    struct step *step = add(list, "service", "POST", "Creates the Cloud Run service");

    google_set_creation(step);
    google_add_query(step, "serviceId", list->desired->deployment);
    set_dry_run(step);
    step->body = cloud_run_service(list->desired);
}

static void add_change(const struct google_list *list)
{
    struct step *step = add(list, "service", "PATCH", "Changes the Cloud Run service");

    set_dry_run(step);
    step->body = cloud_run_service(list->desired);
    json_object_set_new(step->body, "labels", google_all_labels(list->desired, list->now));
    set_etag(step->body, list->now);
}

static void add_wait(const struct google_list *list, const char *name, const char *summary)
{
    struct step *step = add(list, name, "GET", summary);

    step->absent_is_done = strcmp(name, "gone") == 0;
}

/* Adds a step that changes one member of the service. Such a change creates no revision. */
static void add_patch(const struct google_list *list, const char *name, const char *member,
                      json_t *body, const char *summary)
{
    struct step *step = add(list, name, "PATCH", summary);

    google_add_query(step, "updateMask", member);
    set_dry_run(step);
    step->body = body;
}

static void add_create(const struct google_list *list)
{
    bool ends = list->desired->ends_ms > 0;

    google_add_secrets(list);
    if (ends) {
        google_end_add_account(list);
        add_end(list, false);
    }
    add_creation(list);
    if (ends)
        add_right(list);
    add_wait(list, "ready", "Waits until the service is ready:");
}

static void add_update(const struct google_list *list)
{
    google_add_secrets(list);
    if (observed_end_moves(list->now, list->desired))
        add_end(list, true);
    add_change(list);
    add_wait(list, "ready", "Waits until the service is ready:");
}

static void add_extend(const struct google_list *list)
{
    json_t *body = json_pack("{s:o}", "labels", google_all_labels(list->desired, list->now));

    set_etag(body, list->now);
    if (list->desired->ends_ms > 0)
        add_end(list, true); /* the account and its right were created with the service */
    else
        google_end_add_job_removal(list);
    add_patch(list, "label", "labels", body, "Writes the new end to the labels of");
}

static void add_scale(const struct google_list *list)
{
    add_patch(list, "scale", "scaling",
              json_pack("{s:o}", "scaling", cloud_run_scaling(list->desired)), "Scales");
    add_wait(list, "ready", "Waits until the service is ready:");
}

static void add_start(const struct google_list *list)
{
    if (observed_end_moves(list->now, list->desired))
        add_extend(list);
    add_scale(list);
}

static void add_stop(const struct google_list *list)
{
    add_patch(list, "scale", "scaling", json_loads(STOPPED, 0, NULL), "Stops all instances of");
    add_wait(list, "stopped", "Waits until the service is stopped:");
}

static void add_removal(const struct google_list *list)
{
    struct step *step =
        google_add_removal(list, "remove-service", list->url, "Deletes the Cloud Run service");
    TEXT_AUTO etag = { 0 };

    if (list->now == NULL || list->now->etag[0] == '\0')
        return;
    percent_encode(list->now->etag, "", &etag);
    google_add_query(step, "etag", text_string(&etag));
}

static void add_destroy(const struct google_list *list)
{
    if (list->now == NULL || list->now->exists)
        add_removal(list);
    add_wait(list, "gone", "Waits until the service is gone:");
    google_end_add_job_removal(list);
    google_end_add_account_removal(list);
}

static CHECKED bool check_end(enum provider_verb verb, const struct desired *desired,
                              const struct observed *now, struct error *error)
{
    static const unsigned verbs_that_move_end =
        VERB_BIT(VERB_EXTEND) | VERB_BIT(VERB_START) | VERB_BIT(VERB_UPDATE);

    if (desired->ends_ms == 0)
        return true;
    if ((verbs_that_move_end & VERB_BIT(verb)) != 0 && now->ends_ms == 0)
        return error_set(error, ERROR_UNSUPPORTED,
                         "%s in %s has no end, and on Cloud Run only a new service can get one: "
                         "granting the right to end it would replace the rights that others have "
                         "on it",
                         desired->deployment, desired->place);
    return google_end_check(desired, "Cloud Run", error);
}

static CHECKED bool check_state(enum provider_verb verb, const struct desired *desired,
                                const struct observed *now, struct error *error)
{
    return google_check_state(verb, desired, now, "service", error)
           && check_end(verb, desired, now, error) && cloud_run_check(desired, error);
}

bool cloud_run_steps(enum provider_verb verb, const struct desired *desired,
                     const struct observed *now, struct step **out, size_t *count,
                     struct error *error)
{
    static const struct google_verbs verbs = {
        .check = check_state,
        .name = name_parts,
        .add = { [VERB_CREATE] = add_create,
                 [VERB_UPDATE] = add_update,
                 [VERB_START] = add_start,
                 [VERB_STOP] = add_stop,
                 [VERB_SCALE] = add_scale,
                 [VERB_EXTEND] = add_extend,
                 [VERB_DESTROY] = add_destroy },
    };

    return google_steps(&verbs, verb, desired, now, out, count, error);
}

/* ---- Outcomes ---- */

static CHECKED enum step_state judge_service(const struct step *step, const json_t *service,
                                             char poll_url[1024], struct error *error)
{
    struct observed now = { 0 };
    enum step_state state;

    cloud_run_read(service, &now);
    state = google_judge_wait(step, &now, poll_url, error);
    observed_finish(&now);
    return state;
}

enum step_state cloud_run_outcome(const struct step *step, const struct cloud_reply *reply,
                                  char poll_url[1024], struct error *error)
{
    static const char *const waiting[] = { "ready", "stopped", "gone", NULL };
    static const char *const operations[] = { "service", "scale", "label", "remove-service", NULL };

    poll_url[0] = '\0';
    if (reply->verdict != CLOUD_DONE)
        return google_judge_failure(step, reply, error);
    if (google_is_one_of(step->name, waiting))
        return judge_service(step, reply->body, poll_url, error);
    if (google_is_one_of(step->name, operations))
        return google_judge_operation(reply->body, CLOUD_RUN, poll_url, error);
    return STEP_DONE;
}

/* ---- gcloud ---- */

void cloud_run_command(const struct desired *desired, const struct step *step, struct text *out)
{
    static const char *const commands[][2] = {
        { "remove-service", "run services delete" },
        { "ready", "run services describe" },
        { "stopped", "run services describe" },
        { "gone", "run services describe" },
        { NULL },
    };

    google_command(desired, step, commands, "--region", out);
}
