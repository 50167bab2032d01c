/* SPDX-License-Identifier: Apache-2.0 */
#include "server/mcp/mcp_task.h"

#include <string.h>

#include "base/core/clock.h"
#include "handlers/call.h"
#include "handlers/jobs/job_result.h"
#include "server/mcp/mcp_server.h"
#include "server/mcp/rpc.h"
#include "store/ledger/questions.h"

#define POLL_INTERVAL_MS 1000
#define DAY_MS (INT64_C(24) * 60 * 60 * 1000)

/* In MCP, the task of a failed tool is "completed": only an internal error makes it "failed". */
static const char *status_of(const struct job *job)
{
    struct error failure;

    switch (job->state) {
    case JOB_WAITING:
        return "input_required";
    case JOB_COMPLETED:
        return "completed";
    case JOB_CANCELLED:
        return "cancelled";
    case JOB_FAILED:
        job_failure(job, &failure);
        return failure.kind == ERROR_INTERNAL ? "failed" : "completed";
    case JOB_QUEUED:
    case JOB_RUNNING:
        break;
    }
    return "working";
}

static json_t *status_message(const struct job *job)
{
    struct error failure;

    if (job->state == JOB_FAILED) {
        job_failure(job, &failure);
        return answer_json_text(failure.message);
    }
    if (!job_is_over(job) && job->cancel_requested_ms != 0)
        return json_string("asked to stop");
    return answer_json_text(job->message);
}

/* The minimum time that a task is kept after it has ended, in ms; null: forever. */
static json_t *ttl(const struct mcp_server *server)
{
    int64_t days = server->settings->jobs_days;

    return days == 0 ? json_null() : json_integer(days * DAY_MS);
}

static json_t *time_json(int64_t utc_ms)
{
    char text[CLOCK_TEXT_SIZE];

    return json_string(clock_format_utc(utc_ms, text));
}

json_t *mcp_task_seed(const struct mcp_server *server, const struct job *job)
{
    json_t *task = json_pack("{s:s, s:s}", "taskId", job->id, "status", status_of(job));
    json_t *message = status_message(job);

    if (json_is_string(message))
        json_object_set(task, "statusMessage", message);
    json_decref(message);
    json_object_set_new(task, "createdAt", time_json(job->created_ms));
    json_object_set_new(task, "lastUpdatedAt", time_json(job->updated_ms));
    json_object_set_new(task, "ttlMs", ttl(server));
    json_object_set_new(task, "pollIntervalMs", json_integer(POLL_INTERVAL_MS));
    return task;
}

/* The questions that have no answer yet, by key. */
static json_t *requests_of(const struct question_row *rows, size_t count)
{
    json_t *requests = json_object();

    for (size_t i = 0; i < count; i++)
        if (rows[i].answer == NULL)
            json_object_set_new(requests, rows[i].key, answer_json_stored(rows[i].request));
    return requests;
}

/* Adds the open questions. If no question is open any more, the answers came after the job was
 * read: the job continues, so the status becomes "working". */
static CHECKED bool add_requests(const struct mcp_server *server, const char *id, json_t *task,
                                 struct error *error)
{
    struct question_row *rows;
    json_t *requests;
    size_t count;

    if (!question_list(server->services->store, id, &rows, &count, error))
        return false;
    requests = requests_of(rows, count);
    question_rows_free(rows, count);
    if (json_object_size(requests) > 0)
        json_object_set(task, "inputRequests", requests);
    else
        json_object_set_new(task, "status", json_string("working"));
    json_decref(requests);
    return true;
}

static json_t *call_result(const char *text, bool is_error)
{
    return json_pack("{s:s, s:[{s:s, s:s}], s:b}", "resultType", "complete", "content", "type",
                     "text", "text", text, "isError", is_error);
}

/* The result that the call would have had if it had waited for the job. */
static json_t *result_of(const struct answer *answer)
{
    json_t *result = call_result(text_string(&answer->text), false);

    if (answer->page[0] != '\0')
        json_array_append_new(json_object_get(result, "content"),
                              rpc_link_block("page", answer->page));
    if (answer->structured != NULL)
        json_object_set(result, "structuredContent", answer->structured);
    return result;
}

static json_t *failed_result(const struct error *failure)
{
    json_t *result = call_result(failure->message, true);

    json_object_set_new(result, "_meta",
                        json_pack("{s:s}", "opsbrain/errorKind", error_kind_name(failure->kind)));
    return result;
}

static void add_outcome(const struct mcp_server *server, const struct job *job,
                        const char *base_url, json_t *task)
{
    struct answer answer = { 0 };
    struct error failure;

    if (job_result(server->services, job, &answer, &failure)) {
        answer_link(base_url, &answer);
        json_object_set_new(task, "result", result_of(&answer));
    } else if (failure.kind != ERROR_INTERNAL) {
        json_object_set_new(task, "result", failed_result(&failure));
    } else {
        json_object_set_new(task, "status", json_string("failed"));
        json_object_set_new(
            task, "error",
            json_pack("{s:i, s:s}", "code", RPC_INTERNAL, "message", failure.message));
    }
    answer_finish(&answer);
}

bool mcp_task_show(const struct mcp_server *server, const char *id, const char *base_url,
                   json_t **out, struct error *error)
{
    struct job job;
    json_t *task;

    if (!job_pool_show(server->services->jobs, id, &job, error))
        return false;
    task = mcp_task_seed(server, &job);
    if (job.state == JOB_WAITING && !add_requests(server, id, task, error)) {
        json_decref(task);
        return false;
    }
    if (job.state == JOB_COMPLETED || job.state == JOB_FAILED)
        add_outcome(server, &job, base_url, task);
    *out = task;
    return true;
}
