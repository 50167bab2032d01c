/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/core/rate_limit.h"
#include "server/access/authority.h"
#include "tests/unit/support/mcp_client.h"
#include "tests/unit/support/served.h"

#define PING(id) "{\"jsonrpc\":\"2.0\",\"id\":" id ",\"method\":\"ping\"}"
#define BLOCK(id)                                                                                  \
    "{\"jsonrpc\":\"2.0\",\"id\":" id ",\"method\":\"tools/call\",\"params\":{\"name\":\"block\"," \
    "\"arguments\":{\"steps\":1,\"step_ms\":5}}}"
#define ENDLESS                                                                                    \
    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\"," MODERN_PARAMS(                      \
        "\"name\":\"block\",\"arguments\":{\"steps\":100000,\"step_ms\":5},") "}"

static struct served served;
static char alice[256], bob[256]; /* HTTP headers with their keys */

static unsigned port(void)
{
    return server_port(served.server);
}

static void add_key(const char *name, char out[256])
{
    char key[KEY_SIZE], hex[DIGEST_TEXT_SIZE];
    uint8_t digest[DIGEST_BYTES];
    struct api_key added;
    struct error error;

    authority_generate_key(key, hex);
    digest_sha256(key, strlen(key), digest);
    assert_true(
        api_key_add(served.services.store, name, ROLE_VIEWER, "", digest, 0, NULL, &added, &error));
    snprintf(out, 256, MCP_HEADERS "Authorization: Bearer %s\r\n", key);
}

static int start_with(const char *first_flag, const char *second_flag)
{
    struct error error;

    served_create(&served);
    served_start(&served, first_flag, second_flag, NULL);
    add_key("alice", alice);
    add_key("bob", bob);
    assert_true(authority_refresh(served.server->authority, &error));
    atomic_store(&served_done, 0);
    return 0;
}

static int start_with_rate_limit(void **state)
{
    (void)state;
    return start_with("--rate-per-principal=1", "--burst-per-principal=5");
}

static int start_with_call_limit(void **state)
{
    (void)state;
    return start_with("--calls-per-principal=2", "--workers=3");
}

static int stop(void **state)
{
    (void)state;
    served_destroy(&served);
    return 0;
}

/* Checks an answer to alice with status 429: it must say when to retry, and name alice and the
 * setting. */
static void check_refusal(const struct http_client *client, const json_t *reply,
                          const char *setting)
{
    char *wait = http_header(client, "Retry-After");

    assert_non_null(wait);
    assert_in_range(strtol(wait, NULL, 10), 1, 10);
    free(wait);
    assert_int_equal(integer_at(reply, "error.code"), -32000);
    assert_non_null(strstr(text_at(reply, "error.message"), "alice"));
    assert_non_null(strstr(text_at(reply, "error.message"), setting));
}

static void a_principal_over_its_rate_is_told_when_to_retry_and_others_are_served(void **state)
{
    struct http_client client;
    int refused = 0, status;

    (void)state;
    http_open(&client, port());
    for (int i = 0; i < 30; i++) {
        json_auto_t *reply = mcp_post_on(&client, alice, PING("\"a-1\""), &status);

        assert_string_equal(text_at(reply, "id"), "a-1");
        assert_true(status == 200 || status == 429);
        if (status == 429)
            check_refusal(&client, reply, "rate_per_principal");
        refused += status == 429;
    }
    assert_in_range(refused, 10, 25);
    for (int i = 0; i < 5; i++)
        json_decref(mcp_post_on(&client, bob, PING("1"), &status));
    assert_int_equal(status, 200);
    http_close(&client);
}

