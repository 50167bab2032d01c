/* SPDX-License-Identifier: Apache-2.0 */
/* Who is notified of what, over HTTP: sessions on their long-lived streams, streams that
 * subscriptions/listen opened, and open pages. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "server/streams/notifier.h"
#include "store/ledger/deployments.h"
#include "store/ledger/jobs.h"
#include "tests/unit/support/mcp_client.h"
#include "tests/unit/support/served.h"

static struct served served;

static int start(void **state)
{
    (void)state;
    served_create(&served);
    served.resources = resources;
    served_start(&served, NULL);
    return 0;
}

static int stop(void **state)
{
    (void)state;
    served_destroy(&served);
    return 0;
}

static unsigned port(void)
{
    return server_port(served.server);
}

/* Queues a job, and writes its id to `out`. */
static void add_job(char out[ID_SIZE])
{
    struct job job;
    struct error error;

    if (!job_add(served.services.store, "nothing", "", "alice", clock_utc_ms(), NULL, &job, &error))
        fail_msg("%s", error.message);
    text_copy(out, ID_SIZE, job.id);
}

/* Reports that the job has changed. */
static void move_job(const char *id)
{
    notifier_job_moved(served.server->notifier, id);
}

/* A session and its long-lived stream. */
struct follower {
    char *session;
    struct http_client client;
    struct text pending, event, headers;
};

static void follower_open(struct follower *follower)
{
    *follower = (struct follower){ .session = mcp_initialize(port(), NULL) };
    text_addf(&follower->headers, MCP_HEADERS "Mcp-Session-Id: %s\r\n", follower->session);
    http_open(&follower->client, port());
    http_send(&follower->client, "GET", "/mcp", text_string(&follower->headers), NULL);
    assert_int_equal(http_read_head(&follower->client), 200);
}

static void follower_close(struct follower *follower)
{
    http_close(&follower->client);
    text_finish(&follower->pending);
    text_finish(&follower->event);
    text_finish(&follower->headers);
    free(follower->session);
}

/* Returns the next message; the caller releases it. */
static json_t *receive(struct http_client *client, struct text *pending, struct text *event)
{
    json_t *json = NULL;
    struct error error;

    if (!http_message(client, pending, event))
        fail_msg("the stream ended");
    if (!json_parse(text_string(event), event->length, &json, &error))
        fail_msg("%s: %s", text_string(event), error.message);
    return json;
}

static void expect_message(struct follower *follower, const char *method, const char *uri)
{
    json_auto_t *json = receive(&follower->client, &follower->pending, &follower->event);

    assert_string_equal(text_at(json, "method"), method);
    assert_string_equal(text_at(json, "params.uri"), uri);
}

#define UPDATED "notifications/resources/updated"
#define CHANGED "notifications/resources/list_changed"

/* Sends resources/subscribe or resources/unsubscribe for a job. Returns the error code, or 0
 * if there is no error. */
static int subscribe(struct follower *follower, const char *verb, const char *job)
{
    TEXT_AUTO body = { 0 };
    json_auto_t *reply = NULL;
    int status;

    text_addf(&body,
              "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"resources/%s\",\"params\":{\"uri\":"
              "\"opsbrain://jobs/%s\"}}",
              verb, job);
    reply = mcp_post_once(port(), text_string(&follower->headers), text_string(&body), &status);
    assert_non_null(reply);
    return (int)integer_at(reply, "error.code");
}

static void uri_of(const char *job, char out[RESOURCE_URI_SIZE])
{
    snprintf(out, RESOURCE_URI_SIZE, "opsbrain://jobs/%s", job);
}

