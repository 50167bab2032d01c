/* SPDX-License-Identifier: Apache-2.0 */
/* The accelerator quotas of a target on Compute Engine, by region. */
#include <stdio.h>
#include <string.h>

#include "base/json/json.h"
#include "fleet/providers/compute.h"

static bool is_gpu_quota(const char *metric)
{
    size_t length = strlen(metric);

    return strstr(metric, "NVIDIA_") != NULL && strncmp(metric, "COMMITTED_", 10) != 0 && length > 5
           && strcmp(metric + length - 5, "_GPUS") == 0 && strstr(metric, "_VWS_") == NULL;
}

/* Reads the GPU quotas, which are part of the region's resource. */
static void read_gpus(struct cloud *cloud, const char *project, const char *region,
                      struct google_quotas *quotas)
{
    CLOUD_REPLY_AUTO reply = { 0 };
    struct error ignored;
    const json_t *quota;
    char url[512];
    size_t i;

    snprintf(url, sizeof url, GOOGLE_COMPUTE "projects/%.63s/regions/%.63s?fields=quotas", project,
             region);
    if (!cloud_read(cloud, url, &reply, &ignored))
        return;
    json_array_foreach(json_object_get(reply.body, "quotas"), i, quota) {
        const char *metric = json_get_text(quota, "metric", "");
        double limit = json_number_value(json_object_get(quota, "limit"));

        if (is_gpu_quota(metric) && limit > 0 && limit < 1e9)
            google_quotas_add(quotas, metric, (int64_t)limit,
                              (int64_t)json_number_value(json_object_get(quota, "usage")));
    }
}

static void check_region(struct cloud *cloud, const struct fleet_target *target, const char *region,
                         json_t *findings)
{
    static const char *const tpu_quotas[] = { "TPUS-PER-TPU-FAMILY-per-project-region",
                                              "PREEMPTIBLE-TPU-V6E-per-project-region" };
    struct google_quotas quotas = { 0 };

    read_gpus(cloud, target->project, region, &quotas);
    for (size_t i = 0; i < sizeof tpu_quotas / sizeof tpu_quotas[0]; i++)
        google_quotas_read(cloud, target->project, "compute.googleapis.com", tpu_quotas[i], region,
                           &quotas);
    google_quotas_finish(&quotas, target, region, findings);
}

static bool is_earlier_region(const struct fleet_target *target, size_t before, const char *region)
{
    char other[FLEET_PLACE_SIZE];

    for (size_t i = 0; i < before; i++) {
        compute_region(target->places[i], other);
        if (strcmp(other, region) == 0)
            return true;
    }
    return false;
}

/* The zones of a region share its quotas, so each region is checked only once. */
void compute_check_quotas(struct cloud *cloud, const struct fleet_target *target, json_t *findings)
{
    char region[FLEET_PLACE_SIZE];

    for (size_t i = 0; i < target->place_count; i++) {
        compute_region(target->places[i], region);
        if (!is_earlier_region(target, i, region))
            check_region(cloud, target, region, findings);
    }
}
