/* SPDX-License-Identifier: Apache-2.0 */
/* Names a machine's key and firewall and makes the requests for them, judges Compute Engine's
 * replies, and reads a machine's key and what the machine reports about itself. */
#include "fleet/providers/google_machine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/core/digest.h"
#include "base/json/json.h"
#include "fleet/cloud/cloud_problem.h"
#include "fleet/recipes/recipe.h"

/* Reads the project P from "projects/P/...". Returns false if the name has another form. */
static bool read_project(const char *name, char out[64])
{
    if (strncmp(name, "projects/", 9) != 0)
        return false;
    snprintf(out, 64, "%.*s", (int)strcspn(name + 9, "/"), name + 9);
    return true;
}

void google_machine_name(const struct desired *desired, const char *what,
                         struct google_machine *out)
{
    char tag[GOOGLE_TAG_SIZE], project[64];

    google_tag(desired, what, tag);
    /* a firewall is in its network's project */
    if (!read_project(desired->target->network, project))
        text_copy(project, sizeof project, desired->target->project);
    snprintf(out->tag, sizeof out->tag, "ob-%s", tag);
    snprintf(out->secret, sizeof out->secret, "ob-%s-key", tag);
    snprintf(out->firewall_url, sizeof out->firewall_url,
             GOOGLE_COMPUTE "projects/%s/global/firewalls/%s", project, out->tag);
    snprintf(out->secret_url, sizeof out->secret_url, GOOGLE_SECRETS "projects/%.63s/secrets/%s",
             desired->target->project, out->secret);
}

json_t *google_machine_labels(const struct desired *desired)
{
    json_t *out = google_labels(desired);

    json_object_set_new(
        out, GOOGLE_PORT,
        json_sprintf("%lld", (long long)recipe_integer(desired->recipe, "port", 8000)));
    return out;
}

/* Returns 0 if the labels have no port. */
static int64_t labelled_port(const json_t *labels)
{
    return google_integer(labels, GOOGLE_PORT);
}

int google_machine_port(const json_t *labels, const char *script)
{
    const char *at = strstr(script, "--port");
    int64_t port = labelled_port(labels);

    if (port == 0 && at != NULL) {
        at += strlen("--port");
        port = strtol(at + strspn(at, " =\"'"), NULL, 10);
    }
    return port > 0 && port < 65536 ? (int)port : 8000;
}

void google_machine_set_address(const char *address, int port, struct observed *out)
{
    if (address[0] != '\0' && address[strspn(address, "0123456789.")] == '\0')
        snprintf(out->address, sizeof out->address, "http://%.63s:%d", address, port);
}

void google_machine_set_id(const struct desired *desired, struct step *step)
{
    TEXT_AUTO whole = { 0 };
    char digest[DIGEST_TEXT_SIZE];
    char id[40];

    text_addf(&whole, "%s\n%s", desired->request_seed, step->name);
    digest_sha256_text(text_string(&whole), whole.length, digest);
    snprintf(id, sizeof id, "%.8s-%.4s-5%.3s-a%.3s-%.12s", digest, digest + 8, digest + 12,
             digest + 15, digest + 18);
    google_add_query(step, "requestId", id);
}

/* ---- Steps ---- */

static void add_key(const struct google_list *list)
{
    struct step *step = google_add(list, "key", "POST", list->machine.secret_url,
                                   "Creates the secret to which the machine writes the key of");

    google_set_creation(step);
    google_add_query(step, "secretId", list->machine.secret);
    step->body = json_pack("{s:{s:{}}, s:o}", "replication", "automatic", "labels",
                           google_labels(list->desired));
}

/* Replaces all rights that are granted on the secret itself, which belongs to this deployment
 * alone. */
static void add_right(const struct google_list *list)
{
    const char *account = list->desired->target->service_account;
    struct step *step = google_add(list, "key-right", "POST", list->machine.secret_url,
                                   "Lets the machine's account write and read the key of");

    snprintf(step->url, sizeof step->url, "%s:setIamPolicy", list->machine.secret_url);
    step->body = json_pack("{s:{s:[{s:s, s:[s+]}, {s:s, s:[s+]}]}}", "policy", "bindings", "role",
                           "roles/secretmanager.secretVersionAdder", "members",
                           "serviceAccount:", account, "role", "roles/secretmanager.secretAccessor",
                           "members", "serviceAccount:", account);
}

static json_t *firewall_body(const struct desired *desired, const struct google_machine *machine)
{
    const struct fleet_target *target = desired->target;
    json_t *ranges = json_array();

    for (size_t i = 0; i < target->source_range_count; i++)
        json_array_append_new(ranges, json_string(target->source_ranges[i]));
    return json_pack("{s:s, s:o, s:o, s:s, s:[{s:s, s:[o]}], s:o, s:[s]}", "name", machine->tag,
                     "description", google_mark(desired), "network", google_network(target),
                     "direction", "INGRESS", "allowed", "IPProtocol", "tcp", "ports",
                     json_sprintf("%lld", (long long)recipe_integer(desired->recipe, "port", 8000)),
                     "sourceRanges", ranges, "targetTags", machine->tag);
}

static void add_firewall(const struct google_list *list)
{
    struct step *step = google_add(list, "firewall", "POST", list->machine.firewall_url,
                                   "Admits the target's source ranges to the port of");

    google_set_creation(step);
    google_machine_set_id(list->desired, step);
    step->body = firewall_body(list->desired, &list->machine);
}

