/* SPDX-License-Identifier: Apache-2.0 */
/* Google's Compute Engine: the row of the table, and what a target needs. */
#include <stdio.h>
#include <string.h>

#include "fleet/providers/compute.h"

static bool is_zone(const char *place)
{
    size_t length = strlen(place);

    return length > 4 && place[length - 2] == '-' && place[length - 1] >= 'a';
}

static CHECKED bool check_target(const struct fleet_target *target, struct error *error)
{
    static const char zones[] = "a zone is like europe-west4-a";

    for (size_t i = 0; i < target->place_count; i++)
        if (!is_zone(target->places[i]))
            return error_set(error, ERROR_INVALID, "%s", zones);
    if (target->door[0] != '\0' && strcmp(target->door, "external") != 0
        && strcmp(target->door, "internal") != 0)
        return error_set(error, ERROR_INVALID,
                         "on Compute Engine \"door\" is external (an address that the firewall "
                         "guards) or internal (the network's own)");
    return google_check_target(target, "Compute Engine", zones, error)
           && google_machine_check_target(target, "Compute Engine", error);
}

static CHECKED bool check(struct cloud *cloud, const struct fleet_target *target, json_t *findings,
                          struct error *error)
{
    static const char *const permissions[] = {
        "compute.disks.create",
        "compute.firewalls.create",
        "compute.firewalls.delete",
        "compute.firewalls.get",
        "compute.globalOperations.get",
        "compute.instances.create",
        "compute.instances.delete",
        "compute.instances.get",
        "compute.instances.getGuestAttributes",
        "compute.instances.getSerialPortOutput",
        "compute.instances.list",
        "compute.instances.setLabels",
        "compute.instances.setMetadata",
        "compute.instances.setScheduling",
        "compute.instances.setServiceAccount",
        "compute.instances.setTags",
        "compute.instances.start",
        "compute.instances.stop",
        "compute.networks.updatePolicy",
        "compute.subnetworks.use",
        "compute.subnetworks.useExternalIp",
        "compute.zoneOperations.get",
        "iam.serviceAccounts.actAs",
        "secretmanager.secrets.create",
        "secretmanager.secrets.delete",
        "secretmanager.secrets.get",
        "secretmanager.secrets.setIamPolicy",
        "secretmanager.versions.access",
        NULL,
    };
    static const char *const services[] = { "compute.googleapis.com",
                                            "secretmanager.googleapis.com", NULL };

    if (!google_check_permissions(cloud, target, permissions, findings, error))
        return false;
    google_check_services(cloud, target, services, findings);
    google_check_things(cloud, target, true, findings);
    compute_check_quotas(cloud, target, findings);
    return true;
}

static const char *ends_by(const struct desired *desired)
{
    if (desired->ends_ms == 0)
        return NULL;
    return desired->end_destroys ? "Compute Engine itself deletes the machine at its end"
                                 : "Compute Engine itself stops the machine at its end";
}

/* What the machine wrote into its secret. */
static CHECKED bool key(struct cloud *cloud, const struct observed *observed,
                        char out[SECRET_VALUE_SIZE], struct error *error)
{
    const char *name = observed->resource;
    char project[64];

    if (strncmp(name, GOOGLE_COMPUTE "projects/", strlen(GOOGLE_COMPUTE "projects/")) != 0)
        return error_set(error, ERROR_INVALID, "this is no machine of Compute Engine");
    name += strlen(GOOGLE_COMPUTE);
    snprintf(project, sizeof project, "%.*s", (int)strcspn(name + 9, "/"), name + 9);
    return google_machine_key(cloud, project, name, observed, out, error);
}

extern const struct provider provider_compute_engine;
const struct provider provider_compute_engine = {
    .name = "compute_engine",
    .title = "Compute Engine",
    .verbs = VERB_BIT(VERB_CREATE) | VERB_BIT(VERB_START) | VERB_BIT(VERB_STOP)
             | VERB_BIT(VERB_EXTEND) | VERB_BIT(VERB_DESTROY),
    .lacks = { [VERB_UPDATE] = "a machine is made of one recipe: deploy the other beside it, and "
                               "destroy this one when that is ready",
               [VERB_SCALE] = "a deployment is one machine: deploy another beside it" },
    .lock = "the engine asks for a key that the machine makes and keeps in Secret Manager, and a "
            "firewall lets only the target's source ranges come to its port",
    .check_target = check_target,
    .steps = compute_steps,
    .outcome = compute_outcome,
    .observe = compute_observe,
    .list = compute_list,
    .check = check,
    .lint = compute_lint,
    .command = compute_command,
    .ends_by = ends_by,
    .key = key,
    .key_lasts_ms = 60000,
};
