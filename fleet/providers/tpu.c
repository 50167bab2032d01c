/* SPDX-License-Identifier: Apache-2.0 */
/* The provider for Google's Cloud TPU: its row in the table of providers, and what a target
 * needs. */
#include <stdio.h>
#include <string.h>

#include "fleet/providers/tpu.h"

#define TITLE "Cloud TPU"

static CHECKED bool check_target(const struct fleet_target *target, struct error *error)
{
    return google_machine_check_target(target, TITLE, error);
}

static CHECKED bool check(struct cloud *cloud, const struct fleet_target *target, json_t *findings,
                          struct error *error)
{
    /* The permissions on nodes also cover queued resources. */
    static const char *const permissions[] = {
        "tpu.nodes.create", "tpu.nodes.delete",   "tpu.nodes.get",
        "tpu.nodes.list",   "tpu.nodes.start",    "tpu.nodes.stop",
        "tpu.nodes.update", "tpu.operations.get", NULL,
    };
    static const char *const services[] = { "tpu.googleapis.com", NULL };
    /* The TPU API's quotas for a zone; Compute Engine has its own. */
    static const char *const quotas[] = { "TPUV6EPerProjectPerZoneForTPUAPI",
                                          "TPUV6EPreemptiblePerProjectPerZoneForTPUAPI",
                                          "TPUV5sLitepodPerProjectPerZoneForTPUAPI",
                                          "TPUV5sPreemptibleLitepodPerProjectPerZoneForTPUAPI",
                                          NULL };

    if (!google_check_permissions(cloud, target, permissions, findings, error)
        || !google_machine_check_needs(cloud, target, findings, error))
        return false;
    google_check_services(cloud, target, services, findings);
    google_check_quotas(cloud, target, services[0], quotas, findings);
    return true;
}

/* Only a flex-start machine ends without opsbrain. For other kinds, the platform cannot end a
 * queued resource at a set time, and the rights of an account that would do it cannot be limited to
 * that one resource. */
static const char *describe_guard(const struct desired *desired)
{
    if (desired->ends_ms == 0 || !tpu_is_flex_start(desired))
        return NULL;
    return "flex-start: Cloud TPU itself deletes the machine at the end of its life";
}

static CHECKED bool key(struct cloud *cloud, const struct observed *observed,
                        char out[SECRET_VALUE_SIZE], struct error *error)
{
    static const char start[] = TPU "projects/";
    const char *project = observed->resource + strlen(start);
    char name[TPU_NAME_SIZE];

    if (strncmp(observed->resource, start, strlen(start)) != 0)
        return error_set(error, ERROR_INVALID, "%s is not a " TITLE " resource",
                         observed->resource);
    snprintf(name, sizeof name, "projects/%.*s/locations/%.63s/nodes/%.63s",
             (int)strcspn(project, "/"), project, observed->place, observed->name);
    return google_machine_key(cloud, name, observed, out, error);
}

extern const struct provider provider_cloud_tpu;
const struct provider provider_cloud_tpu = {
    .name = "cloud_tpu",
    .title = TITLE,
    .verbs = GOOGLE_MACHINE_VERBS,
    .lacks = GOOGLE_MACHINE_LACKS,
    .lock = GOOGLE_MACHINE_LOCK,
    .check_target = check_target,
    .steps = tpu_steps,
    .outcome = tpu_outcome,
    .labelled = tpu_labelled,
    .observe = tpu_observe,
    .list = tpu_list,
    .check = check,
    .lint = tpu_lint,
    .command = tpu_command,
    .describe_guard = describe_guard,
    .key = key,
    .key_lasts_ms = GOOGLE_MACHINE_KEY_LASTS_MS,
};
