/* SPDX-License-Identifier: Apache-2.0 */
/* A call that is waiting for a worker is not begun if its caller's key is revoked, if its client
 * disconnects (only in revision 2026-07-28), or if the server stops. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "server/access/authority.h"
#include "tests/unit/support/holding.h"
#include "tests/unit/support/mcp_client.h"

static struct served served;
/* Authorization headers of olga, who is an operator, and vera, who is a viewer. */
static char olga[512], vera[512];
static atomic_int marked;

static bool mark(struct call *call, struct answer *answer, struct error *error)
{
    atomic_fetch_add(&marked, 1);
    return served_echo(call, answer, error);
}

static const struct tool mark_tool = {
    .name = "mark",
    .title = "Mark",
    .help = "Counts its calls.",
    .params = served_echo_params,
    .fields = served_echo_fields,
    .role = ROLE_OPERATOR,
    .placement = PLACE_WORKER,
    .read_only = true,
    .run = mark,
};
static const struct tool *const tools_here[] = { &holding_tool, &mark_tool, NULL };

static unsigned port(void)
{
    return server_port(served.server);
}

static void add_key(const char *name, enum role role, char headers[512])
{
    char key[KEY_SIZE], hex[DIGEST_TEXT_SIZE];
    uint8_t digest[DIGEST_BYTES];
    struct api_key added;
    struct error error;

    authority_generate_key(key, hex);
    digest_sha256(key, strlen(key), digest);
    assert_true(
        api_key_add(served.services.store, name, role, "", digest, 0, NULL, &added, &error));
    assert_true(authority_refresh(served.server->authority, &error));
    snprintf(headers, 512, "Authorization: Bearer %s\r\n", key);
}

static void revoke_key(const char *name)
{
    struct error error;
    int64_t revoked;

    assert_true(
        api_key_revoke(served.services.store, name, clock_utc_ms(), NULL, &revoked, &error));
    assert_true(authority_refresh(served.server->authority, &error));
}

static int start(void **state)
{
    (void)state;
    served_create(&served);
    served.tools = tools_here;
    served_start(&served, "--workers=1", NULL);
    add_key("olga", ROLE_OPERATOR, olga);
    add_key("vera", ROLE_VIEWER, vera);
    atomic_store(&holding_may_answer, false);
    atomic_store(&marked, 0);
    return 0;
}

static int stop(void **state)
{
    (void)state;
    atomic_store(&holding_may_answer, true);
    served_destroy(&served);
    return 0;
}

static void post_as(struct http_client *client, const char *key_header, const char *headers,
                    const char *path, const char *body)
{
    TEXT_AUTO all = { 0 };

    text_addf(&all, "%s%s", key_header, headers);
    http_open(client, port());
    http_send(client, "POST", path, text_string(&all), body);
}

/* Keeps the only worker busy until release_worker is called. */
static void hold(struct http_client *client)
{
    post_as(client, vera, MCP_HEADERS, "/mcp", HOLDING_CALL);
    assert_true(served_reaches(&served_running, 1));
}

static void release_worker(struct http_client *client)
{
    atomic_store(&holding_may_answer, true);
    assert_int_equal(http_read_head(client), 200);
    assert_true(served_falls(&served.server->http->in_flight, 0));
    http_close(client);
}

#define MARK                                                                                       \
    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"mark\"}}"
#define MODERN_MARK                                                                                \
    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\"," MODERN_PARAMS(                      \
        "\"name\":\"mark\",") "}"
#define MODERN_MARK_HEADERS MODERN_HEADERS("tools/call") "Mcp-Name: mark\r\n"

