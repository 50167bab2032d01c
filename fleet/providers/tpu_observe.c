/* SPDX-License-Identifier: Apache-2.0 */
/* Observes one deployment, or lists all queued resources and TPUs in the target's zones. */
#include <stdio.h>
#include <string.h>

#include "base/json/json.h"
#include "fleet/providers/tpu.h"

/* Returns true if a queued resource has, or is about to get, a machine that is not
 * being deleted. */
static bool may_have_node(const struct observed *observed)
{
    return strcmp(observed->state, "starting") == 0;
}

/* ---- One deployment ---- */

/* Reads the guest attributes that the machine's script sets. A failure is ignored: the attributes
 * do not exist before the script runs, and opsbrain's account might not be allowed to read them. */
static void read_guest_attributes(struct cloud *cloud, const char *url, struct observed *out)
{
    json_auto_t *body = json_pack("{s:s, s:[s]}", "queryPath", GOOGLE_ATTRIBUTES, "workerIds", "0");
    CLOUD_REPLY_AUTO reply = { 0 };
    struct error ignored;
    char method_url[600];

    snprintf(method_url, sizeof method_url, "%s:getGuestAttributes", url);
    if (cloud_call(cloud, "POST", method_url, NULL, body, &reply, &ignored))
        tpu_read_attributes(reply.body, out);
}

/* Reads the node `name`. Also returns true if it does not exist. */
static CHECKED bool read_node(struct cloud *cloud, const struct desired *desired, const char *name,
                              struct observed *out, struct error *error)
{
    CLOUD_REPLY_AUTO reply = { 0 };
    char full_name[TPU_NAME_SIZE], url[512];

    snprintf(url, sizeof url, TPU "%s", tpu_name(desired, "nodes", name, full_name));
    if (!cloud_read(cloud, url, &reply, error))
        return reply.status == 404;
    tpu_read_node(reply.body, google_machine_is_inside(desired->target), out);
    if (out->instance[0] != '\0' && strcmp(json_get_text(reply.body, "state", ""), "READY") == 0)
        read_guest_attributes(cloud, url, out);
    return true;
}

static CHECKED bool read_queued(struct cloud *cloud, const struct desired *desired,
                                struct observed *out, struct error *error)
{
    CLOUD_REPLY_AUTO reply = { 0 };
    char name[TPU_NAME_SIZE], node[64];

    snprintf(out->resource, sizeof out->resource, TPU "%s",
             tpu_name(desired, "queuedResources", desired->deployment, name));
    if (!cloud_read(cloud, out->resource, &reply, error)) {
        if (reply.status != 404)
            return false;
        observed_set_state(out, "absent", "", "");
        return read_node(cloud, desired, desired->deployment, out, error);
    }
    tpu_read_queued(reply.body, out);
    text_copy(node, sizeof node, tpu_node_of(out));
    return !may_have_node(out)
           || node[strspn(node, "abcdefghijklmnopqrstuvwxyz0123456789-")] != '\0'
           || read_node(cloud, desired, node, out, error);
}

bool tpu_observe(struct cloud *cloud, const struct desired *desired, struct observed *out,
                 struct error *error)
{
    *out = (struct observed){ 0 };
    if (!read_queued(cloud, desired, out, error)) {
        observed_finish(out);
        return false;
    }
    out->ours = out->exists && observed_is_of(out, desired);
    return true;
}

/* ---- Listing ---- */

static void read_queued_page(const json_t *page, const struct google_found *found)
{
    const json_t *queued;
    size_t i;

    json_array_foreach(json_object_get(page, "queuedResources"), i, queued)
        tpu_read_queued(queued, observed_list_add(found->list, found->count));
}

/* Returns the entry of the queued resource that requested the node, or adds one if none did. */
static struct observed *entry_of(const struct google_found *found, const json_t *node)
{
    struct observed one = { 0 };
    struct observed *entry = NULL;

    tpu_read_node(node, google_machine_is_inside(found->target), &one);
    for (size_t i = 0; i < *found->count && entry == NULL; i++) {
        struct observed *queued = &(*found->list)[i];

        if (strcmp(tpu_node_of(queued), one.name) == 0 && strcmp(queued->place, one.place) == 0)
            entry = queued;
    }
    observed_finish(&one);
    return entry != NULL ? entry : observed_list_add(found->list, found->count);
}

static void read_node_page(const json_t *page, const struct google_found *found)
{
    const json_t *node;
    size_t i;

    json_array_foreach(json_object_get(page, "nodes"), i, node) {
        struct observed *entry = entry_of(found, node);

        if (!entry->exists || may_have_node(entry))
            tpu_read_node(node, google_machine_is_inside(found->target), entry);
    }
}

bool tpu_list(struct cloud *cloud, const struct fleet_target *target, struct observed **out,
              size_t *count, json_t *warnings, struct error *error)
{
    static const struct google_collection collections[] = {
        { TPU, "locations", "queuedResources?pageSize=100", "queued resources", read_queued_page },
        { TPU, "locations", "nodes?pageSize=100", "TPUs", read_node_page },
        { NULL },
    };

    return google_list_resources(cloud, target, collections, out, count, warnings, error);
}
