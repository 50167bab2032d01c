/* SPDX-License-Identifier: Apache-2.0 */
/* Turns a verb (create, stop, ...) into requests to the API server. */
#include <stdio.h>
#include <string.h>

#include "base/json/json.h"
#include "fleet/providers/kubernetes.h"
#include "fleet/recipes/recipe.h"

/* Includes the NUL: NAME-end must fit into the 52 characters of a CronJob's name. */
#define NAME_SIZE 49
#define MERGE "application/merge-patch+json"
#define METADATA "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"

/* The objects of one deployment, in the order in which they are created; they are removed in
 * reverse order. The objects that end the deployment on time are created first, so that nothing
 * costs money before its end is certain. */
static const struct object {
    const char *name;                /* the step's name */
    const char *kind, *api, *plural; /* "Deployment", "/apis/apps/v1", "deployments" */
    const char *suffix; /* appended to the deployment's name to give the object's name */
    json_t *(*body)(const struct desired *desired);
    const char *summary;
    bool is_bare; /* the object has no members that could conflict with another writer's */
} end_objects[] = {
    { "end-account", "ServiceAccount", "/api/v1", "serviceaccounts", "-end", kubernetes_end_account,
      "the account that ends the deployment", true },
    { "end-role", "Role", "/apis/rbac.authorization.k8s.io/v1", "roles", "-end",
      kubernetes_end_role, "the right to end this one Deployment" },
    { "end-binding", "RoleBinding", "/apis/rbac.authorization.k8s.io/v1", "rolebindings", "-end",
      kubernetes_end_binding, "gives the account the right to end this one Deployment" },
    { "end", "CronJob", "/apis/batch/v1", "cronjobs", "-end", kubernetes_end_job,
      "the job that ends the deployment on time" },
    { NULL },
}, server_objects[] = {
    { "service", "Service", "/api/v1", "services", "", kubernetes_service, "the address of the servers" },
    { "deployment", "Deployment", "/apis/apps/v1", "deployments", "", kubernetes_deployment,
      "the servers" },
    { NULL },
};

#define SERVICE (&server_objects[0])
#define DEPLOYMENT (&server_objects[1])

struct list {
    const struct desired *desired;
    struct step **steps;
    size_t *count;
};

/* ---- Steps ---- */

