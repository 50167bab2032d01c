/* SPDX-License-Identifier: Apache-2.0 */
/* Verbs as requests, what their replies mean, and the same as commands. */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/core/base64.h"
#include "base/core/digest.h"
#include "base/core/memory.h"
#include "base/formats/percent.h"
#include "base/json/json.h"
#include "fleet/cloud/cloud_problem.h"
#include "fleet/providers/cloud_run.h"
#include "fleet/recipes/recipe.h"

#define SCHEDULER "https://cloudscheduler.googleapis.com/v1/"
#define IAM "https://iam.googleapis.com/v1/"
#define SECRETS "https://secretmanager.googleapis.com/v1/"
#define SCOPE "https://www.googleapis.com/auth/cloud-platform"
#define YEAR_MS (INT64_C(364) * 86400000) /* a schedule has no year */

struct list {
    const struct desired *desired;
    struct step **steps;
    size_t *count;
    char name[CLOUD_RUN_NAME_SIZE];
    char account[128]; /* e-mail of what may end it */
    char job[512];     /* URL */
};

/* One account for each deployment of each instance, by a name that no other has. */
static void name_parts(struct list *list)
{
    const struct desired *desired = list->desired;
    TEXT_AUTO whole = { 0 };
    char digest[DIGEST_TEXT_SIZE];

    cloud_run_name(desired, list->name);
    text_addf(&whole, "%s\n%s", desired->instance, list->name);
    digest_sha256_text(text_string(&whole), whole.length, digest);
    snprintf(list->account, sizeof list->account, "ob-%.24s@%.63s.iam.gserviceaccount.com", digest,
             desired->target->project);
    snprintf(list->job, sizeof list->job, SCHEDULER "projects/%.63s/locations/%.63s/jobs/ob-%.24s",
             desired->target->project, desired->place, digest);
}

/* ---- Steps ---- */

static struct step *add(const struct list *list, const char *name, const char *method,
                        const char *summary)
{
    struct step *step = step_list_add(list->steps, list->count);

    text_copy(step->name, sizeof step->name, name);
    text_copy(step->method, sizeof step->method, method);
    snprintf(step->summary, sizeof step->summary, "%s %.63s (%.63s)", summary,
             list->desired->deployment, list->desired->place);
    snprintf(step->resource, sizeof step->resource, CLOUD_RUN "%s", list->name);
    text_copy(step->url, sizeof step->url, step->resource);
    return step;
}

static void set_dry_run(struct step *step)
{
    TEXT_AUTO url = { 0 };

    text_addf(&url, "%s%cvalidateOnly=true", step->url, strchr(step->url, '?') != NULL ? '&' : '?');
    text_copy(step->dry_run_url, sizeof step->dry_run_url, text_string(&url));
}

static void add_secrets(const struct list *list)
{
    const json_t *variables = recipe_member(list->desired->recipe, "environment"), *value;
    const char *name;

    json_object_foreach(json_iterable(variables), name, value) {
        const char *secret = json_get_text(value, "secret", NULL);
        struct step *step;

        if (secret == NULL)
            continue;
        step = add(list, "", "GET", "Looks whether the secret is there, for");
        snprintf(step->name, sizeof step->name, "secret-%.56s", secret);
        snprintf(step->url, sizeof step->url, SECRETS "projects/%.63s/secrets/%.128s",
                 list->desired->target->project, secret);
        text_copy(step->resource, sizeof step->resource, step->url);
        text_copy(step->dry_run_url, sizeof step->dry_run_url, step->url);
    }
}

/* POSTs to the parent of `child`. */
static void set_parent(struct step *step, const char *url)
{
    text_copy(step->url, sizeof step->url, url);
    *strrchr(step->url, '/') = '\0';
}

/* By which what has no labels is known as ours. */
static json_t *mark(const struct list *list)
{
    return json_sprintf("opsbrain %.63s %.63s", list->desired->instance, list->desired->deployment);
}

