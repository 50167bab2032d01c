/* SPDX-License-Identifier: Apache-2.0 */
#include "server/http/http_server.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "base/core/clock.h"
#include "base/core/log.h"
#include "base/core/memory.h"
#include "base/core/random.h"
#include "base/core/rate_limit.h"
#include "server/http/http_loop.h"
#include "server/http/http_thread.h"
#include "server/http/routes.h"
#include "server/telemetry/telemetry.h"

#define DEFAULT_THREADS_LIMIT 4

static unsigned count_loops(const struct settings *settings)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);

    if (settings->http_threads > 0)
        return (unsigned)settings->http_threads;
    return cores < 1 ? 1 : cores > DEFAULT_THREADS_LIMIT ? DEFAULT_THREADS_LIMIT : (unsigned)cores;
}

/* This many file descriptors, or a quarter of the limit on open files if that is less, are kept for
 * everything besides connections: without them, nothing could be stored or measured. */
#define DESCRIPTORS_KEPT 1024

/* Raises the limit on open files generously, or as far as the system allows. If that is too low for
 * all connections, lowers the limit on connections. */
static void limit_connections(struct http *http)
{
    int64_t wanted = http->settings->connections, left;
    rlim_t descriptors = (rlim_t)wanted * 2 + DESCRIPTORS_KEPT;
    struct rlimit limit;

    http->connections_limit = wanted;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= descriptors)
        return;
    limit.rlim_cur = limit.rlim_max < descriptors ? limit.rlim_max : descriptors;
    setrlimit(RLIMIT_NOFILE, &limit);
    left = (int64_t)limit.rlim_cur;
    left -= left / 4 < DESCRIPTORS_KEPT ? left / 4 : DESCRIPTORS_KEPT;
    if (left >= wanted)
        return;
    http->connections_limit = left;
    log_warning("the limit on open files (%llu) allows %lld connections, fewer than the setting "
                "connections (%lld)",
                (unsigned long long)limit.rlim_cur, (long long)left, (long long)wanted);
}

static void add_rows(struct route_set *set, struct telemetry *telemetry)
{
    size_t count = 0;

    while (set->routes[count].path != NULL)
        count++;
    set->rows = memory_zeroed(count, sizeof(struct telemetry_row *));
    for (size_t i = 0; i < count; i++) {
        char name[64];

        snprintf(name, sizeof name, "%s %s", set->routes[i].verb, set->routes[i].path);
        set->rows[i] = telemetry_add_row(telemetry, name, NULL);
    }
}

static void prepare(struct http *http, const struct http_parts *parts)
{
    uint32_t boot;

    http->settings = parts->settings;
    http->routes = parts->routes;
    http->gate = parts->gate;
    http->gate_context = parts->gate_context;
    http->write_refusal = parts->write_refusal;
    http->refuse_browser = parts->refuse_browser;
    random_bytes(&boot, sizeof boot);
    snprintf(http->request_prefix, sizeof http->request_prefix, "req_%08x_", boot);
    atomic_init(&http->requests, 0);
    atomic_init(&http->in_flight, 0);
    atomic_init(&http->open_streams, 0);
    atomic_init(&http->open_connections, 0);
    atomic_init(&http->loops_started, 0);
    for (struct route_set *set = parts->routes; set->routes != NULL; set++)
        add_rows(set, parts->telemetry);
    http->addresses = rate_limit_create(
        (struct rate_limit_limits){ .at_once = http->settings->connections_per_address });
    http->loop_count = count_loops(parts->settings);
    http->loops = memory_zeroed(http->loop_count, sizeof *http->loops);
    http->sockets = memory_zeroed(http->loop_count, sizeof *http->sockets);
    for (unsigned i = 0; i < http->loop_count; i++)
        http->sockets[i] = -1;
}

bool http_server_create(const struct http_parts *parts, struct http **out, struct error *error)
{
    struct http *http = memory_zeroed(1, sizeof *http);

    prepare(http, parts);
    limit_connections(http);
    if (!ip_networks_parse(http->settings->trusted_proxies, &http->trusted_proxies, error)
        || !listen_parse(http->settings->listen, &http->address, error)) {
        http_server_destroy(http);
        return false;
    }
    http->origin_rules = (struct origin_rules){
        .allowed_hosts = http->settings->allowed_hosts,
        .allowed_origins = http->settings->allowed_origins,
        .any_address = !listen_is_loopback(&http->address),
    };
    *out = http;
    return true;
}

bool http_server_is_loopback(const struct http *http)
{
    return listen_is_loopback(&http->address);
}

bool http_server_listen(struct http *http, struct error *error)
{
    if (!listen_open(&http->address, http->sockets, http->loop_count, error))
        return false;
    listen_format(&http->address, http->address_text);
    return true;
}

bool http_server_start(struct http *http, struct error *error)
{
    for (unsigned i = 0; i < http->loop_count; i++) {
        int listen_fd = http->sockets[i];

        http->sockets[i] = -1;
        if (!http_thread_create(http, i, listen_fd, &http->loops[i], error))
            return false;
        atomic_fetch_add(&http->loops_started, 1);
    }
    return true;
}

static void each_loop(struct http *http, void (*work)(struct http_loop *loop))
{
    for (unsigned i = 0; i < atomic_load(&http->loops_started); i++)
        work(http->loops[i]);
}

void http_server_check_keys(struct http *http)
{
    each_loop(http, http_loop_check_keys);
}

void http_server_drain(struct http *http)
{
    each_loop(http, http_thread_drain);
}

/* Simply polls, because this runs only when the server stops. */
void http_server_wait(struct http *http, int64_t patience_ms)
{
    static const struct timespec moment = { .tv_nsec = 10000000 };
    int64_t end_ns = clock_monotonic_ns() + patience_ms * 1000000;

    while (atomic_load(&http->in_flight) + atomic_load(&http->open_streams) > 0
           && clock_monotonic_ns() < end_ns)
        nanosleep(&moment, NULL);
}

void http_server_stop(struct http *http)
{
    each_loop(http, http_thread_stop);
}

void http_server_close(struct http *http)
{
    each_loop(http, http_thread_destroy);
    atomic_store(&http->loops_started, 0);
}

void http_server_destroy(struct http *http)
{
    if (http == NULL)
        return;
    for (unsigned i = 0; i < http->loop_count; i++)
        if (http->sockets[i] >= 0)
            close(http->sockets[i]);
    for (const struct route_set *set = http->routes; set->routes != NULL; set++)
        free(set->rows);
    rate_limit_destroy(http->addresses);
    free(http->loops);
    free(http->sockets);
    free(http);
}