static void notifies_a_session_at_most_once_a_second(void **state)
{
    struct follower follower;
    char job[ID_SIZE], uri[RESOURCE_URI_SIZE];
    int64_t first_ns;

    (void)state;
    follower_open(&follower);
    add_job(job);
    uri_of(job, uri);
    assert_int_equal(subscribe(&follower, "subscribe", job), 0);
    move_job(job);
    expect_message(&follower, UPDATED, uri);
    first_ns = clock_monotonic_ns();
    for (int i = 0; i < 500; i++)
        move_job(job);
    expect_message(&follower, UPDATED, uri);
    assert_true(clock_monotonic_ns() - first_ns > INT64_C(900000000));
    notifier_list_changed(served.server->notifier, NOTIFIER_RESOURCES);
    expect_message(&follower, CHANGED, "(none)"); /* so the 500 changes were reported only once */
    follower_close(&follower);
}

static void notifies_only_sessions_that_are_still_subscribed_to_the_resource(void **state)
{
    struct follower follower, other;
    char job[ID_SIZE], second[ID_SIZE], uri[RESOURCE_URI_SIZE];

    (void)state;
    follower_open(&follower);
    follower_open(&other);
    add_job(job);
    add_job(second);
    uri_of(second, uri);
    assert_int_equal(subscribe(&follower, "subscribe", job), 0);
    assert_int_equal(subscribe(&follower, "subscribe", second), 0);
    assert_int_equal(subscribe(&follower, "unsubscribe", job), 0);
    assert_int_equal(subscribe(&follower, "unsubscribe", "job_never"), 0);
    move_job(job);
    move_job(second);
    notifier_list_changed(served.server->notifier, NOTIFIER_RESOURCES);
    expect_message(&other, CHANGED, "(none)");
    expect_message(&follower, UPDATED, uri);
    expect_message(&follower, CHANGED, "(none)");
    follower_close(&follower);
    follower_close(&other);
}

static void
a_subscription_needs_a_session_and_a_known_resource_and_there_is_a_limit_per_session(void **state)
{
    struct follower follower;
    char job[ID_SIZE];
    json_auto_t *reply = NULL;
    int status;

    (void)state;
    follower_open(&follower);
    assert_int_equal(subscribe(&follower, "subscribe", "job_nobody"), -32002);
    assert_int_equal(subscribe(&follower, "subscribe", "a/b"), -32002);
    for (int i = 0; i < SUBSCRIPTIONS_LIMIT; i++) {
        add_job(job);
        assert_int_equal(subscribe(&follower, "subscribe", job), 0);
    }
    add_job(job);
    assert_int_equal(subscribe(&follower, "subscribe", job), -32603);
    reply = mcp_post_once(port(), NULL,
                          "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"resources/subscribe\","
                          "\"params\":{\"uri\":\"opsbrain://guide\"}}",
                          &status);
    assert_int_equal(integer_at(reply, "error.code"), -32000);
    follower_close(&follower);
}

static void notifies_a_session_only_of_the_deployment_it_subscribed_to(void **state)
{
    static const struct deployment row = { .name = "demo",
                                           .url = "http://127.0.0.1:9",
                                           .provider = "endpoint",
                                           .labels = "{}",
                                           .limits = "{}",
                                           .created_by = "alice" };
    struct deployment added;
    struct follower follower;
    struct error error;
    json_auto_t *reply = NULL;
    int status;

    (void)state;
    assert_true(deployment_add(served.services.store, &row, 1, NULL, &added, &error));
    follower_open(&follower);
    reply = mcp_post_once(port(), text_string(&follower.headers),
                          "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"resources/subscribe\","
                          "\"params\":{\"uri\":\"opsbrain://deployments/demo\"}}",
                          &status);
    assert_non_null(json_at(reply, "result"));
    notifier_resource_changed(served.server->notifier, "other");
    notifier_resource_changed(served.server->notifier, "demo");
    expect_message(&follower, UPDATED, "opsbrain://deployments/demo");
    follower_close(&follower);
}

static void does_not_notify_a_session_that_has_ended(void **state)
{
    struct follower gone, stays;
    char job[ID_SIZE], uri[RESOURCE_URI_SIZE];

    (void)state;
    follower_open(&gone);
    follower_open(&stays);
    add_job(job);
    uri_of(job, uri);
    assert_int_equal(subscribe(&gone, "subscribe", job), 0);
    assert_int_equal(subscribe(&stays, "subscribe", job), 0);
    assert_int_equal(http_request(port(), "DELETE", "/mcp", text_string(&gone.headers), NULL, NULL),
                     200);
    move_job(job);
    expect_message(&stays, UPDATED, uri);
    assert_false(http_message(&gone.client, &gone.pending, &gone.event));
    follower_close(&gone);
    follower_close(&stays);
}

