/* SPDX-License-Identifier: Apache-2.0 */
/* The streams of sessions, over HTTP: resuming a call's stream or the session's long-lived stream,
 * including after a restart of the server. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "server/streams/notifier.h"
#include "server/streams/session.h"
#include "store/copy/copy.h"
#include "store/ledger/events.h"
#include "store/ledger/jobs.h"
#include "tests/unit/support/mcp_client.h"
#include "tests/unit/support/served.h"

static struct served served;
/* A second server, started with a copy of the database as `served` would leave it if killed. */
static struct served revived;
static atomic_bool may_answer;

/* A tool that ends the connection of its call, and answers once may_answer is set or the call is
 * cancelled. */
static bool leave(struct call *call, struct answer *answer, struct error *error)
{
    call->close_stream(call);
    atomic_fetch_add(&served_running, 1);
    while (!atomic_load(&may_answer) && !call->cancelled(call->host))
        served_sleep_ms(2);
    atomic_fetch_sub(&served_running, 1);
    return served_echo(call, answer, error);
}

static const struct tool leave_tool = {
    .name = "leave",
    .title = "Leave",
    .help = "Ends its connection, and answers later.",
    .params = served_echo_params,
    .fields = served_echo_fields,
    .role = ROLE_VIEWER,
    .placement = PLACE_WAITING,
    .read_only = true,
    .run = leave,
};
static const struct tool *const tools_here[] = { &served_echo_tool, &leave_tool, &served_slow_tool,
                                                 NULL };

static int start(void **state)
{
    (void)state;
    served_create(&served);
    served.tools = tools_here;
    served.resources = resources;
    served_start(&served, NULL);
    atomic_store(&may_answer, false);
    atomic_store(&served_done, 0);
    return 0;
}

static int stop(void **state)
{
    (void)state;
    atomic_store(&may_answer, true);
    served_destroy(&served);
    return 0;
}

static void restart(void)
{
    served_stop(&served);
    served_start(&served, NULL);
}

/* ---- A client with one session ---- */

struct peer {
    const struct served *at;
    char *session;
    struct http_client http;
    struct text pending, event;
    char last_id[80]; /* the id of the last received event with an id; "": no such event */
};

static void peer_begin(struct peer *peer)
{
    *peer =
        (struct peer){ .at = &served, .session = mcp_initialize(server_port(served.server), NULL) };
}

static void peer_hang_up(struct peer *peer)
{
    http_close(&peer->http);
    peer->http = (struct http_client){ .fd = -1 };
    text_finish(&peer->pending);
}

static void peer_end(struct peer *peer)
{
    peer_hang_up(peer);
    text_finish(&peer->event);
    free(peer->session);
}

/* Sends a request on a new connection, with the header Last-Event-ID unless `last_id` is NULL.
 * Returns the status. */
static int peer_send(struct peer *peer, const char *verb, const char *last_id, const char *body)
{
    TEXT_AUTO headers = { 0 };

    text_addf(&headers, MCP_HEADERS "Mcp-Session-Id: %s\r\n", peer->session);
    if (last_id != NULL)
        text_addf(&headers, "Last-Event-ID: %s\r\n", last_id);
    http_open(&peer->http, server_port(peer->at->server));
    http_send(&peer->http, verb, "/mcp", text_string(&headers), body);
    return http_read_head(&peer->http);
}

/* Receives the next event that is not a comment. Its data is written to peer->event ("" for a
 * priming event). Returns false if the stream has ended. */
static bool peer_receive(struct peer *peer)
{
    for (;;) {
        const char *end, *id;

        while ((end = strstr(text_string(&peer->pending), "\n\n")) == NULL)
            if (!http_read_part(&peer->http, &peer->pending))
                return false;
        id = strstr(text_string(&peer->pending), "id: ");
        if (id != NULL && id < end)
            snprintf(peer->last_id, sizeof peer->last_id, "%.*s", (int)strcspn(id + 4, "\n"),
                     id + 4);
        http_event(&peer->http, &peer->pending, &peer->event);
        if (strcmp(text_string(&peer->event), ":") != 0)
            return true;
    }
}

