/* SPDX-License-Identifier: Apache-2.0 */
#include "server/program/probes.h"

#include "base/core/text.h"
#include "handlers/tool.h"
#include "server/http/exchange.h"
#include "server/program/metrics_endpoint.h"
#include "store/ledger/disk_space.h"
#include "store/ledger/store.h"

static void serve_health(struct exchange *exchange)
{
    exchange_reply_text(exchange, 200, "ok");
}

static void check_ready(struct exchange *exchange)
{
    const struct metrics_sources *sources = exchange->context;
    struct store *store = sources->services->store;
    struct error error;

    if (!store_check(store, &error))
        exchange_reply_text(exchange, 503, "not ready: %s", error.message);
    else if (!disk_space_check(store, &error))
        exchange_reply_text(exchange, 200, "ready, but %s", error.message);
    else
        exchange_reply_text(exchange, 200, "ready");
}

static void write_metrics(struct exchange *exchange)
{
    struct text body = { 0 };

    metrics_endpoint_write(exchange->context, &body);
    exchange_reply(exchange, 200, "text/plain; version=0.0.4; charset=utf-8", &body);
}

static void submit(struct exchange *exchange, void (*work)(struct exchange *exchange))
{
    const struct metrics_sources *sources = exchange->context;
    struct error error;

    if (!exchange_submit(exchange, sources->workers, work, &error))
        exchange_reply_text(exchange, 503, "%s", error.message);
}

static void serve_ready(struct exchange *exchange)
{
    submit(exchange, check_ready);
}

static void serve_metrics(struct exchange *exchange)
{
    submit(exchange, write_metrics);
}

const struct route probe_routes[] = {
    { "GET", "/health", .open = true, .quiet = true, .serve = serve_health },
    { "GET", "/ready", .open = true, .quiet = true, .serve = serve_ready },
    { "GET", "/metrics", .quiet = true, .role = ROLE_VIEWER, .serve = serve_metrics },
    { 0 },
};