static void set_url(const struct list *list, const struct object *object, struct step *step)
{
    snprintf(step->url, sizeof step->url, "%s/namespaces/%s/%s/%s%s", object->api,
             list->desired->target->namespace, object->plural, list->desired->deployment,
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

/* Makes the step a POST, which conflicts with any existing object of this name. An apply conflicts
 * only if both sides set the same member to different values; a bare object has no such member, so
 * an apply would silently take over somebody else's object. There is no dry run, because it would
 * fail if our own object from an earlier end still exists, whereas the step itself then uses that
 * object again. */
static void set_post(const struct list *list, const struct object *object, struct step *step)
{
    text_copy(step->method, sizeof step->method, "POST");
    snprintf(step->url, sizeof step->url,
             "%s/namespaces/%s/%s?fieldManager=opsbrain&fieldValidation=Strict", object->api,
             list->desired->target->namespace, object->plural);
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
    snprintf(step->content_type, sizeof step->content_type, KUBERNETES_APPLY);
    step->body = object->body(list->desired);
    step->creates = !is_update;
    if (object->is_bare && !is_update)
        set_post(list, object, step);
    snprintf(step->summary, sizeof step->summary, "%s the %s %s%s in %s: %s",
             is_update ? "Changes" : "Creates", object->kind, list->desired->deployment,
             object->suffix, list->desired->target->namespace, object->summary);
    return step;
}

/* Adds a check that the secret exists, unless the list already has one: several environment
 * variables can use the same secret. */
static void add_secret(const struct list *list, const char *secret)
{
    struct step *step;
    char url[512];

    snprintf(url, sizeof url, "/api/v1/namespaces/%s/secrets/%s", list->desired->target->namespace,
             secret);
    if (step_list_has(*list->steps, *list->count, url))
        return;
    step = add(list, "", "GET");
    snprintf(step->name, sizeof step->name, "secret-%s", secret);
    text_copy(step->url, sizeof step->url, url);
    text_copy(step->resource, sizeof step->resource, step->url);
    text_copy(step->dry_run_url, sizeof step->dry_run_url, step->url);
    snprintf(step->content_type, sizeof step->content_type, METADATA);
    snprintf(step->summary, sizeof step->summary, "Checks that the Secret %s exists in %s", secret,
             list->desired->target->namespace);
}

/* Adds a check for each secret that the recipe uses and, if the door is "node_port", for the
 * server's key: they must exist before anything is created or changed. Only their metadata is
 * read. */
static void add_secrets(const struct list *list)
{
    const json_t *variables = recipe_member(list->desired->recipe, "environment"), *value;
    const char *name;
    char key[80];

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

static void add_wait(const struct list *list, const char *name, const char *summary,
                     bool until_absent)
{
    struct step *step = add(list, name, "GET");

    set_url(list, DEPLOYMENT, step);
    step->absent_is_done = until_absent;
    snprintf(step->summary, sizeof step->summary, "%s", summary);
}

static void add_scale(const struct list *list, int64_t replicas)
{
    struct step *step = add(list, "scale", "PATCH");

    set_url(list, DEPLOYMENT, step);
    snprintf(step->url + strlen(step->url), sizeof step->url - strlen(step->url),
             "/scale?fieldManager=opsbrain&fieldValidation=Strict");
    set_dry_run(step);
    snprintf(step->content_type, sizeof step->content_type, MERGE);
    step->body = json_pack("{s:{s:I}}", "spec", "replicas", (json_int_t)replicas);
    snprintf(step->summary, sizeof step->summary, "Sets the Deployment %s in %s to %lld replicas",
             list->desired->deployment, list->desired->target->namespace, (long long)replicas);
}

/* Deletes an object by our labels, so that somebody else's object with the same name is kept. */
static void add_removal(const struct list *list, const struct object *object)
{
    const struct desired *desired = list->desired;
    struct step *step = add(list, "", "DELETE");

    snprintf(step->name, sizeof step->name, "remove-%s", object->name);
    set_url(list, object, step);
    snprintf(step->url, sizeof step->url,
             "%s/namespaces/%s/%s?labelSelector=" KUBERNETES_INSTANCE
             "%%3D%s%%2C" KUBERNETES_DEPLOYMENT "%%3D%s",
             object->api, desired->target->namespace, object->plural, desired->instance,
             desired->deployment);
    set_dry_run(step);
    step->absent_is_done = true;
    snprintf(step->summary, sizeof step->summary,
             "Deletes the %s %s%s in %s, if it has opsbrain's labels", object->kind,
             desired->deployment, object->suffix, desired->target->namespace);
}

static void add_removals(const struct list *list, const struct object *objects)
{
    size_t count = 0;

    while (objects[count].name != NULL)
        count++;
    while (count > 0)
        add_removal(list, &objects[--count]);
}

/* Deletes only the Deployment that was observed, not a later one with the same name. */
static void add_deletion(const struct list *list, const struct observed *now)
{
    struct step *step = add(list, "remove-deployment", "DELETE");

    set_url(list, DEPLOYMENT, step);
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
    json_t *notes = kubernetes_end_notes(list->desired);

    set_url(list, DEPLOYMENT, step);
    snprintf(step->url + strlen(step->url), sizeof step->url - strlen(step->url),
             "?fieldManager=opsbrain");
    set_dry_run(step);
    snprintf(step->content_type, sizeof step->content_type, MERGE);
    step->body = json_pack("{s:{s:o}}", "metadata", "annotations", notes);
    snprintf(step->summary, sizeof step->summary,
             "Sets the end in the annotations of the Deployment %s to %s",
             list->desired->deployment, json_get_text(notes, KUBERNETES_ENDS, ""));
}

/* Keeps the number of replicas that an autoscaler or a user set, unless the Deployment is stopped.
 * Omitting the member would not do: if opsbrain set the number in an earlier apply, the API server
 * would reset it to 1. */
static void keep_replicas(struct step *step, const struct observed *now)
{
    if (now->replicas > 0)
        json_object_set_new(json_object_get(step->body, "spec"), "replicas",
                            json_integer(now->replicas));
}

/* Creates the deployment or, if `is_update`, changes it. */
static void add_objects(const struct list *list, const struct observed *now, bool is_update)
{
    struct step *deployment;

    add_secrets(list);
    if (list->desired->ends_ms > 0)
        add_end(list, is_update && now->ends_ms > 0);
    add_apply(list, SERVICE, is_update);
    deployment = add_apply(list, DEPLOYMENT, is_update);
    if (is_update)
        keep_replicas(deployment, now);
    add_wait(list, "ready", "Waits until the Deployment is ready", false);
}

/* Creates or changes the objects that end the deployment, or removes them if the deployment is
 * to have no end. Writes the end into the Deployment's annotations. */
static void add_extend(const struct list *list, const struct observed *now)
{
    if (list->desired->ends_ms > 0)
        add_end(list, now->ends_ms > 0);
    else
        add_removals(list, end_objects);
    add_annotation(list);
}

/* An adopted deployment keeps the name that others gave it. If it gets an end, that name must be
 * short enough for the CronJob NAME-end. */
static CHECKED bool check_name(enum provider_verb verb, const struct desired *desired,
                               const struct observed *now, struct error *error)
{
    bool makes_end = verb == VERB_EXTEND || verb == VERB_UPDATE
                     || (verb == VERB_START && observed_end_moves(now, desired));

    if (verb == VERB_CREATE)
        return provider_check_name(desired->deployment, "Kubernetes", NAME_SIZE, error);
    return !makes_end || desired->ends_ms == 0 || strlen(desired->deployment) < NAME_SIZE
           || error_set(
               error, ERROR_INVALID,
               "%s cannot be given an end: the CronJob that ends it would be named %s-end, and a "
               "CronJob's name has at most 52 characters; a new deployment under a "
               "shorter name can have an end",
               desired->deployment, desired->deployment);
}

/* If the door is "node_port", a server can be reached from outside the cluster, so it must require
 * a key. */
static CHECKED bool check_key(enum provider_verb verb, const struct desired *desired,
                              struct error *error)
{
    if ((verb != VERB_CREATE && verb != VERB_UPDATE)
        || strcmp(kubernetes_door(desired->target), "node_port") != 0
        || strcmp(desired->recipe->engine, "vllm") == 0)
        return true;
    return error_set(
        error, ERROR_INVALID,
        "if \"door\" is node_port, the server needs a key, and opsbrain passes one only to "
        "vLLM: set \"door\" of the target %s to cluster or proxy",
        desired->target->name);
}

static CHECKED bool check_state(enum provider_verb verb, const struct desired *desired,
                                const struct observed *now, struct error *error)
{
    if (verb == VERB_CREATE && now != NULL && now->exists && !now->ours)
        return error_set(
            error, ERROR_CONFLICT,
            "there is a Deployment %s in %s that this opsbrain did not make: choose another "
            "name, or adopt it",
            desired->deployment, desired->target->namespace);
    if (verb != VERB_CREATE && verb != VERB_DESTROY && (now == NULL || !now->exists))
        return error_set(error, ERROR_NOT_FOUND, "there is no Deployment %s in %s",
                         desired->deployment, desired->target->namespace);
    if ((verb == VERB_CREATE || verb == VERB_UPDATE)
        && (desired->recipe == NULL || desired->recipe->image[0] == '\0'))
        return error_set(error, ERROR_INVALID,
                         "on Kubernetes a server needs a recipe with an image");
    return check_key(verb, desired, error) && check_name(verb, desired, now, error);
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
        add_objects(&list, now, verb == VERB_UPDATE);
    else if (verb == VERB_EXTEND)
        add_extend(&list, now);
    else if (verb == VERB_DESTROY) {
        if (now != NULL && now->exists)
            add_deletion(&list, now);
        add_wait(&list, "gone", "Waits until the Deployment is gone", true);
        add_removal(&list, SERVICE);
        add_removals(&list, end_objects);
    } else {
        if (verb == VERB_START && observed_end_moves(now, desired))
            add_extend(&list, now);
        add_scale(&list, verb == VERB_STOP ? 0 : desired_replicas(desired));
        add_wait(&list, verb == VERB_STOP ? "stopped" : "ready",
                 verb == VERB_STOP ? "Waits until the Deployment's pods are gone"
                                   : "Waits until the Deployment is ready",
                 false);
    }
    return true;
}