static void add_account(const struct list *list)
{
    struct step *step = add(list, "end-account", "POST", "Creates an account for the end of");
    FREE_AUTO char *id = strndup(list->account, strcspn(list->account, "@"));

    snprintf(step->resource, sizeof step->resource, IAM "projects/%.63s/serviceAccounts/%s",
             list->desired->target->project, list->account);
    set_parent(step, step->resource);
    text_copy(step->undo_url, sizeof step->undo_url, step->resource);
    step->creates = true;
    step->body =
        json_pack("{s:s, s:{s:s+, s:o}}", "accountId", id, "serviceAccount", "displayName",
                  "Ends the service ", list->desired->deployment, "description", mark(list));
}

static json_t *schedule(int64_t ends_ms)
{
    time_t at = (time_t)((ends_ms + 59999) / 60000 * 60);
    struct tm utc;

    gmtime_r(&at, &utc);
    return json_sprintf("%d %d %d %d *", utc.tm_min, utc.tm_hour, utc.tm_mday, utc.tm_mon + 1);
}

/* What the scheduler sends at the end. */
static json_t *end_request(const struct list *list)
{
    static const char stop[] =
        "{\"scaling\":{\"scalingMode\":\"MANUAL\",\"manualInstanceCount\":0}}";
    json_t *out = json_pack("{s:s, s:s++, s:{s:s, s:s}}", "httpMethod",
                            list->desired->end_destroys ? "DELETE" : "PATCH", "uri", CLOUD_RUN,
                            list->name, list->desired->end_destroys ? "" : "?updateMask=scaling",
                            "oauthToken", "serviceAccountEmail", list->account, "scope", SCOPE);
    TEXT_AUTO body = { 0 };

    if (list->desired->end_destroys)
        return out;
    base64_add(&body, stop, strlen(stop));
    json_object_set_new(out, "body", json_string(text_string(&body)));
    json_object_set_new(out, "headers", json_pack("{s:s}", "Content-Type", "application/json"));
    return out;
}

static void add_removal(const struct list *list, const char *name, const char *url,
                        const char *summary)
{
    struct step *step = add(list, name, "DELETE", summary);

    text_copy(step->url, sizeof step->url, url);
    text_copy(step->resource, sizeof step->resource, url);
    step->absent_is_done = true;
}

static json_t *job_body(const struct list *list)
{
    return json_pack("{s:s, s:o, s:o, s:s, s:o, s:{s:i, s:s}}", "name",
                     list->job + strlen(SCHEDULER), "description", mark(list), "schedule",
                     schedule(list->desired->ends_ms), "timeZone", "Etc/UTC", "httpTarget",
                     end_request(list), "retryConfig", "retryCount", 5, "minBackoffDuration",
                     "30s");
}

/* A job that a service of this name left has another time: it is replaced. */
static void add_job(const struct list *list)
{
    struct step *step;

    add_removal(list, "end-before", list->job, "Removes an earlier end of");
    step = add(list, "end", "POST", "Creates the Cloud Scheduler job that ends");
    text_copy(step->resource, sizeof step->resource, list->job);
    set_parent(step, list->job);
    text_copy(step->undo_url, sizeof step->undo_url, list->job);
    step->creates = true;
    step->body = job_body(list);
}

/* The job stays, so that a service that runs is never without its end. */
static void add_job_change(const struct list *list)
{
    struct step *step = add(list, "end", "PATCH", "Moves the Cloud Scheduler job that ends");

    text_copy(step->resource, sizeof step->resource, list->job);
    snprintf(step->url, sizeof step->url, "%s?updateMask=description,schedule,timeZone,httpTarget",
             list->job);
    step->body = job_body(list);
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
                           "roles/run.developer", "members", "serviceAccount:", list->account);
}