/* Returns the next message; the caller releases it. The test fails if the stream ends first. */
static json_t *peer_message(struct peer *peer)
{
    struct error error;
    json_t *json;

    do
        if (!peer_receive(peer))
            fail_msg("the stream ended after event %s", peer->last_id);
    while (peer->event.length == 0);
    if (!json_parse(text_string(&peer->event), peer->event.length, &json, &error))
        fail_msg("%s: %s", text_string(&peer->event), error.message);
    return json;
}

/* Skips progress messages and returns the answer, which the caller releases. After the answer, the
 * stream must end. */
static json_t *peer_answer(struct peer *peer)
{
    json_t *json = peer_message(peer);

    while (json_at(json, "method") != NULL) {
        json_decref(json);
        json = peer_message(peer);
    }
    assert_false(peer_receive(peer));
    assert_true(peer->http.ended);
    return json;
}

#define CALL(id, tool, arguments)                                                                  \
    "{\"jsonrpc\":\"2.0\",\"id\":" id ",\"method\":\"tools/call\",\"params\":{\"name\":\"" tool    \
    "\",\"arguments\":" arguments ",\"_meta\":{\"progressToken\":\"p\"}}}"

static void check_refused(struct peer *peer, const char *last_id)
{
    json_auto_t *json = NULL;
    TEXT_AUTO body = { 0 };
    struct error error;

    assert_int_equal(peer_send(peer, "GET", last_id, NULL), 400);
    while (http_read_part(&peer->http, &body))
        continue;
    assert_true(json_parse(text_string(&body), body.length, &json, &error));
    assert_int_equal(integer_at(json, "error.code"), -32000);
    peer_hang_up(peer);
}

/* ---- Calls ---- */

static void a_call_is_resumed_on_a_new_connection_after_the_last_received_event(void **state)
{
    struct peer peer;
    json_auto_t *progress = NULL, *answer = NULL;
    double progressed;

    (void)state;
    peer_begin(&peer);
    assert_int_equal(
        peer_send(&peer, "POST", NULL, CALL("7", "slow", "{\"steps\":40,\"step_ms\":10}")), 200);
    for (int i = 0; i < 3; i++) {
        json_decref(progress);
        progress = peer_message(&peer);
    }
    progressed = json_number_value(json_at(progress, "params.progress"));
    peer_hang_up(&peer);
    served_sleep_ms(50); /* so that events are waiting when the client reconnects */
    assert_int_equal(peer_send(&peer, "GET", peer.last_id, NULL), 200);
    json_decref(progress);
    progress = peer_message(&peer);
    assert_true(json_number_value(json_at(progress, "params.progress")) == progressed + 1);
    answer = peer_answer(&peer);
    assert_int_equal(integer_at(answer, "id"), 7);
    assert_int_equal(integer_at(answer, "result.structuredContent.steps"), 40);
    assert_int_equal(atomic_load(&served_done), 1);
    peer_hang_up(&peer);
    peer_end(&peer);
}

/* Some clients reconnect whenever a stream ends. They would show an error status to their users,
 * and an empty stream would make them reconnect again and again. */
static void a_client_that_reconnects_after_receiving_everything_gets_204(void **state)
{
    struct peer peer;
    TEXT_AUTO body = { 0 };

    (void)state;
    peer_begin(&peer);
    assert_int_equal(
        peer_send(&peer, "POST", NULL, CALL("7", "slow", "{\"steps\":2,\"step_ms\":1}")), 200);
    json_decref(peer_answer(&peer));
    peer_hang_up(&peer);
    for (int i = 0; i < 2; i++) { /* right after the call, and after a restart */
        assert_int_equal(peer_send(&peer, "GET", peer.last_id, NULL), 204);
        assert_false(http_read_part(&peer.http, &body));
        peer_hang_up(&peer);
        restart();
    }
    peer_end(&peer);
}

