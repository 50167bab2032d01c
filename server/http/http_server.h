/* SPDX-License-Identifier: Apache-2.0 */
/* The HTTP server: its port, and a loop per core. */
#pragma once

#include "server/http/http.h"

struct telemetry;

struct http_parts {
    const struct settings *settings;
    struct route_set *routes; /* lent, like the rest; their rows are created here */
    const struct http_gate *gate;
    void *gate_context;
    http_write_refusal *write_refusal;
    http_reply_page *refuse_browser;
    struct telemetry *telemetry;
};

/* Free with http_server_destroy. */
CHECKED bool http_server_create(const struct http_parts *parts, struct http **out,
                                struct error *error);
bool http_server_is_loopback(const struct http *http);
CHECKED bool http_server_listen(struct http *http, struct error *error); /* takes the port */
CHECKED bool http_server_start(struct http *http, struct error *error);
void http_server_check_keys(struct http *http); /* callers being served may no longer be allowed */
/* Stops listening and ends standing streams. Returns at once. */
void http_server_drain(struct http *http);
/* Waits until all requests are answered and all streams closed, or the time is over. */
void http_server_wait(struct http *http, int64_t patience_ms);
/* Closes what is open; workers may still post for their requests until http_server_close. May be
 * called twice, as the next. */
void http_server_stop(struct http *http);
void http_server_close(struct http *http);
void http_server_destroy(struct http *http); /* NULL is fine */
