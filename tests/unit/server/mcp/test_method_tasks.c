/* SPDX-License-Identifier: Apache-2.0 */
/* Tasks, over HTTP: a tool starts jobs, and clients follow these as tasks, even across restarts of
 * the server. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/core/digest.h"
#include "server/access/authority.h"
#include "store/audit/audit_log.h"
#include "store/ledger/principals.h"
#include "tests/unit/support/mcp_client.h"
#include "tests/unit/support/served.h"

#define PATIENCE_NS INT64_C(20000000000)

static struct served served;

/* ---- The server's tools and jobs ---- */

/* The job's subject determines what the job does. */
static enum job_end run_thing(struct job_run *run, char **outcome, struct error *error)
{
    json_auto_t *form = json_pack("{s:s}", "message", "Go on?"), *answers = NULL, *said = NULL;
    const struct job_question questions[] = { { "first", "elicitation/create", form },
                                              { "second", "elicitation/create", form } };
    const char *subject = run->job.subject;

    if (strcmp(subject, "fail") == 0) {
        error_set(error, ERROR_UPSTREAM, "the model server is down");
        return JOB_END_FAILED;
    }
    if (strcmp(subject, "break") == 0) {
        error_set(error, ERROR_INTERNAL, "an internal secret");
        return JOB_END_FAILED;
    }
    if (strcmp(subject, "wait") == 0)
        while (job_run_wait(run, 1000) == JOB_STOP_NO)
            job_run_progress(run, 1, 2, "half way");
    else if (strcmp(subject, "ask") == 0)
        error_ignore(job_run_ask(run, questions, 2, &answers, error)); /* stops are handled below */
    if (job_run_stop(run) != JOB_STOP_NO)
        return job_run_stop(run) == JOB_STOP_CANCEL ? JOB_END_CANCELLED : JOB_END_YIELDED;
    said =
        json_pack("{s:s}", "text", answers != NULL ? text_at(answers, "first.content.a") : "done");
    *outcome = json_write(said);
    return JOB_END_COMPLETED;
}

static const struct job_kind kinds[] = { { "thing", run_thing }, { 0 } };

static bool start_thing(struct call *call, struct answer *answer, struct error *error)
{
    struct job job;

    if (!job_add(call->services->store, "thing", call_text(call, "what"), call->principal.name,
                 clock_utc_ms(), &call->change, &job, error))
        return false;
    job_pool_wake(call->services->jobs);
    text_copy(answer->job_id, sizeof answer->job_id, job.id);
    text_add(&answer->text, "started");
    return true;
}

static const struct param thing_params[] = {
    { "what", VALUE_TEXT, .required = true, .low = 1, .high = 39, .help = "What it does." },
    { 0 },
};
static const struct tool thing_tool = {
    .name = "thing",
    .title = "Thing",
    .help = "Starts a job.",
    .params = thing_params,
    .role = ROLE_OPERATOR,
    .placement = PLACE_WORKER,
    .destroys = STATED_NO,
    .spends_money = STATED_NO,
    .run = start_thing,
};
static const struct tool only_tool = {
    .name = "only",
    .title = "Only",
    .help = "Starts a job. Only for clients that support tasks.",
    .params = thing_params,
    .role = ROLE_VIEWER,
    .placement = PLACE_WORKER,
    .destroys = STATED_NO,
    .spends_money = STATED_NO,
    .requires_tasks = true,
    .run = start_thing,
};

static bool start_sure_thing(struct call *call, struct answer *answer, struct error *error)
{
    json_auto_t *form = json_pack("{s:s, s:{s:s, s:{}}}", "message", "Sure?", "requestedSchema",
                                  "type", "object", "properties"),
                *answers = NULL;
    const struct question question = { "sure", "elicitation/create", form };

    return call->ask(call, &question, 1, &answers, error) && start_thing(call, answer, error);
}

