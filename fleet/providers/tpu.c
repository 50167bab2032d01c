/* SPDX-License-Identifier: Apache-2.0 */
/* Google's Cloud TPU: the row of the table, and what a target needs. */
#include <stdio.h>
#include <string.h>

#include "base/json/json.h"
#include "fleet/providers/tpu.h"

#define TITLE "Cloud TPU"

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
    if (target->door[0] != '\0' && strcmp(target->door, "external") != 0 && !tpu_is_inside(target))
        return error_set(error, ERROR_INVALID,
                         "on " TITLE " \"door\" is external (an address that the firewall guards) "
                         "or internal (the network's own)");
    return google_check_target(target, TITLE, zones, error)
           && google_machine_check_target(target, TITLE, error);
}

/* ---- What a target has ---- */

/* Those of the TPU API, in a zone; Compute Engine's are others. */
static void check_quotas(struct cloud *cloud, const struct fleet_target *target, json_t *findings)
{
    static const char *const names[] = { "TPUV6EPerProjectPerZoneForTPUAPI",
                                         "TPUV6EPreemptiblePerProjectPerZoneForTPUAPI",
                                         "TPUV5sLitepodPerProjectPerZoneForTPUAPI",
                                         "TPUV5sPreemptibleLitepodPerProjectPerZoneForTPUAPI" };

    for (size_t i = 0; i < target->place_count; i++) {
        struct google_quotas quotas = { 0 };

        for (size_t k = 0; k < sizeof names / sizeof names[0]; k++)
            google_quotas_read(cloud, target->project, "tpu.googleapis.com", names[k],
                               target->places[i], &quotas);
        google_quotas_finish(&quotas, target, target->places[i], findings);
    }
}

static CHECKED bool check(struct cloud *cloud, const struct fleet_target *target, json_t *findings,
                          struct error *error)
{
    /* Those of nodes are also those of queued resources. */
    static const char *const permissions[] = {
        "tpu.nodes.create",
        "tpu.nodes.delete",
        "tpu.nodes.get",
        "tpu.nodes.list",
        "tpu.nodes.start",
        "tpu.nodes.stop",
        "tpu.nodes.update",
        "tpu.operations.get",
        "compute.firewalls.create",
        "compute.firewalls.delete",
        "compute.firewalls.get",
        "compute.globalOperations.get",
        "compute.networks.updatePolicy",
        "iam.serviceAccounts.actAs",
        "secretmanager.secrets.create",
        "secretmanager.secrets.delete",
        "secretmanager.secrets.get",
        "secretmanager.secrets.setIamPolicy",
        "secretmanager.versions.access",
        NULL,
    };
    static const char *const services[] = { "tpu.googleapis.com", "compute.googleapis.com",
                                            "secretmanager.googleapis.com", NULL };

    if (!google_check_permissions(cloud, target, permissions, findings, error))
        return false;
    google_check_services(cloud, target, services, findings);
    google_check_things(cloud, target, true, findings);
    check_quotas(cloud, target, findings);
    return true;
}

/* ---- The row ---- */

/* Only flex-start has a time: nothing else of the platform's ends a queued resource, and it has no
 * rights for a single one that an account for its end could be given. */
static const char *ends_by(const struct desired *desired)
{
    if (desired->ends_ms == 0 || !tpu_is_flex_start(desired))
        return NULL;
    return "flex-start: Cloud TPU itself deletes the machine when it has had it for its life";
}

/* What the machine wrote into its secret. */
static CHECKED bool key(struct cloud *cloud, const struct observed *observed,
                        char out[SECRET_VALUE_SIZE], struct error *error)
{
    char project[64], name[TPU_NAME_SIZE];

    if (strncmp(observed->resource, TPU "projects/", strlen(TPU "projects/")) != 0)
        return error_set(error, ERROR_INVALID, "this is no resource of Cloud TPU");
    snprintf(project, sizeof project, "%.*s",
             (int)strcspn(observed->resource + strlen(TPU "projects/"), "/"),
             observed->resource + strlen(TPU "projects/"));
    snprintf(name, sizeof name, "projects/%s/locations/%.63s/nodes/%.63s", project, observed->place,
             observed->name);
    return google_machine_key(cloud, project, name, observed, out, error);
}

extern const struct provider provider_cloud_tpu;
const struct provider provider_cloud_tpu = {
    .name = "cloud_tpu",
    .title = TITLE,
    .verbs = VERB_BIT(VERB_CREATE) | VERB_BIT(VERB_START) | VERB_BIT(VERB_STOP)
             | VERB_BIT(VERB_EXTEND) | VERB_BIT(VERB_DESTROY),
    .lacks = { [VERB_UPDATE] = "a machine is made of one recipe: deploy the other beside it, and "
                               "destroy this one when that is ready",
               [VERB_SCALE] = "a queued resource is one machine: deploy another beside it" },
    .lock = "the engine asks for a key that the machine makes and keeps in Secret Manager, and a "
            "firewall lets only the target's source ranges come to its port",
    .check_target = check_target,
    .steps = tpu_steps,
    .outcome = tpu_outcome,
    .labelled = tpu_labelled,
    .observe = tpu_observe,
    .list = tpu_list,
    .check = check,
    .lint = tpu_lint,
    .command = tpu_command,
    .ends_by = ends_by,
    .key = key,
    .key_lasts_ms = 60000,
};
