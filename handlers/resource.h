/* SPDX-License-Identifier: Apache-2.0 */
/* A resource is something that clients can read by its URI. The list of resources, the list of
 * templates and the parser of URIs all use the rows of one table, `resources`. */
#pragma once

#include "handlers/resource_instances.h"
#include "handlers/tool.h"

#define RESOURCE_URI_SIZE 256  /* bytes, with the final NUL; no resource has a longer URI */
#define RESOURCES_PER_PAGE 100 /* maximum number of resources on a page of the list */
#define RESOURCE_CURSOR_SIZE 128

struct resource {
    const char *name;
    /* A plain URI, or a template (RFC 6570, level 1) with one variable: "opsbrain://runs/{id}". */
    const char *uri;
    const char *title;
    const char *help;
    const char *mime_type;
    bool binary; /* read() adds bytes, not text */
    enum role role;
    enum placement placement; /* where read() runs */
    /* Lists the values of the variable; NULL: there is no variable. */
    const struct resource_instances *instances;
    bool counts_reads; /* reads are counted in the audit log */
    /* The list of resources omits this resource. If the URI has a variable, the template is still
     * published; the instances are not listed, because what they show is listed in a different
     * form. If the URI has no variable, tools/list gives the URI (`app` of struct tool). */
    bool unlisted;
    /* Adds the contents to `out`. `value`: the variable's value; "": there is no variable. */
    CHECKED bool (*read)(struct call *call, const char *value, struct text *out,
                         struct error *error);
};

extern const struct resource *const resources[]; /* ends with NULL */

bool resource_is_template(const struct resource *resource);
/* Copies the variable's name to `out`; "": the URI has no variable. */
void resource_variable(const struct resource *resource, char out[INSTANCE_VALUE_SIZE]);
/* Writes the resource's URI to `out`, with `value` in place of the variable, if there is one. */
void resource_uri(const struct resource *resource, const char *value, char out[RESOURCE_URI_SIZE]);

/* Finds the row for a URI, and the variable's value ("": the row has no variable). NOT_FOUND: the
 * message lists the forms that a URI can have, or says what the value must be. */
CHECKED bool resource_match(const struct resource *const *table, const char *uri,
                            const struct resource **out, char value[INSTANCE_VALUE_SIZE],
                            struct error *error);
/* Checks that the URI belongs to a resource, and that the instance that the URI names exists now.
 * NOT_FOUND otherwise. */
CHECKED bool resource_find(const struct resource *const *table, const struct services *services,
                           const char *uri, struct error *error);

/* Lists one page of MCP's Resource objects, in the order of the table: one object for each resource
 * without a variable, and one for each existing instance of the others. Omits those that are
 * `unlisted`. `cursor` "": from the start; `next` is "" on the last page. INVALID: an invalid
 * cursor. *out: a new reference. */
CHECKED bool resources_page(const struct resource *const *table, const struct services *services,
                            const char *cursor, json_t **out, char next[RESOURCE_CURSOR_SIZE],
                            struct error *error);
/* Returns MCP's ResourceTemplate objects; new reference. */
json_t *resource_templates(const struct resource *const *table);

/* Carries out resources/read: checks the role and reads the resource. Records a refusal or failure
 * in the audit log, and counts a successful read there if the resource has `counts_reads`.
 * *resource: the resource that was read. */
CHECKED bool resource_read(const struct resource *const *table, struct call *call, const char *uri,
                           const struct resource **resource, struct text *out, struct error *error);