static const struct tool sure_tool = {
    .name = "sure",
    .title = "Sure",
    .help = "Asks before it starts a job.",
    .params = thing_params,
    .role = ROLE_VIEWER,
    .placement = PLACE_WORKER,
    .destroys = STATED_NO,
    .spends_money = STATED_NO,
    .run = start_sure_thing,
};
static const struct tool *const task_tools[] = { &only_tool, &sure_tool, &thing_tool, NULL };

static int start(void **state)
{
    (void)state;
    served_create(&served);
    served.tools = task_tools;
    served.kinds = kinds;
    served_start(&served, NULL);
    return 0;
}

static int stop(void **state)
{
    (void)state;
    served_destroy(&served);
    return 0;
}

/* ---- A client that supports tasks ---- */

#define TASKS_CAPABILITY "\"extensions\":{\"io.modelcontextprotocol/tasks\":{}}"

#define YES "{\"action\":\"accept\",\"content\":{\"a\":\"yes\"}}"

struct task_request {
    const char *method, *name;
    const char *members; /* members of `params`, each followed by a comma */
    const char *capabilities;
    const char *key; /* an API key; NULL: none is sent */
};

static json_t *ask(const struct task_request *request, int *status)
{
    TEXT_AUTO headers = { 0 };
    TEXT_AUTO body = { 0 };

    text_addf(&headers,
              MCP_HEADERS "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: %s\r\nMcp-Name: %s\r\n",
              request->method, request->name);
    if (request->key != NULL)
        text_addf(&headers, "Authorization: Bearer %s\r\n", request->key);
    text_addf(&body,
              "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"%s\",\"params\":{%s\"_meta\":{"
              "\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\","
              "\"io.modelcontextprotocol/clientCapabilities\":{%s}}}}",
              request->method, request->members, request->capabilities);
    return mcp_post_once(server_port(served.server), text_string(&headers), text_string(&body),
                         status);
}

static json_t *call_as(const char *tool, const char *what, const char *capabilities,
                       const char *key)
{
    TEXT_AUTO members = { 0 };
    int status;

    text_addf(&members, "\"name\":\"%s\",\"arguments\":{\"what\":\"%s\"},", tool, what);
    return ask(
        &(struct task_request){ "tools/call", tool, text_string(&members), capabilities, key },
        &status);
}

static json_t *call(const char *tool, const char *what)
{
    return call_as(tool, what, TASKS_CAPABILITY, NULL);
}

/* Calls the tool `thing`, and writes the new task's id to `out`. */
static void begin(const char *what, char out[ID_SIZE])
{
    json_auto_t *reply = call("thing", what);

    assert_string_equal(text_at(reply, "result.resultType"), "task");
    text_copy(out, ID_SIZE, text_at(reply, "result.taskId"));
}

static json_t *task_method_as(const char *method, const char *id, const char *more, const char *key)
{
    TEXT_AUTO members = { 0 };
    int status;

    text_addf(&members, "\"taskId\":\"%s\",%s", id, more);
    return ask(&(struct task_request){ method, id, text_string(&members), TASKS_CAPABILITY, key },
               &status);
}

static json_t *task_method(const char *method, const char *id, const char *more)
{
    return task_method_as(method, id, more, NULL);
}

/* Waits until the task has this status; returns the reply that says so. */
static json_t *await(const char *id, const char *wanted)
{
    int64_t end_ns = clock_monotonic_ns() + PATIENCE_NS;

    for (;;) {
        json_t *reply = task_method("tasks/get", id, "");

        if (strcmp(text_at(reply, "result.status"), wanted) == 0)
            return reply;
        if (clock_monotonic_ns() > end_ns)
            fail_msg("the task is %s, not %s", text_at(reply, "result.status"), wanted);
        json_decref(reply);
        served_sleep_ms(5);
    }
}

/* Checks that the reply is a bare acknowledgement, and frees it. */
static void assert_acknowledged(json_t *reply)
{
    const json_t *result = json_at(reply, "result");

    assert_string_equal(text_at(result, "resultType"), "complete");
    assert_int_equal(json_object_size(result), 2); /* resultType and _meta */
    json_decref(reply);
}

