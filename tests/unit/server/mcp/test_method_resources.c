/* SPDX-License-Identifier: Apache-2.0 */
/* resources/list, resources/templates/list, resources/read, prompts/list, prompts/get and
 * completion/complete over HTTP, most of them in both eras of MCP (the revisions before 2026-07-28,
 * and 2026-07-28). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/support/mcp_client.h"
#include "tests/unit/support/served.h"

/* Writes four bytes. Fails if the resource's URI has a variable. */
static bool read_bytes(struct call *call, const char *value, struct text *out, struct error *error)
{
    (void)call, (void)error;
    if (strcmp(value, "") != 0)
        return error_set(error, ERROR_INTERNAL, "an internal secret");
    text_add_bytes(out, "\x00\xff\x10k", 4);
    return true;
}

static bool find_any(const struct services *services, const char *value, struct error *error)
{
    (void)services, (void)value, (void)error;
    return true;
}

/* Lists the values "one" and "two", one value per page. */
static bool list_two(const struct services *services, const char *after, size_t limit,
                     struct instance **out, size_t *count, char next[INSTANCE_VALUE_SIZE],
                     struct error *error)
{
    (void)services, (void)limit, (void)error;
    *count = 1;
    *out = calloc(1, sizeof **out);
    snprintf((*out)->value, sizeof(*out)->value, "%s", after[0] == '\0' ? "one" : "two");
    snprintf(next, INSTANCE_VALUE_SIZE, "%s", after[0] == '\0' ? "one" : "");
    return true;
}

static const struct resource_instances two = { "thing", list_two, find_any };
static const struct resource bytes = { .name = "bytes",
                                       .uri = "test://bytes",
                                       .title = "Bytes",
                                       .help = "Some bytes.",
                                       .mime_type = "application/octet-stream",
                                       .binary = true,
                                       .role = ROLE_VIEWER,
                                       .placement = PLACE_WORKER,
                                       .read = read_bytes };
static const struct resource things = { .name = "thing",
                                        .uri = "test://things/{id}",
                                        .title = "Thing",
                                        .help = "A thing.",
                                        .mime_type = "text/plain",
                                        .instances = &two,
                                        .role = ROLE_VIEWER,
                                        .placement = PLACE_WAITING,
                                        .read = read_bytes };
static const struct resource *const table[] = { &bytes, &things, NULL };

static bool write_hello(struct call *call, json_t *messages, struct error *error)
{
    (void)error;
    prompt_write(messages, call_text(call, "word"));
    return true;
}

static const struct prompt_argument hello_arguments[] = {
    { "word", "What to say.", .required = true, .instances = &two },
    { 0 },
};
static const struct prompt hello = { .name = "hello",
                                     .title = "Hello",
                                     .help = "Says a word.",
                                     .arguments = hello_arguments,
                                     .role = ROLE_VIEWER,
                                     .write = write_hello };
static const struct prompt *const prompt_table[] = { &hello, NULL };

static struct served served;

static int start(void **state)
{
    (void)state;
    served_create(&served);
    served.resources = table;
    served.prompts = prompt_table;
    served_start(&served, NULL);
    return 0;
}

static int stop(void **state)
{
    (void)state;
    served_destroy(&served);
    return 0;
}

static json_t *ask(const char *method, const char *members)
{
    TEXT_AUTO body = { 0 };
    json_t *reply;
    int status;

    text_addf(&body, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"%s\",\"params\":{%s}}", method,
              members);
    reply = mcp_post_once(server_port(served.server), NULL, text_string(&body), &status);
    assert_non_null(reply);
    return reply;
}

/* Sends a request as a client of revision 2026-07-28, with the header Mcp-Name unless `name` is
 * NULL. */
static json_t *ask_modern(const char *method, const char *name, const char *members)
{
    TEXT_AUTO headers = { 0 };
    TEXT_AUTO body = { 0 };
    json_t *reply;
    int status;

    text_addf(&headers, MCP_HEADERS "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: %s\r\n",
              method);
    if (name != NULL)
        text_addf(&headers, "Mcp-Name: %s\r\n", name);
    text_addf(&body, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"%s\"," MODERN_PARAMS("%s") "}",
              method, members);
    reply = mcp_post_once(server_port(served.server), text_string(&headers), text_string(&body),
                          &status);
    assert_non_null(reply);
    return reply;
}