static void a_client_that_was_disconnected_gets_the_answer_when_it_reconnects(void **state)
{
    struct peer peer;

    (void)state;
    peer_begin(&peer);
    assert_int_equal(
        peer_send(&peer, "POST", NULL, CALL("7", "slow", "{\"steps\":2,\"step_ms\":10}")), 200);
    assert_true(peer_receive(&peer));
    peer_hang_up(&peer);
    assert_true(served_reaches(&served_done, 1));
    for (int i = 0; i < 2; i++) { /* the same answer can be received more than once */
        json_auto_t *answer = NULL;
        char resumed_id[80];

        snprintf(resumed_id, sizeof resumed_id, "%s", peer.last_id);
        assert_int_equal(peer_send(&peer, "GET", peer.last_id, NULL), 200);
        answer = peer_answer(&peer);
        assert_int_equal(integer_at(answer, "id"), 7);
        snprintf(peer.last_id, sizeof peer.last_id, "%s", resumed_id);
        peer_hang_up(&peer);
    }
    peer_end(&peer);
}

static void a_tool_can_end_the_connection_of_its_call_and_answer_on_a_later_one(void **state)
{
    struct peer peer;
    json_auto_t *answer = NULL;

    (void)state;
    peer_begin(&peer);
    assert_int_equal(peer_send(&peer, "POST", NULL, CALL("\"x\"", "leave", "{\"text\":\"hi\"}")),
                     200);
    assert_true(peer_receive(&peer));
    assert_int_equal(peer.event.length, 0);
    assert_false(peer_receive(&peer));
    assert_true(peer.http.ended);
    peer_hang_up(&peer);
    assert_int_equal(peer_send(&peer, "GET", peer.last_id, NULL), 200);
    atomic_store(&may_answer, true);
    answer = peer_answer(&peer);
    assert_string_equal(text_at(answer, "id"), "x");
    assert_string_equal(text_at(answer, "result.structuredContent.text"), "hi");
    peer_end(&peer);
}

static void a_tool_cannot_end_the_connection_of_a_call_without_a_session(void **state)
{
    TEXT_AUTO reply = { 0 };

    (void)state;
    atomic_store(&may_answer, true);
    assert_int_equal(http_request(server_port(served.server), "POST", "/mcp", MCP_HEADERS,
                                  CALL("1", "leave", "{\"text\":\"hi\"}"), &reply),
                     200);
    assert_non_null(strstr(text_string(&reply), "\"text\":\"hi\""));
    assert_null(strstr(text_string(&reply), "id: "));
}

static void resuming_a_call_ends_the_old_connection_if_it_is_still_open(void **state)
{
    struct peer peer, second;
    json_auto_t *answer = NULL;

    (void)state;
    peer_begin(&peer);
    assert_int_equal(
        peer_send(&peer, "POST", NULL, CALL("7", "slow", "{\"steps\":30,\"step_ms\":10}")), 200);
    assert_true(peer_receive(&peer));
    second = (struct peer){ .at = &served, .session = strdup(peer.session) };
    assert_int_equal(peer_send(&second, "GET", peer.last_id, NULL), 200);
    answer = peer_answer(&second);
    assert_int_equal(integer_at(answer, "id"), 7);
    while (peer_receive(&peer))
        assert_null(strstr(text_string(&peer.event), "result"));
    assert_true(peer.http.ended);
    peer_end(&second);
    peer_end(&peer);
}

static void event_ids_from_another_session_and_unknown_event_ids_are_refused(void **state)
{
    static const char *const unknown[] = {
        "x",   "_1",  "0_",          "abc_1",
        "0_x", "1_1", "0_-1",        "0_99999999999999999",
        "/_1", "0",   "0_1 OR 1=1 ", "00000000000000000000000_1"
    };
    struct peer alice, bob;

    (void)state;
    peer_begin(&alice);
    peer_begin(&bob);
    assert_int_equal(
        peer_send(&alice, "POST", NULL, CALL("7", "slow", "{\"steps\":1,\"step_ms\":1}")), 200);
    json_decref(peer_answer(&alice));
    check_refused(&bob, alice.last_id);
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++)
        check_refused(&bob, unknown[i]);
    peer_end(&alice);
    peer_end(&bob);
}

