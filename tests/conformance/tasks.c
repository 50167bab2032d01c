/* SPDX-License-Identifier: Apache-2.0 */
/* Tools for the conformance suite's scenarios for the tasks extension, and the jobs that the tools
 * start. Only `greet` starts no job. */

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/core/clock.h"
#include "base/json/json.h"
#include "fixtures.h"

/* ---- The jobs, whose only parameter is `job.subject` ---- */

static char *outcome_of(const char *text)
{
    json_auto_t *outcome = json_pack("{s:s}", "text", text);

    return json_write(outcome);
}

/* For a run whose job_run_wait was interrupted or whose job_run_ask failed. Returns the end that
 * fits the run's reason to stop; `otherwise` if there is no such reason. */
static enum job_end end_for_stop(const struct job_run *run, enum job_end otherwise)
{
    switch (job_run_stop(run)) {
    case JOB_STOP_CANCEL:
        return JOB_END_CANCELLED;
    case JOB_STOP_YIELD:
    case JOB_STOP_LOST:
        return JOB_END_YIELDED;
    case JOB_STOP_NO:
        break;
    }
    return otherwise;
}

static enum job_end run_slow_compute(struct job_run *run, char **outcome, struct error *error)
{
    int64_t ms = strtoll(run->job.subject, NULL, 10);

    (void)error;
    if (job_run_wait(run, ms) != JOB_STOP_NO)
        return end_for_stop(run, JOB_END_YIELDED);
    *outcome = outcome_of("computed");
    return JOB_END_COMPLETED;
}

static enum job_end run_failing(struct job_run *run, char **outcome, struct error *error)
{
    (void)outcome;
    if (job_run_wait(run, 1000) != JOB_STOP_NO)
        return end_for_stop(run, JOB_END_YIELDED);
    error_set(error, ERROR_UPSTREAM, "this job always fails");
    return JOB_END_FAILED;
}

static enum job_end run_protocol_error(struct job_run *run, char **outcome, struct error *error)
{
    (void)run;
    (void)outcome;
    error_set(error, ERROR_INTERNAL, "this job always fails with an internal error");
    return JOB_END_FAILED;
}

static json_t *form(const char *message, const char *member, const char *type)
{
    return json_pack("{s:s, s:s, s:{s:s, s:{s:{s:s}}, s:[s]}}", "mode", "form", "message", message,
                     "requestedSchema", "type", "object", "properties", member, "type", type,
                     "required", member);
}

static enum job_end run_confirm_delete(struct job_run *run, char **outcome, struct error *error)
{
    char message[80];
    json_auto_t *params = NULL, *answers = NULL;
    const json_t *given;
    struct job_question question = { "confirm", "elicitation/create", NULL };

    snprintf(message, sizeof message, "Delete %s?", run->job.subject);
    params = form(message, "confirm", "boolean");
    question.params = params;
    if (!job_run_ask(run, &question, 1, &answers, error))
        return end_for_stop(run, JOB_END_FAILED);
    given = json_object_get(answers, "confirm");
    *outcome = outcome_of(
        json_get_boolean(json_object_get(given, "content"), "confirm", false) ? "deleted" : "kept");
    return JOB_END_COMPLETED;
}

static enum job_end run_multi_input(struct job_run *run, char **outcome, struct error *error)
{
    json_auto_t *name = form("Your name?", "name", "string"), *answers = NULL;
    json_auto_t *sure = form("Are you sure?", "confirm", "boolean");
    const struct job_question questions[] = { { "name", "elicitation/create", name },
                                              { "sure", "elicitation/create", sure } };

    if (!job_run_ask(run, questions, 2, &answers, error))
        return end_for_stop(run, JOB_END_FAILED);
    *outcome = outcome_of("both questions were answered");
    return JOB_END_COMPLETED;
}

static enum job_end run_hello(struct job_run *run, char **outcome, struct error *error)
{
    char text[80];

    (void)error;
    snprintf(text, sizeof text, "Hello, %s!", run->job.subject);
    *outcome = outcome_of(text);
    return JOB_END_COMPLETED;
}

const struct job_kind fixture_job_kinds[] = {
    { "slow_compute", run_slow_compute },
    { "failing", run_failing },
    { "protocol_error", run_protocol_error },
    { "confirm_delete", run_confirm_delete },
    { "multi_input", run_multi_input },
    { "hello", run_hello },
    { 0 },
};

/* ---- The tools ---- */

static bool greet(struct call *call, struct answer *answer, struct error *error)
{
    (void)error;
    text_addf(&answer->text, "Hello, %s!", call_text(call, "name"));
    return true;
}

static bool start(struct call *call, const char *kind, const char *subject, struct answer *answer,
                  struct error *error)
{
    struct job job;

