/* SPDX-License-Identifier: Apache-2.0 */
#include "server/http/trace.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/support/mcp_client.h"
#include "tests/unit/support/served.h"

#define TRACE "0af7651916cd43dd8448eb211c80319c"
#define PARENT "b7ad6b7169203331"

static void reads_the_trace_id_from_a_valid_traceparent(void **state)
{
    static const char *const good[] = {
        "00-" TRACE "-" PARENT "-01",
        "00-" TRACE "-" PARENT "-00",
        "01-" TRACE "-" PARENT "-01",
        "cc-" TRACE "-" PARENT "-01-what-the-future-brings",
    };

    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        char id[TRACE_ID_SIZE] = "";

        assert_true(trace_id_read(good[i], id));
        assert_string_equal(id, TRACE);
    }
}

static void refuses_invalid_traceparents(void **state)
{
    static const char *const bad[] = {
        "",
        "00",
        "00-" TRACE,
        "00-" TRACE "-" PARENT,
        "00-" TRACE "-" PARENT "-0",
        "00-" TRACE "-" PARENT "-01-more",
        "01-" TRACE "-" PARENT "-01x",
        "ff-" TRACE "-" PARENT "-01",
        "00-0AF7651916CD43DD8448EB211C80319C-" PARENT "-01",
        "00-00000000000000000000000000000000-" PARENT "-01",
        "00-" TRACE "-0000000000000000-01",
        "00_" TRACE "-" PARENT "-01",
        "00-" TRACE "-" PARENT "\n-01",
        " 00-" TRACE "-" PARENT "-01",
    };

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char id[TRACE_ID_SIZE] = "same";

        assert_false(trace_id_read(bad[i], id));
        assert_string_equal(id, "same");
    }
    assert_false(trace_id_read(NULL, (char[TRACE_ID_SIZE]){ 0 }));
}

#define FROM_HEADER "00-11111111111111111111111111111111-" PARENT "-01"
#define PING(meta)                                                                                 \
    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":{\"_meta\":{" meta "}}}"

/* Starts a server, sends it a request and stops it. Writes to `out` what the server logged. */
static void log_of_request(const char *headers, const char *body, char *out, size_t size)
{
    struct served served;
    FILE *file = tmpfile();
    int real = dup(STDERR_FILENO);
    int status;

    dup2(fileno(file), STDERR_FILENO);
    served_create(&served);
    served_start(&served, "--log-requests=true", NULL);
    json_decref(mcp_post_once(server_port(served.server), headers, body, &status));
    served_destroy(&served);
    dup2(real, STDERR_FILENO);
    close(real);
    rewind(file);
    out[fread(out, 1, size - 1, file)] = '\0';
    fclose(file);
    assert_int_equal(status, 200);
}

static void the_log_line_has_the_trace_id_and_nothing_else_of_the_trace_context(void **state)
{
    char log[4096];

    (void)state;
    log_of_request(MCP_HEADERS "traceparent: " FROM_HEADER "\r\ntracestate: secret=1\r\n", PING(""),
                   log, sizeof log);
    assert_non_null(strstr(log, " trace 11111111111111111111111111111111\n"));
    assert_null(strstr(log, "secret"));
    assert_null(strstr(log, PARENT));
    log_of_request(MCP_HEADERS "traceparent: " FROM_HEADER "\r\n",
                   PING("\"traceparent\":\"00-" TRACE "-" PARENT "-01\",\"baggage\":\"secret=1\""),
                   log, sizeof log);
    /* the message's traceparent takes precedence over the header's */
    assert_non_null(strstr(log, " trace " TRACE "\n"));
    assert_null(strstr(log, "secret"));
}

static void without_a_valid_traceparent_the_log_line_has_no_trace_id(void **state)
{
    char log[4096];

    (void)state;
    /* a traceparent header that occurs twice is ignored, even if it is valid */
    log_of_request(MCP_HEADERS "traceparent: " FROM_HEADER "\r\ntraceparent: " FROM_HEADER "\r\n",
                   PING("\"traceparent\":\"00-x\""), log, sizeof log);
    assert_non_null(strstr(log, "POST /mcp ping"));
    assert_null(strstr(log, " trace "));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_the_trace_id_from_a_valid_traceparent),
        cmocka_unit_test(refuses_invalid_traceparents),
        cmocka_unit_test(the_log_line_has_the_trace_id_and_nothing_else_of_the_trace_context),
        cmocka_unit_test(without_a_valid_traceparent_the_log_line_has_no_trace_id),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
