/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the platform's objects: queued resources, nodes, and a machine's own reports. */
#include <string.h>

#include "base/json/json.h"
#include "fleet/providers/tpu.h"

/* The creation time serves as an id: it distinguishes a plan's resource from a later one with
 * the same name. */
static void read_identity(const json_t *object, struct observed *out)
{
    const char *made = json_get_text(object, "createTime", "");

    text_copy(out->uid, sizeof out->uid, made);
    text_copy(out->generation, sizeof out->generation, made);
}

/* ---- The machine ---- */

static void add_text(json_t *fields, const char *name, const json_t *object, const char *member)
{
    const char *text = json_get_text(object, member, NULL);

    if (text != NULL)
        json_object_set_new(fields, name, json_string(text));
}

/* Adds the last part of a name, because the platform returns the full name even if a request gave
 * only that part. */
static void add_last(json_t *fields, const char *name, const json_t *object)
{
    const char *text = json_get_text(object, name, NULL);

    if (text != NULL)
        json_object_set_new(fields, name, json_string(google_last_part(text)));
}

/* Returns the members that are compared for drift. A change to the server's arguments changes the
 * script's digest, because the script contains them. */
static json_t *fields_of(const json_t *node, const char *name)
{
    const json_t *network = json_object_get(node, "networkConfig");
    const json_t *metadata = json_object_get(node, "metadata");
    const char *script = json_get_text(metadata, "startup-script", "");
    json_t *out = json_pack("{s:s, s:o}", "node", name, "startup-script", provider_digest(script));

    add_text(out, "acceleratorType", node, "acceleratorType");
    add_text(out, "runtimeVersion", node, "runtimeVersion");
    add_text(out, "serviceAccount", json_object_get(node, "serviceAccount"), "email");
    add_text(out, "image", metadata, TPU_IMAGE);
    add_last(out, "network", network);
    add_last(out, "subnetwork", network);
    json_object_set_new(out, "enableExternalIps",
                        json_boolean(json_get_boolean(network, "enableExternalIps", false)));
    if (json_is_array(json_object_get(node, "tags")))
        json_object_set_new(out, "tags", json_deep_copy(json_object_get(node, "tags")));
    return out;
}

static void read_machine(const json_t *node, const char *name, struct observed *out)
{
    const char *image;

    observed_finish(out); /* the node replaces what its queued resource said about it */
    google_read_labels(json_object_get(node, "labels"), out);
    out->fields = fields_of(node, name);
    image = strstr(json_get_text(out->fields, "image", ""), "sha256:");
    text_copy(out->image_digest, sizeof out->image_digest, image != NULL ? image : "");
    text_copy(out->machine, sizeof out->machine, json_get_text(node, "acceleratorType", ""));
    text_copy(out->revision, sizeof out->revision, json_get_text(node, "runtimeVersion", ""));
}

const char *tpu_node_of(const struct observed *observed)
{
    return json_get_text(observed->fields, "node", "");
}

/* ---- Queued resources ---- */

static void read_failure(const json_t *state, struct observed *out)
{
    const json_t *problem = json_object_get(json_object_get(state, "failedData"), "error");

    observed_set_state(out, "failed", "capacity",
                       json_get_text(problem, "message",
                                     "the request was not fulfilled, and no reason was given"));
}

static void read_suspension(const json_t *state, struct observed *out)
{
    bool by_a_user = strcmp(json_get_text(state, "stateInitiator", ""), "USER") == 0;

    observed_set_state(out, "failed", "",
                       by_a_user
                           ? "its machine was deleted; the request remains, and costs nothing"
                           : "Cloud TPU took its machine back: its time was over, or the capacity "
                             "was needed; the request remains, and costs nothing");
}

/* Every state that is not named below counts as waiting for capacity: ACCEPTED,
 * WAITING_FOR_RESOURCES, and any state that is not known here. */