/* Checks that the reply is an error with this code, and that its message contains `words`. Frees
 * the reply. */
static void assert_refused(json_t *reply, int code, const char *words)
{
    if (integer_at(reply, "error.code") != code
        || strstr(text_at(reply, "error.message"), words) == NULL)
        fail_msg("got code %lld (%s), expected %d and \"%s\"",
                 (long long)integer_at(reply, "error.code"), text_at(reply, "error.message"), code,
                 words);
    json_decref(reply);
}

/* ---- Tests ---- */

static void a_call_that_starts_a_job_is_answered_with_its_task(void **state)
{
    json_auto_t *reply = call("thing", "wait"), *shown = NULL;
    const json_t *task = json_at(reply, "result");
    const char *id = text_at(task, "taskId");

    (void)state;
    assert_string_equal(text_at(task, "resultType"), "task");
    assert_string_equal(text_at(task, "status"), "working");
    assert_true(strncmp(id, "job_", 4) == 0);
    assert_int_equal(strlen(text_at(task, "createdAt")), strlen("2026-11-21T03:11:26.123Z"));
    assert_true(strcmp(text_at(task, "lastUpdatedAt"), text_at(task, "createdAt")) >= 0);
    assert_int_equal(integer_at(task, "ttlMs"), INT64_C(90) * 24 * 3600 * 1000);
    assert_int_equal(integer_at(task, "pollIntervalMs"), 1000);
    assert_null(json_at(task, "content"));
    assert_null(json_at(task, "result"));
    shown = task_method("tasks/get", id, "");
    assert_string_equal(text_at(shown, "result.resultType"), "complete");
    assert_string_equal(text_at(shown, "result.taskId"), id);
    assert_string_equal(text_at(shown, "result.status"), "working");
}

static void a_client_that_does_not_support_tasks_gets_an_ordinary_answer(void **state)
{
    static const char *const none[] = { "", "\"extensions\":{}",
                                        "\"extensions\":{\"io.modelcontextprotocol/tasks\":true}" };

    (void)state;
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        json_auto_t *reply = call_as("thing", "quick", none[i], NULL);

        assert_string_equal(text_at(reply, "result.resultType"), "complete");
        assert_string_equal(text_at(reply, "result.content.0.text"), "started");
        assert_null(json_at(reply, "result.taskId"));
    }
}

static void clients_that_do_not_declare_the_tasks_extension_cannot_use_tasks(void **state)
{
    static const char *const methods_of_tasks[] = { "tasks/get", "tasks/update", "tasks/cancel" };

    (void)state;
    for (size_t i = 0; i < 4; i++) {
        const char *method = i < 3 ? methods_of_tasks[i] : "tools/call";
        const struct task_request request = { method, i < 3 ? "x" : "only",
                                              i < 3 ? "\"taskId\":\"x\",\"inputResponses\":{},"
                                                    : "\"name\":\"only\",",
                                              "", NULL };
        int status;
        json_auto_t *reply = ask(&request, &status);
        const json_t *needed = json_at(reply, "error.data.requiredCapabilities.extensions");

        assert_int_equal(status, 400);
        assert_int_equal(integer_at(reply, "error.code"), -32021);
        assert_non_null(json_object_get(needed, "io.modelcontextprotocol/tasks"));
    }
}

static void unknown_tasks_unknown_methods_and_updates_without_answers_are_refused(void **state)
{
    (void)state;
    assert_refused(task_method("tasks/get", "job_none", ""), -32602, "job_none");
    assert_refused(task_method("tasks/cancel", "job_none", ""), -32602, "job_none");
    assert_refused(task_method("tasks/update", "job_none", "\"inputResponses\":{},"), -32602,
                   "job_none");
    assert_refused(task_method("tasks/update", "job_none", ""), -32602, "inputResponses");
    assert_refused(task_method("tasks/list", "job_none", ""), -32601, "tasks/list");
    assert_refused(task_method("tasks/result", "job_none", ""), -32601, "tasks/result");
}

