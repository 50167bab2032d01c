/* SPDX-License-Identifier: Apache-2.0 */
/* The body of an instance, and its scheduling: how it is bought, and when it ends. */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/json/json.h"
#include "fleet/providers/compute.h"
#include "fleet/recipes/recipe.h"

const char *compute_name(const struct desired *desired, char out[COMPUTE_NAME_SIZE])
{
    snprintf(out, COMPUTE_NAME_SIZE, "projects/%.63s/zones/%.63s/instances/%.63s",
             desired->target->project, desired->place, desired->deployment);
    return out;
}

void compute_region(const char *zone, char out[FLEET_PLACE_SIZE])
{
    const char *last = strrchr(zone, '-');

    snprintf(out, FLEET_PLACE_SIZE, "%.*s", last != NULL ? (int)(last - zone) : 0, zone);
}

/* ---- Scheduling ---- */

static const json_t *scheduling_of(const struct observed *now)
{
    return now != NULL ? json_object_get(now->fields, "scheduling") : NULL;
}

bool compute_is_flexible(const struct desired *desired, const struct observed *now)
{
    const char *model = json_get_text(scheduling_of(now), "provisioningModel", NULL);

    return model != NULL ? strcmp(model, "FLEX_START") == 0
                         : strcmp(desired->kind, "flex_start") == 0;
}

static const char *provisioning_model(const char *kind)
{
    static const char *const rows[][2] = { { "spot", "SPOT" }, { "flex_start", "FLEX_START" } };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (strcmp(kind, rows[i][0]) == 0)
            return rows[i][1];
    return "STANDARD";
}

static json_t *write_time(int64_t at_ms)
{
    time_t at_s = (time_t)(at_ms / 1000);
    struct tm utc;
    char text[32];

    gmtime_r(&at_s, &utc);
    strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc);
    return json_string(text);
}

/* For flex-start, the end is a maximum running time, which counts from when there is capacity.
 * Otherwise, it is a fixed point in time, so that a restart does not postpone it. */
static void set_end(const struct desired *desired, bool is_flexible, json_t *out)
{
    const char *model = json_get_text(out, "provisioningModel", "STANDARD");

    json_object_del(out, "maxRunDuration");
    json_object_del(out, "terminationTime");
    json_object_del(out, "instanceTerminationAction");
    if (desired->ends_ms > 0 && is_flexible)
        json_object_set_new(
            out, "maxRunDuration",
            json_pack(
                "{s:o}", "seconds",
                json_sprintf("%lld", (long long)((desired->ends_ms - desired->made_ms) / 1000))));
    else if (desired->ends_ms > 0)
        json_object_set_new(out, "terminationTime", write_time(desired->ends_ms));
    if (desired->ends_ms > 0 || strcmp(model, "STANDARD") != 0)
        json_object_set_new(out, "instanceTerminationAction",
                            json_string(desired->end_destroys ? "DELETE" : "STOP"));
    json_object_set_new(out, "automaticRestart",
                        json_boolean(desired->ends_ms == 0 && strcmp(model, "STANDARD") == 0));
}

json_t *compute_scheduling(const struct desired *desired, const struct observed *now)
{
    const json_t *before = scheduling_of(now);
    json_t *out = json_is_object(before) ? json_deep_copy(before)
                                         : json_pack("{s:s, s:s}", "provisioningModel",
                                                     provisioning_model(desired->kind),
                                                     "onHostMaintenance", "TERMINATE");

    set_end(desired, compute_is_flexible(desired, now), out);
    return out;
}

/* ---- The instance ---- */

static json_t *disk(const struct desired *desired)
{
    const struct recipe *recipe = desired->recipe;

    return json_pack("{s:b, s:b, s:{s:o, s:o, s:o}}", "boot", 1, "autoDelete", 1,
                     "initializeParams", "sourceImage",
                     json_sprintf("projects/%s/global/images/family/%s",
                                  recipe_text(recipe, "compute_engine.image_project", ""),
                                  recipe_text(recipe, "compute_engine.image_family", "")),
                     "diskSizeGb",
                     json_sprintf("%lld", (long long)recipe_integer(recipe, "disk_gb", 200)),
                     "diskType",
                     json_sprintf("zones/%s/diskTypes/%s", desired->place,
                                  recipe_text(recipe, "compute_engine.disk_type", "pd-balanced")));
}

