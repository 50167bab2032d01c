/* SPDX-License-Identifier: Apache-2.0 */
/* The process's parts, tied together. Everything in server/ may look into it. */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>

#include "base/core/digest.h"
#include "base/core/error.h"
#include "base/core/text.h"
#include "base/net/ip.h"
#include "handlers/prompt.h"
#include "handlers/resource.h"
#include "handlers/tool.h"
#include "server/http/exchange.h"
#include "server/http/listen.h"
#include "server/http/origin.h"
#include "server/program/settings.h"

struct authority;
struct http_loop;
struct notifier;
struct param_headers;
struct rate_limit;
struct sessions;
struct telemetry;
struct telemetry_row;
struct workers;

#define SERVER_NAME                                                                                \
    "\"name\":\"opsbrain\",\"title\":\"opsbrain\",\"version\":\"" OPSBRAIN_VERSION "\""
#define SERVER_INFO "{" SERVER_NAME "}"
/* As sent by initialize since 2025-11-25; the icon is an SVG, a curve on a screen. */
#define SERVER_DETAILS                                                                             \
    "{" SERVER_NAME                                                                                \
    ",\"description\":\"Registers, watches and benchmarks deployments of language "                \
    "models, and tells what the measurements mean.\",\"icons\":[{\"mimeType\":\"image/svg+xml\","  \
    "\"sizes\":[\"any\"],\"src\":\"data:image/svg+xml;base64,"                                     \
    "PHN2ZyB4bWxucz0iaHR0cDovL3d3dy53My5vcmcvMjAwMC9zdmciIHZpZXdCb3g9IjAgMCAyNCAy"                 \
    "NCI+PHJlY3Qgd2lkdGg9IjI0IiBoZWlnaHQ9IjI0IiByeD0iNSIgZmlsbD0iIzEyMjYzYSIvPjxw"                 \
    "YXRoIGQ9Ik0zIDEzaDRsMy04IDQgMTQgMy02aDQiIGZpbGw9Im5vbmUiIHN0cm9rZT0iIzRmZDE4"                 \
    "YiIgc3Ryb2tlLXdpZHRoPSIyIi8+PC9zdmc+"                                                         \
    "\"}]}"

struct server {
    /* lent */
    const struct settings *settings;
    const struct services *services;
    const struct tool *const *tools;
    const struct resource *const *resources;
    const struct prompt *const *prompts;

    struct authority *authority;
    uint8_t sealing_key[DIGEST_BYTES]; /* of what clients carry between the rounds of a request */
    struct sessions *sessions;
    struct notifier *notifier;
    bool listening; /* to the jobs, for the notifier */
    struct rate_limit *addresses, *principals;
    struct rate_limit *inline_us;  /* each principal's time on the HTTP threads */
    struct rate_limit *kept_bytes; /* of each principal's events */
    struct workers *workers, *waiting;
    struct http_loop **loops;
    unsigned loop_count;
    atomic_uint loops_started;
    int *sockets; /* -1 once its loop has it */
    struct listen_address address;
    char address_text[LISTEN_TEXT_SIZE];
    struct origin_rules origin_rules;
    struct ip_networks trusted_proxies;
    int64_t connections_limit; /* the setting, or what the limit of open files leaves */

    struct telemetry *telemetry;
    struct telemetry_row **method_rows, **tool_rows, **route_rows; /* in the order of the tables */
    struct param_headers **param_headers;                          /* in the order of the tools */
    struct text *tool_descriptions;                                /* the same, as JSON */
    struct text instructions;

    char request_prefix[16]; /* "req_" and characters that differ at each start */
    atomic_uint_fast64_t requests;
    atomic_int in_flight; /* requests that are being answered, standing streams apart */
    atomic_int open_streams;
    atomic_int uploads; /* files that are being received or read */
    atomic_int_fast64_t open_connections;
    atomic_bool cancelling; /* calls that still run are asked to stop */
};

struct server_parts {
    const struct settings *settings;
    const struct services *services;         /* complete when the server starts */
    const struct tool *const *tools;         /* ends with NULL */
    const struct resource *const *resources; /* the same; NULL: there are none */
    const struct prompt *const *prompts;     /* the same */
    const char *instructions;                /* copied; for agents */
};

/* Takes the port, but serves nobody yet. Free with server_destroy. */
CHECKED bool server_create(const struct server_parts *parts, struct server **out,
                           struct error *error);
CHECKED bool server_start(struct server *server, struct error *error);
unsigned server_port(const struct server *server);
const char *server_address(const struct server *server); /* "127.0.0.1:8080" */
/* Stops listening, ends standing streams, lets requests finish for at most patience_ms, asks the
 * calls that still run to stop, and closes. */
void server_stop(struct server *server, int64_t patience_ms);
void server_destroy(struct server *server); /* NULL is fine; stops it too */

/* "req_..." of the next request. */
void server_request_id(struct server *server, char out[REQUEST_ID_SIZE]);
const struct tool *server_find_tool(const struct server *server, const char *name);
const struct param_headers *server_param_headers(const struct server *server,
                                                 const struct tool *tool);
struct telemetry_row *server_tool_row(const struct server *server, const struct tool *tool);