static void a_task_ends_with_a_result_or_with_an_error_that_hides_internals(void **state)
{
    char id[ID_SIZE];
    json_auto_t *done = NULL, *failed = NULL, *broken = NULL;

    (void)state;
    begin("quick", id);
    done = await(id, "completed");
    assert_string_equal(text_at(done, "result.result.content.0.text"), "done");
    assert_true(json_is_false(json_at(done, "result.result.isError")));
    begin("fail", id);
    failed = await(id, "completed");
    assert_true(json_is_true(json_at(failed, "result.result.isError")));
    assert_string_equal(text_at(failed, "result.result.content.0.text"),
                        "the model server is down");
    assert_string_equal(text_at(failed, "result.statusMessage"), "the model server is down");
    begin("break", id);
    broken = await(id, "failed");
    assert_int_equal(integer_at(broken, "result.error.code"), -32603);
    assert_null(strstr(text_at(broken, "result.error.message"), "secret"));
    assert_null(json_at(broken, "result.result"));
}

static void a_task_continues_once_all_its_questions_are_answered(void **state)
{
    char id[ID_SIZE];
    json_auto_t *asks = NULL, *half = NULL, *done = NULL;

    (void)state;
    begin("ask", id);
    asks = await(id, "input_required");
    assert_int_equal(json_object_size(json_at(asks, "result.inputRequests")), 2);
    assert_string_equal(text_at(asks, "result.inputRequests.first.method"), "elicitation/create");
    assert_string_equal(text_at(asks, "result.inputRequests.first.params.message"), "Go on?");
    assert_refused(
        task_method("tasks/update", id, "\"inputResponses\":{\"first\":{\"a\":\"yes\"}},"), -32602,
        "accept, decline or cancel");
    assert_refused(task_method("tasks/update", id, "\"inputResponses\":{\"first\":7},"), -32602,
                   "not an object");
    assert_acknowledged(
        task_method("tasks/update", id, "\"inputResponses\":{\"other\":{\"a\":\"x\"}},"));
    assert_acknowledged(task_method("tasks/update", id, "\"inputResponses\":{\"first\":" YES "},"));
    half = task_method("tasks/get", id, "");
    assert_string_equal(text_at(half, "result.status"), "input_required");
    assert_int_equal(json_object_size(json_at(half, "result.inputRequests")), 1);
    assert_non_null(json_at(half, "result.inputRequests.second"));
    assert_acknowledged(
        task_method("tasks/update", id, "\"inputResponses\":{\"second\":" YES "},"));
    done = await(id, "completed");
    assert_string_equal(text_at(done, "result.result.content.0.text"), "yes");
    assert_null(json_at(done, "result.inputRequests"));
}

/* Sends an update with this many answers, to questions that were never asked. */
static json_t *answer_many(const char *id, int count)
{
    TEXT_AUTO responses = { 0 };

    text_add(&responses, "\"inputResponses\":{");
    for (int i = 0; i < count; i++)
        text_addf(&responses, "%s\"other_%d\":" YES, i > 0 ? "," : "", i);
    text_add(&responses, "},");
    return task_method("tasks/update", id, text_string(&responses));
}

static void more_than_64_answers_at_once_are_refused(void **state)
{
    char id[ID_SIZE];

    (void)state;
    begin("ask", id);
    json_decref(await(id, "input_required"));
    assert_acknowledged(answer_many(id, 64));
    assert_refused(answer_many(id, 65), -32602, "has 65 answers, more than 64");
    json_decref(await(id, "input_required"));
}

