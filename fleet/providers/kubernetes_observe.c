/* SPDX-License-Identifier: Apache-2.0 */
/* Observes a Deployment, its pods, and the last line of a pod's log; lists the Deployments that
 * serve models. */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/formats/percent.h"
#include "base/json/json.h"
#include "fleet/providers/kubernetes.h"

#define PAGE_LIMIT 100
#define PAGES_MAX 50

static const json_t *at(const json_t *object, const char *first, const char *second)
{
    return json_object_get(json_object_get(object, first), second);
}

/* ---- Pods ---- */

static const json_t *condition_of(const json_t *status, const char *type)
{
    const json_t *condition;
    size_t i;

    json_array_foreach(json_object_get(status, "conditions"), i, condition)
        if (strcmp(json_get_text(condition, "type", ""), type) == 0)
            return condition;
    return NULL;
}

/* Guesses a starting server's phase from its last log line. */
static const char *phase_of_log(const char *line)
{
    static const char *const words[] = { "compil", "graph", "warm", "Capturing", "XLA" };

    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strcasestr(line, words[i]) != NULL)
            return "compile";
    return "weights";
}

static void read_waiting(const json_t *container, struct observed *out)
{
    const json_t *waiting = at(container, "state", "waiting");
    const json_t *ended = at(container, "lastState", "terminated");
    const char *reason = json_get_text(waiting, "reason", "");
    const char *message = json_get_text(waiting, "message", reason);
    char sentence[256];

    if (strcmp(reason, "ContainerCreating") == 0 || strcmp(reason, "PodInitializing") == 0)
        observed_set_state(out, "starting", "image", message);
    else if (strstr(reason, "Image") != NULL) /* ErrImagePull, ImagePullBackOff, InvalidImageName */
        observed_set_state(out, "failed", "image", message);
    else if (ended != NULL) {
        snprintf(sentence, sizeof sentence, "%.40s: the server ended with exit code %lld (%.60s)",
                 reason, (long long)json_get_integer(ended, "exitCode", -1),
                 json_get_text(ended, "reason", "no reason given"));
        observed_set_state(out, "failed", "weights", sentence);
    } else /* CreateContainerConfigError and others */
        observed_set_state(out, "failed", "image", message);
}

static const json_t *container_status_of(const json_t *pod)
{
    return json_array_get(at(pod, "status", "containerStatuses"), 0);
}

/* Reads the digest of the running image, because its tag may by now name another image. */
static void read_digest(const json_t *pod, struct observed *out)
{
    const char *digest = strstr(json_get_text(container_status_of(pod), "imageID", ""), "sha256:");

    if (digest != NULL)
        text_copy(out->image_digest, sizeof out->image_digest, digest);
}

static void read_pod(const json_t *pod, const char *log, struct observed *out)
{
    const json_t *scheduled = condition_of(json_object_get(pod, "status"), "PodScheduled");
    const json_t *container = container_status_of(pod);

    if (strcmp(json_get_text(scheduled, "status", "True"), "False") == 0)
        observed_set_state(out, "pending", "capacity", json_get_text(scheduled, "message", ""));
    else if (json_object_get(json_object_get(container, "state"), "waiting") != NULL)
        read_waiting(container, out);
    else if (container != NULL)
        observed_set_state(out, "starting", phase_of_log(log), log);
    else
        observed_set_state(out, "starting", "image", "");
}

/* Rates how well a pod explains why the Deployment is not ready: 2 if the pod is waiting for a
 * node, 1 if it is not ready for another reason, 0 if it is ready. */
static int trouble_of(const json_t *pod)
{
    const json_t *status = json_object_get(pod, "status");

    if (strcmp(json_get_text(condition_of(status, "PodScheduled"), "status", ""), "False") == 0)
        return 2;
    return strcmp(json_get_text(condition_of(status, "Ready"), "status", ""), "True") != 0;
}

/* Returns the pod with the highest rating, or the newest of several that share it. Ignores pods
 * that are being deleted; returns NULL if there are no others. */
static const json_t *most_relevant_pod(const json_t *pods)
{
    const json_t *pod, *found = NULL;
    const char *latest = "";
    int most = 0;
    size_t i;

    json_array_foreach(json_object_get(pods, "items"), i, pod) {
        const json_t *metadata = json_object_get(pod, "metadata");
        const char *made = json_get_text(metadata, "creationTimestamp", "");
        int trouble = trouble_of(pod);

        if (json_object_get(metadata, "deletionTimestamp") != NULL)
            continue;
        if (found == NULL || trouble > most || (trouble == most && strcmp(made, latest) > 0)) {
            found = pod;
            latest = made;
            most = trouble;
        }
    }
    return found;
}

