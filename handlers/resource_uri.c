/* SPDX-License-Identifier: Apache-2.0 */
/* Builds the URIs of resources from templates, and parses URIs. */

#include <stdio.h>
#include <string.h>

#include "base/formats/percent.h"
#include "handlers/resource.h"
#include "handlers/values.h"

bool resource_is_template(const struct resource *resource)
{
    return strchr(resource->uri, '{') != NULL;
}

/* The length of a template's fixed part before the variable. */
static size_t prefix_length(const struct resource *resource)
{
    return strcspn(resource->uri, "{");
}

/* A template's fixed part after the variable. */
static const char *suffix(const struct resource *resource)
{
    const char *end = strchr(resource->uri, '}');

    return end == NULL ? "" : end + 1;
}

void resource_variable(const struct resource *resource, char out[INSTANCE_VALUE_SIZE])
{
    const char *start = strchr(resource->uri, '{');

    out[0] = '\0';
    if (start != NULL)
        snprintf(out, INSTANCE_VALUE_SIZE, "%.*s", (int)strcspn(start + 1, "}"), start + 1);
}

/* Names and ids contain no characters that a URI would have to escape. */
void resource_uri(const struct resource *resource, const char *value, char out[RESOURCE_URI_SIZE])
{
    if (resource_is_template(resource))
        snprintf(out, RESOURCE_URI_SIZE, "%.*s%s%s", (int)prefix_length(resource), resource->uri,
                 value, suffix(resource));
    else
        text_copy(out, RESOURCE_URI_SIZE, resource->uri);
}

/* Decodes escapes of the form %XX. Returns false if the text has a broken escape or a NUL, or does
 * not fit. */
static bool decode(const char *bytes, size_t length, char out[INSTANCE_VALUE_SIZE])
{
    size_t written = 0;

    for (size_t i = 0; i < length; i++) {
        char c = bytes[i];

        if (c == '%') {
            int byte = percent_decode(bytes + i, length - i);

            if (byte < 0)
                return false;
            c = (char)byte;
            i += 2;
        }
        if (c == '\0' || written + 1 == INSTANCE_VALUE_SIZE)
            return false;
        out[written++] = c;
    }
    out[written] = '\0';
    return true;
}

/* Returns true if the URI matches the resource's URI or template. *value, *length: the variable's
 * value, not yet decoded. */
static bool has_form(const struct resource *resource, const char *uri, const char **value,
                     size_t *length)
{
    size_t before = prefix_length(resource), after = strlen(suffix(resource));
    size_t total = strlen(uri);

    if (!resource_is_template(resource))
        return strcmp(uri, resource->uri) == 0 && (*value = "", *length = 0, true);
    if (total <= before + after || strncmp(uri, resource->uri, before) != 0
        || strcmp(uri + total - after, suffix(resource)) != 0)
        return false;
    *value = uri + before;
    *length = total - before - after;
    return memchr(*value, '/', *length) == NULL;
}

static CHECKED bool refuse(const struct resource *const *table, const char *uri,
                           struct error *error)
{
    json_auto_t *given = json_string(strlen(uri) < RESOURCE_URI_SIZE ? uri : "(too long)");
    char shown[VALUE_SHOWN_SIZE];
    TEXT_AUTO forms = { 0 };

    for (size_t i = 0; table[i] != NULL; i++)
        text_addf(&forms, "%s%s", i == 0 ? "" : ", ", table[i]->uri);
    return error_set(error, ERROR_NOT_FOUND,
                     "there is no resource %s: the URI must have one of these forms: %s",
                     value_show(given, shown), text_string(&forms));
}

static CHECKED bool refuse_value(const struct resource *resource, struct error *error)
{
    return error_set(
        error, ERROR_NOT_FOUND,
        "the URI has no valid %s where %s needs one: a name or id begins with a letter "
        "or digit, and has at most 63 letters, digits and characters from \"._-\"",
        resource->instances->noun, resource->uri);
}

bool resource_match(const struct resource *const *table, const char *uri,
                    const struct resource **out, char value[INSTANCE_VALUE_SIZE],
                    struct error *error)
{
    char decoded[INSTANCE_VALUE_SIZE] = "";
    const char *raw;
    size_t length;

    for (size_t i = 0; table[i] != NULL; i++) {
        if (!has_form(table[i], uri, &raw, &length))
            continue;
        if (!decode(raw, length, decoded)
            || (table[i]->instances != NULL && !text_is_name(decoded)))
            return refuse_value(table[i], error);
        text_copy(value, INSTANCE_VALUE_SIZE, decoded);
        *out = table[i];
        return true;
    }
    return refuse(table, uri, error);
}