static void lists_resources_and_templates(void **state)
{
    json_auto_t *list = ask("resources/list", ""), *modern = NULL, *templates = NULL;

    (void)state;
    assert_int_equal(json_array_size(json_at(list, "result.resources")), 3);
    assert_string_equal(text_at(list, "result.resources.0.uri"), "test://bytes");
    assert_string_equal(text_at(list, "result.resources.2.uri"), "test://things/two");
    assert_null(json_at(list, "result.nextCursor"));
    assert_null(json_at(list, "result.ttlMs"));
    modern = ask_modern("resources/list", NULL, "");
    assert_true(json_equal(json_at(list, "result.resources"), json_at(modern, "result.resources")));
    assert_string_equal(text_at(modern, "result.resultType"), "complete");
    assert_true(json_is_integer(json_at(modern, "result.ttlMs")));
    templates = ask("resources/templates/list", "");
    assert_int_equal(json_array_size(json_at(templates, "result.resourceTemplates")), 1);
    assert_string_equal(text_at(templates, "result.resourceTemplates.0.uriTemplate"),
                        "test://things/{id}");
}

static void reads_bytes_as_base64(void **state)
{
    json_auto_t *legacy = ask("resources/read", "\"uri\":\"test://bytes\"");
    json_auto_t *modern = ask_modern("resources/read", "test://bytes", "\"uri\":\"test://bytes\",");

    (void)state;
    assert_string_equal(text_at(legacy, "result.contents.0.blob"), "AP8Qaw==");
    assert_string_equal(text_at(legacy, "result.contents.0.uri"), "test://bytes");
    assert_true(json_equal(json_at(legacy, "result.contents"), json_at(modern, "result.contents")));
    assert_int_equal(integer_at(modern, "result.ttlMs"), 0);
    assert_string_equal(text_at(modern, "result.cacheScope"), "private");
}

static void the_error_code_for_a_missing_resource_depends_on_the_era(void **state)
{
    json_auto_t *legacy = ask("resources/read", "\"uri\":\"test://nothing\"");
    json_auto_t *modern =
        ask_modern("resources/read", "test://nothing", "\"uri\":\"test://nothing\",");

    (void)state;
    assert_int_equal(integer_at(legacy, "error.code"), -32002);
    assert_int_equal(integer_at(modern, "error.code"), -32602);
    assert_string_equal(text_at(legacy, "error.data.uri"), "test://nothing");
    assert_string_equal(text_at(modern, "error.data.uri"), "test://nothing");
    assert_non_null(strstr(text_at(modern, "error.message"), "test://things/{id}"));
}

static void internal_errors_show_only_the_request_id(void **state)
{
    json_auto_t *reply = ask("resources/read", "\"uri\":\"test://things/one\"");

    (void)state;
    assert_int_equal(integer_at(reply, "error.code"), -32603);
    assert_null(strstr(text_at(reply, "error.message"), "secret"));
    assert_non_null(strstr(text_at(reply, "error.message"), "req_"));
}

static void gets_a_prompt_with_its_argument(void **state)
{
    json_auto_t *list = ask("prompts/list", ""), *modern = NULL;
    json_auto_t *got = ask("prompts/get", "\"name\":\"hello\",\"arguments\":{\"word\":\"one\"}");

    (void)state;
    assert_string_equal(text_at(list, "result.prompts.0.arguments.0.name"), "word");
    assert_string_equal(text_at(got, "result.messages.0.content.text"), "one");
    assert_string_equal(text_at(got, "result.description"), "Says a word.");
    modern =
        ask_modern("prompts/get", "hello", "\"name\":\"hello\",\"arguments\":{\"word\":\"x\"},");
    assert_string_equal(text_at(modern, "result.resultType"), "complete");
    assert_null(json_at(modern, "result.ttlMs"));
}

