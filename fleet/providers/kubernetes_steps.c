/* SPDX-License-Identifier: Apache-2.0 */
/* Verbs as requests, what their replies mean, and the same as commands of kubectl. */
#include <stdio.h>
#include <string.h>

#include "base/core/clock.h"
#include "base/core/memory.h"
#include "base/json/json.h"
#include "fleet/providers/kubernetes.h"
#include "fleet/recipes/recipe.h"

#define NAME_MAX_LENGTH 48 /* that of a CronJob, with what is added */
#define APPLY "application/apply-patch+yaml"
#define MERGE "application/merge-patch+json"
#define METADATA "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"

/* What is made for one deployment: in this order, and removed in the other. The end comes first,
 * so that nothing costs money before something ends it. */
static const struct object {
    const char *name;              /* of the step */
    const char *kind, *api, *list; /* api: "/apis/apps/v1" */
    const char *suffix;
    json_t *(*body)(const struct desired *desired);
    const char *summary;
    bool is_bare; /* without a member that two could disagree on */
} end_objects[] = {
    { "end-account", "ServiceAccount", "/api/v1", "serviceaccounts", "-end", kubernetes_end_account,
      "an account for its end", true },
    { "end-role", "Role", "/apis/rbac.authorization.k8s.io/v1", "roles", "-end",
      kubernetes_end_role, "the right to end this one Deployment" },
    { "end-binding", "RoleBinding", "/apis/rbac.authorization.k8s.io/v1", "rolebindings", "-end",
      kubernetes_end_binding, "that right for the account" },
    { "end", "CronJob", "/apis/batch/v1", "cronjobs", "-end", kubernetes_end_job,
      "what ends it on time" },
    { NULL },
}, server_objects[] = {
    { "service", "Service", "/api/v1", "services", "", kubernetes_service, "its address" },
    { "deployment", "Deployment", "/apis/apps/v1", "deployments", "", kubernetes_deployment,
      "the servers" },
    { NULL },
};

struct list {
    const struct desired *desired;
    struct step **steps;
    size_t *count;
};

static CHECKED bool check_name(const char *name, struct error *error)
{
    size_t length = strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-");

    if (length > 0 && length <= NAME_MAX_LENGTH && name[length] == '\0' && name[0] >= 'a'
        && name[length - 1] != '-')
        return true;
    return error_set(error, ERROR_INVALID,
                     "on Kubernetes a deployment's name has at most %d of a-z, 0-9 and '-', begins "
                     "with a letter and does not end with '-'",
                     NAME_MAX_LENGTH);
}

/* ---- Steps ---- */

static void set_url(const struct list *list, const struct object *object, struct step *step)
{
    snprintf(step->url, sizeof step->url, "%s/namespaces/%s/%s/%s%s", object->api,
             list->desired->target->namespace, object->list, list->desired->deployment,
             object->suffix);
    text_copy(step->resource, sizeof step->resource, step->url);
}

static void set_dry_run(struct step *step)
{
    TEXT_AUTO url = { 0 };

    text_addf(&url, "%s%cdryRun=All", step->url, strchr(step->url, '?') != NULL ? '&' : '?');
    text_copy(step->dry_run_url, sizeof step->dry_run_url, text_string(&url));
}

static struct step *add(const struct list *list, const char *name, const char *method)
{
    struct step *step = step_list_add(list->steps, list->count);

    snprintf(step->name, sizeof step->name, "%s", name);
    snprintf(step->method, sizeof step->method, "%s", method);
    return step;
}

/* An apply conflicts with another's object where the two disagree, and takes over a bare one. One
 * that an earlier end left is ours, and found so by the apply of the plan: it has no dry run. */
static void set_post(const struct list *list, const struct object *object, struct step *step)
{
    text_copy(step->method, sizeof step->method, "POST");
    snprintf(step->url, sizeof step->url,
             "%s/namespaces/%s/%s?fieldManager=opsbrain&fieldValidation=Strict", object->api,
             list->desired->target->namespace, object->list);
    step->dry_run_url[0] = '\0';
    step->content_type[0] = '\0';
}

static struct step *add_apply(const struct list *list, const struct object *object, bool is_update)
{
    static const char query[] = "?fieldManager=opsbrain&fieldValidation=Strict";
    struct step *step = add(list, object->name, "PATCH");

