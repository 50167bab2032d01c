/* SPDX-License-Identifier: Apache-2.0 */
/* The table of the JSON-RPC methods of both eras. */
#pragma once

#include "server/mcp/rpc.h"

extern const struct method methods[]; /* ends with a NULL name */
/* NULL: the era has no such method. */
const struct method *method_find(const char *name, enum era era);

/* Checks that each row has an era and a placement. INTERNAL: the message names the row and what it
 * lacks. */
CHECKED bool methods_check(const struct method *table, struct error *error);

/* The functions of the rows, by file. */
bool method_initialize_run(struct rpc *rpc); /* method_initialize.c */
bool method_initialize_discover_run(struct rpc *rpc);
bool method_tools_list_prepare(struct rpc *rpc); /* method_tools.c */
bool method_tools_list_run(struct rpc *rpc);
bool method_tools_call_prepare(struct rpc *rpc);
bool method_tools_call_run(struct rpc *rpc);
/* The message as a call: its arguments, caller and client, and the callbacks for its handler. */
struct call method_make_call(struct rpc *rpc);
/* Makes the failure of a call its result: an answer for the agent, not a protocol error. */
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
/* Refuses a message whose client did not declare that it supports tasks. False: rpc_fail was
 * called. */
bool method_tasks_require(struct rpc *rpc);
/* Makes the job's task the result of the call that started it. False: the job cannot be read now.
 */
bool method_tasks_answer_call(struct rpc *rpc, const char *job_id);
/* Makes a stored result the answer: `stored` has its members, without braces. If they are those of
 * a task, the type of the result is "task" again. */
void method_tasks_repeat(struct rpc *rpc, const char *stored);

/* What tools/list says of each tool of the table, made once at start: a text for each; the caller
 * frees them with text_finish, and the array. */
struct text *method_tools_describe(const struct tool *const *table);
