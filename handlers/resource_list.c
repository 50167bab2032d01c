/* SPDX-License-Identifier: Apache-2.0 */
/* Lists the published resources, page by page, and the templates. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/core/clock.h"
#include "base/core/memory.h"
#include "handlers/resource.h"
#include "handlers/values.h"

/* ---- Entries ---- */

static const char *path_of(const char *uri)
{
    const char *path = strstr(uri, "://");

    return path == NULL ? uri : path + 3;
}

static json_t *describe(const struct resource *resource)
{
    return json_pack("{s:s, s:s, s:s, s:s, s:s}", "uri", resource->uri, "name", resource->name,
                     "title", resource->title, "description", resource->help, "mimeType",
                     resource->mime_type);
}

/* The description of an instance is one sentence, because a page lists many instances. */
static json_t *first_sentence(const char *help)
{
    const char *end = strstr(help, ". ");

    return json_stringn(help, end == NULL ? strlen(help) : (size_t)(end + 1 - help));
}

static json_t *describe_instance(const struct resource *resource, const struct instance *instance)
{
    char uri[RESOURCE_URI_SIZE], title[256], time[CLOCK_TEXT_SIZE];
    json_t *entry;

    resource_uri(resource, instance->value, uri);
    snprintf(title, sizeof title, "%s %s%s%s", resource->title, instance->value,
             instance->title[0] != '\0' ? " " : "", instance->title);
    entry =
        json_pack("{s:s, s:s, s:s, s:o, s:s}", "uri", uri, "name", path_of(uri), "title", title,
                  "description", first_sentence(resource->help), "mimeType", resource->mime_type);
    if (instance->changed_ms > 0)
        json_object_set_new(
            entry, "annotations",
            json_pack("{s:s}", "lastModified", clock_format_utc(instance->changed_ms, time)));
    return entry;
}

json_t *resource_templates(const struct resource *const *table)
{
    json_t *list = json_array();

    for (size_t i = 0; table[i] != NULL; i++) {
        const struct resource *resource = table[i];

        if (resource_is_template(resource))
            json_array_append_new(list, json_pack("{s:s, s:s, s:s, s:s, s:s}", "uriTemplate",
                                                  resource->uri, "name", resource->name, "title",
                                                  resource->title, "description", resource->help,
                                                  "mimeType", resource->mime_type));
    }
    return list;
}

/* ---- Pages ---- */

/* The maximum number of instances that are fetched at once. In lists whose cursor is a time, no
 * instance is missed unless more than this many were created in the same millisecond. A page ends
 * once it has at least this many entries, so that no page exceeds RESOURCES_PER_PAGE. */
#define INSTANCES_AT_ONCE (RESOURCES_PER_PAGE / 2)

/* Where a page begins. The page's cursor is "<row's name>:<after>". */
struct position {
    size_t row;                      /* index in the table of resources */
    char after[INSTANCE_VALUE_SIZE]; /* cursor of the row's list of instances; "": from the start */
};

bool resource_cursor_refuse(const char *after, struct error *error)
{
    char shown[VALUE_SHOWN_SIZE];

    return error_set(error, ERROR_INVALID,
                     "\"cursor\" is invalid (it ends with %s): give the nextCursor of the previous "
                     "page, or omit \"cursor\" to begin from the start",
                     value_show_text(after, shown));
}

static CHECKED bool read_cursor(const struct resource *const *table, const char *cursor,
                                struct position *out, struct error *error)
{
    size_t length = strcspn(cursor, ":");

    *out = (struct position){ 0 };
    if (cursor[0] == '\0')
        return true;
    for (; table[out->row] != NULL; out->row++) {
        const char *name = table[out->row]->name;

        if (cursor[length] == ':' && strlen(name) == length && strncmp(name, cursor, length) == 0
            && strlen(cursor + length + 1) < sizeof out->after) {
            text_copy(out->after, sizeof out->after, cursor + length + 1);
            return true;
        }
    }
    return resource_cursor_refuse(cursor, error);
}

/* Adds at most INSTANCES_AT_ONCE instances of the resource, and advances `position`. */
static CHECKED bool add_instances(const struct resource *resource, const struct services *services,
                                  struct position *position, json_t *list, struct error *error)
{
    FREE_AUTO struct instance *rows = NULL;
    char next[INSTANCE_VALUE_SIZE];
    size_t count;

    if (!resource->instances->list(services, position->after, INSTANCES_AT_ONCE, &rows, &count,
                                   next, error))
        return false;
    for (size_t i = 0; i < count; i++)
        json_array_append_new(list, describe_instance(resource, &rows[i]));
    text_copy(position->after, sizeof position->after, next);
    if (next[0] == '\0')
        position->row++;
    return true;
}

static CHECKED bool add_row(const struct resource *resource, const struct services *services,
                            struct position *position, json_t *list, struct error *error)
{
    if (resource->instances != NULL && !resource->unlisted)
        return add_instances(resource, services, position, list, error);
    if (position->after[0] != '\0')
        return resource_cursor_refuse(position->after, error);
    if (!resource_is_template(resource) && !resource->unlisted)
        json_array_append_new(list, describe(resource));
    position->row++;
    return true;
}

bool resources_page(const struct resource *const *table, const struct services *services,
                    const char *cursor, json_t **out, char next[RESOURCE_CURSOR_SIZE],
                    struct error *error)
{
    json_auto_t *list = json_array();
    struct position position;

    if (!read_cursor(table, cursor, &position, error))
        return false;
    while (table[position.row] != NULL && json_array_size(list) < INSTANCES_AT_ONCE)
        if (!add_row(table[position.row], services, &position, list, error))
            return false;
    next[0] = '\0';
    if (table[position.row] != NULL)
        snprintf(next, RESOURCE_CURSOR_SIZE, "%s:%s", table[position.row]->name, position.after);
    *out = json_incref(list);
    return true;
}
