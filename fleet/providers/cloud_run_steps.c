/* SPDX-License-Identifier: Apache-2.0 */
/* Verbs as requests, what their replies mean, and the same as commands. */
#include <stdio.h>
#include <string.h>

#include "base/formats/percent.h"
#include "base/json/json.h"
#include "fleet/providers/cloud_run.h"
#include "fleet/recipes/recipe.h"

struct list {
    struct google_list google;
    const struct desired *desired;
    char name[CLOUD_RUN_NAME_SIZE];
    char url[512]; /* the service's */
    struct google_end end;
};

static void name_parts(struct list *list)
{
    cloud_run_name(list->desired, list->name);
    snprintf(list->url, sizeof list->url, CLOUD_RUN "%s", list->name);
    google_end_name(list->desired, list->name, list->desired->place, &list->end);
}

/* ---- Steps ---- */

static struct step *add(const struct list *list, const char *name, const char *method,
                        const char *summary)
{
    return google_add(&list->google, name, method, list->url, summary);
}

static void set_dry_run(struct step *step)
{
    TEXT_AUTO url = { 0 };

    text_addf(&url, "%s%cvalidateOnly=true", step->url, strchr(step->url, '?') != NULL ? '&' : '?');
    text_copy(step->dry_run_url, sizeof step->dry_run_url, text_string(&url));
}

/* What the scheduler sends at the end. */
static void add_end(const struct list *list, bool is_change)
{
    static const char stop[] =
        "{\"scaling\":{\"scalingMode\":\"MANUAL\",\"manualInstanceCount\":0}}";
    bool destroys = list->desired->end_destroys;
    char url[600];

    snprintf(url, sizeof url, "%s%s", list->url, destroys ? "" : "?updateMask=scaling");
    (is_change ? google_end_add_change : google_end_add_job)(
        &list->google, &list->end, destroys ? "DELETE" : "PATCH", url, destroys ? NULL : stop);
}

/* The service is new: nobody else has a right on it yet, and the invokers are those of the
 * project. */
static void add_right(const struct list *list)
{
    struct step *step = add(list, "end-right", "POST", "Lets that account end");
    TEXT_AUTO url = { 0 };

    text_addf(&url, "%s:setIamPolicy", step->resource);
    text_copy(step->url, sizeof step->url, text_string(&url));
    step->body = json_pack("{s:{s:[{s:s, s:[s+]}]}}", "policy", "bindings", "role",
                           "roles/run.developer", "members", "serviceAccount:", list->end.account);
}

/* Refused if somebody has changed the service since it was looked at. */
static void set_etag(json_t *body, const struct observed *now)
{
    if (now->etag[0] != '\0')
        json_object_set_new(body, "etag", json_string(now->etag));
}

static void add_service(const struct list *list, const struct observed *now, bool is_update)
{
    struct step *step =
        add(list, "service", is_update ? "PATCH" : "POST",
            is_update ? "Changes the Cloud Run service" : "Creates the Cloud Run service");
    TEXT_AUTO url = { 0 };

    if (!is_update) {
        google_set_creation(step);
        text_addf(&url, "%s?serviceId=%s", step->url, list->desired->deployment);
        text_copy(step->url, sizeof step->url, text_string(&url));
    }
    set_dry_run(step);
    step->body = cloud_run_service(list->desired);
    if (is_update) {
        json_object_set_new(step->body, "labels", google_all_labels(list->desired, now));
        set_etag(step->body, now);
    }
}

static void add_wait(const struct list *list, const char *name, const char *summary)
{
    struct step *step = add(list, name, "GET", summary);

    step->absent_is_done = strcmp(name, "gone") == 0;
}

/* Changes some members, and no revision. */
static void add_patch(const struct list *list, const char *name, const char *mask, json_t *body,
                      const char *summary)
{
    struct step *step = add(list, name, "PATCH", summary);
    TEXT_AUTO url = { 0 };

    text_addf(&url, "%s?updateMask=%s", step->resource, mask);
    text_copy(step->url, sizeof step->url, text_string(&url));
    set_dry_run(step);
    step->body = body;
}

static void add_create(const struct list *list, const struct observed *now, bool is_update)
{
    bool ends = list->desired->ends_ms > 0;

    google_add_secrets(&list->google);
    if (ends && !is_update) {
        google_end_add_account(&list->google, &list->end);
        add_end(list, false);
    } else if (is_update && observed_end_moves(now, list->desired))
        add_end(list, true); /* the service's labels follow with the service */
    add_service(list, now, is_update);
    if (ends && !is_update)
        add_right(list);
    add_wait(list, "ready", "Waits until it is ready:");
}