    set_url(list, object, step);
    text_copy(step->undo_url, sizeof step->undo_url, step->resource);
    snprintf(step->url + strlen(step->url), sizeof step->url - strlen(step->url), "%s%s", query,
             is_update ? "&force=true" : "");
    set_dry_run(step);
    snprintf(step->content_type, sizeof step->content_type, APPLY);
    step->body = object->body(list->desired);
    step->creates = !is_update;
    if (object->is_bare && !is_update)
        set_post(list, object, step);
    snprintf(step->summary, sizeof step->summary, "%s the %s %s%s in %s: %s",
             is_update ? "Changes" : "Creates", object->kind, list->desired->deployment,
             object->suffix, list->desired->target->namespace, object->summary);
    return step;
}

static void add_secret(const struct list *list, const char *secret)
{
    struct step *step = add(list, "", "GET");

    snprintf(step->name, sizeof step->name, "secret-%s", secret);
    snprintf(step->url, sizeof step->url, "/api/v1/namespaces/%s/secrets/%s",
             list->desired->target->namespace, secret);
    text_copy(step->resource, sizeof step->resource, step->url);
    text_copy(step->dry_run_url, sizeof step->dry_run_url, step->url);
    snprintf(step->content_type, sizeof step->content_type, METADATA);
    snprintf(step->summary, sizeof step->summary, "Looks whether the Secret %s is in %s", secret,
             list->desired->target->namespace);
}

/* Its secrets are there before anything is made: only their metadata is asked for. */
static void add_secrets(const struct list *list)
{
    const json_t *variables = recipe_member(list->desired->recipe, "environment"), *value;
    const char *name;
    char key[NAME_MAX_LENGTH + 8];

    json_object_foreach(json_iterable(variables), name, value) {
        const char *secret = json_get_text(value, "secret", NULL);

        if (secret != NULL)
            add_secret(list, secret);
    }
    if (strcmp(kubernetes_door(list->desired->target), "node_port") == 0) {
        snprintf(key, sizeof key, "%s-key", list->desired->deployment);
        add_secret(list, key);
    }
}

static void add_wait(const struct list *list, const char *name, const char *summary, bool is_end)
{
    struct step *step = add(list, name, "GET");

    set_url(list, &server_objects[1], step);
    step->absent_is_done = is_end;
    snprintf(step->summary, sizeof step->summary, "%s", summary);
}

static void add_scale(const struct list *list, int64_t replicas)
{
    struct step *step = add(list, "scale", "PATCH");

    set_url(list, &server_objects[1], step);
    snprintf(step->url + strlen(step->url), sizeof step->url - strlen(step->url),
             "/scale?fieldManager=opsbrain&fieldValidation=Strict");
    set_dry_run(step);
    snprintf(step->content_type, sizeof step->content_type, MERGE);
    step->body = json_pack("{s:{s:I}}", "spec", "replicas", (json_int_t)replicas);
    snprintf(step->summary, sizeof step->summary, "Sets the Deployment %s in %s to %lld replicas",
             list->desired->deployment, list->desired->target->namespace, (long long)replicas);
}

/* Objects that are not the Deployment are deleted by our labels, so that another's of that name
 * stay. */
static void add_removal(const struct list *list, const struct object *object)
{
    const struct desired *desired = list->desired;
    struct step *step = add(list, "", "DELETE");

    snprintf(step->name, sizeof step->name, "remove-%s", object->name);
    set_url(list, object, step);
    snprintf(step->url, sizeof step->url,
             "%s/namespaces/%s/%s?labelSelector=" KUBERNETES_INSTANCE
             "%%3D%s%%2C" KUBERNETES_DEPLOYMENT "%%3D%s",
             object->api, desired->target->namespace, object->list, desired->instance,
             desired->deployment);
    set_dry_run(step);
    step->absent_is_done = true;
    snprintf(step->summary, sizeof step->summary, "Deletes the %s %s%s in %s, if it has our labels",
             object->kind, desired->deployment, object->suffix, desired->target->namespace);
}

static void add_removals(const struct list *list, const struct object *objects)
{
    size_t count = 0;

    while (objects[count].name != NULL)
        count++;
    while (count > 0)
        add_removal(list, &objects[--count]);
}

/* This very Deployment, and not another one that has its name since. */
static void add_deletion(const struct list *list, const struct observed *now)
{
    struct step *step = add(list, "remove-deployment", "DELETE");

    set_url(list, &server_objects[1], step);
    set_dry_run(step);
    step->body = json_pack("{s:s}", "propagationPolicy", "Foreground");
    if (now->uid[0] != '\0')
        json_object_set_new(step->body, "preconditions", json_pack("{s:s}", "uid", now->uid));
    step->absent_is_done = true;
    snprintf(step->summary, sizeof step->summary, "Deletes the Deployment %s in %s with its pods",
             list->desired->deployment, list->desired->target->namespace);
}

