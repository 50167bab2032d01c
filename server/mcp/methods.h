/* SPDX-License-Identifier: Apache-2.0 */
/* The table of the JSON-RPC methods of both protocol eras (rpc.h). */
#pragma once

#include "server/mcp/rpc.h"

extern const struct method methods[]; /* ends with a row whose name is NULL */
/* NULL: the era has no such method. */
const struct method *method_find(const char *name, enum era era);

/* Checks that each row has an era and a placement. INTERNAL: the message names the row and what it
 * lacks. */
CHECKED bool methods_check(const struct method *table, struct error *error);

/* The functions in the rows of the table, grouped by file. */
bool method_initialize_run(struct rpc *rpc); /* method_initialize.c */
bool method_initialize_discover_run(struct rpc *rpc);
bool method_tools_list_prepare(struct rpc *rpc); /* method_tools.c */
bool method_tools_list_run(struct rpc *rpc);
bool method_tools_call_prepare(struct rpc *rpc);
bool method_tools_call_run(struct rpc *rpc);
/* The message as a call: its arguments, caller and client, and the callbacks for its handler. */
struct call method_make_call(struct rpc *rpc);
/* Writes a call's error as its result: agents see a result, but not always a protocol error. */
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
/* Refuses the message if the client did not declare that it supports tasks. False: rpc_fail was
 * called. */
bool method_tasks_require(struct rpc *rpc);
/* Answers a call that started a job: the answer is the job's task. False: the job cannot be read
 * now, and the call was not answered. */
bool method_tasks_answer_call(struct rpc *rpc, const char *job_id);
/* Answers with a stored result. `stored`: the result's members as JSON, without braces. If the
 * result was a task, its type is "task" again. */
void method_tasks_repeat(struct rpc *rpc, const char *stored);

/* Returns an array with what tools/list says about each tool in the table; called once, when the
 * server starts. The caller frees each text with text_finish, then the array. */
struct text *method_tools_describe(const struct tool *const *table);