static void add_extend(const struct list *list, const struct observed *now)
{
    json_t *body = json_pack("{s:o}", "labels", google_all_labels(list->desired, now));

    set_etag(body, now);
    if (list->desired->ends_ms > 0)
        add_end(list, true); /* the account and its right are there since the service was made */
    else
        google_end_add_job_removal(&list->google, &list->end);
    add_patch(list, "label", "labels", body, "Writes its end on");
}

static void add_destroy(const struct list *list, const struct observed *now)
{
    TEXT_AUTO url = { 0 };

    text_add(&url, list->url);
    if (now != NULL && now->etag[0] != '\0') {
        text_add(&url, "?etag=");
        percent_encode(now->etag, "", &url);
    }
    if (now == NULL || now->exists)
        google_add_removal(&list->google, "remove-service", text_string(&url),
                           "Deletes the Cloud Run service");
    add_wait(list, "gone", "Waits until it is gone:");
    google_end_add_job_removal(&list->google, &list->end);
    google_end_add_account_removal(&list->google, &list->end);
}

static CHECKED bool check_end(enum provider_verb verb, const struct desired *desired,
                              const struct observed *now, struct error *error)
{
    static const unsigned writing =
        VERB_BIT(VERB_EXTEND) | VERB_BIT(VERB_START) | VERB_BIT(VERB_UPDATE);

    if (desired->ends_ms == 0)
        return true;
    if ((writing & VERB_BIT(verb)) != 0 && now->ends_ms == 0)
        return error_set(error, ERROR_UNSUPPORTED,
                         "%s in %s has no end, and on Cloud Run only a new service gets one: the "
                         "right to end it would replace the rights that others have on it",
                         desired->deployment, desired->place);
    return google_end_check(desired, "Cloud Run", error);
}

static CHECKED bool check_state(enum provider_verb verb, const struct desired *desired,
                                const struct observed *now, struct error *error)
{
    if (verb == VERB_CREATE && now != NULL && now->exists && !now->ours)
        return error_set(error, ERROR_CONFLICT,
                         "there is a service %s in %s that opsbrain did not make: take another "
                         "name, or adopt it",
                         desired->deployment, desired->place);
    if (verb != VERB_CREATE && verb != VERB_DESTROY && (now == NULL || !now->exists))
        return error_set(error, ERROR_NOT_FOUND, "there is no service %s in %s",
                         desired->deployment, desired->place);
    if ((verb == VERB_CREATE || verb == VERB_UPDATE) && desired->recipe == NULL)
        return error_set(error, ERROR_INVALID, "a service is made of a recipe");
    return check_end(verb, desired, now, error) && cloud_run_check(desired, error);
}

bool cloud_run_steps(enum provider_verb verb, const struct desired *desired,
                     const struct observed *now, struct step **out, size_t *count,
                     struct error *error)
{
    struct list list = { .google = { desired, out, count }, .desired = desired };

    *out = NULL;
    *count = 0;
    if (!check_state(verb, desired, now, error))
        return false;
    name_parts(&list);
    if (verb == VERB_CREATE || verb == VERB_UPDATE)
        add_create(&list, now, verb == VERB_UPDATE);
    else if (verb == VERB_EXTEND)
        add_extend(&list, now);
    else if (verb == VERB_DESTROY)
        add_destroy(&list, now);
    else if (verb == VERB_STOP) {
        add_patch(&list, "scale", "scaling",
                  json_pack("{s:{s:s, s:i}}", "scaling", "scalingMode", "MANUAL",
                            "manualInstanceCount", 0),
                  "Stops every instance of");
        add_wait(&list, "stopped", "Waits until it is stopped:");
    } else {
        if (verb == VERB_START && observed_end_moves(now, desired))
            add_extend(&list, now);
        add_patch(&list, "scale", "scaling",
                  json_pack("{s:o}", "scaling", cloud_run_scaling(desired)), "Scales");
        add_wait(&list, "ready", "Waits until it is ready:");
    }
    return true;
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
    static const char *const long_ones[] = { "service", "scale", "label", "remove-service", NULL };

    poll_url[0] = '\0';
    if (reply->verdict != CLOUD_DONE)
        return google_refused(step, reply, error);
    if (google_is_one_of(step->name, waiting))
        return judge_service(step, reply->body, poll_url, error);
    if (google_is_one_of(step->name, long_ones))
        return google_judge_operation(reply->body, CLOUD_RUN, poll_url, error);
    return STEP_DONE;
}

/* ---- gcloud ---- */

void cloud_run_command(const struct desired *desired, const struct step *step, struct text *out)
{
    bool removes = strcmp(step->name, "remove-service") == 0;
    bool looks = strcmp(step->method, "GET") == 0 && strncmp(step->name, "secret-", 7) != 0;

    if (removes || looks)
        text_addf(out, "gcloud run services %s %s --region %s --project %s\n",
                  removes ? "delete" : "describe", desired->deployment, desired->place,
                  desired->target->project);
    else
        google_command(desired, step, out);
}