static void questions_and_tasks_survive_a_restart(void **state)
{
    char id[ID_SIZE];
    json_auto_t *done = NULL;

    (void)state;
    begin("ask", id);
    json_decref(await(id, "input_required"));
    assert_acknowledged(task_method("tasks/update", id, "\"inputResponses\":{\"first\":" YES "},"));
    served_stop(&served);
    served_start(&served, NULL);
    json_decref(await(id, "input_required"));
    assert_acknowledged(
        task_method("tasks/update", id, "\"inputResponses\":{\"second\":" YES "},"));
    json_decref(await(id, "completed"));
    served_stop(&served);
    served_start(&served, NULL);
    done = task_method("tasks/get", id, "");
    assert_string_equal(text_at(done, "result.result.content.0.text"), "yes");
}

/* The client sends its answer twice, and gets the same task both times. Only one job is started. */
static void a_call_that_asks_first_becomes_one_task_even_if_its_last_round_is_repeated(void **state)
{
    struct task_request request = { "tools/call", "sure",
                                    "\"name\":\"sure\",\"arguments\":{\"what\":\"q\"},",
                                    TASKS_CAPABILITY ",\"elicitation\":{}", NULL };
    int64_t counts[JOB_CANCELLED + 1], all = 0;
    TEXT_AUTO members = { 0 };
    struct error error;
    char id[ID_SIZE];
    const char *state_text;
    int status;
    json_t *reply = ask(&request, &status);

    (void)state;
    assert_string_equal(text_at(reply, "result.resultType"), "input_required");
    assert_null(json_at(reply, "result.taskId"));
    state_text = text_at(reply, "result.requestState");
    text_addf(&members,
              "%s\"inputResponses\":{\"sure\":" YES "},\"requestState\":", request.members);
    json_add_string(&members, state_text, strlen(state_text));
    text_add_char(&members, ',');
    request.members = text_string(&members);
    for (int round = 0; round < 2; round++) {
        json_decref(reply);
        reply = ask(&request, &status);
        assert_string_equal(text_at(reply, "result.resultType"), "task");
        assert_null(json_at(reply, "result.requestState"));
        if (round == 0)
            text_copy(id, sizeof id, text_at(reply, "result.taskId"));
        assert_string_equal(text_at(reply, "result.taskId"), id);
    }
    json_decref(reply);
    assert_true(job_counts(served.services.store, counts, &error));
    for (int i = 0; i <= JOB_CANCELLED; i++)
        all += counts[i];
    assert_int_equal(all, 1);
}

static void a_legacy_client_gets_no_tasks(void **state)
{
    json_auto_t *started = NULL, *refused_call = NULL;
    int status;

    (void)state;
    started = mcp_post_once(server_port(served.server), NULL,
                            "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{"
                            "\"name\":\"thing\",\"arguments\":{\"what\":\"q\"},"
                            "\"task\":{\"ttl\":60000}}}",
                            &status);
    assert_string_equal(text_at(started, "result.content.0.text"), "started");
    refused_call = mcp_post_once(server_port(served.server), NULL,
                                 "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\","
                                 "\"params\":{\"name\":\"only\"}}",
                                 &status);
    assert_int_equal(status, 200);
    assert_int_equal(integer_at(refused_call, "error.code"), -32021);
}

static void repeated_cancelling_is_acknowledged_but_done_only_once(void **state)
{
    struct audit_filter filter = { .tool = "tasks/cancel" };
    struct audit_row *rows;
    struct error error;
    char id[ID_SIZE];
    size_t count;

    (void)state;
    begin("wait", id);
    assert_acknowledged(task_method("tasks/cancel", id, ""));
    json_decref(await(id, "cancelled"));
    assert_acknowledged(task_method("tasks/cancel", id, ""));
    begin("ask", id);
    json_decref(await(id, "input_required"));
    assert_acknowledged(task_method("tasks/cancel", id, ""));
    json_decref(await(id, "cancelled"));
    assert_true(audit_log_list(served.services.store, &filter, 9, &rows, &count, &error));
    assert_int_equal(count, 2);
    assert_string_equal(rows[0].subject, id);
    assert_string_equal(rows[0].outcome, "ok");
    assert_non_null(strstr(rows[0].arguments, id));
    audit_log_rows_free(rows, count);
}

