/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/formats/promtext.h"
#include "server/access/authority.h"
#include "tests/unit/support/mcp_client.h"
#include "tests/unit/support/served.h"

#define PING "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}"

static struct served served;

static unsigned port(void)
{
    return server_port(served.server);
}

static int start(void **state)
{
    (void)state;
    served_create(&served);
    served_start(&served, NULL);
    return 0;
}

static int stop(void **state)
{
    (void)state;
    served_destroy(&served);
    return 0;
}

static int ask(const char *verb, const char *path, const char *headers)
{
    return http_request(port(), verb, path, headers, strcmp(verb, "POST") == 0 ? PING : NULL, NULL);
}

static void a_path_can_end_with_one_slash(void **state)
{
    (void)state;
    assert_int_equal(ask("POST", "/mcp", MCP_HEADERS), 200);
    assert_int_equal(ask("POST", "/mcp/", MCP_HEADERS), 200);
    assert_int_equal(ask("GET", "/health", NULL), 200);
    assert_int_equal(ask("GET", "/health/", NULL), 200);
    assert_int_equal(ask("GET", "/ready", NULL), 200);
    assert_int_equal(ask("GET", "/nowhere", NULL), 404);
    assert_int_equal(ask("GET", "/mcpx", NULL), 404);
    assert_int_equal(ask("GET", "/mcp//", NULL), 404);
}

static void head_is_allowed_at_health_but_not_at_mcp(void **state)
{
    (void)state;
    assert_int_equal(ask("HEAD", "/health", NULL), 200);
    assert_int_equal(ask("HEAD", "/mcp", NULL), 405);
}

static void the_refusal_of_a_verb_lists_the_allowed_verbs(void **state)
{
    struct http_client client;
    char *allow;

    (void)state;
    http_open(&client, port());
    assert_int_equal(http_exchange(&client, "PUT", "/mcp", NULL, "x", NULL), 405);
    allow = http_header(&client, "Allow");
    assert_string_equal(allow, "POST, GET, DELETE");
    free(allow);
    assert_int_equal(http_exchange(&client, "POST", "/health", NULL, "x", NULL), 405);
    allow = http_header(&client, "Allow");
    assert_string_equal(allow, "GET, HEAD");
    free(allow);
    http_close(&client);
}

static void unknown_hosts_and_origins_are_refused_except_at_health_and_ready(void **state)
{
    static const char host[] = MCP_HEADERS "Host: evil.example.com\r\n";
    static const char origin[] = MCP_HEADERS "Origin: http://evil.example.com\r\n";

    (void)state;
    assert_int_equal(ask("POST", "/mcp", host), 403);
    assert_int_equal(ask("POST", "/mcp", origin), 403);
    assert_int_equal(ask("GET", "/mcp", origin), 403);
    assert_int_equal(ask("DELETE", "/mcp", origin), 403);
    assert_int_equal(ask("GET", "/metrics", host), 403);
    assert_int_equal(ask("GET", "/nowhere", host), 403);
    assert_int_equal(ask("GET", "/health", host), 200);
    assert_int_equal(ask("GET", "/ready", origin), 200);
    assert_int_equal(ask("POST", "/mcp", MCP_HEADERS "Origin: http://localhost:3000\r\n"), 200);
}

static void a_repeated_authorization_or_host_and_an_unknown_coding_are_refused(void **state)
{
    (void)state;
    assert_int_equal(ask("POST", "/mcp", MCP_HEADERS "Authorization: a\r\nAuthorization: b\r\n"),
                     400);
    assert_int_equal(
        ask("POST", "/mcp", MCP_HEADERS "Host: localhost\r\nhost: evil.example.com\r\n"), 400);
    assert_int_equal(ask("POST", "/mcp", MCP_HEADERS "Transfer-Encoding: identity\r\n"), 400);
}

/* Sends exactly these bytes, and returns the status of the answer. The server must then close the
 * connection. */
static int ask_raw(const char *request)
{
    struct http_client client;
    int status;

    http_open(&client, port());
    http_send_bytes(&client, request, strlen(request));
    status = http_read_head(&client);
    assert_true(http_is_closed(&client));
    http_close(&client);
    return status;
}

static void malformed_or_ambiguous_requests_are_refused_and_the_connection_ends(void **state)
{
    (void)state;
    assert_int_equal(ask_raw("GET /health HTTP/1.1\r\n\r\n"), 400);
    assert_int_equal(ask_raw("POST /mcp HTTP/1.1\r\n" MCP_HEADERS "Content-Length: 2\r\n\r\n{}"),
                     400);
    for (int i = 0; i < 2; i++)
        assert_int_equal(ask_raw(i == 0 ? "POST /mcp HTTP/1.1\r\nHost: localhost\r\n" MCP_HEADERS
                                          "Content-Length: 4\r\nTransfer-Encoding: chunked\r\n"
                                          "\r\n2\r\n{}\r\n0\r\n\r\n"
                                        : "POST /health HTTP/1.1\r\nHost: localhost\r\n"
                                          "Transfer-Encoding: chunked\r\nContent-Length: 4\r\n"
                                          "\r\n0\r\n\r\n"),
                         400);
    assert_int_equal(ask_raw("POST /mcp HTTP/1.1\r\nHost: localhost\r\n" MCP_HEADERS
                             "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n"),
                     501);
    assert_int_equal(ask_raw("GET /health HTTP/1.0\r\n\r\n"), 200); /* HTTP/1.0 needs no Host */
}

