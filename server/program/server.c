/* SPDX-License-Identifier: Apache-2.0 */
#include "server/program/server.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "base/core/clock.h"
#include "base/core/log.h"
#include "base/core/memory.h"
#include "base/core/random.h"
#include "base/core/workers.h"
#include "handlers/table_check.h"
#include "server/access/authority.h"
#include "server/access/rate_limit.h"
#include "server/http/http_loop.h"
#include "server/http/routes.h"
#include "server/mcp/methods.h"
#include "server/mcp/param_headers.h"
#include "server/streams/notifier.h"
#include "server/streams/session.h"
#include "server/telemetry/telemetry.h"
#include "store/ledger/request_nonces.h"

#define HTTP_THREADS_LIMIT 4
#define CANCEL_PATIENCE_MS 1000
#define INLINE_US_AT_ONCE 50000
#define INLINE_US_PER_S 200000 /* a fifth of a thread */
#define KEPT_BYTES_AT_ONCE (16 << 20)
#define KEPT_BYTES_PER_S (64 << 10) /* they are kept for ten minutes */

static unsigned count_loops(const struct settings *settings)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);

    if (settings->http_threads > 0)
        return (unsigned)settings->http_threads;
    return cores < 1 ? 1 : cores > HTTP_THREADS_LIMIT ? HTTP_THREADS_LIMIT : (unsigned)cores;
}

#define DESCRIPTORS_KEPT 1024

/* One descriptor per connection, and some for the rest: without them nothing could be stored or
 * measured any more. */
static void limit_connections(struct server *server)
{
    int64_t wanted = server->settings->connections, left;
    rlim_t descriptors = (rlim_t)wanted * 2 + DESCRIPTORS_KEPT;
    struct rlimit limit;

    server->connections_limit = wanted;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= descriptors)
        return;
    limit.rlim_cur = limit.rlim_max < descriptors ? limit.rlim_max : descriptors;
    setrlimit(RLIMIT_NOFILE, &limit);
    left = (int64_t)limit.rlim_cur;
    left -= left / 4 < DESCRIPTORS_KEPT ? left / 4 : DESCRIPTORS_KEPT;
    if (left >= wanted)
        return;
    server->connections_limit = left;
    log_warning("the limit of open files (%llu) leaves %lld connections, fewer than the setting "
                "connections (%lld)",
                (unsigned long long)limit.rlim_cur, (long long)left, (long long)wanted);
}

static void add_rows(struct server *server)
{
    size_t method_count = 0, tool_count = 0, route_count = 0;

    while (methods[method_count].name != NULL)
        method_count++;
    while (server->tools[tool_count] != NULL)
        tool_count++;
    while (routes[route_count].path != NULL)
        route_count++;
    server->method_rows = memory_zeroed(method_count, sizeof(struct telemetry_row *));
    server->tool_rows = memory_zeroed(tool_count + 1, sizeof(struct telemetry_row *));
    server->route_rows = memory_zeroed(route_count, sizeof(struct telemetry_row *));
    for (size_t i = 0; i < method_count; i++)
        server->method_rows[i] = telemetry_add_row(server->telemetry, methods[i].name, NULL);
    server->param_headers = memory_zeroed(tool_count + 1, sizeof *server->param_headers);
    for (size_t i = 0; i < tool_count; i++) {
        server->tool_rows[i] =
            telemetry_add_row(server->telemetry, "tools/call", server->tools[i]->name);
        server->param_headers[i] = param_headers_create(server->tools[i]);
    }
    for (size_t i = 0; i < route_count; i++) {
        char name[64];

        snprintf(name, sizeof name, "%s %s", routes[i].verb, routes[i].path);
        server->route_rows[i] = telemetry_add_row(server->telemetry, name, NULL);
    }
}

static const struct resource *const no_resources[] = { NULL };
static const struct prompt *const no_prompts[] = { NULL };