void google_machine_add(const struct google_list *list)
{
    add_key(list);
    add_right(list);
    add_firewall(list);
}

void google_machine_add_removals(const struct google_list *list)
{
    google_add_removal(list, "remove-firewall", list->machine.firewall_url, "Closes the port of");
    google_add_removal(list, "remove-key", list->machine.secret_url, "Deletes the key of");
}

/* ---- Outcomes ---- */

static bool is_plain(const char *name)
{
    return name[0] != '\0'
           && name[strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-")]
                  == '\0';
}

/* Returns the length of the part of a resource's URL to which "/operations/NAME" is appended, such
 * as ".../zones/z" for ".../zones/z/instances/x". */
static int parent_length(const char *resource)
{
    const char *last = strrchr(resource, '/');
    int length = last != NULL ? (int)(last - resource) : 0;

    while (length > 0 && resource[length - 1] != '/')
        length--;
    return length > 0 ? length - 1 : 0;
}

enum step_state google_machine_judge(const struct step *step, const json_t *operation,
                                     char poll_url[1024], struct error *error)
{
    const char *name = json_get_text(operation, "name", "");
    struct cloud_problem problem;
    char sentence[480];

    if (strcmp(json_get_text(operation, "status", ""), "DONE") != 0) {
        if (!is_plain(name))
            return google_fail(error, "the reply names no operation");
        snprintf(poll_url, 1024, "%.*s/operations/%.200s", parent_length(step->resource),
                 step->resource, name);
        return STEP_WAIT;
    }
    if (json_object_get(operation, "error") == NULL)
        return STEP_DONE;
    cloud_problem_read(200, operation, &problem);
    snprintf(sentence, sizeof sentence, "%s%s", problem.message,
             strncmp(problem.kind, "ZONE_RESOURCE_POOL_EXHAUSTED", 28) == 0
                 ? "; try another of the target's zones, or try again later"
                 : "");
    return google_fail(error, sentence);
}

enum step_state google_machine_judge_failure(const struct step *step,
                                             const struct cloud_reply *reply, struct error *error)
{
    const json_t *errors = json_object_get(json_object_get(reply->body, "error"), "errors");
    const char *reason = json_get_text(json_array_get(errors, 0), "reason", "");

    if (strcmp(reason, "resourceNotReady") != 0)
        return google_judge_failure(step, reply, error);
    error_set(error, ERROR_UPSTREAM, "%s", reply->message);
    return STEP_RETRY;
}

/* ---- The machine's own reports ---- */

static const char *attribute_of(const json_t *items, const char *key)
{
    const json_t *item;
    size_t i;

    json_array_foreach(items, i, item)
        if (strcmp(json_get_text(item, "key", ""), key) == 0)
            return json_get_text(item, "value", "");
    return "";
}

/* Keeps the platform's message (out->message) unless the script has failed. */
void google_machine_read(const json_t *items, struct observed *out)
{
    static const char *const phases[] = { "image", "weights", "compile", NULL };
    const char *phase = attribute_of(items, "phase"), *line = attribute_of(items, "line");
    TEXT_AUTO shown = { 0 };
    TEXT_AUTO message = { 0 };

    text_add(&message, out->message);
    text_add_printable(&shown, line, strlen(line), sizeof out->log_line - 1);
    text_copy(out->log_line, sizeof out->log_line, text_string(&shown));
    if (strcmp(phase, "ready") == 0)
        observed_set_state(out, "ready", "ready", text_string(&message));
    else if (strcmp(phase, "failed") == 0)
        observed_set_state(out, "failed", "weights",
                           line[0] != '\0' ? line : "the server did not start");
    else if (google_is_one_of(phase, phases))
        observed_set_state(out, "starting", phase, text_string(&message));
    out->ready_replicas = strcmp(out->state, "ready") == 0;
}

/* ---- The key ---- */

/* Returns the labels of an instance or a node, or of the node that a queued resource requests. */
static const json_t *labels_of(const json_t *machine)
{
    const json_t *specs = json_object_get(json_object_get(machine, "tpu"), "nodeSpec");

    if (specs != NULL)
        machine = json_object_get(json_array_get(specs, 0), "node");
    return json_object_get(machine, "labels");
}

bool google_machine_key(struct cloud *cloud, const char *what, const struct observed *observed,
                        char out[SECRET_VALUE_SIZE], struct error *error)
{
    struct fleet_target target = { 0 };
    struct desired desired = { .target = &target };
    struct google_machine machine;
    CLOUD_REPLY_AUTO found = { 0 };
    CLOUD_REPLY_AUTO reply = { 0 };
    char url[600];

    out[0] = '\0';
    if (!cloud_read(cloud, observed->resource, &found, error))
        return false;
    desired.instance = json_get_text(labels_of(found.body), GOOGLE_INSTANCE, "");
    if (desired.instance[0] == '\0' || labelled_port(labels_of(found.body)) == 0
        || !read_project(what, target.project))
        return true;
    google_machine_name(&desired, what, &machine);
    snprintf(url, sizeof url, "%s/versions/latest:access", machine.secret_url);
    return cloud_read(cloud, url, &reply, error)
           && (provider_read_key(json_get_text(json_object_get(reply.body, "payload"), "data", ""),
                                 out)
               || error_set(
                   error, ERROR_UPSTREAM,
                   "the secret %s has no valid key: add a version with a valid key, and restart "
                   "the machine",
                   machine.secret));
}