/* The Host header must be present, but the host in the target is checked instead of it. */
static void the_target_can_be_a_complete_uri_with_an_allowed_host(void **state)
{
    char uri[64], evil[] = "http://evil.example.com/mcp";
    const struct {
        const char *target, *host;
        int status;
    } cases[] = {
        { uri, "Host: localhost\r\n", 200 },
        { uri, "Host: evil.example.com\r\n", 200 },
        { evil, "Host: localhost\r\n", 403 },
        { "HTTPS://localhost/mcp", "Host: localhost\r\n", 200 },
        { "http://localhost", "Host: localhost\r\n", 404 },
        { "http://localhost@evil.example.com/mcp", "Host: localhost\r\n", 400 },
        { "http://localhost%2f@evil/mcp", "Host: localhost\r\n", 400 },
        { "http:///mcp", "Host: localhost\r\n", 400 },
        { "ftp://localhost/mcp", "Host: localhost\r\n", 400 },
        { "localhost/mcp", "Host: localhost\r\n", 400 },
        { "/mcp%00", "Host: localhost\r\n", 400 },
        { "/%6dcp", "Host: localhost\r\n", 200 },
        { "*", "Host: localhost\r\n", 404 },
        { uri, "", 400 },
    };

    (void)state;
    snprintf(uri, sizeof uri, "http://127.0.0.1:%u/mcp", port());
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        TEXT_AUTO request = { 0 };
        struct http_client client;

        text_addf(&request, "POST %s HTTP/1.1\r\n%s" MCP_HEADERS "Content-Length: %zu\r\n\r\n%s",
                  cases[i].target, cases[i].host, strlen(PING), PING);
        http_open(&client, port());
        http_send_bytes(&client, request.data, request.length);
        if (http_read_head(&client) != cases[i].status)
            fail_msg("%s %s: got %d, expected %d", cases[i].target, cases[i].host, client.status,
                     cases[i].status);
        http_close(&client);
    }
}

static void connect_and_an_asterisk_as_target_are_refused(void **state)
{
    (void)state;
    assert_int_equal(ask_raw("CONNECT localhost:443 HTTP/1.1\r\nHost: localhost:443\r\n\r\n"), 400);
    assert_int_equal(ask("OPTIONS", "*", NULL), 404);
}