    if (!job_add(call->services->store, kind, subject, call->principal.name, clock_utc_ms(),
                 &call->change, &job, error))
        return false;
    job_pool_wake(call->services->jobs);
    text_copy(answer->job_id, sizeof answer->job_id, job.id);
    text_addf(&answer->text, "%s has started.", job.id);
    return true;
}

static bool start_slow_compute(struct call *call, struct answer *answer, struct error *error)
{
    char ms[24];

    snprintf(ms, sizeof ms, "%lld", llround(call_number(call, "seconds", 0) * 1000));
    return start(call, "slow_compute", ms, answer, error);
}

static bool start_failing(struct call *call, struct answer *answer, struct error *error)
{
    return start(call, "failing", "", answer, error);
}

static bool start_protocol_error(struct call *call, struct answer *answer, struct error *error)
{
    return start(call, "protocol_error", "", answer, error);
}

static bool start_confirm_delete(struct call *call, struct answer *answer, struct error *error)
{
    return start(call, "confirm_delete", call_text(call, "filename"), answer, error);
}

static bool start_multi_input(struct call *call, struct answer *answer, struct error *error)
{
    return start(call, "multi_input", "", answer, error);
}

/* Asks during the call, because the job must not start before the question is answered. */
static bool start_hello(struct call *call, struct answer *answer, struct error *error)
{
    json_auto_t *answers = NULL;

    return fixture_ask_for(call, "user_name", "What is your name?", "name", &answers, error)
           && start(call, "hello", fixture_entered(answers, "user_name", "name"), answer, error);
}

static const struct param greet_params[] = {
    { "name", VALUE_TEXT, .required = true, .low = 0, .high = 100, .help = "Whom to greet." },
    { 0 },
};
static const struct param slow_compute_params[] = {
    { "seconds", VALUE_NUMBER, .low = 0, .high = 3600, .initial = "1",
      .help = "How many seconds the job runs." },
    { "label", VALUE_TEXT, .low = 0, .high = 100, .help = "A name for the job; ignored." },
    { 0 },
};
static const struct param confirm_delete_params[] = {
    { "filename", VALUE_TEXT, .required = true, .low = 1, .high = 39,
      .help = "The file to delete." },
    { 0 },
};

const struct tool task_tools[] = {
    { .name = "greet",
      .title = "Greet",
      .help = "Greets at once.",
      .params = greet_params,
      .role = ROLE_VIEWER,
      .placement = PLACE_INLINE,
      .read_only = true,
      .run = greet },
    { .name = "slow_compute",
      .title = "Slow compute",
      .help = "Starts a job that runs for the given number of seconds.",
      .params = slow_compute_params,
      .role = ROLE_VIEWER,
      .placement = PLACE_WORKER,
      .destroys = STATED_NO,
      .spends_money = STATED_NO,
      .run = start_slow_compute },
    { .name = "failing_job",
      .title = "Failing job",
      .help = "Starts a job that fails with a tool error.",
      .params = fixture_no_params,
      .role = ROLE_VIEWER,
      .placement = PLACE_WORKER,
      .destroys = STATED_NO,
      .spends_money = STATED_NO,
      .requires_tasks = true,
      .run = start_failing },
    { .name = "protocol_error_job",
      .title = "Protocol error job",
      .help = "Starts a job that fails with an internal error.",
      .params = fixture_no_params,
      .role = ROLE_VIEWER,
      .placement = PLACE_WORKER,
      .destroys = STATED_NO,
      .spends_money = STATED_NO,
      .run = start_protocol_error },
    { .name = "confirm_delete",
      .title = "Confirm delete",
      .help = "Starts a job that asks whether to delete a file; deletes nothing.",
      .params = confirm_delete_params,
      .role = ROLE_VIEWER,
      .placement = PLACE_WORKER,
      .destroys = STATED_NO,
      .spends_money = STATED_NO,
      .run = start_confirm_delete },
    { .name = "multi_input",
      .title = "Multi input",
      .help = "Starts a job that asks two questions at once.",
      .params = fixture_no_params,
      .role = ROLE_VIEWER,
      .placement = PLACE_WORKER,
      .destroys = STATED_NO,
      .spends_money = STATED_NO,
      .run = start_multi_input },
    { .name = "test_tool_with_task",
      .title = "Tool with task",
      .help = "Asks for a name before it starts a job.",
      .params = fixture_no_params,
      .role = ROLE_VIEWER,
      .placement = PLACE_WAITING,
      .destroys = STATED_NO,
      .spends_money = STATED_NO,
      .requires_tasks = true,
      .run = start_hello },
    { 0 },
};