static void clients_with_the_same_ids_and_tokens_receive_only_their_own_messages(void **state)
{
    struct peer peers[2];

    (void)state;
    for (int i = 0; i < 2; i++)
        peer_begin(&peers[i]);
    assert_int_equal(
        peer_send(&peers[0], "POST", NULL, CALL("7", "slow", "{\"steps\":20,\"step_ms\":5}")), 200);
    assert_int_equal(
        peer_send(&peers[1], "POST", NULL, CALL("7", "slow", "{\"steps\":21,\"step_ms\":5}")), 200);
    for (int i = 0; i < 2; i++) {
        json_t *json = peer_message(&peers[i]);

        for (; json_at(json, "method") != NULL; json = peer_message(&peers[i])) {
            assert_int_equal(integer_at(json, "params.total"), 20 + i);
            json_decref(json);
        }
        assert_int_equal(integer_at(json, "result.structuredContent.steps"), 20 + i);
        json_decref(json);
    }
    assert_string_not_equal(peers[0].last_id, peers[1].last_id);
    for (int i = 0; i < 2; i++)
        peer_end(&peers[i]);
}

/* ---- After a restart ---- */

static void an_answer_that_was_not_received_survives_a_restart(void **state)
{
    struct peer peer;
    json_auto_t *answer = NULL;

    (void)state;
    peer_begin(&peer);
    assert_int_equal(
        peer_send(&peer, "POST", NULL, CALL("\"a\"", "slow", "{\"steps\":2,\"step_ms\":10}")), 200);
    assert_true(peer_receive(&peer));
    peer_hang_up(&peer);
    assert_true(served_reaches(&served_done, 1));
    restart();
    assert_int_equal(peer_send(&peer, "GET", peer.last_id, NULL), 200);
    answer = peer_answer(&peer);
    assert_string_equal(text_at(answer, "id"), "a");
    assert_int_equal(integer_at(answer, "result.structuredContent.steps"), 2);
    peer_end(&peer);
}

/* Stores what a server that was killed during a call would leave behind. */
static void lose_call(const struct peer *peer, const char *stream, const char *request_id)
{
    struct error error;

    assert_true(event_call_begin(served.services.store, peer->session, stream, "\"lost\"",
                                 request_id, clock_utc_ms(), &error));
}

/* Checks that the answer says that the outcome is unknown, and that it contains `words`, which say
 * where to look up the outcome. */
static void check_lost(struct peer *peer, const char *last_id, const char *words)
{
    json_auto_t *answer = NULL;

    assert_int_equal(peer_send(peer, "GET", last_id, NULL), 200);
    answer = peer_answer(peer);
    assert_string_equal(text_at(answer, "id"), "lost");
    assert_non_null(strstr(text_at(answer, "error.message"), "outcome unknown"));
    assert_non_null(strstr(text_at(answer, "error.message"), words));
    peer_hang_up(peer);
}

static void the_answer_to_a_lost_call_says_where_to_look_for_its_outcome(void **state)
{
    struct change change = { .actor = { "local", "admin", "unit", "req_lost_2" }, .tool = "t" };
    struct peer peer;
    struct job job;
    struct error error;

    (void)state;
    peer_begin(&peer);
    lose_call(&peer, "aa", "req_lost_1");
    lose_call(&peer, "bb", "req_lost_2");
    assert_true(job_add(served.services.store, "nothing", "", "local", clock_utc_ms(), &change,
                        &job, &error));
    restart();
    check_refused(&peer, "aa_9223372036854775807"); /* no event can have a higher number */
    check_lost(&peer, "aa_1", "job_list and audit_list");
    check_lost(&peer, "aa_1", "job_list and audit_list"); /* the answer is kept */
    check_lost(&peer, "bb_9", job.id);
    peer_end(&peer);
}