/* Ours over those that others wrote: a change replaces them all. */
static json_t *all_labels(const struct list *list, const struct observed *now)
{
    json_t *out = now->labels != NULL ? json_deep_copy(now->labels) : json_object();
    json_auto_t *ours = cloud_run_labels(list->desired);

    json_object_del(out, CLOUD_RUN_ENDS);
    json_object_update(out, ours);
    return out;
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
        set_parent(step, step->resource);
        text_addf(&url, "%s?serviceId=%s", step->url, list->desired->deployment);
        text_copy(step->url, sizeof step->url, text_string(&url));
    }
    set_dry_run(step);
    text_copy(step->undo_url, sizeof step->undo_url, step->resource);
    step->creates = !is_update;
    step->body = cloud_run_service(list->desired);
    if (is_update) {
        json_object_set_new(step->body, "labels", all_labels(list, now));
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

    add_secrets(list);
    if (ends && !is_update) {
        add_account(list);
        add_job(list);
    } else if (is_update && observed_end_moves(now, list->desired))
        add_job_change(list); /* the service's labels follow with the service */
    add_service(list, now, is_update);
    if (ends && !is_update)
        add_right(list);
    add_wait(list, "ready", "Waits until it is ready:");
}

static void add_extend(const struct list *list, const struct observed *now)
{
    json_t *body = json_pack("{s:o}", "labels", all_labels(list, now));

    set_etag(body, now);
    if (list->desired->ends_ms > 0)
        add_job_change(list); /* the account and its right are there since the service was made */
    else
        add_removal(list, "end-before", list->job, "Removes the end of");
    add_patch(list, "label", "labels", body, "Writes its end on");
}

static void add_destroy(const struct list *list, const struct observed *now)
{
    TEXT_AUTO url = { 0 };
    TEXT_AUTO account = { 0 };

    text_addf(&url, CLOUD_RUN "%s", list->name);
    if (now != NULL && now->etag[0] != '\0') {
        text_add(&url, "?etag=");
        percent_encode(now->etag, "", &url);
    }
    if (now == NULL || now->exists)
        add_removal(list, "remove-service", text_string(&url), "Deletes the Cloud Run service");
    add_wait(list, "gone", "Waits until it is gone:");
    add_removal(list, "remove-end", list->job, "Removes the end of");
    text_addf(&account, IAM "projects/%s/serviceAccounts/%s", list->desired->target->project,
              list->account);
    add_removal(list, "remove-end-account", text_string(&account), "Deletes the account of");
}