static void add_end(const struct list *list, bool is_update)
{
    for (const struct object *object = end_objects; object->name != NULL; object++)
        add_apply(list, object, is_update);
}

static void add_annotation(const struct list *list)
{
    struct step *step = add(list, "annotation", "PATCH");
    char ends[CLOCK_TEXT_SIZE] = "never";

    if (list->desired->ends_ms > 0)
        clock_format_utc(list->desired->ends_ms, ends);
    set_url(list, &server_objects[1], step);
    snprintf(step->url + strlen(step->url), sizeof step->url - strlen(step->url),
             "?fieldManager=opsbrain");
    set_dry_run(step);
    snprintf(step->content_type, sizeof step->content_type, MERGE);
    step->body = json_pack("{s:{s:{s:s}}}", "metadata", "annotations", KUBERNETES_ENDS, ends);
    snprintf(step->summary, sizeof step->summary, "Writes its end, %s, on the Deployment %s", ends,
             list->desired->deployment);
}

/* An update leaves as many as an autoscaler or a person set: without the member an apply that set
 * it before would set it to 1. */
static void keep_replicas(struct step *step, const struct observed *now)
{
    if (now->replicas > 0)
        json_object_set_new(json_object_get(step->body, "spec"), "replicas",
                            json_integer(now->replicas));
}

static void add_create(const struct list *list, const struct observed *now, bool is_update)
{
    struct step *deployment;

    add_secrets(list);
    if (list->desired->ends_ms > 0)
        add_end(list, is_update && now->ends_ms > 0);
    add_apply(list, &server_objects[0], is_update);
    deployment = add_apply(list, &server_objects[1], is_update);
    if (is_update)
        keep_replicas(deployment, now);
    add_wait(list, "ready", "Waits until it is ready", false);
}

/* What ends it is made where it had no end, and changed where it had one. */
static void add_extend(const struct list *list, const struct observed *now)
{
    if (list->desired->ends_ms > 0)
        add_end(list, now->ends_ms > 0);
    else
        add_removals(list, end_objects);
    add_annotation(list);
}

static CHECKED bool check_state(enum provider_verb verb, const struct desired *desired,
                                const struct observed *now, struct error *error)
{
    if (!check_name(desired->deployment, error))
        return false;
    if (verb == VERB_CREATE && now != NULL && now->exists && !now->ours)
        return error_set(error, ERROR_CONFLICT,
                         "there is a Deployment %s in %s that opsbrain did not make: take another "
                         "name, or adopt it",
                         desired->deployment, desired->target->namespace);
    if (verb != VERB_CREATE && verb != VERB_DESTROY && (now == NULL || !now->exists))
        return error_set(error, ERROR_NOT_FOUND, "there is no Deployment %s in %s",
                         desired->deployment, desired->target->namespace);
    if ((verb == VERB_CREATE || verb == VERB_UPDATE)
        && (desired->recipe == NULL || desired->recipe->image[0] == '\0'))
        return error_set(error, ERROR_INVALID, "on Kubernetes a recipe needs an image");
    return true;
}

bool kubernetes_steps(enum provider_verb verb, const struct desired *desired,
                      const struct observed *now, struct step **out, size_t *count,
                      struct error *error)
{
    const struct list list = { desired, out, count };

    *out = NULL;
    *count = 0;
    if (!check_state(verb, desired, now, error))
        return false;
    if (verb == VERB_CREATE || verb == VERB_UPDATE)
        add_create(&list, now, verb == VERB_UPDATE);
    else if (verb == VERB_EXTEND)
        add_extend(&list, now);
    else if (verb == VERB_DESTROY) {
        if (now != NULL && now->exists)
            add_deletion(&list, now);
        add_wait(&list, "gone", "Waits until it is gone", true);
        add_removal(&list, &server_objects[0]);
        add_removals(&list, end_objects);
    } else {
        if (verb == VERB_START && observed_end_moves(now, desired))
            add_extend(&list, now);
        add_scale(&list, verb == VERB_STOP ? 0 : desired_replicas(desired));
        add_wait(&list, verb == VERB_STOP ? "stopped" : "ready",
                 verb == VERB_STOP ? "Waits until its pods are gone" : "Waits until it is ready",
                 false);
    }
    return true;
}

