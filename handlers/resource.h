/* SPDX-License-Identifier: Apache-2.0 */
/* What a resource is: something that can be read by its URI. The published list, the templates and
 * the parsing of URIs all use these rows: there is no second copy. */
#pragma once

#include "handlers/resource_instances.h"
#include "handlers/tool.h"

#define RESOURCE_URI_SIZE 256  /* longer URIs are unknown */
#define RESOURCES_PER_PAGE 100 /* entries on a page of the list */
#define RESOURCE_CURSOR_SIZE 128

struct resource {
    const char *name;
    /* A plain URI, or a template (RFC 6570, level 1) with one variable: "opsbrain://runs/{id}". */
    const char *uri;
    const char *title;
    const char *help;
    const char *mime_type;
    bool binary; /* read() returns bytes, not text */
    enum role role;
    enum placement placement; /* where read() runs */
    const struct resource_instances
        *instances;   /* lists the values of the variable; NULL: there is no variable */
    bool reads_noted; /* counted in the audit log */
    bool unlisted; /* only its template is published, because it is another form of things that are
                      already listed; without a variable: tools return its URI when it is needed */
    /* `value` is the variable's; "" without one. */
    CHECKED bool (*read)(struct call *call, const char *value, struct text *out,
                         struct error *error);
};

extern const struct resource *const resources[]; /* ends with NULL */

bool resource_is_template(const struct resource *resource);
/* The variable's name in `out`; "" for a resource without one. */
void resource_variable(const struct resource *resource, char out[INSTANCE_VALUE_SIZE]);
/* The URI of one instance. */
void resource_uri(const struct resource *resource, const char *value, char out[RESOURCE_URI_SIZE]);

/* Finds the row for a URI, and the variable's value. NOT_FOUND: lists the forms of URIs. */
CHECKED bool resource_match(const struct resource *const *table, const char *uri,
                            const struct resource **out, char value[INSTANCE_VALUE_SIZE],
                            struct error *error);
/* The same, and checks that the thing exists now. */
CHECKED bool resource_find(const struct resource *const *table, const struct services *services,
                           const char *uri, struct error *error);

/* One page of the existing resources, in the order of the table, as MCP's Resource objects.
 * `cursor` "": from the start; `next` is "" on the last page. INVALID: an invalid cursor. *out: new
 * reference. */
CHECKED bool resources_page(const struct resource *const *table, const struct services *services,
                            const char *cursor, json_t **out, char next[RESOURCE_CURSOR_SIZE],
                            struct error *error);
json_t *resource_templates(const struct resource *const *table); /* new reference */

/* Carries out resources/read: checks the role, reads the text, and writes the audit row of a
 * refusal. *resource is the one that was read. */
CHECKED bool resource_read(const struct resource *const *table, struct call *call, const char *uri,
                           const struct resource **resource, struct text *out, struct error *error);
