/* SPDX-License-Identifier: Apache-2.0 */
/* The tasks extension of revision 2026-07-28: tasks/get, tasks/update, tasks/cancel, and calls that
 * are answered with a task. The experimental tasks of revision 2025-11-25 are different, and are
 * not supported. */

#include <stdlib.h>
#include <string.h>

#include "base/core/log.h"
#include "base/core/memory.h"
#include "base/json/json.h"
#include "handlers/answer.h"
#include "handlers/jobs/task_calls.h"
#include "server/http/exchange.h"
#include "server/mcp/input_request.h"
#include "server/mcp/mcp.h"
#include "server/mcp/mcp_server.h"
#include "server/mcp/mcp_task.h"
#include "server/mcp/methods.h"
#include "server/mcp/protocol.h"
#include "store/ledger/questions.h"

#define ANSWERS_LIMIT 64 /* maximum number of answers in one tasks/update */

bool method_tasks_known(const struct rpc *rpc)
{
    const json_t *capabilities = json_object_get(rpc_meta(rpc), MCP_META_CAPABILITIES);
    const json_t *extensions = json_object_get(capabilities, "extensions");

    return rpc->era == ERA_MODERN && json_is_object(json_object_get(extensions, TASKS_EXTENSION));
}

bool method_tasks_require(struct rpc *rpc)
{
    if (method_tasks_known(rpc))
        return true;
    rpc->error_data =
        json_pack("{s:{s:{s:{}}}}", "requiredCapabilities", "extensions", TASKS_EXTENSION);
    return rpc_fail(rpc, RPC_MISSING_CAPABILITY, rpc->era == ERA_MODERN ? 400 : 200,
                    "the client must declare the capability extensions[\"" TASKS_EXTENSION "\"]");
}

/* Adds the members of an object to the result. */
static void add_members(struct rpc *rpc, const json_t *object)
{
    FREE_AUTO char *written = json_write(object);

    text_add_bytes(&rpc->result, written + 1, strlen(written) - 2);
}

bool method_tasks_answer_call(struct rpc *rpc, const char *job_id)
{
    json_auto_t *task = NULL;
    struct error error;
    struct job job;

    if (!job_pool_show(rpc->server->services->jobs, job_id, &job, &error)) {
        log_warning("%s: the call cannot be answered with the task of job %s: %s",
                    rpc->exchange->id, job_id, error.message);
        return false;
    }
    task = mcp_task_seed(rpc->server, &job);
    rpc->result_type = "task";
    add_members(rpc, task);
    return true;
}

void method_tasks_repeat(struct rpc *rpc, const char *stored)
{
    static const char first_member[] = "\"taskId\":";

    if (strncmp(stored, first_member, strlen(first_member)) == 0)
        rpc->result_type = "task";
    text_add(&rpc->result, stored);
}

static const char *task_id(const struct rpc *rpc)
{
    return json_get_text(rpc->params, "taskId", "");
}

bool method_tasks_get_run(struct rpc *rpc)
{
    json_auto_t *task = NULL;
    struct error error;

    if (!mcp_task_show(rpc->server, task_id(rpc), rpc->base_url, &task, &error))
        return rpc_fail_with(rpc, &error);
    add_members(rpc, task);
    return true;
}

bool method_tasks_cancel_run(struct rpc *rpc)
{
    struct call call = method_make_call(rpc);
    struct error error;

    return task_call_cancel(&call, task_id(rpc), &error) || rpc_fail_with(rpc, &error);
}

static CHECKED bool check_answer(const struct question_row *row, const json_t *answer,
                                 struct error *error)
{
    json_auto_t *request = answer_json_stored(row->request);
    const struct question question = { row->key, json_get_text(request, "method", ""),
                                       json_object_get(request, "params") };

    return answer == NULL || row->answer != NULL || input_request_check(&question, answer, error);
}

/* Checks the form of the answers to open questions. Other answers are ignored. */
static CHECKED bool check_answers(const struct rpc *rpc, const json_t *answers, struct error *error)
{
    struct question_row *rows;
    size_t count;
    bool good = true;

    if (!question_list(rpc->server->services->store, task_id(rpc), &rows, &count, error))
        return false;
    for (size_t i = 0; good && i < count; i++)
        good = check_answer(&rows[i], json_object_get(answers, rows[i].key), error);
    question_rows_free(rows, count);
    return good;
}

bool method_tasks_update_run(struct rpc *rpc)
{
    json_t *answers = json_object_get(rpc->params, "inputResponses");
    struct call call = method_make_call(rpc);
    struct error error;

    if (!json_is_object(answers))
        return rpc_fail(rpc, RPC_INVALID_PARAMS, 200,
                        "params.inputResponses is missing, or not an object");
    if (json_object_size(answers) > ANSWERS_LIMIT)
        return rpc_fail(rpc, RPC_INVALID_PARAMS, 200,
                        "params.inputResponses has %zu answers, more than %d: send only answers to "
                        "the task's inputRequests",
                        json_object_size(answers), ANSWERS_LIMIT);
    return (check_answers(rpc, answers, &error)
            && task_call_update(&call, task_id(rpc), answers, &error))
           || rpc_fail_with(rpc, &error);
}
