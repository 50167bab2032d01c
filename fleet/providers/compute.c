/* SPDX-License-Identifier: Apache-2.0 */
/* Google's Compute Engine: its row in the table of providers, and its requirements for a target. */
#include <string.h>

#include "fleet/providers/compute.h"

#define TITLE "Compute Engine"

static CHECKED bool check_target(const struct fleet_target *target, struct error *error)
{
    return google_machine_check_target(target, TITLE, error);
}

static CHECKED bool check(struct cloud *cloud, const struct fleet_target *target, json_t *findings,
                          struct error *error)
{
    static const char *const permissions[] = {
        "compute.disks.create",
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
        "compute.subnetworks.use",
        "compute.subnetworks.useExternalIp",
        "compute.zoneOperations.get",
        NULL,
    };

    if (!google_check_permissions(cloud, target, permissions, findings, error)
        || !google_machine_check_needs(cloud, target, findings, error))
        return false;
    compute_check_quotas(cloud, target, findings);
    return true;
}

static const char *describe_guard(const struct desired *desired)
{
    if (desired->ends_ms == 0)
        return NULL;
    return desired->end_destroys ? TITLE " itself deletes the machine at the end of its life"
                                 : TITLE " itself stops the machine at the planned end";
}

static CHECKED bool key(struct cloud *cloud, const struct observed *observed,
                        char out[SECRET_VALUE_SIZE], struct error *error)
{
    static const char start[] = GOOGLE_COMPUTE "projects/";

    if (strncmp(observed->resource, start, strlen(start)) != 0)
        return error_set(error, ERROR_INVALID, "%s is not a " TITLE " machine", observed->resource);
    return google_machine_key(cloud, observed->resource + strlen(GOOGLE_COMPUTE), observed, out,
                              error);
}

extern const struct provider provider_compute_engine;
const struct provider provider_compute_engine = {
    .name = "compute_engine",
    .title = TITLE,
    .verbs = GOOGLE_MACHINE_VERBS,
    .lacks = GOOGLE_MACHINE_LACKS,
    .lock = GOOGLE_MACHINE_LOCK,
    .check_target = check_target,
    .steps = compute_steps,
    .outcome = compute_outcome,
    .observe = compute_observe,
    .list = compute_list,
    .check = check,
    .lint = compute_lint,
    .command = compute_command,
    .describe_guard = describe_guard,
    .key = key,
    .key_lasts_ms = GOOGLE_MACHINE_KEY_LASTS_MS,
};
