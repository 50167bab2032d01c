/* SPDX-License-Identifier: Apache-2.0 */
/* The request headers that the server uses. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct MHD_Connection;

struct http_headers {
    /* The headers' values: borrowed from libmicrohttpd or the exchange, or copies in `trimmed`.
     * They are used only on the HTTP thread, and are valid as long as the request. NULL: the header
     * is absent. */
    const char *host, *origin, *authorization, *content_type, *expect;
    const char *session, *protocol_version, *method, *name; /* the Mcp-... headers */
    const char *last_event;                                 /* Last-Event-ID */
    const char *if_none_match;
    const char *content_length;
    const char *cors_verb;    /* the verb that a page from another origin wants to use */
    const char *cors_headers; /* the names of the headers that such a page wants to send */
    const char *traceparent;  /* "" if the header occurs twice */
    /* the name of a header above, other than traceparent, that occurs twice; NULL: none does */
    const char *repeated;
    bool needs_host; /* the request is not HTTP/1.0, so it must have the header Host */
    bool has_accept, accepts_json, accepts_events;
    bool accepts_html; /* Accept names HTML: a browser shows the answer */
    /* copies of values that had trailing spaces or tabs; NULL: none, the usual case */
    char *trimmed;
    size_t trimmed_length;
};

/* `version` is the request's, such as "HTTP/1.1". Free with http_headers_finish, on any thread. */
void http_headers_read(struct MHD_Connection *connection, const char *version,
                       struct http_headers *out);
void http_headers_finish(struct http_headers *headers);
/* Whether a Content-Type value has this media type, whatever its parameters are. False if the value
 * is NULL. */
bool http_media_type_is(const char *value, const char *type);
