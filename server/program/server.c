/* SPDX-License-Identifier: Apache-2.0 */
#include "server/program/server.h"

#include <stdlib.h>

#include "base/core/memory.h"
#include "base/core/rate_limit.h"
#include "base/core/workers.h"
#include "handlers/table_check.h"
#include "jobs/job_pool.h"
#include "server/access/authority.h"
#include "server/access/sign_ins.h"
#include "server/http/http_server.h"
#include "server/mcp/mcp.h"
#include "server/mcp/mcp_setup.h"
#include "server/mcp/mcp_task.h"
#include "server/mcp/methods.h"
#include "server/pages/page_refusal.h"
#include "server/pages/page_routes.h"
#include "server/program/probes.h"
#include "server/streams/notifier.h"
#include "server/streams/session.h"
#include "server/telemetry/telemetry.h"

#define CANCEL_PATIENCE_MS 1000
#define INLINE_US_AT_ONCE 50000
#define INLINE_US_PER_S 200000 /* a fifth of an HTTP thread */
#define SIGN_INS_PER_S 1       /* attempts to sign in from one network */
#define SIGN_INS_AT_ONCE 10
#define KEPT_BYTES_AT_ONCE (16 << 20)
#define KEPT_BYTES_PER_S (64 << 10) /* of a principal's events; each is stored for ten minutes */

static const struct resource *const no_resources[] = { NULL };
static const struct prompt *const no_prompts[] = { NULL };

static void create_limits(struct server *server)
{
    const struct settings *settings = server->settings;

    server->kept_bytes = rate_limit_create(
        (struct rate_limit_limits){ .per_second = KEPT_BYTES_PER_S, .burst = KEPT_BYTES_AT_ONCE });
    server->inline_us = rate_limit_create(
        (struct rate_limit_limits){ .per_second = INLINE_US_PER_S, .burst = INLINE_US_AT_ONCE });
    server->sign_in_attempts = rate_limit_create(
        (struct rate_limit_limits){ .per_second = SIGN_INS_PER_S, .burst = SIGN_INS_AT_ONCE });
    server->principals = rate_limit_create((struct rate_limit_limits){
        .at_once = settings->calls_per_principal,
        .per_second = settings->rate_per_principal,
        .burst = settings->burst_per_principal > 0 ? settings->burst_per_principal
                                                   : 2 * settings->rate_per_principal });
}

static void list_routes(struct server *server)
{
    server->routes[0] = (struct route_set){ .routes = mcp_routes, .context = &server->mcp };
    server->routes[1] = (struct route_set){ .routes = upload_routes, .context = &server->uploads };
    server->routes[2] = (struct route_set){ .routes = probe_routes, .context = &server->metrics };
    server->routes[3] = (struct route_set){ .routes = page_routes_create(&server->pages),
                                            .context = &server->pages };
}

static CHECKED bool create_http(struct server *server, struct error *error)
{
    const struct http_parts parts = {
        .settings = server->settings,
        .routes = server->routes,
        .gate = &gate_functions,
        .gate_context = &server->gate,
        .write_refusal = mcp_write_refusal,
        .refuse_browser = page_refusal_reply,
        .telemetry = server->telemetry,
    };

    list_routes(server);
    return http_server_create(&parts, &server->http, error);
}

/* Reads the keys and opens the port. Until server_start, clients that connect get no answer. */
static CHECKED bool open_access(struct server *server, struct error *error)
{
    const struct settings *settings = server->settings;
    struct store *store = server->services->store;

    if (!authority_create(store, settings->data, settings->auth,
                          http_server_is_loopback(server->http), &server->authority, error))
        return false;
    server->gate = (struct gate){
        .store = store,
        .authority = server->authority,
        .limits = { .settings = settings,
                    .authority = server->authority,
                    .principals = server->principals,
                    .inline_us = server->inline_us },
    };
    return http_server_listen(server->http, error);
}

static CHECKED bool open_sessions(struct server *server, struct error *error)
{
    const struct settings *settings = server->settings;
    const struct session_limits limits = {
        .versions = mcp_legacy_versions,
        .total = (size_t)settings->sessions,
        .per_principal = (size_t)settings->sessions_per_principal,
        .idle_ms = settings->session_idle_s * 1000,
        .kept_bytes = server->kept_bytes,
    };

    return sessions_create(server->services->store, &limits, &server->sessions, error);
}

static CHECKED bool open_sign_ins(struct server *server, struct error *error)
{
    const struct sign_in_limits limits = {
        .idle_ms = server->settings->sign_in_idle_s * 1000,
        .lifetime_ms = server->settings->sign_in_s * 1000,
    };

    return sign_ins_create(server->services->store, server->authority, limits, &server->sign_ins,
                           error);
}

static CHECKED bool open_workers(struct server *server, struct error *error)
{
    const struct settings *settings = server->settings;
    size_t queue = (size_t)settings->queue_limit;

    return workers_create("worker", (unsigned)settings->workers, queue, 0, &server->workers, error)
           && workers_create("waiting", (unsigned)settings->waiting_workers, queue, 0,
                             &server->waiting, error)
           && workers_create("page", PAGE_WORKERS, queue, PAGE_NICENESS, &server->pages_workers,
                             error)
           && workers_create("page-wait", PAGE_WAITING_WORKERS, queue, PAGE_NICENESS,
                             &server->pages_waiting, error);
}

static CHECKED bool show_task(void *context, const char *id, const char *base_url, json_t **out,
                              struct error *error)
{
    return mcp_task_show(context, id, base_url, out, error);
}