/* ---- The Deployment ---- */

/* Reads a time like "2026-11-23T04:50:00.000Z", as kubernetes_bodies.c writes it; ignores the
 * fraction of a second. Returns UTC milliseconds, or 0 if the text is not such a time. */
static int64_t read_time(const char *text)
{
    struct tm utc = { 0 };
    const char *end = strptime(text, "%Y-%m-%dT%H:%M:%S", &utc);

    if (end == NULL || (*end != '.' && *end != 'Z') || utc.tm_year < 70)
        return 0;
    return (int64_t)timegm(&utc) * 1000;
}

static void read_changed_by(const json_t *metadata, struct observed *out)
{
    const json_t *entry;
    const char *latest = "", *manager = "";
    size_t i;

    json_array_foreach(json_object_get(metadata, "managedFields"), i, entry) {
        const char *time = json_get_text(entry, "time", "");

        if (json_object_get(entry, "subresource") != NULL
            && strcmp(json_get_text(entry, "subresource", ""), "scale") != 0)
            continue; /* skip the status, which the controller writes */
        if (strcmp(time, latest) >= 0) {
            latest = time;
            manager = json_get_text(entry, "manager", "");
        }
    }
    observed_write(out->last_changed_by, sizeof out->last_changed_by, "%.128s%s%.40s", manager,
                   manager[0] != '\0' ? " at " : "", latest);
}

static void read_metadata(const json_t *metadata, struct observed *out)
{
    const json_t *labels = json_object_get(metadata, "labels");
    const json_t *notes = json_object_get(metadata, "annotations");

    text_copy(out->name, sizeof out->name, json_get_text(metadata, "name", ""));
    text_copy(out->uid, sizeof out->uid, json_get_text(metadata, "uid", ""));
    text_copy(out->etag, sizeof out->etag, json_get_text(metadata, "resourceVersion", ""));
    text_copy(out->instance, sizeof out->instance, json_get_text(labels, KUBERNETES_INSTANCE, ""));
    text_copy(out->deployment, sizeof out->deployment,
              json_get_text(labels, KUBERNETES_DEPLOYMENT, ""));
    text_copy(out->revision, sizeof out->revision,
              json_get_text(notes, "deployment.kubernetes.io/revision", ""));
    out->ends_ms = read_time(json_get_text(notes, KUBERNETES_ENDS, ""));
    text_copy(out->at_end, sizeof out->at_end, json_get_text(notes, KUBERNETES_AT_END, ""));
    snprintf(out->generation, sizeof out->generation, "%lld",
             (long long)json_get_integer(metadata, "generation", 0));
    observed_write(out->resource, sizeof out->resource,
                   "/apis/apps/v1/namespaces/%.64s/deployments/%s",
                   json_get_text(metadata, "namespace", ""), out->name);
    read_changed_by(metadata, out);
}

static json_t *fields_of(const json_t *spec)
{
    const json_t *containers = at(json_object_get(spec, "template"), "spec", "containers");
    const json_t *container = json_array_get(containers, 0);
    json_t *out = json_object();

    json_object_set_new(out, "replicas", json_integer(json_get_integer(spec, "replicas", 1)));
    provider_compare_container(container, out);
    return out;
}

static void read_status(const json_t *deployment, struct observed *out)
{
    const json_t *metadata = json_object_get(deployment, "metadata");
    const json_t *spec = json_object_get(deployment, "spec");
    const json_t *status = json_object_get(deployment, "status");
    const json_t *progress = condition_of(status, "Progressing");
    int64_t updated = json_get_integer(status, "updatedReplicas", 0);
    int64_t all = json_get_integer(status, "replicas", 0);
    bool is_current = json_get_integer(status, "observedGeneration", 0)
                      >= json_get_integer(metadata, "generation", 0);

    out->replicas = json_get_integer(spec, "replicas", 1);
    out->ready_replicas = json_get_integer(status, "availableReplicas", 0);
    if (json_object_get(metadata, "deletionTimestamp") != NULL)
        observed_set_state(out, "deleting", "", "");
    else if (is_current && out->replicas == 0 && all == 0)
        observed_set_state(out, "stopped", "", "");
    else if (is_current && out->replicas > 0 && updated == out->replicas
             && out->ready_replicas == out->replicas && all == out->replicas)
        observed_set_state(out, "ready", "ready", "");
    else if (is_current
             && strcmp(json_get_text(progress, "reason", ""), "ProgressDeadlineExceeded") == 0)
        observed_set_state(out, "failed", "", json_get_text(progress, "message", ""));
    else
        observed_set_state(out, "starting", "image", "");
}

