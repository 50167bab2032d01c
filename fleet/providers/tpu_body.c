/* SPDX-License-Identifier: Apache-2.0 */
/* Makes the body of the request for a queued resource. */
#include <stdio.h>
#include <string.h>

#include "fleet/providers/tpu.h"
#include "fleet/recipes/recipe.h"

#define WAIT_S 7200 /* how long to wait for capacity if the recipe does not say */

const char *tpu_name(const struct desired *desired, const char *collection, const char *name,
                     char out[TPU_NAME_SIZE])
{
    snprintf(out, TPU_NAME_SIZE, "projects/%.63s/locations/%.63s/%.24s/%.63s",
             desired->target->project, desired->place, collection, name);
    return out;
}

bool tpu_is_flex_start(const struct desired *desired)
{
    return strcmp(desired->kind, "flex_start") == 0;
}

static int64_t life_s(const struct desired *desired)
{
    return (desired->ends_ms - desired->made_ms) / 1000;
}

/* Returns how long to wait for capacity, at most until the deployment's end. */
static int64_t wait_s(const struct desired *desired)
{
    int64_t limit_s = recipe_integer(desired->recipe, "cloud_tpu.wait_s", WAIT_S);

    return desired->ends_ms > 0 && limit_s > life_s(desired) ? life_s(desired) : limit_s;
}

static json_t *seconds(int64_t value)
{
    return json_sprintf("%llds", (long long)value);
}

/* ---- The machine ---- */

static json_t *network(const struct fleet_target *target)
{
    json_t *out = json_pack("{s:b}", "enableExternalIps", !google_machine_is_inside(target));

    if (target->network[0] != '\0')
        json_object_set_new(out, "network", json_string(target->network));
    if (target->subnetwork[0] != '\0')
        json_object_set_new(out, "subnetwork", json_string(target->subnetwork));
    return out;
}

static json_t *metadata(const struct desired *desired, const struct google_machine *machine)
{
    TEXT_AUTO script = { 0 };

    google_machine_script(desired, machine, &script);
    return json_pack("{s:s, s:s, s:s, s:s}", "startup-script", text_string(&script),
                     "enable-guest-attributes", "TRUE", "block-project-ssh-keys", "TRUE", TPU_IMAGE,
                     desired->recipe->image);
}

static void add_kind_to_node(const struct desired *desired, json_t *node)
{
    int64_t disk_gb = recipe_integer(desired->recipe, "disk_gb", 0);

    /* only the API version that has flex-start has this member */
    if (tpu_is_flex_start(desired) && disk_gb > 0)
        json_object_set_new(
            node, "bootDiskConfig",
            json_pack("{s:o}", "diskSizeGb", json_sprintf("%lld", (long long)disk_gb)));
    if (strcmp(desired->kind, "reserved") == 0)
        json_object_set_new(node, "schedulingConfig", json_pack("{s:b}", "reserved", 1));
}

static json_t *make_node(const struct desired *desired, const struct google_machine *machine)
{
    const struct recipe *recipe = desired->recipe;
    json_t *out = json_pack(
        "{s:s, s:s, s:s, s:o, s:{s:s, s:[s]}, s:[s], s:o, s:o}", "description", recipe->title,
        "acceleratorType", recipe_text(recipe, "cloud_tpu.accelerator_type", ""), "runtimeVersion",
        recipe_text(recipe, "cloud_tpu.runtime_version", ""), "networkConfig",
        network(desired->target), "serviceAccount", "email", desired->target->service_account,
        "scope", GOOGLE_SCOPE, "tags", machine->tag, "labels", google_machine_labels(desired),
        "metadata", metadata(desired, machine));

    add_kind_to_node(desired, out);
    return out;
}

/* ---- The queued resource ---- */

static void add_kind_to_queued(const struct desired *desired, json_t *queued)
{
    const char *reservation = desired->target->reservation;
    char name[TPU_NAME_SIZE];

    if (strcmp(desired->kind, "spot") == 0)
        json_object_set_new(queued, "spot", json_object());
    if (strcmp(desired->kind, "reserved") == 0) {
        json_object_set_new(queued, "guaranteed", json_object());
        if (reservation[0] != '\0')
            json_object_set_new(queued, "reservationName",
                                json_string(tpu_name(desired, "reservations", reservation, name)));
    }
    if (tpu_is_flex_start(desired)) {
        json_object_set_new(queued, "provisioningModel", json_string("FLEX_START"));
        json_object_set_new(queued, "runDuration",
                            json_pack("{s:o}", "maxRunDuration", seconds(life_s(desired))));
    }
}

json_t *tpu_queued_resource(const struct desired *desired, const struct google_machine *machine)
{
    TEXT_AUTO parent = { 0 };
    json_t *out;

    text_addf(&parent, "projects/%s/locations/%s", desired->target->project, desired->place);
    out = json_pack("{s:{s:o}, s:{s:[{s:s, s:s, s:o}]}}", "queueingPolicy", "validUntilDuration",
                    seconds(wait_s(desired)), "tpu", "nodeSpec", "parent", text_string(&parent),
                    "nodeId", desired->deployment, "node", make_node(desired, machine));
    add_kind_to_queued(desired, out);
    return out;
}
