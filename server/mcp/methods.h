/* SPDX-License-Identifier: Apache-2.0 */
/* The JSON-RPC methods of both eras: one table. */
#pragma once

#include "server/mcp/rpc.h"

extern const struct method methods[];                             /* ends with a NULL name */
const struct method *method_find(const char *name, enum era era); /* NULL if that era has none */

/* Whether each row is complete. INTERNAL names the row and what it lacks. */
CHECKED bool methods_check(const struct method *table, struct error *error);

/* The rows' functions, by file. */
bool method_initialize_run(struct rpc *rpc); /* method_initialize.c */
bool method_initialize_discover_run(struct rpc *rpc);
bool method_tools_list_prepare(struct rpc *rpc); /* method_tools.c */
bool method_tools_list_run(struct rpc *rpc);
bool method_tools_call_prepare(struct rpc *rpc);
bool method_tools_call_run(struct rpc *rpc);
struct call
rpc_make_call(struct rpc *rpc); /* by the message's `arguments`, its client and sender */
/* The result of a call that failed: an answer for the agent, not a protocol error. */
void method_tools_write_error(struct rpc *rpc, const struct error *error);
bool method_listen_prepare(struct rpc *rpc); /* method_listen.c */
bool method_listen_run(struct rpc *rpc);
bool method_resources_list_run(struct rpc *rpc); /* method_resources.c */
bool method_resources_templates_run(struct rpc *rpc);
bool method_resources_read_prepare(struct rpc *rpc);
bool method_resources_read_run(struct rpc *rpc);
bool method_resources_subscribe_run(struct rpc *rpc);
bool method_resources_unsubscribe_run(struct rpc *rpc);
bool method_prompts_list_run(struct rpc *rpc); /* method_prompts.c */
bool method_prompts_get_run(struct rpc *rpc);
bool method_completion_run(struct rpc *rpc); /* method_completion.c */
bool method_tasks_get_run(struct rpc *rpc);  /* method_tasks.c */
bool method_tasks_update_run(struct rpc *rpc);
bool method_tasks_cancel_run(struct rpc *rpc);

/* Whether the client declared, with this request, that it supports tasks. */
bool method_tasks_known(const struct rpc *rpc);
bool method_tasks_require(struct rpc *rpc); /* false: it did not, and rpc_fail was called */
/* Makes the job's task the result of the call that started it. False: it cannot be read now. */
bool method_tasks_answer_call(struct rpc *rpc, const char *job_id);
/* Makes a stored result (its members) the answer: a task, if it was one. */
void method_tasks_repeat(struct rpc *rpc, const char *kept);

/* Members of the lists and of initialize's result, made once at start. */
struct text *
method_tools_describe(const struct tool *const *table); /* a text each; text_finish, free */
