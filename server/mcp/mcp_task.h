/* SPDX-License-Identifier: Apache-2.0 */
/* Presents jobs as tasks, as MCP's tasks extension defines them. A task's id is its job's id. */
#pragma once

#include <jansson.h>

#include "store/ledger/jobs.h"

struct mcp_server;

#define TASKS_EXTENSION "io.modelcontextprotocol/tasks"

/* The task without its result: the answer to the call that started the job. New reference. */
json_t *mcp_task_seed(const struct mcp_server *server, const struct job *job);
/* *out: the task in full, with its result, error or open questions; new reference. `base_url` is as
 * in struct call. NOT_FOUND: there is no such job. */
CHECKED bool mcp_task_show(const struct mcp_server *server, const char *id, const char *base_url,
                           json_t **out, struct error *error);
