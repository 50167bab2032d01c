/* SPDX-License-Identifier: Apache-2.0 */
/* Labels, names and numbers of Google's resources. */
#include "fleet/providers/google.h"

#include <stdio.h>
#include <string.h>

#include "base/core/digest.h"
#include "base/json/json.h"

/* ---- Labels ---- */

json_t *google_labels(const struct desired *desired)
{
    json_t *out = json_pack("{s:s, s:s, s:s}", "managed-by", "opsbrain", GOOGLE_INSTANCE,
                            desired->instance, GOOGLE_DEPLOYMENT, desired->deployment);

    if (desired->ends_ms == 0)
        return out;
    json_object_set_new(out, GOOGLE_ENDS,
                        json_sprintf("%lld", (long long)(desired->ends_ms / 1000)));
    json_object_set_new(out, GOOGLE_AT_END, json_string(desired_at_end(desired)));
    return out;
}

json_t *google_all_labels(const struct desired *desired, const struct observed *now)
{
    json_t *out = now->labels != NULL ? json_deep_copy(now->labels) : json_object();
    json_auto_t *ours = google_labels(desired);

    json_object_del(out, GOOGLE_ENDS);
    json_object_del(out, GOOGLE_AT_END);
    json_object_update(out, ours);
    return out;
}

void google_read_labels(const json_t *labels, struct observed *out)
{
    out->labels = json_is_object(labels) ? json_deep_copy(labels) : NULL;
    text_copy(out->instance, sizeof out->instance, json_get_text(labels, GOOGLE_INSTANCE, ""));
    text_copy(out->deployment, sizeof out->deployment,
              json_get_text(labels, GOOGLE_DEPLOYMENT, ""));
    out->ends_ms = google_integer(labels, GOOGLE_ENDS) % (INT64_C(1) << 40) * 1000;
    text_copy(out->at_end, sizeof out->at_end, json_get_text(labels, GOOGLE_AT_END, ""));
}

json_t *google_mark(const struct desired *desired)
{
    return json_sprintf("opsbrain %.63s %.63s", desired->instance, desired->deployment);
}

/* ---- Names and numbers ---- */

void google_tag(const struct desired *desired, const char *what, char out[GOOGLE_TAG_SIZE])
{
    TEXT_AUTO whole = { 0 };
    char digest[DIGEST_TEXT_SIZE];

    text_addf(&whole, "%s\n%s", desired->instance, what);
    digest_sha256_text(text_string(&whole), whole.length, digest);
    text_copy(out, GOOGLE_TAG_SIZE, digest);
}

const char *google_last_part(const char *name)
{
    const char *last = strrchr(name, '/');

    return last != NULL ? last + 1 : name;
}

void google_read_name(const char *service, const char *name, struct observed *out)
{
    const char *place = strstr(name, "/locations/");

    text_copy(out->name, sizeof out->name, google_last_part(name));
    if (place != NULL)
        observed_write(out->place, sizeof out->place, "%.*s", (int)strcspn(place + 11, "/"),
                       place + 11);
    observed_write(out->resource, sizeof out->resource, "%s%.400s", service, name);
}

int64_t google_integer(const json_t *object, const char *name)
{
    int64_t value = json_get_integer(object, name, 0);

    if (value == 0)
        text_to_integer(json_get_text(object, name, "0"), 0, INT64_MAX, &value);
    return value;
}
