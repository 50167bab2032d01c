/* SPDX-License-Identifier: Apache-2.0 */
/* What a target on Compute Engine has of quotas for accelerators, by region. */
#include <stdio.h>
#include <string.h>

#include "base/json/json.h"
#include "fleet/providers/compute.h"

#define QUOTAS "https://cloudquotas.googleapis.com/v1/"

struct sum {
    struct text list; /* "NVIDIA_L4_GPUS 8 (2 used)" */
    bool has_any;
};

static void add_quota(struct sum *sum, const char *name, int64_t limit, int64_t used)
{
    text_addf(&sum->list, "%s%.60s ", sum->list.length > 0 ? ", " : "", name);
    if (limit < 0)
        text_add(&sum->list, "without a limit");
    else
        text_addf(&sum->list, "%lld", (long long)limit);
    if (used > 0)
        text_addf(&sum->list, " (%lld used)", (long long)used);
    sum->has_any = sum->has_any || limit < 0 || limit > used;
}

/* ---- GPUs: quotas of the region ---- */

static bool is_of_gpus(const char *metric)
{
    size_t length = strlen(metric);

    return strstr(metric, "NVIDIA_") != NULL && strncmp(metric, "COMMITTED_", 10) != 0 && length > 5
           && strcmp(metric + length - 5, "_GPUS") == 0 && strstr(metric, "_VWS_") == NULL;
}

static void ask_gpus(struct cloud *cloud, const char *project, const char *region, struct sum *sum)
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

        if (is_of_gpus(metric) && limit > 0 && limit < 1e9)
            add_quota(sum, metric, (int64_t)limit,
                      (int64_t)json_number_value(json_object_get(quota, "usage")));
    }
}

/* ---- TPUs: Cloud Quotas ---- */

/* An entry without dimensions is for all of its places. */
static bool is_for(const json_t *entry, const char *region)
{
    const char *its = json_get_text(json_object_get(entry, "dimensions"), "region", NULL);
    const json_t *place;
    size_t i;

    if (its != NULL)
        return strcmp(its, region) == 0;
    json_array_foreach(json_object_get(entry, "applicableLocations"), i, place)
        if (json_is_string(place) && strcmp(json_string_value(place), region) == 0)
            return true;
    return false;
}

static void ask_tpus(struct cloud *cloud, const char *project, const char *region,
                     const char *quota, struct sum *sum)
{
    CLOUD_REPLY_AUTO reply = { 0 };
    struct error ignored;
    const json_t *entry;
    char url[512];
    size_t i;

    snprintf(url, sizeof url,
             QUOTAS "projects/%.63s/locations/global/services/compute.googleapis.com/quotaInfos/%s",
             project, quota);
    if (!cloud_read(cloud, url, &reply, &ignored))
        return;
    json_array_foreach(json_object_get(reply.body, "dimensionsInfos"), i, entry) {
        const char *family = json_get_text(json_object_get(entry, "dimensions"), "tpu_family", "");
        const json_t *details = json_object_get(entry, "details");
        bool is_unlimited = strcmp(json_get_text(details, "value", ""), "-1") == 0;
        int64_t limit = is_unlimited ? -1 : google_integer(details, "value");
        char name[96];

        snprintf(name, sizeof name, "%.40s%s%.20s", quota, family[0] != '\0' ? " " : "", family);
        if (limit != 0 && is_for(entry, region))
            add_quota(sum, name, limit, 0);
    }
}

/* ---- Both ---- */

static void check_region(struct cloud *cloud, const char *project, const char *region,
                         json_t *findings)
{
    static const char *const tpus[] = { "TPUS-PER-TPU-FAMILY-per-project-region",
                                        "PREEMPTIBLE-TPU-V6E-per-project-region" };
    struct sum sum = { 0 };
    TEXT_AUTO need = { 0 };

    ask_gpus(cloud, project, region, &sum);
    for (size_t i = 0; i < sizeof tpus / sizeof tpus[0]; i++)
        ask_tpus(cloud, project, region, tpus[i], &sum);
    text_addf(&need, "a quota of accelerators in %s%s%.300s", region,
              sum.list.length > 0 ? ": " : "", text_string(&sum.list));
    google_add_finding(findings, text_string(&need), sum.has_any,
                       json_sprintf("ask for NVIDIA_L4_GPUS or TPUS-PER-TPU-FAMILY in %s: "
                                    "https://console.cloud.google.com/iam-admin/quotas?project=%s",
                                    region, project));
    text_finish(&sum.list);
}

/* Zones of one region share its quotas. */
void compute_check_quotas(struct cloud *cloud, const struct fleet_target *target, json_t *findings)
{
    char before[FLEET_PLACE_SIZE] = "", region[FLEET_PLACE_SIZE];

    for (size_t i = 0; i < target->place_count; i++) {
        compute_region(target->places[i], region);
        if (strcmp(region, before) != 0)
            check_region(cloud, target->project, region, findings);
        text_copy(before, sizeof before, region);
    }
}
