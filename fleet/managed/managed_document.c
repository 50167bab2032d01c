/* SPDX-License-Identifier: Apache-2.0 */
#include "fleet/managed/managed_document.h"

#include <string.h>

#include "base/core/memory.h"
#include "base/core/text.h"
#include "base/json/json.h"

/* clang-format off */
#define TEXT_AT(member) \
    { #member, offsetof(struct step, member), sizeof(((struct step *)NULL)->member) }
/* clang-format on */
static const struct {
    const char *name;
    size_t offset, size;
} step_texts[] = {
    TEXT_AT(name),        TEXT_AT(method),   TEXT_AT(url),      TEXT_AT(content_type),
    TEXT_AT(dry_run_url), TEXT_AT(resource), TEXT_AT(undo_url), TEXT_AT(summary),
};
#undef TEXT_AT
#define STEP_TEXTS (sizeof step_texts / sizeof *step_texts)

json_t *managed_document_step(const struct step *step)
{
    json_t *out = json_object();

    for (size_t i = 0; i < STEP_TEXTS; i++) {
        const char *text = (const char *)step + step_texts[i].offset;

        if (text[0] != '\0')
            json_object_set_new(out, step_texts[i].name, json_string(text));
    }
    if (step->body != NULL)
        json_object_set_new(out, "body", json_deep_copy(step->body));
    if (step->creates)
        json_object_set_new(out, "creates", json_true());
    if (step->absent_is_done)
        json_object_set_new(out, "absent_is_done", json_true());
    if (step->wait_s != 0)
        json_object_set_new(out, "wait_s", json_integer(step->wait_s));
    return out;
}

static void read_step(const json_t *stored, struct step *out)
{
    for (size_t i = 0; i < STEP_TEXTS; i++)
        text_copy((char *)out + step_texts[i].offset, step_texts[i].size,
                  json_get_text(stored, step_texts[i].name, ""));
    out->body = json_incref(json_object_get(stored, "body"));
    out->creates = json_get_boolean(stored, "creates", false);
    out->absent_is_done = json_get_boolean(stored, "absent_is_done", false);
    out->wait_s = json_get_integer(stored, "wait_s", 0);
}

bool managed_document_read_steps(const json_t *list, struct step **out, size_t *count,
                                 struct error *error)
{
    size_t i;
    json_t *stored;

    if (!json_is_array(list))
        return error_set(error, ERROR_INTERNAL, "a stored plan has no list of requests");
    *count = json_array_size(list);
    *out = memory_zeroed(*count + 1, sizeof **out);
    json_array_foreach(list, i, stored)
        read_step(stored, &(*out)[i]);
    return true;
}

json_t *managed_document_basis(const struct observed *observed)
{
    return json_pack("{s:b, s:b, s:s, s:s, s:s, s:s, s:I, s:I, s:O*}", "exists", observed->exists,
                     "ours", observed->ours, "uid", observed->uid, "state", observed->state,
                     "revision", observed->revision, "generation", observed->generation, "replicas",
                     (json_int_t)observed->replicas, "ends_ms", (json_int_t)observed->ends_ms,
                     "fields", observed->fields);
}

/* clang-format off */
#define DOOR_TEXT(member) \
    { #member, offsetof(struct observed, member), sizeof(((struct observed *)NULL)->member) }
/* clang-format on */
static const struct {
    const char *name;
    size_t offset, size;
} door_texts[] = { DOOR_TEXT(name), DOOR_TEXT(resource), DOOR_TEXT(address), DOOR_TEXT(place) };
#undef DOOR_TEXT
#define DOOR_TEXTS (sizeof door_texts / sizeof *door_texts)

json_t *managed_document_door(const struct observed *observed)
{
    json_t *out = json_object();

    for (size_t i = 0; i < DOOR_TEXTS; i++)
        json_object_set_new(out, door_texts[i].name,
                            json_string((const char *)observed + door_texts[i].offset));
    return out;
}

void managed_document_read_door(const json_t *door, struct observed *out)
{
    *out = (struct observed){ 0 };
    for (size_t i = 0; i < DOOR_TEXTS; i++)
        text_copy((char *)out + door_texts[i].offset, door_texts[i].size,
                  json_get_text(door, door_texts[i].name, ""));
}

void managed_document_differences(const json_t *before, const json_t *after, size_t limit,
                                  struct text *out)
{
    const char *name;
    json_t *value;

    json_object_foreach(json_iterable(before), name, value) {
        const json_t *other = json_object_get(after, name);

        if (json_equal(value, other) || out->length > limit)
            continue;
        text_addf(out, "%s%s ", out->length == 0 ? "" : ", ", name);
        json_add(out, value);
        text_add(out, " -> ");
        if (other == NULL)
            text_add(out, "nothing");
        else
            json_add(out, other);
    }
}

json_t *managed_document_observation(const struct observed *observed)
{
    json_t *out = managed_document_basis(observed);
    json_auto_t *more =
        json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:I}", "phase", observed->phase,
                  "message", observed->message, "address", observed->address, "image_digest",
                  observed->image_digest, "machine", observed->machine, "place", observed->place,
                  "log_line", observed->log_line, "last_changed_by", observed->last_changed_by,
                  "ready_replicas", (json_int_t)observed->ready_replicas);

    json_object_update(out, more);
    if (observed->sleeps)
        json_object_set_new(out, "sleeps", json_true());
    return out;
}