static void notifies_a_listening_stream_only_of_what_it_asked_for(void **state)
{
    static const char tag[] = "io.modelcontextprotocol/subscriptionId";
    struct http_client client;
    TEXT_AUTO pending = { 0 };
    TEXT_AUTO event = { 0 };
    TEXT_AUTO body = { 0 };
    char job[ID_SIZE], other[ID_SIZE], uri[RESOURCE_URI_SIZE];
    json_t *json;

    (void)state;
    add_job(job);
    add_job(other);
    uri_of(job, uri);
    text_addf(&body,
              "{\"jsonrpc\":\"2.0\",\"id\":5,\"method\":\"subscriptions/listen\"," MODERN_PARAMS(
                  "\"notifications\":{\"resourceSubscriptions\":[\"%s\",\"opsbrain://jobs/x\"],"
                  "\"resourcesListChanged\":false,\"promptsListChanged\":true},") "}",
              uri);
    http_open(&client, port());
    http_send(&client, "POST", "/mcp", MODERN_HEADERS("subscriptions/listen"), text_string(&body));
    assert_int_equal(http_read_head(&client), 200);
    json = receive(&client, &pending, &event);
    assert_int_equal(json_object_size(json_at(json, "params.notifications")), 2);
    assert_int_equal(json_array_size(json_at(json, "params.notifications.resourceSubscriptions")),
                     1);
    json_decref(json);
    move_job(other);
    notifier_list_changed(served.server->notifier, NOTIFIER_RESOURCES | NOTIFIER_TOOLS);
    move_job(job);
    json = receive(&client, &pending, &event);
    assert_string_equal(text_at(json, "method"), UPDATED);
    assert_string_equal(text_at(json, "params.uri"), uri);
    assert_int_equal(json_integer_value(json_object_get(json_at(json, "params._meta"), tag)), 5);
    json_decref(json);
    notifier_list_changed(served.server->notifier, NOTIFIER_PROMPTS);
    json = receive(&client, &pending, &event);
    assert_string_equal(text_at(json, "method"), "notifications/prompts/list_changed");
    json_decref(json);
    http_close(&client);
}

static void expect_names(struct http_client *client, struct text *pending, const char *names)
{
    TEXT_AUTO event = { 0 };

    assert_true(http_message(client, pending, &event));
    assert_string_equal(text_string(&event), names);
}

static void pages_are_notified_of_scrapes_at_most_every_few_seconds(void **state)
{
    struct notifier *notifier = served.server->notifier;
    struct http_client client;
    TEXT_AUTO pending = { 0 };

    (void)state;
    http_open(&client, port());
    http_send(&client, "GET", "/events", MCP_HEADERS, NULL);
    assert_int_equal(http_read_head(&client), 200);
    for (int i = 0; i < 1000; i++)
        notifier_scraped(notifier, "sim");
    expect_names(&client, &pending, "[\"*load\"]");
    for (int i = 0; i < 1000; i++)
        notifier_scraped(notifier, "sim");
    notifier_resource_changed(notifier, "sim");
    expect_names(&client, &pending, "[\"sim\"]");
    http_close(&client);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, start, stop)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(notifies_a_session_at_most_once_a_second),
        TEST(notifies_only_sessions_that_are_still_subscribed_to_the_resource),
        TEST(a_subscription_needs_a_session_and_a_known_resource_and_there_is_a_limit_per_session),
        TEST(notifies_a_session_only_of_the_deployment_it_subscribed_to),
        TEST(does_not_notify_a_session_that_has_ended),
        TEST(notifies_a_listening_stream_only_of_what_it_asked_for),
        TEST(pages_are_notified_of_scrapes_at_most_every_few_seconds),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
