/* SPDX-License-Identifier: Apache-2.0 */
#include "server/http/http_headers.h"

#include <microhttpd.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/core/memory.h"

#define TRIMMED_SIZE 256U /* bytes for the trimmed copies of a request's values */
#define AT(member) offsetof(struct http_headers, member)
#define NAME(text) (text), sizeof(text) - 1

static const struct {
    const char *name;
    size_t length, offset;
} known[] = {
    { NAME("Host"), AT(host) },
    { NAME("Origin"), AT(origin) },
    { NAME("Authorization"), AT(authorization) },
    { NAME("Content-Type"), AT(content_type) },
    { NAME("Content-Length"), AT(content_length) },
    { NAME("Expect"), AT(expect) },
    { NAME("Access-Control-Request-Method"), AT(cors_verb) },
    { NAME("Access-Control-Request-Headers"), AT(cors_headers) },
    { NAME("Mcp-Session-Id"), AT(session) },
    { NAME("MCP-Protocol-Version"), AT(protocol_version) },
    { NAME("Mcp-Method"), AT(method) },
    { NAME("Mcp-Name"), AT(name) },
    { NAME("Last-Event-ID"), AT(last_event) },
    { NAME("If-None-Match"), AT(if_none_match) },
};

/* Whether an item of a list, such as "text/event-stream;q=0.5", names the type. */
static bool item_is(const char *item, size_t length, const char *type)
{
    size_t type_length = strlen(type);

    return length >= type_length && strncasecmp(item, type, type_length) == 0
           && (length == type_length || strchr("; \t", item[type_length]) != NULL);
}

/* Checks first for the value that the official clients send, to avoid parsing it. */
static void read_accept(struct http_headers *headers, const char *value)
{
    headers->has_accept = true;
    if (strcmp(value, "application/json, text/event-stream") == 0) {
        headers->accepts_json = headers->accepts_events = true;
        return;
    }
    for (const char *item = value; *item != '\0';) {
        size_t length;

        item += strspn(item, ", \t");
        length = strcspn(item, ",");
        headers->accepts_json |= item_is(item, length, "application/json")
                                 || item_is(item, length, "application/*")
                                 || item_is(item, length, "*/*");
        headers->accepts_events |= item_is(item, length, "text/event-stream")
                                   || item_is(item, length, "text/*")
                                   || item_is(item, length, "*/*");
        headers->accepts_html |= item_is(item, length, "text/html");
        item += length;
    }
}

/* libmicrohttpd keeps trailing spaces and tabs, which do not belong to the value (RFC 9110, 5.5).
 * If there is no room for a copy without them, they stay, and the value might match nothing. */
static const char *trim(struct http_headers *headers, const char *value, size_t size)
{
    size_t length = size;
    char *copy;

    while (length > 0 && (value[length - 1] == ' ' || value[length - 1] == '\t'))
        length--;
    if (length == size || length >= TRIMMED_SIZE - headers->trimmed_length)
        return value;
    if (headers->trimmed == NULL)
        headers->trimmed = memory_zeroed(TRIMMED_SIZE, 1);
    copy = headers->trimmed + headers->trimmed_length;
    memcpy(copy, value, length);
    copy[length] = '\0';
    headers->trimmed_length += length + 1;
    return copy;
}

static enum MHD_Result visit(void *context, enum MHD_ValueKind kind, const char *name, size_t size,
                             const char *value, size_t value_size)
{
    struct http_headers *headers = context;

    (void)kind;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        const char **slot = (const char **)((char *)headers + known[i].offset);

        if (known[i].length != size || strcasecmp(known[i].name, name) != 0)
            continue;
        if (*slot != NULL)
            headers->repeated = known[i].name;
        *slot = value != NULL ? trim(headers, value, value_size) : "";
        return MHD_YES;
    }
    if (size == 6 && strcasecmp(name, "Accept") == 0 && value != NULL)
        read_accept(headers, value);
    if (size == 11 && strcasecmp(name, "traceparent") == 0 && value != NULL)
        headers->traceparent = headers->traceparent == NULL ? value : "";
    return MHD_YES;
}

void http_headers_read(struct MHD_Connection *connection, const char *version,
                       struct http_headers *out)
{
    *out = (struct http_headers){ .needs_host = strcmp(version, "HTTP/1.0") != 0 };
    MHD_get_connection_values_n(connection, MHD_HEADER_KIND, visit, out);
}

void http_headers_finish(struct http_headers *headers)
{
    free(headers->trimmed);
    headers->trimmed = NULL;
}

bool http_media_type_is(const char *value, const char *type)
{
    return value != NULL && item_is(value, strlen(value), type);
}