void kubernetes_read(const json_t *deployment, const json_t *pods, const char *log,
                     struct observed *out)
{
    const json_t *pod = most_relevant_pod(pods);
    char deadline_message[sizeof out->message] = "";

    out->exists = true;
    read_metadata(json_object_get(deployment, "metadata"), out);
    out->fields = fields_of(json_object_get(deployment, "spec"));
    if (log != NULL)
        observed_write(out->log_line, sizeof out->log_line, "%.*s", (int)strcspn(log, "\n"), log);
    read_status(deployment, out);
    read_digest(pod, out);
    if (strcmp(out->state, "failed") == 0)
        text_copy(deadline_message, sizeof deadline_message, out->message);
    if (pod != NULL && (strcmp(out->state, "starting") == 0 || deadline_message[0] != '\0'))
        read_pod(pod, out->log_line, out);
    if (deadline_message[0] != '\0' && strcmp(out->state, "failed") != 0)
        /* the pod's message, if there is one, says why */
        observed_set_state(out, "failed", out->phase,
                           out->message[0] != '\0' ? out->message : deadline_message);
    if (pod == NULL && strcmp(out->state, "starting") == 0) {
        const json_t *failure =
            condition_of(json_object_get(deployment, "status"), "ReplicaFailure");

        if (failure != NULL) /* a quota or a webhook refuses the pods */
            observed_set_state(out, "pending", "capacity", json_get_text(failure, "message", ""));
    }
}

/* ---- Requests ---- */

static CHECKED bool read_pods(struct cloud *cloud, const struct desired *desired, json_t **out,
                              struct error *error)
{
    CLOUD_REPLY_AUTO reply = { 0 };
    char url[512];

    snprintf(url, sizeof url,
             "/api/v1/namespaces/%s/pods?limit=100&labelSelector=" KUBERNETES_DEPLOYMENT "%%3D%s",
             desired->target->namespace, desired->deployment);
    if (!cloud_read(cloud, url, &reply, error))
        return false;
    *out = json_incref(reply.body);
    return true;
}

/* Reads the last line of a pod's log. A failure is ignored, because the log may not exist yet. */
static void read_log(struct cloud *cloud, const struct desired *desired, const json_t *pod,
                     struct text *out)
{
    CLOUD_REPLY_AUTO reply = { 0 };
    struct error ignored;
    char url[512];

    snprintf(url, sizeof url, "/api/v1/namespaces/%s/pods/%.253s/log?container=server&tailLines=1",
             desired->target->namespace,
             json_get_text(json_object_get(pod, "metadata"), "name", ""));
    if (cloud_call(cloud, "GET", url, CLOUD_TEXT, NULL, &reply, &ignored) && reply.text != NULL)
        text_add_printable(out, reply.text, strlen(reply.text), 250);
}

static void set_address(struct cloud *cloud, const struct desired *desired, const json_t *service,
                        const json_t *pods, struct observed *out)
{
    const json_t *port = json_array_get(at(service, "spec", "ports"), 0);
    const char *namespace = desired->target->namespace, *door = kubernetes_door(desired->target);
    const json_t *host = at(most_relevant_pod(pods), "status", "hostIP");

    if (port == NULL)
        return;
    if (strcmp(door, "proxy") == 0)
        snprintf(out->address, sizeof out->address,
                 "%s/api/v1/namespaces/%s/services/http:%s:%lld/proxy", cloud_server(cloud),
                 namespace, desired->deployment, (long long)json_get_integer(port, "port", 0));
    else if (strcmp(door, "node_port") == 0 && json_is_string(host))
        snprintf(out->address, sizeof out->address, "http://%.64s:%lld", json_string_value(host),
                 (long long)json_get_integer(port, "nodePort", 0));
    else if (strcmp(door, "cluster") == 0)
        snprintf(out->address, sizeof out->address, "http://%s.%s.svc:%lld", desired->deployment,
                 namespace, (long long)json_get_integer(port, "port", 0));
}