static void completes_an_argument_and_finds_no_match_for_a_variable(void **state)
{
    json_auto_t *of_prompt =
        ask("completion/complete", "\"ref\":{\"type\":\"ref/prompt\",\"name\":\"hello\"},"
                                   "\"argument\":{\"name\":\"word\",\"value\":\"o\"}");
    json_auto_t *of_uri = ask_modern("completion/complete", NULL,
                                     "\"ref\":{\"type\":\"ref/resource\",\"uri\":"
                                     "\"test://things/{id}\"},\"argument\":{\"name\":\"id\","
                                     "\"value\":\"x\"},");

    (void)state;
    assert_string_equal(text_at(of_prompt, "result.completion.values.0"), "one");
    assert_int_equal(integer_at(of_prompt, "result.completion.total"), 1);
    assert_true(json_is_false(json_at(of_prompt, "result.completion.hasMore")));
    assert_int_equal(json_array_size(json_at(of_uri, "result.completion.values")), 0);
    assert_true(json_is_array(json_at(of_uri, "result.completion.values")));
}

static void errors_name_the_wrong_member_or_what_can_be_used_instead(void **state)
{
    static const struct {
        const char *method, *members, *words;
    } cases[] = {
        { "resources/list", "\"cursor\":1", "cursor" },
        { "resources/list", "\"cursor\":\"\"", "cursor" },
        { "resources/list", "\"cursor\":\"bytes:1\"", "cursor" },
        { "resources/list", "\"cursor\":\"nothing:\"", "cursor" },
        { "resources/templates/list", "\"cursor\":\"x\"", "cursor" },
        { "prompts/list", "\"cursor\":\"x\"", "cursor" },
        { "resources/read", "", "params.uri" },
        { "resources/read", "\"uri\":1", "params.uri" },
        { "prompts/get", "", "params.name" },
        { "prompts/get", "\"name\":\"no\"", "hello" },
        { "prompts/get", "\"name\":\"hello\"", "\"word\"" },
        { "prompts/get", "\"name\":\"hello\",\"arguments\":[]", "params.arguments" },
        { "completion/complete", "", "params.argument" },
        { "completion/complete", "\"argument\":{\"name\":\"a\",\"value\":\"\"}",
          "params.ref.type" },
        { "completion/complete",
          "\"ref\":{\"type\":\"ref/prompt\",\"name\":\"x\"},\"argument\":{\"name\":\"a\","
          "\"value\":\"\"}",
          "prompts/list" },
        { "completion/complete",
          "\"ref\":{\"type\":\"ref/resource\",\"uri\":\"x\"},\"argument\":{\"name\":\"a\","
          "\"value\":\"\"}",
          "templates/list" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        json_auto_t *reply = ask(cases[i].method, cases[i].members);

        if (integer_at(reply, "error.code") != -32602
            || strstr(text_at(reply, "error.message"), cases[i].words) == NULL)
            fail_msg("%s %s: %s", cases[i].method, cases[i].members,
                     text_at(reply, "error.message"));
    }
}

static void a_missing_or_wrong_name_header_is_refused(void **state)
{
    json_auto_t *missing = ask_modern("resources/read", NULL, "\"uri\":\"test://bytes\",");
    json_auto_t *other = ask_modern("prompts/get", "other", "\"name\":\"hello\",");

    (void)state;
    assert_int_equal(integer_at(missing, "error.code"), -32020);
    assert_int_equal(integer_at(other, "error.code"), -32020);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists_resources_and_templates),
        cmocka_unit_test(reads_bytes_as_base64),
        cmocka_unit_test(the_error_code_for_a_missing_resource_depends_on_the_era),
        cmocka_unit_test(internal_errors_show_only_the_request_id),
        cmocka_unit_test(gets_a_prompt_with_its_argument),
        cmocka_unit_test(completes_an_argument_and_finds_no_match_for_a_variable),
        cmocka_unit_test(errors_name_the_wrong_member_or_what_can_be_used_instead),
        cmocka_unit_test(a_missing_or_wrong_name_header_is_refused),
    };

    return cmocka_run_group_tests(tests, start, stop);
}
