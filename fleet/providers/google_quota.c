/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a project's quotas for a place, and makes one finding from them. */
#include <stdio.h>
#include <string.h>

#include "base/json/json.h"
#include "fleet/providers/google.h"

#define QUOTAS "https://cloudquotas.googleapis.com/v1/"
#define RTX_PRO_6000 "NvidiaRtxPro6000" /* quotas with this prefix count thousandths of a GPU */

void google_quotas_add(struct google_quotas *quotas, const char *name, int64_t limit, int64_t used)
{
    struct text *list = &quotas->list;

    text_addf(list, "%s%.70s ", list->length > 0 ? ", " : "", name);
    if (limit < 0)
        text_add(list, "without a limit");
    else
        text_addf(list, "%lld", (long long)limit);
    if (used > 0)
        text_addf(list, " (%lld used)", (long long)used);
    quotas->has_free = quotas->has_free || limit < 0 || limit > used;
}

/* Returns true if an entry applies to the place. An entry with neither a region nor a zone applies
 * to all the locations that it lists. */
static bool is_for(const json_t *entry, const char *place)
{
    const json_t *dimensions = json_object_get(entry, "dimensions"), *one;
    const char *only = json_get_text(dimensions, "region", json_get_text(dimensions, "zone", NULL));
    size_t i;

    if (only != NULL)
        return strcmp(only, place) == 0;
    json_array_foreach(json_object_get(entry, "applicableLocations"), i, one)
        if (json_is_string(one) && strcmp(json_string_value(one), place) == 0)
            return true;
    return false;
}

static void add_entry(const json_t *entry, const char *quota, const char *family,
                      struct google_quotas *quotas)
{
    const json_t *details = json_object_get(entry, "details");
    bool is_unlimited = strcmp(json_get_text(details, "value", ""), "-1") == 0;
    int64_t limit = is_unlimited ? -1 : google_integer(details, "value");
    char name[96];

    if (strncmp(quota, RTX_PRO_6000, strlen(RTX_PRO_6000)) == 0 && !is_unlimited)
        limit /= 1000;
    snprintf(name, sizeof name, "%.60s%s%.20s", quota, family[0] != '\0' ? " " : "", family);
    if (limit != 0)
        google_quotas_add(quotas, name, limit, 0);
}

void google_quotas_read(struct cloud *cloud, const char *project, const char *service,
                        const char *quota, const char *place, struct google_quotas *quotas)
{
    CLOUD_REPLY_AUTO reply = { 0 };
    struct error ignored;
    const json_t *entry;
    char url[512];
    size_t i;

    snprintf(url, sizeof url, QUOTAS "projects/%.63s/locations/global/services/%s/quotaInfos/%s",
             project, service, quota);
    if (!cloud_read(cloud, url, &reply, &ignored))
        return;
    json_array_foreach(json_object_get(reply.body, "dimensionsInfos"), i, entry) {
        const char *family = json_get_text(json_object_get(entry, "dimensions"), "tpu_family", "");

        if (!is_for(entry, place))
            continue;
        add_entry(entry, quota, family, quotas);
        if (family[0] == '\0')
            return; /* the most specific entry, which Google lists first, takes precedence */
    }
}

void google_quotas_finish(struct google_quotas *quotas, const struct fleet_target *target,
                          const char *place, json_t *findings)
{
    TEXT_AUTO need = { 0 };

    text_addf(&need, "an accelerator quota in %s%s%.400s", place,
              quotas->list.length > 0 ? ": " : "", text_string(&quotas->list));
    google_add_finding(
        findings, text_string(&need), quotas->has_free,
        json_sprintf("request one: https://console.cloud.google.com/iam-admin/quotas?project=%s",
                     target->project));
    text_finish(&quotas->list);
}

void google_check_quotas(struct cloud *cloud, const struct fleet_target *target,
                         const char *service, const char *const *names, json_t *findings)
{
    for (size_t i = 0; i < target->place_count; i++) {
        struct google_quotas quotas = { 0 };

        for (const char *const *name = names; *name != NULL; name++)
            google_quotas_read(cloud, target->project, service, *name, target->places[i], &quotas);
        google_quotas_finish(&quotas, target, target->places[i], findings);
    }
}
