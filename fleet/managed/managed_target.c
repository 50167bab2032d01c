/* SPDX-License-Identifier: Apache-2.0 */
#include "fleet/managed/managed_target.h"

#include <stddef.h>
#include <string.h>

#include "base/core/text.h"
#include "base/json/json.h"

const char *const managed_target_members[] = {
    "project", "namespace",   "network", "subnetwork", "service_account",
    "bucket",  "reservation", "door",    NULL,
};

/* Where struct fleet_target stores each of managed_target_members, in the same order. */
static const struct {
    size_t offset, size;
} members[] = {
#define AT(member)                                                                                 \
    {                                                                                              \
        offsetof(struct fleet_target, member), sizeof(((struct fleet_target *)NULL)->member)       \
    }
    AT(project),         AT(namespace), AT(network),     AT(subnetwork),
    AT(service_account), AT(bucket),    AT(reservation), AT(door),
#undef AT
};

static CHECKED bool read_members(const struct fleet_target_row *row, struct fleet_target *out,
                                 struct error *error)
{
    json_auto_t *place = NULL;

    if (!json_parse(row->place, strlen(row->place), &place, error))
        return false;
    for (size_t i = 0; managed_target_members[i] != NULL; i++) {
        const char *value = json_get_text(place, managed_target_members[i], "");

        if (text_copy((char *)out + members[i].offset, members[i].size, value) != strlen(value))
            return error_set(error, ERROR_INVALID, "\"%s\" has %zu bytes: at most %zu are allowed",
                             managed_target_members[i], strlen(value), members[i].size - 1);
    }
    return true;
}

static CHECKED bool read_list(const char *name, const char *json,
                              char out[FLEET_PLACES_MAX][FLEET_PLACE_SIZE], size_t *count,
                              struct error *error)
{
    json_auto_t *list = NULL;
    size_t i;
    json_t *item;

    *count = 0;
    if (!json_parse(json, strlen(json), &list, error))
        return false;
    json_array_foreach(list, i, item) {
        if (i == FLEET_PLACES_MAX || json_string_length(item) >= FLEET_PLACE_SIZE)
            return error_set(error, ERROR_INVALID,
                             "\"%s\" must have at most %d entries, each of at most %d bytes", name,
                             FLEET_PLACES_MAX, FLEET_PLACE_SIZE - 1);
        text_copy(out[(*count)++], FLEET_PLACE_SIZE, json_string_value(item));
    }
    return true;
}

static CHECKED bool find_provider(const struct fleet_frame *frame, const char *name,
                                  const struct provider **out, struct error *error)
{
    TEXT_AUTO names = { 0 };

    for (const struct provider *const *row = frame->providers; *row != NULL; row++) {
        *out = *row;
        if (strcmp((*row)->name, name) == 0)
            return true;
        text_addf(&names, "%s%s", names.length == 0 ? "" : ", ", (*row)->name);
    }
    return error_set(error, ERROR_INVALID, "\"provider\" is \"%.31s\": it must be one of %s", name,
                     text_string(&names));
}

static CHECKED bool read_credential(const struct fleet_target_row *row,
                                    struct cloud_credential *out, struct error *error)
{
    out->kind = cloud_kind_find(row->credential);
    text_copy(out->file, sizeof out->file, row->credential_file);
    if (out->kind == 0)
        return error_set(error, ERROR_INVALID,
                         "\"credential\" is \"%.23s\": it must be none, workload_identity, "
                         "service_account_file, kubeconfig or in_cluster",
                         row->credential);
    return cloud_credential_check(out, error);
}

bool managed_target_read(const struct fleet_frame *frame, const struct fleet_target_row *row,
                         struct managed_target *out, struct error *error)
{
    struct fleet_target *plain = &out->plain;

    *out = (struct managed_target){ .row = *row, .plain = { .revision = row->revision } };
    text_copy(plain->name, sizeof plain->name, row->name);
    text_copy(plain->provider, sizeof plain->provider, row->provider);
    text_copy(plain->proxy, sizeof plain->proxy, row->proxy);
    return find_provider(frame, row->provider, &out->provider, error)
           && read_members(row, plain, error)
           && read_list("regions", row->regions, plain->places, &plain->place_count, error)
           && read_list("source_ranges", row->source_ranges, plain->source_ranges,
                        &plain->source_range_count, error)
           && read_credential(row, &plain->credential, error)
           && out->provider->check_target(plain, error);
}

bool managed_target_find(const struct fleet_frame *frame, const char *name,
                         struct managed_target *out, struct error *error)
{
    struct fleet_target_row row;

    return fleet_target_find(frame->store, name, &row, error)
           && managed_target_read(frame, &row, out, error);
}

bool managed_target_place(const struct managed_target *target, const char *place, const char **out,
                          struct error *error)
{
    const struct fleet_target *plain = &target->plain;
    TEXT_AUTO names = { 0 };

    *out = plain->place_count == 0 ? "" : plain->places[0];
    if (place[0] == '\0')
        return true;
    for (size_t i = 0; i < plain->place_count; i++) {
        *out = plain->places[i];
        if (strcmp(place, *out) == 0)
            return true;
        text_addf(&names, "%s%s", i == 0 ? "" : ", ", *out);
    }
    return error_set(error, ERROR_INVALID,
                     "\"region\" is \"%.63s\": the regions of the target %s are: %s", place,
                     plain->name, plain->place_count == 0 ? "none" : text_string(&names));
}

bool managed_target_allows(const struct managed_target *target, const char *recipe)
{
    json_auto_t *names = json_loads(target->row.recipes, 0, NULL);
    size_t i;
    json_t *name;

    json_array_foreach(names, i, name)
        if (strcmp(json_string_value(name), recipe) == 0)
            return true;
    return json_array_size(names) == 0;
}