static void read_queue(const json_t *queued, struct observed *out)
{
    static const struct {
        const char *word, *state, *phase, *message;
    } rows[] = {
        { "ACTIVE", "starting", "capacity", "" },
        { "PROVISIONING", "starting", "capacity",
          "there is capacity, and the machine is being created" },
        { "DELETING", "deleting", "", "" },
        { "SUSPENDING", "stopping", "", "its machine is being deleted" },
    };
    const json_t *state = json_object_get(queued, "state");
    const char *word = json_get_text(state, "state", "");

    observed_set_state(out, "pending", "capacity", "it is waiting for capacity");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (strcmp(rows[i].word, word) == 0)
            observed_set_state(out, rows[i].state, rows[i].phase, rows[i].message);
    if (strcmp(word, "FAILED") == 0)
        read_failure(state, out);
    else if (strcmp(word, "SUSPENDED") == 0)
        read_suspension(state, out);
}

static const json_t *specification_of(const json_t *queued)
{
    return json_array_get(json_object_get(json_object_get(queued, "tpu"), "nodeSpec"), 0);
}

const json_t *tpu_labelled(const json_t *resource)
{
    const json_t *node = json_object_get(specification_of(resource), "node");

    return node != NULL ? node : resource;
}

void tpu_read_queued(const json_t *queued, struct observed *out)
{
    const json_t *specification = specification_of(queued);

    out->exists = true;
    google_read_name(TPU, json_get_text(queued, "name", ""), out);
    read_machine(json_object_get(specification, "node"),
                 json_get_text(specification, "nodeId", out->name), out);
    read_identity(queued, out);
    read_queue(queued, out);
}

/* ---- Nodes ---- */

static void read_address(const json_t *node, bool is_inside, struct observed *out)
{
    const char *script = json_get_text(json_object_get(node, "metadata"), "startup-script", "");
    const json_t *endpoint = json_array_get(json_object_get(node, "networkEndpoints"), 0);
    const char *address =
        json_get_text(json_object_get(endpoint, "accessConfig"), "externalIp", "");

    if (is_inside || address[0] == '\0')
        address = json_get_text(endpoint, "ipAddress", "");
    google_machine_set_address(address,
                               google_machine_port(json_object_get(node, "labels"), script), out);
}

/* A running machine that opsbrain made counts as starting until its script reports otherwise
 * (tpu_read_attributes); any other running machine counts as ready. */
static void read_node_state(const json_t *node, struct observed *out)
{
    static const struct {
        const char *word, *state, *phase;
    } rows[] = {
        { "CREATING", "starting", "capacity" }, { "STARTING", "starting", "image" },
        { "RESTARTING", "starting", "image" },  { "REIMAGING", "starting", "image" },
        { "REPAIRING", "starting", "image" },   { "STOPPING", "stopping", "" },
        { "STOPPED", "stopped", "" },           { "DELETING", "deleting", "" },
        { "PREEMPTED", "failed", "" },          { "TERMINATED", "failed", "" },
        { "HIDING", "stopping", "" },           { "HIDDEN", "failed", "" },
    };
    const char *word = json_get_text(node, "state", "");
    const char *health = json_get_text(node, "health", "");
    bool made_by_opsbrain = out->instance[0] != '\0';

    observed_set_state(out, "starting", "", word);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (strcmp(rows[i].word, word) == 0)
            observed_set_state(out, rows[i].state, rows[i].phase,
                               json_get_text(node, "healthDescription", ""));
    if (strcmp(word, "READY") == 0)
        observed_set_state(
            out, made_by_opsbrain ? "starting" : "ready", made_by_opsbrain ? "image" : "ready",
            strncmp(health, "UNHEALTHY", 9) == 0 ? json_get_text(node, "healthDescription", health)
                                                 : "");
}

void tpu_read_node(const json_t *node, bool is_inside, struct observed *out)
{
    const char *name = json_get_text(node, "name", "");

    read_machine(node, google_last_part(name), out);
    if (!out->exists) {
        out->exists = true;
        google_read_name(TPU, name, out);
        read_identity(node, out);
    }
    out->replicas = 1;
    read_address(node, is_inside, out);
    read_node_state(node, out);
    out->ready_replicas = strcmp(out->state, "ready") == 0;
}

void tpu_read_attributes(const json_t *attributes, struct observed *out)
{
    const json_t *worker = json_array_get(json_object_get(attributes, "guestAttributes"), 0);

    google_machine_read(json_object_get(json_object_get(worker, "queryValue"), "items"), out);
}