static void add_key(const char *name, enum role role, char out[KEY_SIZE])
{
    char hex[DIGEST_TEXT_SIZE];
    uint8_t digest[DIGEST_BYTES];
    struct api_key added;
    struct error error;

    authority_generate_key(out, hex);
    digest_sha256(out, strlen(out), digest);
    if (!api_key_add(served.services.store, name, role, "", digest, 0, NULL, &added, &error))
        fail_msg("%s", error.message);
}

static void only_the_owner_or_an_admin_can_cancel_or_answer_a_task(void **state)
{
    char id[ID_SIZE];
    char alice[KEY_SIZE], bob[KEY_SIZE], eve[KEY_SIZE], root[KEY_SIZE];
    json_auto_t *begun = NULL, *seen = NULL;
    static const char answers[] = "\"inputResponses\":{\"first\":" YES "},";

    (void)state;
    add_key("alice", ROLE_OPERATOR, alice);
    add_key("bob", ROLE_OPERATOR, bob);
    add_key("eve", ROLE_VIEWER, eve);
    add_key("root", ROLE_ADMIN, root);
    served_stop(&served);
    served_start(&served, "--auth=keys", NULL);
    begun = call_as("thing", "wait", TASKS_CAPABILITY, alice);
    text_copy(id, sizeof id, text_at(begun, "result.taskId"));
    seen = task_method_as("tasks/get", id, "", eve);
    assert_string_equal(text_at(seen, "result.status"), "working");
    assert_refused(task_method_as("tasks/cancel", id, "", eve), -32602, "needs the role operator");
    assert_refused(task_method_as("tasks/update", id, answers, eve), -32602,
                   "needs the role operator");
    assert_refused(task_method_as("tasks/cancel", id, "", bob), -32602,
                   "only alice or an admin may stop it");
    assert_refused(task_method_as("tasks/update", id, answers, bob), -32602,
                   "only alice or an admin may answer it");
    assert_acknowledged(task_method_as("tasks/update", id, answers, alice));
    assert_acknowledged(task_method_as("tasks/cancel", id, "", root));
}

/* ---- Notifications ---- */

struct follower {
    struct http_client client;
    struct text pending, event;
};

static json_t *receive(struct follower *follower)
{
    json_t *json = NULL;
    struct error error;

    do
        if (!http_event(&follower->client, &follower->pending, &follower->event))
            fail_msg("the stream ended");
    while (strcmp(text_string(&follower->event), ":") == 0);
    if (!json_parse(text_string(&follower->event), follower->event.length, &json, &error))
        fail_msg("%s: %s", text_string(&follower->event), error.message);
    return json;
}

/* Listens to the tasks in the JSON array `ids`. Returns the acknowledgement. */
static json_t *follower_open(struct follower *follower, const char *ids)
{
    TEXT_AUTO body = { 0 };

    *follower = (struct follower){ 0 };
    text_addf(&body,
              "{\"jsonrpc\":\"2.0\",\"id\":\"sub\",\"method\":\"subscriptions/listen\","
              "\"params\":{\"notifications\":{\"taskIds\":%s},\"_meta\":{"
              "\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\","
              "\"io.modelcontextprotocol/clientCapabilities\":{" TASKS_CAPABILITY "}}}}",
              ids);
    http_open(&follower->client, server_port(served.server));
    http_send(&follower->client, "POST", "/mcp", MODERN_HEADERS("subscriptions/listen"),
              text_string(&body));
    assert_int_equal(http_read_head(&follower->client), 200);
    return receive(follower);
}

static void follower_close(struct follower *follower)
{
    http_close(&follower->client);
    text_finish(&follower->pending);
    text_finish(&follower->event);
}

/* Reads messages until one reports that the task has this status, and returns that message. All
 * messages that it reads must be about this task. */
