/* SPDX-License-Identifier: Apache-2.0 */
/* Tools that send the client other messages before their answer (progress, log messages, or notices
 * that a list has changed), and one that disconnects before it answers. */

#include <time.h>

#include "fixtures.h"
#include "server/mcp/rpc.h"
#include "server/program/server.h"
#include "server/streams/notifier.h"

static void pause_a_moment(void)
{
    static const struct timespec moment = { .tv_nsec = 50000000 };

    nanosleep(&moment, NULL);
}

static bool notify_progress(struct call *call, struct answer *answer, struct error *error)
{
    (void)error;
    call->progress(call, 0, 100, NULL);
    pause_a_moment();
    call->progress(call, 50, 100, NULL);
    pause_a_moment();
    call->progress(call, 100, 100, NULL);
    text_add(&answer->text, "Done, with progress.");
    return true;
}

static bool notify_log(struct call *call, struct answer *answer, struct error *error)
{
    (void)error;
    call->log_take(call, SEVERITY_INFO, "fixtures", json_string("Tool execution started"));
    pause_a_moment();
    call->log_take(call, SEVERITY_INFO, "fixtures", json_string("Tool processing data"));
    pause_a_moment();
    call->log_take(call, SEVERITY_INFO, "fixtures", json_string("Tool execution completed"));
    text_add(&answer->text, "Done, with log messages.");
    return true;
}

/* Closes the stream, so that the client must reconnect to receive the answer. */
static bool disconnect(struct call *call, struct answer *answer, struct error *error)
{
    (void)error;
    call->close_stream(call);
    pause_a_moment();
    text_add(&answer->text, "Done, after the connection was closed.");
    return true;
}

/* Notifies the list's subscribers of a change, although the list does not change. */
static bool notify_change(struct call *call, enum notifier_list list, struct answer *answer)
{
    const struct rpc *rpc = call->host;

    notifier_list_changed(rpc->server->notifier, list);
    text_add(&answer->text, "Subscribers were notified.");
    return true;
}

static bool notify_of_tools(struct call *call, struct answer *answer, struct error *error)
{
    (void)error;
    return notify_change(call, NOTIFIER_TOOLS, answer);
}

static bool notify_of_prompts(struct call *call, struct answer *answer, struct error *error)
{
    (void)error;
    return notify_change(call, NOTIFIER_PROMPTS, answer);
}

#define NOTIFYING_TOOL .params = fixture_no_params, .read_only = true

const struct tool notifying_tools[] = {
    { .name = "test_tool_with_progress",
      .title = "Progress",
      .help = "Reports its progress.",
      .role = ROLE_VIEWER,
      .placement = PLACE_WAITING,
      .run = notify_progress,
      NOTIFYING_TOOL },
    { .name = "test_tool_with_logging",
      .title = "Log",
      .help = "Sends log messages to the client.",
      .role = ROLE_VIEWER,
      .placement = PLACE_WAITING,
      .run = notify_log,
      NOTIFYING_TOOL },
    { .name = "test_logging_tool",
      .title = "Log, if requested",
      .help = "Sends log messages to clients that requested them.",
      .role = ROLE_VIEWER,
      .placement = PLACE_WAITING,
      .run = notify_log,
      NOTIFYING_TOOL },
    { .name = "test_reconnection",
      .title = "Disconnect",
      .help = "Closes the connection, then answers.",
      .role = ROLE_VIEWER,
      .placement = PLACE_WAITING,
      .run = disconnect,
      NOTIFYING_TOOL },
    { .name = "test_trigger_tool_change",
      .title = "Changed tools",
      .help = "Announces that the list of tools has changed.",
      .role = ROLE_VIEWER,
      .placement = PLACE_INLINE,
      .run = notify_of_tools,
      NOTIFYING_TOOL },
    { .name = "test_trigger_prompt_change",
      .title = "Changed prompts",
      .help = "Announces that the list of prompts has changed.",
      .role = ROLE_VIEWER,
      .placement = PLACE_INLINE,
      .run = notify_of_prompts,
      NOTIFYING_TOOL },
    { 0 },
};