static void prepare(struct server *server, const struct server_parts *parts)
{
    uint32_t boot;

    server->settings = parts->settings;
    server->services = parts->services;
    server->tools = parts->tools;
    server->resources = parts->resources != NULL ? parts->resources : no_resources;
    server->prompts = parts->prompts != NULL ? parts->prompts : no_prompts;
    server->notifier = notifier_create(server);
    random_bytes(&boot, sizeof boot);
    snprintf(server->request_prefix, sizeof server->request_prefix, "req_%08x_", boot);
    atomic_init(&server->requests, 0);
    atomic_init(&server->in_flight, 0);
    atomic_init(&server->open_streams, 0);
    atomic_init(&server->uploads, 0);
    atomic_init(&server->open_connections, 0);
    atomic_init(&server->cancelling, false);
    server->telemetry = telemetry_create();
    add_rows(server);
    server->tool_descriptions = method_tools_describe(parts->tools);
    text_add(&server->instructions, parts->instructions);
    server->loop_count = count_loops(parts->settings);
    server->loops = memory_zeroed(server->loop_count, sizeof *server->loops);
    server->sockets = memory_zeroed(server->loop_count, sizeof *server->sockets);
    for (unsigned i = 0; i < server->loop_count; i++)
        server->sockets[i] = -1;
}

static void prepare_origin_rules(struct server *server)
{
    server->origin_rules = (struct origin_rules){
        .allowed_hosts = server->settings->allowed_hosts,
        .allowed_origins = server->settings->allowed_origins,
        .any_address = !listen_is_loopback(&server->address),
    };
}

static CHECKED bool open_parts(struct server *server, struct error *error)
{
    const struct settings *settings = server->settings;
    struct store *store = server->services->store;
    size_t queue = (size_t)settings->queue_limit;
    const struct session_limits limits = {
        .total = (size_t)settings->sessions,
        .per_principal = (size_t)settings->sessions_per_principal,
        .idle_ms = settings->session_idle_s * 1000,
        .kept_bytes = server->kept_bytes,
    };

    return ip_networks_parse(settings->trusted_proxies, &server->trusted_proxies, error)
           && listen_parse(settings->listen, &server->address, error)
           && authority_create(store, settings->data, settings->auth,
                               listen_is_loopback(&server->address), &server->authority, error)
           && request_nonce_key_load(store, "request_state", server->sealing_key, error)
           && listen_open(&server->address, server->sockets, server->loop_count, error)
           && sessions_create(store, &limits, &server->sessions, error)
           && workers_create("worker", (unsigned)settings->workers, queue, &server->workers, error)
           && workers_create("waiting", (unsigned)settings->waiting_workers, queue,
                             &server->waiting, error);
}

static void create_quotas(struct server *server)
{
    const struct settings *settings = server->settings;

    server->kept_bytes = rate_limit_create(
        (struct rate_limit_limits){ .per_second = KEPT_BYTES_PER_S, .burst = KEPT_BYTES_AT_ONCE });
    server->inline_us = rate_limit_create(
        (struct rate_limit_limits){ .per_second = INLINE_US_PER_S, .burst = INLINE_US_AT_ONCE });
    server->addresses = rate_limit_create(
        (struct rate_limit_limits){ .at_once = settings->connections_per_address });
    server->principals = rate_limit_create((struct rate_limit_limits){
        .at_once = settings->calls_per_principal,
        .per_second = settings->rate_per_principal,
        .burst = settings->burst_per_principal > 0 ? settings->burst_per_principal
                                                   : 2 * settings->rate_per_principal });
}

/* A row that forgot something is refused before anything is served. */
static CHECKED bool check_tables(const struct server_parts *parts, struct error *error)
{
    return methods_check(methods, error) && routes_check(routes, error)
           && table_check_tools(parts->tools, error)
           && (parts->resources == NULL || table_check_resources(parts->resources, error))
           && (parts->prompts == NULL || table_check_prompts(parts->prompts, error));
}

bool server_create(const struct server_parts *parts, struct server **out, struct error *error)
{
    struct server *server;

    if (!check_tables(parts, error))
        return false;
    server = memory_zeroed(1, sizeof *server);
    prepare(server, parts);
    create_quotas(server);
    limit_connections(server);
    if (!open_parts(server, error)) {
        server_destroy(server);
        return false;
    }
    prepare_origin_rules(server);
    listen_format(&server->address, server->address_text);
    *out = server;
    return true;
}

/* Another role may call other tools: subscribers of the list are notified. */
static void check_keys(void *context)
{
    const struct server *server = context;

    notifier_list_changed(server->notifier, NOTIFIER_TOOLS);
    for (unsigned i = 0; i < atomic_load(&server->loops_started); i++)
        http_loop_check_keys(server->loops[i]);
}