/* Copies the database (SQLite or PostgreSQL) as it would be if the process were killed now. */
static void copy_database(const struct served *from, const struct served *to)
{
    char database[1024], path[FOLDER_SIZE + 16];
    struct copy_place place = { from->folder, database };
    struct copy_report report;
    struct error error;

    snprintf(database, sizeof database, "%s", test_database(from->folder));
    snprintf(path, sizeof path, "%s/backup", from->folder);
    assert_true(copy_backup(&place, path, "", &report, &error));
    place = (struct copy_place){ to->folder, test_database(to->folder) };
    assert_true(copy_restore(path, "", &place, &report, &error));
}

/* Everything needed to resume a stream is stored before the stream's first event is sent. */
static void a_call_that_had_just_begun_when_the_server_was_killed_is_answered(void **state)
{
    struct peer peer;

    (void)state;
    peer_begin(&peer);
    assert_int_equal(
        peer_send(&peer, "POST", NULL, CALL("\"lost\"", "slow", "{\"steps\":1000,\"step_ms\":5}")),
        200);
    assert_true(peer_receive(&peer));
    assert_int_equal(peer.event.length, 0); /* a priming event */
    served_create(&revived);
    copy_database(&served, &revived);
    served_start(&revived, NULL);
    peer_hang_up(&peer);
    peer.at = &revived;
    check_lost(&peer, peer.last_id, "job_list and audit_list");
    served_destroy(&revived);
    peer_end(&peer);
}

/* ---- The session's long-lived stream ---- */

static void change_lists(unsigned lists)
{
    notifier_list_changed(served.server->notifier, lists);
}

static void check_receives(struct peer *peer, const char *method)
{
    json_auto_t *json = peer_message(peer);

    assert_string_equal(text_at(json, "method"), method);
}

/* Waits until the store has `expected` events of the session's long-lived stream. */
static void wait_for_events(const struct peer *peer, size_t expected)
{
    int64_t end_ns = clock_monotonic_ns() + INT64_C(10000000000);
    char stream[EVENT_STREAM_KEY_SIZE];
    struct event_row *rows;
    size_t count = 0;
    struct error error;

    event_stream_key(peer->session, SESSION_STREAM_ID, stream);
    while (count < expected && clock_monotonic_ns() < end_ns) {
        assert_true(event_list(served.services.store, stream, 0, 100, &rows, &count, &error));
        event_rows_free(rows, count);
        served_sleep_ms(5);
    }
    assert_int_equal(count, expected);
}

#define TOOLS_CHANGED "notifications/tools/list_changed"
#define PROMPTS_CHANGED "notifications/prompts/list_changed"

static void messages_wait_until_the_long_lived_stream_is_read_and_are_sent_once(void **state)
{
    struct peer peer;

    (void)state;
    peer_begin(&peer);
    change_lists(NOTIFIER_TOOLS);
    wait_for_events(&peer, 1);
    restart();
    change_lists(NOTIFIER_PROMPTS);
    wait_for_events(&peer, 2);
    assert_int_equal(peer_send(&peer, "GET", NULL, NULL), 200);
    check_receives(&peer, TOOLS_CHANGED);
    check_receives(&peer, PROMPTS_CHANGED);
    peer_hang_up(&peer);
    assert_int_equal(peer_send(&peer, "GET", NULL, NULL), 200);
    assert_true(peer_receive(&peer));
    assert_int_equal(peer.event.length, 0); /* a priming event, because no message was waiting */
    change_lists(NOTIFIER_TOOLS);
    check_receives(&peer, TOOLS_CHANGED);
    peer_end(&peer);
}

static void a_message_that_is_already_waiting_is_not_stored_again(void **state)
{
    struct peer peer;
    struct session *session;
    static const char same[] = "{\"jsonrpc\":\"2.0\",\"method\":\"m\"}";

    (void)state;
    peer_begin(&peer);
    session = sessions_find(served.server->sessions, peer.session);
    for (int i = 0; i < 5; i++)
        session_notify(session, same, strlen(same));
    wait_for_events(&peer, 1);
    assert_int_equal(peer_send(&peer, "GET", NULL, NULL), 200);
    check_receives(&peer, "m");
    session_notify(session, same, strlen(same));
    check_receives(&peer, "m");
    session_release(session);
    peer_end(&peer);
}

