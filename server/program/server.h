/* SPDX-License-Identifier: Apache-2.0 */
/* The server: its parts, and what each receives from the others. */
#pragma once

#include "base/core/error.h"
#include "server/access/gate.h"
#include "server/http/routes.h"
#include "server/mcp/mcp_server.h"
#include "server/pages/page_server.h"
#include "server/program/metrics_endpoint.h"
#include "server/program/upload.h"

struct authority;

/* Pages have workers of their own, at a lower priority: a page takes tens of milliseconds of CPU
 * time, which would delay agents' calls. */
#define PAGE_WORKERS 2
#define PAGE_WAITING_WORKERS 4
#define PAGE_NICENESS 10

struct server {
    const struct settings *settings; /* borrowed, like the next member */
    const struct services *services;
    struct authority *authority;
    struct sign_ins *sign_ins;
    struct rate_limit *sign_in_attempts; /* limits each network's attempts to sign in */
    struct rate_limit *principals;       /* limits the calls of each principal */
    struct rate_limit *inline_us;        /* limits each principal's time on the HTTP threads */
    struct rate_limit *kept_bytes;       /* limits the stored bytes of each principal's events */
    struct telemetry *telemetry;
    struct workers *workers, *waiting;
    struct workers *pages_workers, *pages_waiting; /* with a lower priority than those for calls */
    struct sessions *sessions;
    struct notifier *notifier;
    bool listening; /* whether jobs and scrapes report to the notifier */
    struct http *http;

    /* What each part receives from the others. */
    struct gate gate;
    struct mcp_server mcp;
    struct uploads uploads;
    struct metrics_sources metrics;
    struct page_server pages;
    struct route_set routes[5]; /* the last is empty */
};

struct server_parts {
    const struct settings *settings;
    const struct services *services;         /* members can be set until the server starts */
    const struct tool *const *tools;         /* ends with NULL */
    const struct resource *const *resources; /* ends with NULL, or is NULL: none */
    const struct prompt *const *prompts;     /* ends with NULL, or is NULL: none */
    const char *instructions;                /* a text for agents; copied */
};

/* Opens the port, but serves nobody yet. Free with server_destroy. */
CHECKED bool server_create(const struct server_parts *parts, struct server **out,
                           struct error *error);
CHECKED bool server_start(struct server *server, struct error *error);
unsigned server_port(const struct server *server);
const char *server_address(const struct server *server); /* "127.0.0.1:8080" */
/* Stops listening, ends long-lived streams, waits at most patience_ms for requests to finish, asks
 * calls that are still running to stop, and closes the connections. */
void server_stop(struct server *server, int64_t patience_ms);
void server_destroy(struct server *server); /* NULL is fine; stops it first */