static void refusals_are_json(void **state)
{
    static const struct {
        const char *verb, *path, *headers;
        int status;
    } cases[] = {
        { "GET", "/nowhere", NULL, 404 },
        { "PUT", "/mcp", NULL, 405 },
        { "POST", "/mcp", "Origin: http://evil.example.com\r\n", 403 },
        { "POST", "/mcp", "Content-Length: 9000000000\r\n", 413 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        TEXT_AUTO body = { 0 };
        json_auto_t *reply = NULL;
        struct error error;

        assert_int_equal(
            http_request(port(), cases[i].verb, cases[i].path, cases[i].headers, NULL, &body),
            cases[i].status);
        assert_true(json_parse(text_string(&body), body.length, &reply, &error));
        assert_int_equal(integer_at(reply, "error.code"), -32000);
        assert_true(json_is_string(json_at(reply, "error.message")));
    }
}

static void media_types_are_checked_and_can_have_parameters_and_wildcards(void **state)
{
    (void)state;
    assert_int_equal(ask("POST", "/mcp", "Content-Type: application/json; charset=utf-8\r\n"), 200);
    assert_int_equal(ask("POST", "/mcp", "Content-Type: text/plain\r\n"), 415);
    assert_int_equal(ask("POST", "/mcp", NULL), 415);
    assert_int_equal(ask("POST", "/mcp", "Content-Type: application/json\r\nAccept: */*\r\n"), 200);
    assert_int_equal(ask("POST", "/mcp", "Content-Type: application/json\r\nAccept: image/png\r\n"),
                     406);
}

static bool count_sample(void *context, const struct promtext_sample *sample)
{
    (void)sample;
    ++*(int *)context;
    return true;
}

static void metrics_are_well_formed_and_count_what_happened(void **state)
{
    TEXT_AUTO text = { 0 };
    size_t skipped = 0;
    int samples = 0;

    (void)state;
    assert_int_equal(ask("POST", "/mcp", MCP_HEADERS), 200);
    assert_int_equal(http_request(port(), "GET", "/metrics", NULL, NULL, &text), 200);
    assert_true(promtext_read(text.data, text.length, count_sample, &samples, &skipped));
    assert_int_equal(skipped, 0);
    assert_true(samples > 0);
    assert_non_null(strstr(text.data, "opsbrain_requests_total{method=\"ping\",status=\"2xx\"} 1"));
    assert_non_null(strstr(text.data, "opsbrain_jobs{state=\"queued\"} 0"));
    assert_non_null(strstr(text.data, "opsbrain_database_bytes "));
    assert_non_null(strstr(text.data, "process_resident_memory_bytes "));
}

/* Adds a viewer's key, after which the server requires keys. Writes the headers of a request with
 * this key. */
static void add_key(const char *name, char headers[256])
{
    char key[KEY_SIZE], hex[DIGEST_TEXT_SIZE];
    uint8_t digest[DIGEST_BYTES];
    struct api_key added;
    struct error error;

    authority_generate_key(key, hex);
    digest_sha256(key, strlen(key), digest);
    assert_true(
        api_key_add(served.services.store, name, ROLE_VIEWER, "", digest, 0, NULL, &added, &error));
    assert_true(authority_refresh(served.server->authority, &error));
    snprintf(headers, 256, MCP_HEADERS "Authorization: Bearer %s\r\n", key);
}

static void once_a_key_exists_requests_need_a_key_and_some_tools_need_a_role(void **state)
{
    char headers[256];
    struct http_client client;
    json_auto_t *reply = NULL;
    char *challenge;
    int status;

    (void)state;
    add_key("bob", headers);
    http_open(&client, port());
    assert_int_equal(http_exchange(&client, "POST", "/mcp", MCP_HEADERS, PING, NULL), 401);
    challenge = http_header(&client, "WWW-Authenticate");
    assert_string_equal(challenge, "Bearer realm=\"opsbrain\"");
    free(challenge);
    assert_int_equal(ask("GET", "/metrics", NULL), 401);
    assert_int_equal(ask("GET", "/health", NULL), 200);
    reply = mcp_post_on(&client, headers,
                        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{"
                        "\"name\":\"echo\"}}",
                        &status);
    assert_string_equal(text_at(reply, "result.structuredContent.principal"), "bob");
    json_decref(reply);
    reply = mcp_post_on(&client, headers,
                        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{"
                        "\"name\":\"operate\"}}",
                        &status);
    assert_true(json_is_true(json_at(reply, "result.isError")));
    assert_non_null(strstr(text_at(reply, "result.content.0.text"), "needs the role operator"));
    http_close(&client);
}

static int start_with_short_keep_alive(void **state)
{
    (void)state;
    served_create(&served);
    served_start(&served, "--keep-alive=1s", NULL);
    return 0;
}

#define BUSY                                                                                       \
    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"slow\","       \
    "\"arguments\":{\"steps\":100000,\"step_ms\":5},\"_meta\":{\"progressToken\":1}}}"

static void a_busy_stream_ends_soon_after_its_key_is_revoked(void **state)
{
    int64_t end_ns = clock_monotonic_ns() + INT64_C(20000000000);
    struct http_client client;
    TEXT_AUTO pending = { 0 };
    TEXT_AUTO message = { 0 };
    char headers[256];
    struct error error;
    int64_t revoked;

    (void)state;
    add_key("bob", headers);
    http_open(&client, port());
    http_send(&client, "POST", "/mcp", headers, BUSY);
    assert_int_equal(http_read_head(&client), 200);
    assert_true(http_message(&client, &pending, &message));
    assert_true(
        api_key_revoke(served.services.store, "bob", clock_utc_ms(), NULL, &revoked, &error));
    assert_true(authority_refresh(served.server->authority, &error));
    while (http_message(&client, &pending, &message))
        assert_true(clock_monotonic_ns() < end_ns);
    http_close(&client);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_path_can_end_with_one_slash, start, stop),
        cmocka_unit_test_setup_teardown(head_is_allowed_at_health_but_not_at_mcp, start, stop),
        cmocka_unit_test_setup_teardown(the_refusal_of_a_verb_lists_the_allowed_verbs, start, stop),
        cmocka_unit_test_setup_teardown(
            unknown_hosts_and_origins_are_refused_except_at_health_and_ready, start, stop),
        cmocka_unit_test_setup_teardown(
            a_repeated_authorization_or_host_and_an_unknown_coding_are_refused, start, stop),
        cmocka_unit_test_setup_teardown(
            malformed_or_ambiguous_requests_are_refused_and_the_connection_ends, start, stop),
        cmocka_unit_test_setup_teardown(the_target_can_be_a_complete_uri_with_an_allowed_host,
                                        start, stop),
        cmocka_unit_test_setup_teardown(connect_and_an_asterisk_as_target_are_refused, start, stop),
        cmocka_unit_test_setup_teardown(refusals_are_json, start, stop),
        cmocka_unit_test_setup_teardown(
            media_types_are_checked_and_can_have_parameters_and_wildcards, start, stop),
        cmocka_unit_test_setup_teardown(metrics_are_well_formed_and_count_what_happened, start,
                                        stop),
        cmocka_unit_test_setup_teardown(
            once_a_key_exists_requests_need_a_key_and_some_tools_need_a_role, start, stop),
        cmocka_unit_test_setup_teardown(a_busy_stream_ends_soon_after_its_key_is_revoked,
                                        start_with_short_keep_alive, stop),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
