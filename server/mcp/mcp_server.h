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
    /* borrowed */
    const struct settings *settings;
    const struct services *services;
    const struct tool *const *tools;
    const struct resource *const *resources;
    const struct prompt *const *prompts;
    const struct call_limits *limits;
    struct sessions *sessions;
    struct notifier *notifier;
    struct rate_limit *kept_bytes; /* limits the stored bytes of each principal's events */
    struct workers *workers;       /* for work that blocks for a moment */
    struct workers *waiting;       /* for calls that wait for longer, and for batches */

    /* The key that signs the state that clients send back in the next round of a request. */
    uint8_t sealing_key[DIGEST_BYTES];
    struct telemetry_row **method_rows, **tool_rows; /* in the order of the tables */
    struct param_headers **param_headers;            /* in the order of the tools */
    struct text *tool_descriptions;                  /* in the order of the tools; JSON */
    struct text instructions;
    atomic_bool cancelling; /* set when the calls that are still running are asked to stop */
};
