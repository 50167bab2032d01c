/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of the server that the MCP methods use. */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/core/digest.h"
#include "base/core/text.h"
#include "handlers/prompt.h"
#include "handlers/resource.h"
#include "handlers/tool.h"
#include "server/settings/settings.h"

struct call_limits;
struct notifier;
struct param_headers;
struct rate_limit;
struct sessions;
struct telemetry;
struct telemetry_row;
struct workers;

struct mcp_server {
    /* the members up to `waiting` are borrowed */
    const struct settings *settings;
    const struct services *services;
    const struct tool *const *tools;
    const struct resource *const *resources;
    const struct prompt *const *prompts;
    const struct call_limits *limits;
    struct sessions *sessions;
    struct notifier *notifier;
    struct rate_limit *kept_bytes; /* limits how many bytes of events each principal stores */
    struct workers *workers;       /* for work that blocks for a moment */
    struct workers *waiting;       /* for calls that wait for longer, and for batches */

    /* The key that signs the state that clients send back in the next round of a request
     * (request_state.h). */
    uint8_t sealing_key[DIGEST_BYTES];
    /* `method_rows`: the metrics of each method, in the order of methods[]. `tool_rows`: the
     * metrics of each tool, in the order of `tools`. */
    struct telemetry_row **method_rows, **tool_rows;
    /* for each tool, in the order of `tools`: the arguments that headers repeat; NULL: none */
    struct param_headers **param_headers;
    /* for each tool, in the order of `tools`: what tools/list says about it, as JSON */
    struct text *tool_descriptions;
    struct text instructions;
    atomic_bool cancelling; /* the server is stopping, and cancels the calls that still run */
};
