/* SPDX-License-Identifier: Apache-2.0 */
/* The request headers that the server uses. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct MHD_Connection;

struct http_headers {
    /* Borrowed from the connection: the HTTP thread's, gone with the request. NULL: absent. */
    const char *host, *origin, *authorization, *content_type, *expect;
    const char *session, *protocol_version, *method, *name; /* the Mcp- ones */
    const char *last_event;                                 /* Last-Event-ID */
    const char *if_none_match;
    const char *content_length;
    const char *cors_verb,
        *cors_headers;       /* the headers that a page of another origin wants to send */
    const char *traceparent; /* "" if it came twice */
    const char *repeated;    /* the name of one of the above that came twice */
    bool needs_host;         /* as all do since HTTP/1.1 */
    bool has_accept, accepts_json, accepts_events;
    bool accepts_html; /* said so: a browser that shows the answer */
    char *trimmed; /* copies of values that had blanks at their end; NULL: none, the usual case */
    size_t trimmed_length;
};

/* `version`: "HTTP/1.1". To be finished, by any thread. */
void http_headers_read(struct MHD_Connection *connection, const char *version,
                       struct http_headers *out);
void http_headers_finish(struct http_headers *headers);
/* Media type of a Content-Type value, whatever its parameters? */
bool http_media_type_is(const char *value, const char *type);
