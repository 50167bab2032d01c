/* SPDX-License-Identifier: Apache-2.0 */
/* What a target has of the quotas of chips, which are those of the TPU API in a zone. Compute
 * Engine's are others. */
#include <stdio.h>
#include <string.h>

#include "base/json/json.h"
#include "fleet/providers/tpu.h"

#define QUOTAS "https://cloudquotas.googleapis.com/v1/"

static const char *const quotas[] = {
    "TPUV6EPerProjectPerZoneForTPUAPI",
    "TPUV6EPreemptiblePerProjectPerZoneForTPUAPI",
    "TPUV5sLitepodPerProjectPerZoneForTPUAPI",
    "TPUV5sPreemptibleLitepodPerProjectPerZoneForTPUAPI",
};
#define QUOTAS_KNOWN (sizeof quotas / sizeof quotas[0])

/* An entry without dimensions is for all of its places. */
static bool is_for(const json_t *entry, const char *zone)
{
    const char *its = json_get_text(json_object_get(entry, "dimensions"), "zone", NULL);
    const json_t *place;
    size_t i;

    if (its != NULL)
        return strcmp(its, zone) == 0;
    json_array_foreach(json_object_get(entry, "applicableLocations"), i, place)
        if (json_is_string(place) && strcmp(json_string_value(place), zone) == 0)
            return true;
    return false;
}

/* "-1" is without a limit. The zone's own entry stands before that of all. */
static void add_limit(const json_t *info, const char *quota, const char *zone, struct text *out)
{
    const json_t *entry;
    size_t i;

    json_array_foreach(json_object_get(info, "dimensionsInfos"), i, entry) {
        const json_t *details = json_object_get(entry, "details");
        bool is_unlimited = strcmp(json_get_text(details, "value", ""), "-1") == 0;
        int64_t limit = google_integer(details, "value");

        if (!is_for(entry, zone))
            continue;
        if (limit > 0 || is_unlimited)
            text_addf(out, "%s%s ", out->length > 0 ? ", " : "", quota);
        if (is_unlimited)
            text_add(out, "without a limit");
        else if (limit > 0)
            text_addf(out, "%lld", (long long)limit);
        return;
    }
}

static void check_zone(struct cloud *cloud, const struct fleet_target *target, const char *zone,
                       json_t *findings)
{
    TEXT_AUTO found = { 0 };
    TEXT_AUTO need = { 0 };

    for (size_t i = 0; i < QUOTAS_KNOWN; i++) {
        CLOUD_REPLY_AUTO reply = { 0 };
        struct error ignored;
        char url[512];

        snprintf(url, sizeof url,
                 QUOTAS "projects/%.63s/locations/global/services/tpu.googleapis.com/quotaInfos/%s",
                 target->project, quotas[i]);
        if (cloud_read(cloud, url, &reply, &ignored))
            add_limit(reply.body, quotas[i], zone, &found);
    }
    text_addf(&need, "a quota of chips in %.63s%s%s", zone, found.length > 0 ? ": " : "",
              text_string(&found));
    google_add_finding(findings, text_string(&need), found.length > 0,
                       json_sprintf("ask for %s or %s in %s: "
                                    "https://console.cloud.google.com/iam-admin/quotas?project=%s",
                                    quotas[0], quotas[1], zone, target->project));
}

void tpu_check_quotas(struct cloud *cloud, const struct fleet_target *target, json_t *findings)
{
    for (size_t i = 0; i < target->place_count; i++)
        check_zone(cloud, target, target->places[i], findings);
}
