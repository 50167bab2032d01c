/* SPDX-License-Identifier: Apache-2.0 */
/* The request headers that the server uses. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct MHD_Connection;

struct http_headers {
    /* Only for the HTTP thread, and valid as long as the request: borrowed from libmicrohttpd or
     * the exchange, or copies in `trimmed`. NULL: absent. */
    const char *host, *origin, *authorization, *content_type, *expect;
    const char *session, *protocol_version, *method, *name; /* the Mcp- ones */
    const char *last_event;                                 /* Last-Event-ID */
    const char *if_none_match;
    const char *content_length;
    const char *cors_verb, *cors_headers; /* what a page of another origin wants to send */
    const char *traceparent;              /* "" if the header came twice */
    const char *repeated; /* the name of a header above that came twice; never traceparent */
    bool needs_host;      /* the request must have Host: it is not of HTTP/1.0 */
    bool has_accept, accepts_json, accepts_events;
    bool accepts_html; /* Accept names HTML: a browser shows the answer */
    char *trimmed; /* copies of values that had blanks at their end; NULL: none, the usual case */
    size_t trimmed_length;
};

/* `version`: such as "HTTP/1.1". Free with http_headers_finish, on any thread. */
void http_headers_read(struct MHD_Connection *connection, const char *version,
                       struct http_headers *out);
void http_headers_finish(struct http_headers *headers);
/* Whether a Content-Type value has this media type, whatever its parameters are. NULL: false. */
bool http_media_type_is(const char *value, const char *type);