static void a_rate_limit_refusal_repeats_the_id_of_a_request_but_not_of_a_batch(void **state)
{
    static const struct {
        const char *body, *id;
    } cases[] = {
        { PING("7"), "7" },
        { "{\"params\":{\"id\":5},\"id\":-3}", "-3" },
        { "{\"id\":[1],\"method\":\"ping\"}", NULL },
        { "{\"id\":null,\"method\":\"ping\"}", NULL },
        { "[" PING("7") "]", NULL },
        { "{\"id\":", NULL },
        { "nonsense", NULL },
        { "", NULL },
    };
    struct http_client client;
    int status;

    (void)state;
    http_open(&client, port());
    for (int i = 0; i < 20; i++)
        json_decref(mcp_post_on(&client, alice, PING("1"), &status));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        json_auto_t *reply = mcp_post_on(&client, alice, cases[i].body, &status);
        char *id;

        while (status != 429) { /* on a slow machine, a permit might have accrued */
            json_decref(reply);
            reply = mcp_post_on(&client, alice, cases[i].body, &status);
        }
        assert_non_null(reply);
        id = json_object_get(reply, "id") ? json_write(json_object_get(reply, "id")) : NULL;
        if (cases[i].id == NULL)
            assert_null(id);
        else
            assert_string_equal(id, cases[i].id);
        free(id);
    }
    http_close(&client);
}

/* Begins a call that lasts until its client disconnects. */
static void begin_call(struct http_client *client, const char *headers)
{
    static const struct linger reset = { .l_onoff = 1 };
    TEXT_AUTO all = { 0 };

    text_addf(&all, "%s%s", headers,
              "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: block\r\n");
    http_open(client, port());
    setsockopt(client->fd, SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
    http_send(client, "POST", "/mcp", text_string(&all), ENDLESS);
}

static bool is_served_again(struct http_client *client, const char *body)
{
    int64_t end_ns = clock_monotonic_ns() + INT64_C(10000000000);
    int status = 429;

    while (status == 429 && clock_monotonic_ns() < end_ns)
        json_decref(mcp_post_on(client, alice, body, &status));
    return status == 200;
}

static void one_principal_cannot_occupy_all_workers(void **state)
{
    struct http_client running[2], client;
    int status;

    (void)state;
    for (int i = 0; i < 2; i++)
        begin_call(&running[i], alice);
    assert_true(served_reaches(&served_running, 2));
    http_open(&client, port());
    for (int i = 0; i < 10; i++) {
        json_auto_t *reply = mcp_post_on(&client, alice, BLOCK("7"), &status);

        assert_int_equal(status, 429);
        assert_int_equal(integer_at(reply, "id"), 7);
        check_refusal(&client, reply, "calls_per_principal");
    }
    json_decref(mcp_post_on(&client, alice, PING("1"), &status));
    assert_int_equal(status, 200); /* not counted: a ping runs on the HTTP thread */
    json_decref(mcp_post_on(&client, bob, BLOCK("1"), &status));
    assert_int_equal(status, 200);
    assert_int_equal(atomic_load(&served_running), 2);
    for (int i = 0; i < 2; i++)
        http_close(&running[i]);
    assert_true(is_served_again(&client, BLOCK("1")));
    http_close(&client);
}

/* If a principal has used up its share of the HTTP thread's time, even calls that are answered at
 * once count towards its calls in progress. */
static void one_principal_cannot_occupy_the_http_thread_with_short_calls(void **state)
{
    struct http_client running[2], client;
    int status;

    (void)state;
    for (int i = 0; i < 2; i++)
        begin_call(&running[i], alice);
    assert_true(served_reaches(&served_running, 2));
    http_open(&client, port());
    json_decref(mcp_post_on(&client, alice, PING("1"), &status));
    assert_int_equal(status, 200);
    rate_limit_charge(served.server->inline_us, "alice", 3600 * INT64_C(1000000),
                      clock_monotonic_ns());
    json_auto_t *reply = mcp_post_on(&client, alice, PING("7"), &status);
    assert_int_equal(status, 429);
    check_refusal(&client, reply, "calls_per_principal");
    json_decref(mcp_post_on(&client, bob, PING("1"), &status));
    assert_int_equal(status, 200);
    http_close(&running[0]);
    assert_true(is_served_again(&client, PING("1")));
    http_close(&running[1]);
    http_close(&client);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            a_principal_over_its_rate_is_told_when_to_retry_and_others_are_served,
            start_with_rate_limit, stop),
        cmocka_unit_test_setup_teardown(
            a_rate_limit_refusal_repeats_the_id_of_a_request_but_not_of_a_batch,
            start_with_rate_limit, stop),
        cmocka_unit_test_setup_teardown(one_principal_cannot_occupy_all_workers,
                                        start_with_call_limit, stop),
        cmocka_unit_test_setup_teardown(
            one_principal_cannot_occupy_the_http_thread_with_short_calls, start_with_call_limit,
            stop),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
