/* SPDX-License-Identifier: Apache-2.0 */
/* Jobs in the form that MCP's tasks extension defines: a task's id is its job's id. */
#pragma once

#include <jansson.h>

#include "store/ledger/jobs.h"

struct mcp_server;

#define TASKS_EXTENSION "io.modelcontextprotocol/tasks"

/* The task without its result: the answer to the call that started the job. New reference. */
json_t *mcp_task_seed(const struct mcp_server *server, const struct job *job);
/* The task in full, with its result, error or open questions. `base_url` is as in struct call.
 * NOT_FOUND: there is no such job. New reference. */
CHECKED bool mcp_task_show(const struct mcp_server *server, const char *id, const char *base_url,
                           json_t **out, struct error *error);