/* Unless the target's door (how servers are reached) is internal, the interface has an external
 * address, whose ports the firewall protects. */
static json_t *interface(const struct desired *desired)
{
    const struct fleet_target *target = desired->target;
    json_t *out = json_pack("{s:o, s:s}", "network", google_network(target), "nicType", "GVNIC");
    char region[FLEET_PLACE_SIZE];

    compute_region(desired->place, region);
    if (target->subnetwork[0] != '\0')
        json_object_set_new(
            out, "subnetwork",
            strchr(target->subnetwork, '/') != NULL
                ? json_string(target->subnetwork)
                : json_sprintf("regions/%s/subnetworks/%s", region, target->subnetwork));
    if (!google_machine_is_inside(target))
        json_object_set_new(
            out, "accessConfigs",
            json_pack("[{s:s, s:s}]", "type", "ONE_TO_ONE_NAT", "name", "External NAT"));
    return out;
}

static void add_item(json_t *items, const char *key, const char *value)
{
    json_array_append_new(items, json_pack("{s:s, s:s}", "key", key, "value", value));
}

static json_t *metadata(const struct desired *desired, const struct google_machine *machine)
{
    json_t *items = json_array();
    TEXT_AUTO script = { 0 };

    google_machine_script(desired, machine, &script);
    add_item(items, "startup-script", text_string(&script));
    add_item(items, "enable-guest-attributes", "TRUE");
    add_item(items, "block-project-ssh-keys", "TRUE");
    if (strncmp(desired->recipe->hardware, "nvidia-", 7) == 0)
        add_item(items, "install-nvidia-driver", "True");
    return json_pack("{s:o}", "items", items);
}

static void add_capacity(const struct desired *desired, json_t *out)
{
    const char *reservation = desired->target->reservation;
    int64_t wait_s = recipe_integer(desired->recipe, "compute_engine.wait_s", 0);
    json_t *affinity = NULL;

    if (strcmp(desired->kind, "reserved") == 0 && reservation[0] != '\0')
        affinity =
            json_pack("{s:s, s:s, s:[s]}", "consumeReservationType", "SPECIFIC_RESERVATION", "key",
                      "compute.googleapis.com/reservation-name", "values", reservation);
    else
        affinity = json_pack("{s:s}", "consumeReservationType",
                             strcmp(desired->kind, "reserved") == 0 ? "ANY_RESERVATION"
                                                                    : "NO_RESERVATION");
    json_object_set_new(out, "reservationAffinity", affinity);
    if (strcmp(desired->kind, "flex_start") == 0 && wait_s > 0)
        json_object_set_new(out, "params",
                            json_pack("{s:{s:o}}", "requestValidForDuration", "seconds",
                                      json_sprintf("%lld", (long long)wait_s)));
}

json_t *compute_instance(const struct desired *desired, const struct google_machine *machine)
{
    const struct recipe *recipe = desired->recipe;
    json_t *out = json_pack(
        "{s:s, s:s, s:o, s:o, s:{s:[s]}, s:[o], s:[o], s:o, s:[{s:s, s:[s]}], s:o, s:{s:b, s:b}}",
        "name", desired->deployment, "description", recipe->title, "labels",
        google_machine_labels(desired), "machineType",
        json_sprintf("zones/%s/machineTypes/%s", desired->place,
                     recipe_text(recipe, "host.machine", "")),
        "tags", "items", machine->tag, "disks", disk(desired), "networkInterfaces",
        interface(desired), "scheduling", compute_scheduling(desired, NULL), "serviceAccounts",
        "email", desired->target->service_account, "scopes", GOOGLE_SCOPE, "metadata",
        metadata(desired, machine), "shieldedInstanceConfig", "enableVtpm", 1,
        "enableIntegrityMonitoring", 1);

    add_capacity(desired, out);
    return out;
}
