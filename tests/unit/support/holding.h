/* SPDX-License-Identifier: Apache-2.0 */
/* A tool that occupies its worker until the test lets it answer or the call is cancelled. */
#pragma once

#include "base/core/workers.h"
#include "tests/unit/support/served.h"

static atomic_bool holding_may_answer;

static inline bool holding_run(struct call *call, struct answer *answer, struct error *error)
{
    bool answered;

    atomic_fetch_add(&served_running, 1);
    while (!atomic_load(&holding_may_answer) && !call->cancelled(call->host))
        served_sleep_ms(2);
    answered = served_echo(call, answer, error);
    atomic_fetch_sub(&served_running, 1);
    return answered;
}

static const struct tool holding_tool = {
    .name = "hold",
    .title = "Hold",
    .help = "Answers when the test lets it.",
    .params = served_echo_params,
    .fields = served_echo_fields,
    .role = ROLE_VIEWER,
    .placement = PLACE_WORKER,
    .read_only = true,
    .run = holding_run,
};

/* Waits up to five seconds until at least `count` calls are queued for a worker. Returns whether
 * exactly `count` are queued then. */
static inline bool holding_queue_reaches(const struct served *served, size_t count)
{
    int64_t end_ns = clock_monotonic_ns() + INT64_C(5000000000);

    while (workers_queued(served->server->workers) < count && clock_monotonic_ns() < end_ns)
        served_sleep_ms(2);
    return workers_queued(served->server->workers) == count;
}

#define HOLDING_CALL                                                                               \
    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"hold\"}}"