/* ---- Outcomes ---- */

static CHECKED bool fail(struct error *error, const struct cloud_reply *reply)
{
    return error_set(error, ERROR_UPSTREAM, "%s", reply->message);
}

/* What a Deployment's object means to a step that waits for it. */
static CHECKED enum step_state judge_waiting(const struct step *step,
                                             const struct cloud_reply *reply, struct error *error)
{
    struct observed now = { 0 };
    enum step_state state = STEP_WAIT;

    kubernetes_read(reply->body, NULL, NULL, &now);
    if (strcmp(step->name, "ready") == 0 && strcmp(now.state, "failed") == 0) {
        error_set(error, ERROR_UPSTREAM, "%s", now.message);
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
        error_set(error, ERROR_NOT_FOUND,
                  "the namespace has no Secret %s, which the recipe needs: kubectl create secret "
                  "generic %s --from-literal=KEY=...",
                  step->name + 7, step->name + 7);
        return STEP_FAILED;
    }
    error_ignore(fail(error, reply)); /* the sentence for all that follow */
    if (reply->status == 409 && step->creates)
        return STEP_EXISTS;
    if (reply->verdict == CLOUD_AGAIN)
        return STEP_RETRY;
    if (reply->verdict == CLOUD_LOST) /* every request here may be sent twice */
        return STEP_LOST;
    return STEP_FAILED;
}

/* ---- kubectl ---- */

static void add_manifest(const struct step *step, struct text *out)
{
    FREE_AUTO char *json = json_dumps(step->body, JSON_INDENT(1));

    if (strcmp(step->method, "POST") == 0)
        text_addf(out, "kubectl create --field-manager=opsbrain -f - <<'END'\n%s\nEND\n", json);
    else
        text_addf(out,
                  "kubectl apply --server-side --field-manager=opsbrain%s -f - <<'END'\n%s\nEND\n",
                  strstr(step->url, "force=true") != NULL ? " --force-conflicts" : "", json);
}

static const char *kind_of(const struct step *step, const struct object *objects)
{
    for (; objects->name != NULL; objects++)
        if (strcmp(step->name + strlen("remove-"), objects->name) == 0)
            return objects->kind;
    return NULL;
}

static void add_waiting(const struct desired *desired, const struct step *step, struct text *out)
{
    const char *name = desired->deployment, *namespace = desired->target->namespace;

    if (strncmp(step->name, "secret-", 7) == 0)
        text_addf(out, "kubectl get secret %s -n %s\n", step->name + 7, namespace);
    else if (strcmp(step->name, "ready") == 0)
        text_addf(out, "kubectl rollout status deployment/%s -n %s\n", name, namespace);
    else if (strcmp(step->name, "gone") == 0)
        text_addf(out, "kubectl wait --for=delete deployment/%s -n %s\n", name, namespace);
    else
        text_addf(out, "kubectl wait --for=delete pod -l " KUBERNETES_DEPLOYMENT "=%s -n %s\n",
                  name, namespace);
}

void kubernetes_command(const struct desired *desired, const struct step *step, struct text *out)
{
    const char *name = desired->deployment, *namespace = desired->target->namespace;

    if (strcmp(step->content_type, APPLY) == 0 || strcmp(step->method, "POST") == 0)
        add_manifest(step, out);
    else if (strcmp(step->method, "GET") == 0)
        add_waiting(desired, step, out);
    else if (strcmp(step->name, "scale") == 0)
        text_addf(out, "kubectl scale deployment/%s --replicas=%lld -n %s\n", name,
                  (long long)json_get_integer(json_object_get(step->body, "spec"), "replicas", 0),
                  namespace);
    else if (strcmp(step->name, "annotation") == 0)
        text_addf(
            out, "kubectl annotate --overwrite deployment/%s '" KUBERNETES_ENDS "=%s' -n %s\n",
            name,
            json_get_text(json_object_get(json_object_get(step->body, "metadata"), "annotations"),
                          KUBERNETES_ENDS, ""),
            namespace);
    else if (strcmp(step->name, "remove-deployment") == 0)
        text_addf(out, "kubectl delete deployment/%s --cascade=foreground -n %s\n", name,
                  namespace);
    else
        text_addf(out,
                  "kubectl delete %s -l " KUBERNETES_INSTANCE "=%s," KUBERNETES_DEPLOYMENT
                  "=%s -n %s\n",
                  kind_of(step, kind_of(step, end_objects) != NULL ? end_objects : server_objects),
                  desired->instance, name, namespace);
}