bool server_start(struct server *server, struct error *error)
{
    if (!notifier_start(server->notifier, error))
        return false;
    server->listening = server->services->jobs != NULL;
    if (server->listening)
        job_pool_listen(server->services->jobs, notifier_job_moved, server->notifier);
    for (unsigned i = 0; i < server->loop_count; i++) {
        int listen_fd = server->sockets[i];

        server->sockets[i] = -1;
        if (!http_loop_create(server, i, listen_fd, &server->loops[i], error))
            return false;
        atomic_fetch_add(&server->loops_started, 1);
    }
    authority_listen(server->authority, check_keys, server);
    return true;
}

unsigned server_port(const struct server *server)
{
    return listen_port(&server->address);
}

const char *server_address(const struct server *server)
{
    return server->address_text;
}

/* Polls: it happens once in a process's life. */
static void wait_for_requests(struct server *server, int64_t patience_ms)
{
    static const struct timespec moment = { .tv_nsec = 10000000 };
    int64_t end_ns = clock_monotonic_ns() + patience_ms * 1000000;

    while (atomic_load(&server->in_flight) + atomic_load(&server->open_streams) > 0
           && clock_monotonic_ns() < end_ns)
        nanosleep(&moment, NULL);
}

/* Jobs may continue, but nobody is notified any more. */
static void stop_notifying(struct server *server)
{
    if (server->listening)
        job_pool_listen(server->services->jobs, NULL, NULL);
    server->listening = false;
    notifier_stop(server->notifier);
}

void server_stop(struct server *server, int64_t patience_ms)
{
    if (server->authority != NULL)
        authority_listen(server->authority, NULL, NULL);
    stop_notifying(server);
    for (unsigned i = 0; i < atomic_load(&server->loops_started); i++)
        http_loop_drain(server->loops[i]);
    wait_for_requests(server, patience_ms);
    atomic_store(&server->cancelling, true);
    wait_for_requests(server, CANCEL_PATIENCE_MS);
    for (unsigned i = 0; i < atomic_load(&server->loops_started); i++)
        http_loop_stop(server->loops[i]);
    workers_destroy(server->workers);
    workers_destroy(server->waiting);
    server->workers = server->waiting = NULL;
    for (unsigned i = 0; i < atomic_load(&server->loops_started); i++)
        http_loop_destroy(server->loops[i]);
    atomic_store(&server->loops_started, 0);
}

void server_destroy(struct server *server)
{
    if (server == NULL)
        return;
    server_stop(server, 0);
    for (unsigned i = 0; i < server->loop_count; i++)
        if (server->sockets[i] >= 0)
            close(server->sockets[i]);
    notifier_destroy(server->notifier);
    sessions_destroy(server->sessions);
    authority_destroy(server->authority);
    rate_limit_destroy(server->inline_us);
    rate_limit_destroy(server->kept_bytes);
    rate_limit_destroy(server->addresses);
    rate_limit_destroy(server->principals);
    telemetry_destroy(server->telemetry);
    for (size_t i = 0; server->tools[i] != NULL; i++)
        param_headers_destroy(server->param_headers[i]);
    for (size_t i = 0; server->tools[i] != NULL; i++)
        text_finish(&server->tool_descriptions[i]);
    free(server->tool_descriptions);
    text_finish(&server->instructions);
    free(server->method_rows);
    free(server->tool_rows);
    free(server->route_rows);
    free(server->param_headers);
    free(server->loops);
    free(server->sockets);
    free(server);
}

void server_request_id(struct server *server, char out[REQUEST_ID_SIZE])
{
    uint64_t number = atomic_fetch_add_explicit(&server->requests, 1, memory_order_relaxed);

    char *end = stpcpy(out, server->request_prefix);
    int shift = 0;

    while (number >> shift > 15)
        shift += 4;
    for (; shift >= 0; shift -= 4)
        *end++ = "0123456789abcdef"[number >> shift & 15];
    *end = '\0';
}

const struct tool *server_find_tool(const struct server *server, const char *name)
{
    for (size_t i = 0; server->tools[i] != NULL; i++)
        if (strcmp(server->tools[i]->name, name) == 0)
            return server->tools[i];
    return NULL;
}

static size_t index_of(const struct server *server, const struct tool *tool)
{
    size_t i = 0;

    while (server->tools[i] != tool)
        i++;
    return i;
}

const struct param_headers *server_param_headers(const struct server *server,
                                                 const struct tool *tool)
{
    return server->param_headers[index_of(server, tool)];
}

struct telemetry_row *server_tool_row(const struct server *server, const struct tool *tool)
{
    return server->tool_rows[index_of(server, tool)];
}
