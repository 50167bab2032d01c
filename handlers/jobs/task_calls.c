/* SPDX-License-Identifier: Apache-2.0 */
#include "handlers/jobs/task_calls.h"

#include "base/core/memory.h"
#include "base/json/json.h"
#include "base/net/credential.h"
#include "handlers/answers/job_answer.h"
#include "handlers/call.h"

#define AUDITED_BYTES_MAX 80

/* Returns what the audit log shows as the request's arguments: only the task's id. Heap memory. */
static char *audited(const char *id)
{
    TEXT_AUTO masked = { 0 };
    TEXT_AUTO shown = { 0 };
    json_auto_t *arguments = NULL;

    credential_add_masked(&masked, id);
    text_add_printable(&shown, text_string(&masked), masked.length, AUDITED_BYTES_MAX);
    arguments = json_pack("{s:s}", "taskId", text_string(&shown));
    return json_write(arguments);
}

static CHECKED bool check(const struct call *call, const char *id, const char *act, struct job *job,
                          struct error *error)
{
    if (!role_allows(call->principal.role, ROLE_OPERATOR))
        return error_set(error, ERROR_FORBIDDEN, "%s needs the role operator; %s has the role %s",
                         call->change.tool, call->principal.name, role_name(call->principal.role));
    return job_pool_show(call->services->jobs, id, job, error)
           && job_answer_check_owner(call, id, job->principal, act, error);
}

static CHECKED bool cancel(struct call *call, const char *id, struct error *error)
{
    struct job job;

    if (!check(call, id, "stop it", &job, error))
        return false;
    return job_is_over(&job)
           || job_pool_cancel(call->services->jobs, id, &call->change, &job, error)
           || error->kind == ERROR_CONFLICT; /* the job has just ended */
}

bool task_call_cancel(struct call *call, const char *id, struct error *error)
{
    FREE_AUTO char *arguments = audited(id);
    bool done;

    call_begin(call, "tasks/cancel", arguments);
    done = cancel(call, id, error);
    if (!done)
        call_refused(call, error);
    call->change.arguments = NULL;
    return done;
}

bool task_call_update(struct call *call, const char *id, json_t *answers, struct error *error)
{
    FREE_AUTO char *arguments = audited(id);
    struct job job;
    size_t answered;
    bool done;

    call_begin(call, "tasks/update", arguments);
    done = check(call, id, "answer it", &job, error)
           && job_pool_answer(call->services->jobs, id, answers, &call->change, &answered, error);
    if (!done)
        call_refused(call, error);
    call->change.arguments = NULL;
    return done;
}
