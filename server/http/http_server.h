/* SPDX-License-Identifier: Apache-2.0 */
/* The HTTP server: its port and its threads. */
#pragma once

#include "server/http/http.h"

struct telemetry;

struct http_parts {
    const struct settings *settings;
    struct route_set *routes; /* borrowed, like the rest; http_server_create sets their `rows` */
    const struct http_gate *gate;
    void *gate_context;
    http_write_refusal *write_refusal;
    http_reply_page *refuse_browser;
    struct telemetry *telemetry;
};

/* Reads the addresses in the settings, without opening anything, and raises the process's limit on
 * open files if needed. Free with http_server_destroy. */
CHECKED bool http_server_create(const struct http_parts *parts, struct http **out,
                                struct error *error);
bool http_server_is_loopback(const struct http *http);
CHECKED bool http_server_listen(struct http *http, struct error *error); /* opens the port */
/* Starts the threads. False: some threads might be running; http_server_stop ends them. */
CHECKED bool http_server_start(struct http *http, struct error *error);
/* Call it when keys changed: makes the threads check again whether the callers being served are
 * authorized. */
void http_server_check_keys(struct http *http);
/* Makes the threads stop listening and end long-lived streams. Returns at once. */
void http_server_drain(struct http *http);
/* Waits until all requests are answered and all streams closed, or until `patience_ms`
 * milliseconds have passed. */
void http_server_wait(struct http *http, int64_t patience_ms);
/* Closes all connections and joins the threads. Until http_server_close, workers can still post
 * notes for their requests. */
void http_server_stop(struct http *http);
/* Frees what the threads used. From then on, this function and http_server_stop do nothing. */
void http_server_close(struct http *http);
void http_server_destroy(struct http *http); /* NULL is fine */