static CHECKED bool check_end(enum provider_verb verb, const struct desired *desired,
                              const struct observed *now, struct error *error)
{
    static const unsigned writing =
        VERB_BIT(VERB_EXTEND) | VERB_BIT(VERB_START) | VERB_BIT(VERB_UPDATE);

    if (desired->ends_ms == 0)
        return true;
    if (desired->made_ms > 0 && desired->ends_ms > desired->made_ms + YEAR_MS)
        return error_set(error, ERROR_INVALID,
                         "on Cloud Run a life is at most 364 days: Cloud Scheduler knows no year");
    if ((writing & VERB_BIT(verb)) != 0 && now->ends_ms == 0)
        return error_set(error, ERROR_UNSUPPORTED,
                         "%s in %s has no end, and on Cloud Run only a new service gets one: the "
                         "right to end it would replace the rights that others have on it",
                         desired->deployment, desired->place);
    return true;
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
    struct list list = { .desired = desired, .steps = out, .count = count };

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

static CHECKED enum step_state fail(struct error *error, const char *message)
{
    error_set(error, ERROR_UPSTREAM, "%s", message);
    return STEP_FAILED;
}

/* A long operation: {"name", "done", "error" or "response"}. */
static CHECKED enum step_state judge_operation(const json_t *operation, char poll_url[1024],
                                               struct error *error)
{
    const char *name = json_get_text(operation, "name", "");
    struct cloud_problem problem;

    if (!json_get_boolean(operation, "done", false)) {
        snprintf(poll_url, 1024, CLOUD_RUN "%.900s", name);
        return STEP_WAIT;
    }
    if (json_object_get(operation, "error") == NULL)
        return STEP_DONE; /* also with neither member: what comes next looks at the service */
    cloud_problem_read(200, operation, &problem);
    return fail(error, problem.message);
}

static CHECKED enum step_state judge_service(const struct step *step, const json_t *service,
                                             char poll_url[1024], struct error *error)
{
    struct observed now = { 0 };
    enum step_state state = STEP_WAIT;

    cloud_run_read(service, &now);
    if (strcmp(step->name, "ready") == 0 && strcmp(now.state, "failed") == 0)
        state = fail(error, now.message);
    else if (strcmp(step->name, now.state) == 0)
        state = STEP_DONE;
    else
        text_copy(poll_url, 1024, step->resource);
    observed_finish(&now);
    return state;
}

static bool is_one_of(const char *name, const char *const *names)
{
    while (*names != NULL && strcmp(name, *names) != 0)
        names++;
    return *names != NULL;
}

static CHECKED enum step_state judge_done(const struct step *step, const json_t *body,
                                          char poll_url[1024], struct error *error)
{
    static const char *const waiting[] = { "ready", "stopped", "gone", NULL };
    static const char *const long_ones[] = { "service", "scale", "label", "remove-service", NULL };

    if (is_one_of(step->name, waiting))
        return judge_service(step, body, poll_url, error);
    if (is_one_of(step->name, long_ones))
        return judge_operation(body, poll_url, error);
    return STEP_DONE;
}

enum step_state cloud_run_outcome(const struct step *step, const struct cloud_reply *reply,
                                  char poll_url[1024], struct error *error)
{
    poll_url[0] = '\0';
    if (reply->verdict == CLOUD_DONE)
        return judge_done(step, reply->body, poll_url, error);
    if (reply->status == 404 && step->absent_is_done)
        return STEP_DONE;
    if (reply->status == 409 && strcmp(step->name, "end-account") == 0)
        return STEP_DONE; /* its name is of this deployment alone */
    if (reply->status == 404 && strncmp(step->name, "secret-", 7) == 0) {
        error_set(error, ERROR_NOT_FOUND,
                  "the project has no secret %s, which the recipe needs: gcloud secrets create %s "
                  "--data-file=-",
                  step->name + 7, step->name + 7);
        return STEP_FAILED;
    }
    error_set(error, ERROR_UPSTREAM, "%s", reply->message);
    if (reply->status == 409 && step->creates && strcmp(reply->kind, "ABORTED") != 0)
        return STEP_EXISTS;
    if (reply->verdict == CLOUD_AGAIN)
        return STEP_RETRY;
    return reply->verdict == CLOUD_LOST ? STEP_LOST : STEP_FAILED;
}

/* ---- gcloud ---- */

/* gcloud has no command that takes a body: what is sent is shown as it is. */
void cloud_run_command(const struct desired *desired, const struct step *step, struct text *out)
{
    FREE_AUTO char *body = step->body != NULL ? json_dumps(step->body, JSON_INDENT(1)) : NULL;

    if (strcmp(step->name, "remove-service") == 0) {
        text_addf(out, "gcloud run services delete %s --region %s --project %s\n",
                  desired->deployment, desired->place, desired->target->project);
        return;
    }
    if (strncmp(step->name, "secret-", 7) == 0) {
        text_addf(out, "gcloud secrets describe %s --project %s\n", step->name + 7,
                  desired->target->project);
        return;
    }
    if (strcmp(step->method, "GET") == 0) {
        text_addf(out, "gcloud run services describe %s --region %s --project %s\n",
                  desired->deployment, desired->place, desired->target->project);
        return;
    }
    text_addf(out, "curl -X %s -H \"Authorization: Bearer $(gcloud auth print-access-token)\" ",
              step->method);
    if (body != NULL)
        text_add(out, "-H 'Content-Type: application/json' --data-binary @- ");
    text_addf(out, "'%s'%s%s%s\n", step->url, body != NULL ? " <<'END'\n" : "",
              body != NULL ? body : "", body != NULL ? "\nEND" : "");
}
