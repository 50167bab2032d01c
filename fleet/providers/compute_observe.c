/* SPDX-License-Identifier: Apache-2.0 */
/* Observes one instance, including what it reports itself, or lists the model servers in the
 * target's zones. */
#include <stdio.h>
#include <string.h>

#include "base/json/json.h"
#include "fleet/providers/compute.h"

/* ---- One instance ---- */

/* The platform's states, and the states and phases that we show for them. Once a machine that
 * opsbrain made is running, it reports its further phases itself. */
static const struct status {
    const char *word, *state, *phase;
} statuses[] = {
    { "PENDING", "pending", "capacity" }, { "PROVISIONING", "pending", "capacity" },
    { "STAGING", "starting", "image" },   { "RUNNING", "starting", "image" },
    { "REPAIRING", "starting", "image" }, { "PENDING_STOP", "stopping", "" },
    { "STOPPING", "stopping", "" },       { "SUSPENDING", "stopping", "" },
    { "STOPPED", "stopped", "" },         { "SUSPENDED", "stopped", "" },
    { "TERMINATED", "stopped", "" },      { "DEPROVISIONING", "deleting", "" },
};

static void read_state(const json_t *instance, struct observed *out)
{
    const char *word = json_get_text(instance, "status", "");

    observed_set_state(out, "starting", "", "");
    for (size_t i = 0; i < sizeof statuses / sizeof statuses[0]; i++)
        if (strcmp(word, statuses[i].word) == 0)
            observed_set_state(out, statuses[i].state, statuses[i].phase,
                               json_get_text(instance, "statusMessage", ""));
    /* a machine that opsbrain did not make reports no phases, so it counts as ready */
    if (strcmp(word, "RUNNING") == 0 && out->instance[0] == '\0')
        observed_set_state(out, "ready", "ready", "");
}

static const char *script_of(const json_t *instance)
{
    const json_t *item;
    size_t i;

    json_array_foreach(json_object_get(json_object_get(instance, "metadata"), "items"), i, item)
        if (strcmp(json_get_text(item, "key", ""), "startup-script") == 0)
            return json_get_text(item, "value", "");
    return "";
}

static void read_address(const json_t *instance, bool is_inside, struct observed *out)
{
    const json_t *interface = json_array_get(json_object_get(instance, "networkInterfaces"), 0);
    const json_t *outside = json_array_get(json_object_get(interface, "accessConfigs"), 0);
    const char *address = json_get_text(outside, "natIP", "");

    if (is_inside || address[0] == '\0')
        address = json_get_text(interface, "networkIP", "");
    google_machine_set_address(
        address, google_machine_port(json_object_get(instance, "labels"), script_of(instance)),
        out);
}

/* The startup script contains the image and the arguments, so its digest changes if either of them
 * does. */
static json_t *fields_of(const json_t *instance)
{
    static const char *const names[] = { "scheduling", "serviceAccounts", "tags",
                                         "deletionProtection" };
    json_t *out = json_pack("{s:s, s:o}", "machineType",
                            google_last_part(json_get_text(instance, "machineType", "")),
                            "startup-script", provider_digest(script_of(instance)));

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (json_object_get(instance, names[i]) != NULL)
            json_object_set_new(out, names[i], json_deep_copy(json_object_get(instance, names[i])));
    if (json_object_get(out, "tags") != NULL)
        json_object_del(json_object_get(out, "tags"), "fingerprint");
    return out;
}

static void read_name(const json_t *instance, struct observed *out)
{
    const char *link = json_get_text(instance, "selfLink", "");
    const char *path = strstr(link, "/compute/v1/");

    text_copy(out->name, sizeof out->name, json_get_text(instance, "name", ""));
    text_copy(out->place, sizeof out->place, google_last_part(json_get_text(instance, "zone", "")));
    if (path != NULL)
        snprintf(out->resource, sizeof out->resource, GOOGLE_COMPUTE "%.400s",
                 path + strlen("/compute/v1/"));
}

static void read_digest(const json_t *instance, struct observed *out)
{
    const char *digest = strstr(script_of(instance), "@sha256:");

    if (digest != NULL)
        snprintf(out->image_digest, sizeof out->image_digest, "%.*s",
                 7 + (int)strspn(digest + 8, "0123456789abcdef"), digest + 1);
}

/* Reads the id, an unsigned 64-bit number that is sent as a string. */
static void read_id(const json_t *id, struct observed *out)
{
    const char *text = json_string_value(id);

    if (json_is_integer(id))
        snprintf(out->uid, sizeof out->uid, "%lld", (long long)json_integer_value(id));
    else if (text != NULL && text[strspn(text, "0123456789")] == '\0')
        text_copy(out->uid, sizeof out->uid, text);
}

