/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/support/mcp_client.h"
#include "tests/unit/support/served.h"

#define PAGE "https://ops.example.com"
#define FROM_PAGE "Origin: " PAGE "\r\n"
#define PREFLIGHT FROM_PAGE "Access-Control-Request-Method: POST\r\n"
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
    served_start(&served, "--allowed-origins=" PAGE, "--auth=keys", NULL);
    return 0;
}

static int stop(void **state)
{
    (void)state;
    served_destroy(&served);
    return 0;
}

static int ask(struct http_client *client, const char *verb, const char *path, const char *headers)
{
    return http_exchange(client, verb, path, headers, strcmp(verb, "POST") == 0 ? PING : NULL,
                         NULL);
}

static bool header_is(const struct http_client *client, const char *name, const char *value)
{
    char *found = http_header(client, name);
    bool is = found == NULL ? value == NULL : value != NULL && strcmp(found, value) == 0;

    free(found);
    return is;
}

static bool header_has(const struct http_client *client, const char *name, const char *part)
{
    char *found = http_header(client, name);
    bool has = found != NULL && strcasestr(found, part) != NULL;

    free(found);
    return has;
}

/* A preflight carries no key, so it must be answered without one. */
static void a_preflight_from_an_allowed_page_is_told_what_the_page_can_send(void **state)
{
    static const char *const headers[] = { "authorization",        "content-type", "mcp-session-id",
                                           "mcp-protocol-version", "mcp-method",   "mcp-name",
                                           "last-event-id" };
    struct http_client client;

    (void)state;
    http_open(&client, port());
    assert_int_equal(ask(&client, "OPTIONS", "/mcp",
                         PREFLIGHT "Access-Control-Request-Headers: mcp-method, mcp-param-region, "
                                   "X-Other, Mcp-Param-\"bad\"\r\n"),
                     204);
    assert_true(header_is(&client, "Access-Control-Allow-Origin", PAGE));
    assert_true(header_is(&client, "Access-Control-Allow-Methods", "POST, GET, DELETE"));
    assert_true(header_is(&client, "Access-Control-Max-Age", "7200"));
    assert_true(header_has(&client, "Vary", "Origin"));
    for (size_t i = 0; i < sizeof headers / sizeof *headers; i++)
        assert_true(header_has(&client, "Access-Control-Allow-Headers", headers[i]));
    assert_true(header_has(&client, "Access-Control-Allow-Headers", "mcp-param-region"));
    assert_false(header_has(&client, "Access-Control-Allow-Headers", "x-other"));
    assert_false(header_has(&client, "Access-Control-Allow-Headers", "bad"));
    assert_int_equal(ask(&client, "OPTIONS", "/mcp/", PREFLIGHT),
                     204); /* the connection is still open */
    assert_int_equal(ask(&client, "OPTIONS", "/nowhere", PREFLIGHT), 404);
    http_close(&client);
}

static void a_preflight_from_a_page_that_is_not_allowed_is_refused(void **state)
{
    struct http_client client;

    (void)state;
    http_open(&client, port());
    assert_int_equal(ask(&client, "OPTIONS", "/mcp",
                         "Origin: https://evil.example.com\r\n"
                         "Access-Control-Request-Method: POST\r\n"),
                     403);
    assert_true(header_is(&client, "Access-Control-Allow-Origin", NULL));
    assert_int_equal(ask(&client, "OPTIONS", "/mcp", FROM_PAGE), 405); /* not a preflight */
    http_close(&client);
}

static void an_allowed_page_can_read_why_its_request_is_refused(void **state)
{
    struct http_client client;

    (void)state;
    http_open(&client, port());
    assert_int_equal(ask(&client, "POST", "/mcp", MCP_HEADERS FROM_PAGE), 401);
    assert_true(header_is(&client, "Access-Control-Allow-Origin", PAGE));
    assert_true(header_has(&client, "Access-Control-Expose-Headers", "Mcp-Session-Id"));
    assert_true(header_has(&client, "Access-Control-Expose-Headers", "WWW-Authenticate"));
    assert_true(header_has(&client, "Vary", "Origin"));
    assert_int_equal(ask(&client, "POST", "/mcp", MCP_HEADERS), 401);
    assert_true(header_is(&client, "Access-Control-Allow-Origin", NULL));
    http_close(&client);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            a_preflight_from_an_allowed_page_is_told_what_the_page_can_send, start, stop),
        cmocka_unit_test_setup_teardown(a_preflight_from_a_page_that_is_not_allowed_is_refused,
                                        start, stop),
        cmocka_unit_test_setup_teardown(an_allowed_page_can_read_why_its_request_is_refused, start,
                                        stop),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
