/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/simserve/control.h"

#include <string.h>

#include "base/core/clock.h"
#include "tests/simserve/api.h"
#include "tests/simserve/summary.h"

#define TRUTH_LINES_PER_ANSWER 100000

static void respond_json_text(struct connection *connection, const struct text *body)
{
    api_respond(connection, 200, "application/json", NULL, text_string(body), body->length);
}

void control_config_show(struct connection *connection)
{
    api_respond_json_take(connection, 200, config_show(&connection->server->config));
}

void control_config_apply(struct connection *connection)
{
    struct server *server = connection->server;
    json_auto_t *body = NULL;
    struct error error;

    if (!api_read_json(connection, &body))
        return;
    if (!config_apply(&server->config, body, &error)) {
        api_respond_failure(connection, &error);
        return;
    }
    model_admit(server);
    control_config_show(connection);
}

void control_truth(struct connection *connection)
{
    const struct server *server = connection->server;
    const char *query = connection->request.query;
    int64_t since = http_query_integer(query, "since", 0);
    int64_t limit = http_query_integer(query, "limit", TRUTH_LINES_PER_ANSWER);
    TEXT_AUTO body = { 0 };

    if (limit < 0 || limit > TRUTH_LINES_PER_ANSWER)
        limit = TRUTH_LINES_PER_ANSWER;
    truth_write_lines(server->truth, since > 0 ? (uint64_t)since : 0, (size_t)limit,
                      server->config.truth_chunks, &body);
    api_respond(connection, 200, "application/x-ndjson", NULL, text_string(&body), body.length);
}

void control_lag(struct connection *connection)
{
    TEXT_AUTO body = { 0 };

    truth_write_lag(connection->server->truth, &body);
    respond_json_text(connection, &body);
}

void control_summary(struct connection *connection)
{
    const char *query = connection->request.query;
    int64_t from_ns = http_query_integer(query, "from_ns", 0);
    int64_t to_ns = http_query_integer(query, "to_ns", clock_monotonic_ns());
    TEXT_AUTO body = { 0 };

    summary_write(connection->server, from_ns, to_ns, &body);
    respond_json_text(connection, &body);
}

/* Clears the truth, the counters, and the model's caches and warm shapes (model_cool), and restarts
 * the random draws for jitter and faults. Settings and running sequences are kept. */
void control_reset(struct connection *connection)
{
    struct server *server = connection->server;

    truth_clear(server->truth);
    memset(&server->metrics, 0, sizeof server->metrics);
    model_cool(server);
    server->requests = 0;
    api_respond(connection, 200, "application/json", NULL, "{}", 2);
}