static void the_long_lived_stream_is_resumed_after_the_event_the_client_names(void **state)
{
    struct peer peer;
    char primed[80], first[80];

    (void)state;
    peer_begin(&peer);
    assert_int_equal(peer_send(&peer, "GET", NULL, NULL), 200);
    assert_true(peer_receive(&peer));
    snprintf(primed, sizeof primed, "%s", peer.last_id);
    change_lists(NOTIFIER_TOOLS);
    check_receives(&peer, TOOLS_CHANGED);
    snprintf(first, sizeof first, "%s", peer.last_id);
    change_lists(NOTIFIER_PROMPTS);
    check_receives(&peer, PROMPTS_CHANGED);
    peer_hang_up(&peer);
    assert_int_equal(peer_send(&peer, "GET", primed, NULL), 200);
    check_receives(&peer, TOOLS_CHANGED);
    check_receives(&peer, PROMPTS_CHANGED);
    peer_hang_up(&peer);
    restart();
    assert_int_equal(peer_send(&peer, "GET", first, NULL), 200);
    check_receives(&peer, PROMPTS_CHANGED);
    change_lists(NOTIFIER_RESOURCES); /* and the stream continues */
    check_receives(&peer, "notifications/resources/list_changed");
    peer_end(&peer);
}

static void a_subscription_survives_a_restart_and_ends_when_the_client_unsubscribes(void **state)
{
    struct peer peer;
    struct job job;
    struct error error;
    TEXT_AUTO params = { 0 };
    TEXT_AUTO body = { 0 };

    (void)state;
    peer_begin(&peer);
    assert_true(
        job_add(served.services.store, "nothing", "", "local", clock_utc_ms(), NULL, &job, &error));
    text_addf(&params, "\"params\":{\"uri\":\"opsbrain://jobs/%s\"}}", job.id);
    text_addf(&body, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"resources/subscribe\",%s",
              text_string(&params));
    assert_int_equal(peer_send(&peer, "POST", NULL, text_string(&body)), 200);
    peer_hang_up(&peer);
    restart();
    notifier_job_moved(served.server->notifier, job.id);
    wait_for_events(&peer, 1);
    assert_int_equal(peer_send(&peer, "GET", NULL, NULL), 200);
    check_receives(&peer, "notifications/resources/updated");
    peer_hang_up(&peer);
    text_clear(&body);
    text_addf(&body, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"resources/unsubscribe\",%s",
              text_string(&params));
    assert_int_equal(peer_send(&peer, "POST", NULL, text_string(&body)), 200);
    peer_hang_up(&peer);
    restart();
    assert_int_equal(peer_send(&peer, "GET", NULL, NULL), 200);
    notifier_job_moved(served.server->notifier, job.id);
    change_lists(NOTIFIER_TOOLS);
    check_receives(&peer, TOOLS_CHANGED);
    peer_end(&peer);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, start, stop)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_call_is_resumed_on_a_new_connection_after_the_last_received_event),
        TEST(a_client_that_reconnects_after_receiving_everything_gets_204),
        TEST(a_client_that_was_disconnected_gets_the_answer_when_it_reconnects),
        TEST(a_tool_can_end_the_connection_of_its_call_and_answer_on_a_later_one),
        TEST(a_tool_cannot_end_the_connection_of_a_call_without_a_session),
        TEST(resuming_a_call_ends_the_old_connection_if_it_is_still_open),
        TEST(event_ids_from_another_session_and_unknown_event_ids_are_refused),
        TEST(clients_with_the_same_ids_and_tokens_receive_only_their_own_messages),
        TEST(an_answer_that_was_not_received_survives_a_restart),
        TEST(the_answer_to_a_lost_call_says_where_to_look_for_its_outcome),
        TEST(a_call_that_had_just_begun_when_the_server_was_killed_is_answered),
        TEST(messages_wait_until_the_long_lived_stream_is_read_and_are_sent_once),
        TEST(a_message_that_is_already_waiting_is_not_stored_again),
        TEST(the_long_lived_stream_is_resumed_after_the_event_the_client_names),
        TEST(a_subscription_survives_a_restart_and_ends_when_the_client_unsubscribes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
