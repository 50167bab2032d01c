/* SPDX-License-Identifier: Apache-2.0 */
/* resources/read: finds the resource, checks whether the caller may read it, and reads it. */

#include <string.h>

#include "base/core/memory.h"
#include "base/json/json.h"
#include "base/net/credential.h"
#include "handlers/call.h"
#include "handlers/resource.h"

#define AUDITED_BYTES_MAX 300

bool resource_find(const struct resource *const *table, const struct services *services,
                   const char *uri, struct error *error)
{
    const struct resource *resource;
    char value[INSTANCE_VALUE_SIZE];

    return resource_match(table, uri, &resource, value, error)
           && (resource->instances == NULL || resource->instances->find(services, value, error));
}

static CHECKED bool check_role(const struct resource *resource, const struct call *call,
                               struct error *error)
{
    if (role_allows(call->principal.role, resource->role))
        return true;
    return error_set(error, ERROR_FORBIDDEN, "%s needs the role %s; %s has the role %s",
                     resource->uri, role_name(resource->role), call->principal.name,
                     role_name(call->principal.role));
}

static CHECKED bool read(const struct resource *const *table, struct call *call, const char *uri,
                         const struct resource **resource, struct text *out, struct error *error)
{
    char value[INSTANCE_VALUE_SIZE];
    const struct resource *found;

    if (!resource_match(table, uri, &found, value, error) || !check_role(found, call, error)
        || !found->read(call, value, out, error))
        return false;
    *resource = found;
    return true;
}

/* Returns the request's arguments for the audit log, shortened and without credentials. The caller
 * frees the text. */
static char *audited(const char *uri)
{
    TEXT_AUTO masked = { 0 };
    TEXT_AUTO shown = { 0 };
    struct text json = { 0 };

    credential_add_masked(&masked, uri);
    text_add_printable(&shown, text_string(&masked), masked.length, AUDITED_BYTES_MAX);
    text_add(&json, "{\"uri\":");
    json_add_string(&json, text_string(&shown), shown.length);
    text_add_char(&json, '}');
    return text_take(&json);
}

bool resource_read(const struct resource *const *table, struct call *call, const char *uri,
                   const struct resource **resource, struct text *out, struct error *error)
{
    FREE_AUTO char *arguments = audited(uri);
    TEXT_AUTO text = { 0 };
    bool done;

    call_begin(call, "resources/read", arguments);
    done = read(table, call, uri, resource, &text, error);
    if (!done)
        call_refused(call, error);
    else if ((*resource)->counts_reads)
        call_read(call, uri);
    if (done)
        text_add_bytes(out, text_string(&text), text.length);
    call->change.arguments = NULL;
    return done;
}