/* Disconnects, and waits until only the connection of the call that holds the worker is left. */
static void reset(struct http_client *client)
{
    static const struct linger at_once = { .l_onoff = 1 };
    atomic_int_fast64_t *connections = &served.server->http->open_connections;

    setsockopt(client->fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    http_close(client);
    for (int i = 0; i < 2500 && atomic_load(connections) > 1; i++)
        served_sleep_ms(2);
    assert_int_equal(atomic_load(connections), 1);
}

static void a_call_whose_key_was_revoked_is_not_begun(void **state)
{
    struct http_client holder, client;

    (void)state;
    hold(&holder);
    post_as(&client, olga, MCP_HEADERS, "/mcp", MARK);
    assert_true(holding_queue_reaches(&served, 1));
    revoke_key("olga");
    assert_true(http_is_closed(&client));
    release_worker(&holder);
    assert_int_equal(atomic_load(&marked), 0);
    http_close(&client);
}

/* The connection ends before the key is revoked. A legacy call stays queued without its
 * connection. */
static void a_call_whose_client_left_before_its_key_was_revoked_is_not_begun(void **state)
{
    struct http_client holder, client;

    (void)state;
    hold(&holder);
    post_as(&client, olga, MCP_HEADERS, "/mcp", MARK);
    assert_true(holding_queue_reaches(&served, 1));
    reset(&client);
    revoke_key("olga");
    release_worker(&holder);
    assert_int_equal(atomic_load(&marked), 0);
}

static void a_legacy_call_whose_client_left_is_begun_if_its_key_is_valid(void **state)
{
    struct http_client holder, client;

    (void)state;
    hold(&holder);
    post_as(&client, olga, MCP_HEADERS, "/mcp", MARK);
    assert_true(holding_queue_reaches(&served, 1));
    reset(&client);
    release_worker(&holder);
    assert_int_equal(atomic_load(&marked), 1);
}

static void a_modern_call_whose_client_left_is_not_begun(void **state)
{
    struct http_client holder, client;

    (void)state;
    hold(&holder);
    post_as(&client, olga, MODERN_MARK_HEADERS, "/mcp", MODERN_MARK);
    assert_true(holding_queue_reaches(&served, 1));
    reset(&client);
    release_worker(&holder);
    assert_int_equal(atomic_load(&marked), 0);
}

static void an_upload_whose_key_was_revoked_is_not_stored(void **state)
{
    struct http_client holder, client;
    char oscar[512];

    (void)state;
    hold(&holder);
    post_as(&client, olga, "", "/v1/datasets?name=chats", "{\"prompt\":\"one\"}\n");
    assert_true(holding_queue_reaches(&served, 1));
    revoke_key("olga");
    assert_true(http_is_closed(&client));
    release_worker(&holder);
    http_close(&client);
    add_key("oscar", ROLE_OPERATOR, oscar);
    post_as(&client, oscar, "", "/v1/datasets?name=chats", "{\"prompt\":\"one\"}\n");
    /* 200 would mean that the first upload was stored */
    assert_int_equal(http_read_head(&client), 201);
    http_close(&client);
}

static void calls_that_wait_when_the_server_stops_are_refused_and_not_begun(void **state)
{
    struct http_client holder, tool, listener;
    TEXT_AUTO reply = { 0 };

    (void)state;
    hold(&holder);
    post_as(&tool, olga, MCP_HEADERS, "/mcp", MARK);
    post_as(&listener, olga, MODERN_HEADERS("subscriptions/listen"), "/mcp",
            "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"subscriptions/listen\"," MODERN_PARAMS(
                "\"notifications\":{\"toolsListChanged\":true},") "}");
    assert_true(holding_queue_reaches(&served, 2));
    server_stop(served.server, 0); /* cancels the call that holds the worker */
    assert_int_equal(atomic_load(&marked), 0);
    assert_int_equal(http_read_head(&tool), 200);
    while (http_read_part(&tool, &reply))
        continue;
    assert_non_null(strstr(text_string(&reply), "nothing was done: the server is stopping"));
    assert_non_null(strstr(text_string(&reply), "\"isError\":true"));
    assert_int_equal(http_read_head(&listener), 503);
    http_close(&holder);
    http_close(&tool);
    http_close(&listener);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_call_whose_key_was_revoked_is_not_begun, start, stop),
        cmocka_unit_test_setup_teardown(
            a_call_whose_client_left_before_its_key_was_revoked_is_not_begun, start, stop),
        cmocka_unit_test_setup_teardown(
            a_legacy_call_whose_client_left_is_begun_if_its_key_is_valid, start, stop),
        cmocka_unit_test_setup_teardown(a_modern_call_whose_client_left_is_not_begun, start, stop),
        cmocka_unit_test_setup_teardown(an_upload_whose_key_was_revoked_is_not_stored, start, stop),
        cmocka_unit_test_setup_teardown(
            calls_that_wait_when_the_server_stops_are_refused_and_not_begun, start, stop),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
