/* SPDX-License-Identifier: Apache-2.0 */
/* Lists resources page by page in each of a target's places. */
#include <stdio.h>
#include <string.h>

#include "base/formats/percent.h"
#include "base/json/json.h"
#include "fleet/providers/google.h"

#define PAGES_MAX 50

static void warn_of_unreachable(const json_t *page, json_t *warnings)
{
    const json_t *place;
    size_t i;

    json_array_foreach(json_object_get(page, "unreachable"), i, place)
        if (json_is_string(place))
            json_array_append_new(
                warnings, json_sprintf("%.100s could not be read", json_string_value(place)));
}

/* Warns if there are more pages than it reads. */
static CHECKED bool read_pages(struct cloud *cloud, const char *place,
                               const struct google_collection *collection,
                               const struct google_found *found, json_t *warnings,
                               struct error *error)
{
    char url[512], next[512] = "";

    snprintf(url, sizeof url, "%sprojects/%.63s/%s/%.63s/%s", collection->service,
             found->target->project, collection->places, place, collection->query);
    for (int page = 0; page < PAGES_MAX; page++) {
        CLOUD_REPLY_AUTO reply = { 0 };
        TEXT_AUTO whole = { 0 };
        const char *token;

        text_addf(&whole, "%s%s", url, next[0] != '\0' ? "&pageToken=" : "");
        percent_encode(next, "", &whole);
        if (!cloud_read(cloud, text_string(&whole), &reply, error))
            return false;
        collection->read(reply.body, found);
        warn_of_unreachable(reply.body, warnings);
        token = json_get_text(reply.body, "nextPageToken", "");
        if (token[0] == '\0')
            return true;
        if (text_copy(next, sizeof next, token) < strlen(token))
            break;
    }
    json_array_append_new(warnings, json_sprintf("there are more %s in %.63s than were read",
                                                 collection->what, place));
    return true;
}

bool google_list_resources(struct cloud *cloud, const struct fleet_target *target,
                           const struct google_collection *collections, struct observed **out,
                           size_t *count, json_t *warnings, struct error *error)
{
    const struct google_found found = { target, out, count };
    bool done = true;

    *out = NULL;
    *count = 0;
    for (size_t i = 0; i < target->place_count && done; i++)
        for (const struct google_collection *collection = collections;
             collection->service != NULL && done; collection++)
            done = read_pages(cloud, target->places[i], collection, &found, warnings, error);
    if (done)
        return true;
    observed_list_free(*out, *count);
    *out = NULL;
    *count = 0;
    return false;
}
