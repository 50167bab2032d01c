/* SPDX-License-Identifier: Apache-2.0 */
/* What a resource is: something that can be read by its URI. The published list, the templates and
 * the parsing of URIs all use these rows: there is no second copy. */
#pragma once

#include "handlers/resource_instances.h"
#include "handlers/tool.h"

#define RESOURCE_URI_SIZE 256  /* longer URIs are unknown */
#define RESOURCES_PER_PAGE 100 /* most entries on a page of the list */
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
    /* With a variable, only the template is published, not its instances: what they are about is
     * already listed in a different form. Without a variable, nothing is published: tools/list
     * gives the URI (`app` of struct tool). */
    bool unlisted;
    /* Adds the contents to `out`. `value`: the variable's value, "" without a variable. */
    CHECKED bool (*read)(struct call *call, const char *value, struct text *out,
                         struct error *error);
};

extern const struct resource *const resources[]; /* ends with NULL */

bool resource_is_template(const struct resource *resource);
/* Copies the variable's name to `out`; "" for a resource without one. */
void resource_variable(const struct resource *resource, char out[INSTANCE_VALUE_SIZE]);
/* Writes the URI of one instance to `out`; of a resource without a variable, its only URI. */
void resource_uri(const struct resource *resource, const char *value, char out[RESOURCE_URI_SIZE]);

/* Finds the row for a URI, and the variable's value ("": the row has no variable). NOT_FOUND: the
 * message lists the forms of URIs, or says what the value must be. */
CHECKED bool resource_match(const struct resource *const *table, const char *uri,
                            const struct resource **out, char value[INSTANCE_VALUE_SIZE],
                            struct error *error);
/* Checks that the URI belongs to a resource, and that the instance that it names exists now.
 * NOT_FOUND otherwise. */
CHECKED bool resource_find(const struct resource *const *table, const struct services *services,
                           const char *uri, struct error *error);

/* Lists one page of the resources and the existing instances, without those that are `unlisted`, in
 * the order of the table, as MCP's Resource objects. `cursor` "": from the start; `next` is "" on
 * the last page. INVALID: an invalid cursor. *out: a new reference. */
CHECKED bool resources_page(const struct resource *const *table, const struct services *services,
                            const char *cursor, json_t **out, char next[RESOURCE_CURSOR_SIZE],
                            struct error *error);
/* MCP's ResourceTemplate objects; new reference. */
json_t *resource_templates(const struct resource *const *table);

/* Carries out resources/read: checks the role, reads the resource, and writes the audit row of a
 * refusal; counts the read if `counts_reads` of the resource is true. *resource: the resource that
 * was read. */
CHECKED bool resource_read(const struct resource *const *table, struct call *call, const char *uri,
                           const struct resource **resource, struct text *out, struct error *error);