static json_t *expect_status(struct follower *follower, const char *id, const char *status)
{
    static const char tag[] = "io.modelcontextprotocol/subscriptionId";

    for (;;) {
        json_t *json = receive(follower);
        const json_t *meta = json_at(json, "params._meta");

        assert_string_equal(text_at(json, "method"), "notifications/tasks");
        assert_string_equal(text_at(json, "params.taskId"), id);
        assert_string_equal(json_string_value(json_object_get(meta, tag)), "sub");
        assert_null(json_at(json, "params.resultType"));
        if (strcmp(text_at(json, "params.status"), status) == 0)
            return json;
        json_decref(json);
    }
}

static void a_follower_of_a_task_gets_its_state_until_the_end(void **state)
{
    char id[ID_SIZE], earlier[ID_SIZE], later[ID_SIZE];
    struct follower follower;
    TEXT_AUTO ids = { 0 };
    json_auto_t *acknowledged = NULL, *asks = NULL, *done = NULL;

    (void)state;
    begin("ask", id);
    begin("quick", earlier);
    json_decref(await(earlier, "completed"));
    json_decref(await(id, "input_required"));
    text_addf(&ids, "[\"%s\",\"job_none\",7]", id);
    acknowledged = follower_open(&follower, text_string(&ids));
    assert_int_equal(json_array_size(json_at(acknowledged, "params.notifications.taskIds")), 1);
    assert_string_equal(text_at(acknowledged, "params.notifications.taskIds.0"), id);
    asks = expect_status(&follower, id, "input_required");
    assert_non_null(json_at(asks, "params.inputRequests.first"));
    begin("quick", later); /* nobody follows this task */
    assert_acknowledged(task_method("tasks/update", id,
                                    "\"inputResponses\":{\"first\":" YES ",\"second\":" YES "},"));
    done = expect_status(&follower, id, "completed");
    assert_string_equal(text_at(done, "params.result.content.0.text"), "yes");
    follower_close(&follower);
}

static void a_follower_of_a_finished_task_gets_its_final_state(void **state)
{
    char id[ID_SIZE];
    struct follower follower;
    TEXT_AUTO ids = { 0 };

    (void)state;
    begin("quick", id);
    json_decref(await(id, "completed"));
    text_addf(&ids, "[\"%s\"]", id);
    json_decref(follower_open(&follower, text_string(&ids)));
    json_decref(expect_status(&follower, id, "completed"));
    follower_close(&follower);
}

static void clients_that_listen_to_tasks_must_declare_the_tasks_extension(void **state)
{
    json_auto_t *reply = NULL;
    int status;

    (void)state;
    reply = mcp_post_once(
        server_port(served.server), MODERN_HEADERS("subscriptions/listen"),
        "{\"jsonrpc\":\"2.0\",\"id\":5,\"method\":\"subscriptions/listen\"," MODERN_PARAMS(
            "\"notifications\":{\"taskIds\":[]},") "}",
        &status);
    assert_int_equal(integer_at(reply, "error.code"), -32021);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, start, stop)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_call_that_starts_a_job_is_answered_with_its_task),
        TEST(a_client_that_does_not_support_tasks_gets_an_ordinary_answer),
        TEST(clients_that_do_not_declare_the_tasks_extension_cannot_use_tasks),
        TEST(unknown_tasks_unknown_methods_and_updates_without_answers_are_refused),
        TEST(a_task_ends_with_a_result_or_with_an_error_that_hides_internals),
        TEST(a_task_continues_once_all_its_questions_are_answered),
        TEST(more_than_64_answers_at_once_are_refused),
        TEST(questions_and_tasks_survive_a_restart),
        TEST(a_call_that_asks_first_becomes_one_task_even_if_its_last_round_is_repeated),
        TEST(a_legacy_client_gets_no_tasks),
        TEST(repeated_cancelling_is_acknowledged_but_done_only_once),
        TEST(only_the_owner_or_an_admin_can_cancel_or_answer_a_task),
        TEST(a_follower_of_a_task_gets_its_state_until_the_end),
        TEST(a_follower_of_a_finished_task_gets_its_final_state),
        TEST(clients_that_listen_to_tasks_must_declare_the_tasks_extension),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