static void connect_parts(struct server *server, const struct server_parts *parts)
{
    const struct resource *const *shown =
        parts->resources != NULL ? parts->resources : no_resources;
    const struct notifier_parts notifier_parts = { .store = parts->services->store,
                                                   .sessions = server->sessions,
                                                   .resources = shown,
                                                   .show_task = show_task,
                                                   .show_context = &server->mcp };

    server->notifier = notifier_create(&notifier_parts);
    sign_ins_listen(server->sign_ins, notifier_unwatch, server->notifier);
    server->mcp = (struct mcp_server){
        .settings = parts->settings,
        .services = parts->services,
        .tools = parts->tools,
        .resources = shown,
        .prompts = parts->prompts != NULL ? parts->prompts : no_prompts,
        .limits = &server->gate.limits,
        .sessions = server->sessions,
        .notifier = server->notifier,
        .kept_bytes = server->kept_bytes,
        .workers = server->workers,
        .waiting = server->waiting,
    };
    server->uploads = (struct uploads){ .settings = parts->settings,
                                        .services = parts->services,
                                        .notifier = server->notifier,
                                        .workers = server->workers };
    server->pages.settings = parts->settings;
    server->pages.services = parts->services;
    server->pages.authority = server->authority;
    server->pages.sign_ins = server->sign_ins;
    server->pages.sign_in_attempts = server->sign_in_attempts;
    server->pages.notifier = server->notifier;
    server->pages.workers = server->pages_workers;
    server->pages.waiting = server->pages_waiting;
    server->metrics = (struct metrics_sources){ .services = parts->services,
                                                .http = server->http,
                                                .sessions = server->sessions,
                                                .telemetry = server->telemetry,
                                                .workers = server->workers,
                                                .waiting = server->waiting,
                                                .pages_workers = server->pages_workers,
                                                .pages_waiting = server->pages_waiting };
}

static CHECKED bool open_parts(struct server *server, const struct server_parts *parts,
                               struct error *error)
{
    if (!create_http(server, error) || !open_access(server, error) || !open_sessions(server, error)
        || !open_sign_ins(server, error) || !open_workers(server, error))
        return false;
    connect_parts(server, parts);
    return mcp_setup(&server->mcp, server->telemetry, parts->instructions, error);
}

/* Fails if a row of one of the tables is incomplete. */
static CHECKED bool check_tables(const struct server_parts *parts, struct error *error)
{
    return methods_check(methods, error) && routes_check(mcp_routes, error)
           && routes_check(upload_routes, error) && routes_check(probe_routes, error)
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
    server->settings = parts->settings;
    server->services = parts->services;
    server->telemetry = telemetry_create();
    create_limits(server);
    if (!open_parts(server, parts, error)) {
        server_destroy(server);
        return false;
    }
    *out = server;
    return true;
}

/* Called when keys or roles might have changed. A caller's list of tools might now be different,
 * and a caller that is being served might have lost its access. */
static void check_keys(void *context)
{
    const struct server *server = context;

    notifier_list_changed(server->notifier, NOTIFIER_TOOLS);
    http_server_check_keys(server->http);
}

/* Lets jobs and scrapes report to `notifier`. NULL: from now on, nobody is notified. */
static void listen_to_services(struct server *server, struct notifier *notifier)
{
    const struct services *services = server->services;

    server->listening = notifier != NULL;
    if (services->jobs != NULL)
        job_pool_listen(services->jobs, notifier != NULL ? notifier_job_moved : NULL, notifier);
    if (services->scraper != NULL)
        scraper_listen(services->scraper, notifier != NULL ? notifier_scraped : NULL, notifier);
}

bool server_start(struct server *server, struct error *error)
{
    if (!notifier_start(server->notifier, error))
        return false;
    listen_to_services(server, server->notifier);
    if (!http_server_start(server->http, error))
        return false;
    authority_listen(server->authority, check_keys, server);
    return true;
}

unsigned server_port(const struct server *server)
{
    return listen_port(&server->http->address);
}

const char *server_address(const struct server *server)
{
    return server->http->address_text;
}

/* Jobs may continue, but from now on, nobody is notified of their progress. */
static void stop_notifying(struct server *server)
{
    if (server->listening)
        listen_to_services(server, NULL);
    if (server->notifier != NULL)
        notifier_stop(server->notifier);
}

void server_stop(struct server *server, int64_t patience_ms)
{
    if (server->authority != NULL)
        authority_listen(server->authority, NULL, NULL);
    stop_notifying(server);
    if (server->http == NULL)
        return;
    http_server_drain(server->http);
    http_server_wait(server->http, patience_ms);
    atomic_store(&server->mcp.cancelling, true);
    http_server_wait(server->http, CANCEL_PATIENCE_MS);
    http_server_stop(server->http);
    workers_destroy(server->workers);
    workers_destroy(server->waiting);
    workers_destroy(server->pages_workers);
    workers_destroy(server->pages_waiting);
    server->workers = server->waiting = server->pages_workers = server->pages_waiting = NULL;
    http_server_close(server->http);
}

void server_destroy(struct server *server)
{
    if (server == NULL)
        return;
    server_stop(server, 0);
    http_server_destroy(server->http);
    notifier_destroy(server->notifier);
    sessions_destroy(server->sessions);
    sign_ins_destroy(server->sign_ins);
    authority_destroy(server->authority);
    rate_limit_destroy(server->sign_in_attempts);
    rate_limit_destroy(server->inline_us);
    rate_limit_destroy(server->kept_bytes);
    rate_limit_destroy(server->principals);
    telemetry_destroy(server->telemetry);
    mcp_setup_finish(&server->mcp);
    page_routes_finish(&server->pages);
    free(server);
}
