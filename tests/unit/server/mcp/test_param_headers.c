/* SPDX-License-Identifier: Apache-2.0 */
/* Arguments that clients must repeat in headers (revision 2026-07-28). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/support/mcp_client.h"
#include "tests/unit/support/served.h"

static struct served served;

static bool run(struct call *call, struct answer *answer, struct error *error)
{
    (void)call;
    (void)error;
    text_add(&answer->text, "ran");
    return true;
}

static const struct param params[] = {
    { "region", VALUE_TEXT, .low = 0, .high = 100, .header = "Region", .help = "Where." },
    { "count", VALUE_INTEGER, .low = 0, .high = 1e15, .header = "Count", .help = "How many." },
    { "force", VALUE_BOOLEAN, .header = "Force", .help = "Really." },
    { 0 },
};
static const struct tool by_rows = { .name = "rows",
                                     .title = "Rows",
                                     .help = "Rows.",
                                     .params = params,
                                     .role = ROLE_VIEWER,
                                     .placement = PLACE_WORKER,
                                     .read_only = true,
                                     .run = run };
static const struct tool by_schema = {
    .name = "schema",
    .title = "Schema",
    .help = "Schema.",
    .input_schema = "{\"type\":\"object\",\"properties\":{\"where\":{\"type\":\"object\","
                    "\"properties\":{\"region\":{\"type\":\"string\",\"x-mcp-header\":"
                    "\"Region\"}}}}}",
    .role = ROLE_VIEWER,
    .placement = PLACE_WORKER,
    .read_only = true,
    .run = run,
};
static const struct tool *const tool_table[] = { &by_rows, &by_schema, NULL };

static int start(void **state)
{
    (void)state;
    served_create(&served);
    served.tools = tool_table;
    served_start(&served, NULL);
    return 0;
}

static int stop(void **state)
{
    (void)state;
    served_destroy(&served);
    return 0;
}

/* Calls a tool. Returns the error code, or 0 if there is no error. */
static int64_t call(const char *tool, const char *arguments, const char *more_headers)
{
    TEXT_AUTO headers = { 0 };
    TEXT_AUTO body = { 0 };
    json_auto_t *reply = NULL;
    int status;

    text_addf(&headers, MODERN_HEADERS("tools/call") "Mcp-Name: %s\r\n%s", tool, more_headers);
    text_addf(&body,
              "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"%s\","
              "\"arguments\":%s,\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":"
              "\"2026-07-28\",\"io.modelcontextprotocol/clientCapabilities\":{}}}}",
              tool, arguments);
    reply = mcp_post_once(server_port(served.server), text_string(&headers), text_string(&body),
                          &status);
    assert_int_equal(status, json_at(reply, "error") != NULL ? 400 : 200);
    return integer_at(reply, "error.code");
}

static void headers_must_repeat_the_arguments(void **state)
{
    static const struct {
        const char *arguments, *headers;
        bool accepted;
    } cases[] = {
        { "{\"region\":\"us\"}", "Mcp-Param-Region: us\r\n", true },
        { "{\"region\":\"us\"}", "mcp-param-region:   us  \r\n", true },
        { "{\"region\":\"us\"}", "Mcp-Param-Region: =?base64?dXM=?=\r\n", true },
        { "{\"region\":\"Hello\"}", "Mcp-Param-Region: SGVsbG8=\r\n", false },
        { "{\"region\":\"SGVsbG8=\"}", "Mcp-Param-Region: SGVsbG8=\r\n", true },
        { "{\"region\":\"Hello\"}", "Mcp-Param-Region: =?base64?SGVsbG8?=\r\n", false },
        { "{\"region\":\"Hello\"}", "Mcp-Param-Region: =?base64?SGVs!!!bG8=?=\r\n", false },
        { "{\"region\":\"us\"}", "Mcp-Param-Region: eu\r\n", false },
        { "{\"region\":\"us\"}", "Mcp-Param-Region: US\r\n", false },
        { "{\"region\":\"us\"}", "", false },
        { "{\"region\":\"us\"}", "Mcp-Param-Region: us\r\nMcp-Param-Region: us\r\n", false },
        { "{\"region\":\"\"}", "Mcp-Param-Region:\r\n", true },
        { "{}", "", true },
        { "{\"region\":null}", "", true },
        { "{}", "Mcp-Param-Region: us\r\n", false },
        { "{}", "Mcp-Param-Other: us\r\n", true },
        { "{\"count\":42}", "Mcp-Param-Count: 42\r\n", true },
        { "{\"count\":42}", "Mcp-Param-Count: 42.0\r\n", true },
        { "{\"count\":42.0}", "Mcp-Param-Count: 42\r\n", true },
        { "{\"count\":42}", "Mcp-Param-Count: 43\r\n", false },
        { "{\"count\":42}", "Mcp-Param-Count: 42x\r\n", false },
        { "{\"count\":0}", "Mcp-Param-Count: nan\r\n", false },
        { "{\"force\":true}", "Mcp-Param-Force: true\r\n", true },
        { "{\"force\":true}", "Mcp-Param-Force: True\r\n", false },
        { "{\"force\":false}", "Mcp-Param-Force: 0\r\n", false },
        { "{\"force\":false,\"count\":1}", "Mcp-Param-Force: false\r\nMcp-Param-Count: 1\r\n",
          true },
        { "{\"force\":false,\"count\":1}", "Mcp-Param-Force: false\r\n", false },
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (call("rows", cases[i].arguments, cases[i].headers) != (cases[i].accepted ? 0 : -32020))
            fail_msg("%s with \"%s\" was not %s", cases[i].arguments, cases[i].headers,
                     cases[i].accepted ? "accepted" : "refused");
}

static void arguments_inside_objects_are_repeated_if_the_schema_marks_them(void **state)
{
    (void)state;
    assert_int_equal(call("schema", "{\"where\":{\"region\":\"us\"}}", "Mcp-Param-Region: us\r\n"),
                     0);
    assert_int_equal(call("schema", "{\"where\":{\"region\":\"us\"}}", ""), -32020);
    assert_int_equal(call("schema", "{\"region\":\"us\"}", ""), 0);
    assert_int_equal(call("schema", "{\"where\":[]}", ""), 0);
}

static void a_legacy_call_needs_no_param_headers(void **state)
{
    json_auto_t *reply = NULL;
    int status;

    (void)state;
    reply = mcp_post_once(server_port(served.server), NULL,
                          "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{"
                          "\"name\":\"rows\",\"arguments\":{\"region\":\"us\"}}}",
                          &status);
    assert_string_equal(text_at(reply, "result.content.0.text"), "ran");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(headers_must_repeat_the_arguments),
        cmocka_unit_test(arguments_inside_objects_are_repeated_if_the_schema_marks_them),
        cmocka_unit_test(a_legacy_call_needs_no_param_headers),
    };

    return cmocka_run_group_tests(tests, start, stop);
}