static CHECKED bool read_service(struct cloud *cloud, const struct desired *desired,
                                 const json_t *pods, struct observed *out, struct error *error)
{
    CLOUD_REPLY_AUTO reply = { 0 };
    char url[512];

    snprintf(url, sizeof url, "/api/v1/namespaces/%s/services/%s", desired->target->namespace,
             desired->deployment);
    if (cloud_read(cloud, url, &reply, error)) {
        set_address(cloud, desired, reply.body, pods, out);
        return true;
    }
    return reply.status == 404;
}

static CHECKED bool observe_parts(struct cloud *cloud, const struct desired *desired,
                                  const json_t *deployment, struct observed *out,
                                  struct error *error)
{
    json_auto_t *pods = NULL;
    TEXT_AUTO log = { 0 };

    if (!read_pods(cloud, desired, &pods, error) || !read_service(cloud, desired, pods, out, error))
        return false;
    if (most_relevant_pod(pods) != NULL)
        read_log(cloud, desired, most_relevant_pod(pods), &log);
    kubernetes_read(deployment, pods, text_string(&log), out);
    text_copy(out->place, sizeof out->place, desired->place);
    out->ours = observed_is_of(out, desired);
    return true;
}

bool kubernetes_observe(struct cloud *cloud, const struct desired *desired, struct observed *out,
                        struct error *error)
{
    CLOUD_REPLY_AUTO reply = { 0 };
    char url[512];

    *out = (struct observed){ 0 };
    snprintf(url, sizeof url, "/apis/apps/v1/namespaces/%s/deployments/%s",
             desired->target->namespace, desired->deployment);
    snprintf(out->resource, sizeof out->resource, "%s", url);
    if (cloud_read(cloud, url, &reply, error))
        return observe_parts(cloud, desired, reply.body, out, error);
    if (reply.status == 404)
        observed_set_state(out, "absent", "", "");
    return reply.status == 404;
}

/* ---- Listing ---- */

static bool serves_models(const json_t *deployment)
{
    static const char *const images[] = {
        "vllm", "ollama", "llama", "sglang", "text-generation-inference", "tensorrt", NULL
    };
    static const char *const accelerators[] = KUBERNETES_ACCELERATORS;
    const json_t *template = at(deployment, "spec", "template");
    const json_t *container = json_array_get(at(template, "spec", "containers"), 0);
    const json_t *limits = at(container, "resources", "limits");

    for (const char *const *image = images; *image != NULL; image++)
        if (strcasestr(json_get_text(container, "image", ""), *image) != NULL)
            return true;
    for (const char *const *name = accelerators; *name != NULL; name++)
        if (json_object_get(limits, *name) != NULL)
            return true;
    return json_object_get(at(deployment, "metadata", "labels"), KUBERNETES_INSTANCE) != NULL;
}

static void add_page(const json_t *page, struct observed **out, size_t *count)
{
    const json_t *deployment;
    size_t i;

    json_array_foreach(json_object_get(page, "items"), i, deployment)
        if (serves_models(deployment))
            kubernetes_read(deployment, NULL, NULL, observed_list_add(out, count));
}

bool kubernetes_list(struct cloud *cloud, const struct fleet_target *target, struct observed **out,
                     size_t *count, json_t *warnings, struct error *error)
{
    char next[1024] = "";

    *out = NULL;
    *count = 0;
    for (int page = 0; page < PAGES_MAX; page++) {
        CLOUD_REPLY_AUTO reply = { 0 };
        TEXT_AUTO url = { 0 };
        const char *token;

        text_addf(&url, "/apis/apps/v1/namespaces/%s/deployments?limit=%d%s", target->namespace,
                  PAGE_LIMIT, next[0] != '\0' ? "&continue=" : "");
        percent_encode(next, "", &url);
        if (!cloud_read(cloud, text_string(&url), &reply, error)) {
            observed_list_free(*out, *count);
            *out = NULL;
            *count = 0;
            return false;
        }
        add_page(reply.body, out, count);
        token = json_get_text(json_object_get(reply.body, "metadata"), "continue", "");
        if (token[0] == '\0')
            return true;
        if (text_copy(next, sizeof next, token) < strlen(token))
            break;
    }
    json_array_append_new(warnings, json_string("there are more Deployments than were read"));
    return true;
}
