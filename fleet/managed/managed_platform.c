/* SPDX-License-Identifier: Apache-2.0 */
#include "fleet/managed/managed_platform.h"

#include <ctype.h>
#include <string.h>

#include "base/core/log.h"
#include "base/json/json.h"
#include "fleet/managed/managed_check.h"
#include "fleet/managed/managed_document.h"

/* Returns the length of the region in a place's name. A zone is named after its region, with
 * a letter added: us-central1-a, us-east-1a. */
static size_t region_length(const char *place)
{
    size_t length = strlen(place);

    if (length < 2 || !islower((unsigned char)place[length - 1]))
        return length;
    if (isdigit((unsigned char)place[length - 2]))
        return length - 1;
    return length > 2 && place[length - 2] == '-' && isdigit((unsigned char)place[length - 3])
               ? length - 2
               : length;
}

static void add_text(json_t *out, const char *name, const char *text, size_t length)
{
    if (length > 0)
        json_object_set_new(out, name, json_stringn(text, length));
}

static json_t *pick(const json_t *observed)
{
    static const char *const field_names[] = { "image", "command", "args" };
    const json_t *fields = json_object_get(observed, "fields");
    const char *place = json_get_text(observed, "place", "");
    const char *digest = json_get_text(observed, "image_digest", "");
    const char *machine = json_get_text(observed, "machine", "");
    size_t region = region_length(place);
    json_t *out = json_object();

    for (size_t i = 0; i < sizeof field_names / sizeof *field_names; i++)
        if (!json_is_null(json_object_get(fields, field_names[i])))
            json_object_set(out, field_names[i], json_object_get(fields, field_names[i]));
    add_text(out, "image_digest", digest, strlen(digest));
    add_text(out, "machine", machine, strlen(machine));
    add_text(out, "region", place, region);
    add_text(out, "zone", place, place[region] == '\0' ? 0 : strlen(place));
    json_object_set(out, "replicas", json_object_get(observed, "replicas"));
    return out;
}

static bool is_at(const struct fleet_managed_row *row, const char *address)
{
    json_auto_t *stored = json_loads(row->door, 0, NULL);
    struct observed door;

    managed_document_read_door(stored, &door);
    return strcmp(door.address, address) == 0;
}

/* Observes the deployment, and sets *out to its newest observation: an earlier one if the
 * deployment cannot be observed now. Sets *out to NULL if opsbrain does not manage the server at
 * the deployment's address. */
static CHECKED bool read_observation(const struct fleet_frame *frame,
                                     const struct deployment *deployment, json_t **out,
                                     struct error *error)
{
    struct fleet_managed_row row;
    struct managed_check result;
    struct error problem;
    bool found;

    *out = NULL;
    if (!fleet_managed_find(frame->store, deployment->name, &row, &found, error))
        return false;
    if (found && is_at(&row, deployment->url)) {
        if (!managed_check_run(frame, &row, &result, &problem))
            log_warning("%s: there is no new observation: %s", row.deployment, problem.message);
        fleet_managed_finish(&row);
        if (!fleet_managed_find(frame->store, deployment->name, &row, &found, error))
            return false;
        *out = found ? json_loads(row.observed, 0, NULL) : NULL;
    }
    if (found)
        fleet_managed_finish(&row);
    return true;
}

json_t *managed_platform(const struct fleet_frame *frame, const struct deployment *deployment)
{
    json_auto_t *observed = NULL;
    struct error error;

    if (!read_observation(frame, deployment, &observed, &error))
        log_warning("%s: it is not known how it was deployed: %s", deployment->name, error.message);
    return observed == NULL ? NULL : pick(observed);
}