void compute_read(const json_t *instance, bool is_inside, struct observed *out)
{
    out->exists = true;
    read_name(instance, out);
    google_read_labels(json_object_get(instance, "labels"), out);
    read_state(instance, out);
    read_address(instance, is_inside, out);
    read_digest(instance, out);
    out->fields = fields_of(instance);
    read_id(json_object_get(instance, "id"), out);
    /* a request that changes the labels must contain this fingerprint */
    text_copy(out->etag, sizeof out->etag, json_get_text(instance, "labelFingerprint", ""));
    text_copy(out->machine, sizeof out->machine,
              google_last_part(json_get_text(instance, "machineType", "")));
    out->replicas = 1;
    out->ready_replicas = strcmp(out->state, "ready") == 0;
}

/* ---- The machine's own reports ---- */

/* Finds the last line that the script printed. It has the form
 * "... startup-script: opsbrain: LINE". */
static void read_line(const char *contents, struct observed *out)
{
    const char *line = NULL;
    TEXT_AUTO shown = { 0 };

    for (const char *at = strstr(contents, "opsbrain: "); at != NULL;
         at = strstr(at + 1, "opsbrain: "))
        line = at + strlen("opsbrain: ");
    if (line == NULL)
        return;
    text_add_printable(&shown, line, strcspn(line, "\r\n"), sizeof out->log_line - 1);
    text_copy(out->log_line, sizeof out->log_line, text_string(&shown));
}

/* Reads the script's last line of output from the serial port. Called for a machine that is not
 * ready and has no line among its guest attributes. */
static void ask_line(struct cloud *cloud, struct observed *out)
{
    CLOUD_REPLY_AUTO reply = { 0 };
    struct error ignored;
    char url[600];

    /* a negative start counts from the end: this reads the last 4 KiB */
    snprintf(url, sizeof url, "%s/serialPort?port=1&start=-4096", out->resource);
    if (cloud_read(cloud, url, &reply, &ignored))
        read_line(json_get_text(reply.body, "contents", ""), out);
}

/* Reads the script's guest attributes. A failure is ignored: there are no attributes before the
 * script runs, and the target's credential might lack the permission. */
static void ask_machine(struct cloud *cloud, struct observed *out)
{
    CLOUD_REPLY_AUTO reply = { 0 };
    struct error ignored;
    char url[600];

    snprintf(url, sizeof url, "%s/getGuestAttributes?queryPath=opsbrain%%2F", out->resource);
    if (cloud_read(cloud, url, &reply, &ignored))
        google_machine_read(json_object_get(json_object_get(reply.body, "queryValue"), "items"),
                            out);
    if (strcmp(out->state, "ready") != 0 && out->log_line[0] == '\0')
        ask_line(cloud, out);
}

bool compute_observe(struct cloud *cloud, const struct desired *desired, struct observed *out,
                     struct error *error)
{
    CLOUD_REPLY_AUTO reply = { 0 };
    char name[COMPUTE_NAME_SIZE];
    char url[512];

    *out = (struct observed){ 0 };
    snprintf(url, sizeof url, GOOGLE_COMPUTE "%s", compute_name(desired, name));
    text_copy(out->resource, sizeof out->resource, url);
    if (!cloud_read(cloud, url, &reply, error)) {
        observed_set_state(out, "absent", "", "");
        return reply.status == 404;
    }
    compute_read(reply.body, google_machine_is_inside(desired->target), out);
    text_copy(out->resource, sizeof out->resource, url);
    out->ours = observed_is_of(out, desired);
    if (strcmp(json_get_text(reply.body, "status", ""), "RUNNING") == 0 && out->instance[0] != '\0')
        ask_machine(cloud, out);
    return true;
}

/* ---- Listing ---- */

static bool serves_models(const json_t *instance)
{
    return json_object_get(json_object_get(instance, "labels"), GOOGLE_INSTANCE) != NULL
           || json_array_size(json_object_get(instance, "guestAccelerators")) > 0
           || compute_has_accelerators(
               google_last_part(json_get_text(instance, "machineType", "")));
}

static void read_page(const json_t *page, const struct google_found *found)
{
    const json_t *instance;
    size_t i;

    json_array_foreach(json_object_get(page, "items"), i, instance)
        if (serves_models(instance))
            compute_read(instance, google_machine_is_inside(found->target),
                         observed_list_add(found->list, found->count));
}

bool compute_list(struct cloud *cloud, const struct fleet_target *target, struct observed **out,
                  size_t *count, json_t *warnings, struct error *error)
{
    static const struct google_collection instances[] = {
        { GOOGLE_COMPUTE, "zones", "instances?maxResults=100", "machines", read_page },
        { NULL },
    };

    return google_list_resources(cloud, target, instances, out, count, warnings, error);
}
