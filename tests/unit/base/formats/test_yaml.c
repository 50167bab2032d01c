/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/core/memory.h"
#include "base/core/text.h"
#include "base/formats/yaml.h"
#include "base/json/json.h"

static void check_reads(const char *yaml, const char *json)
{
    json_auto_t *value = NULL;
    FREE_AUTO char *written = NULL;
    struct error error = { 0 };

    if (!yaml_parse(yaml, strlen(yaml), &value, &error))
        fail_msg("%s: %s", yaml, error.message);
    written = json_write(value);
    assert_string_equal(written, json);
}

static void check_refuses(const char *yaml, const char *part)
{
    json_t *value = NULL;
    struct error error = { 0 };

    assert_false(yaml_parse(yaml, strlen(yaml), &value, &error));
    if (strstr(error.message, part) == NULL)
        fail_msg("%s: the error message \"%s\" does not contain \"%s\"", yaml, error.message, part);
}

static void supported_yaml_is_read(void **state)
{
    (void)state;
    check_reads("apiVersion: v1\n"
                "clusters:\n"
                "- cluster:\n"
                "    certificate-authority-data: LS0t\n"
                "    server: https://10.0.0.1:6443 # its address\n"
                "  name: lab\n"
                "contexts: []\n"
                "preferences: {}\n"
                "users:\n"
                "  - name: \"a \\\"b\\\"\"\n"
                "    user: {token: 'it''s', n: [1, two], e: }\n",
                "{\"apiVersion\":\"v1\",\"clusters\":[{\"cluster\":{\"certificate-authority-data\":"
                "\"LS0t\",\"server\":\"https://10.0.0.1:6443\"},\"name\":\"lab\"}],\"contexts\":[],"
                "\"preferences\":{},\"users\":[{\"name\":\"a \\\"b\\\"\",\"user\":{\"token\":"
                "\"it's\",\"n\":[\"1\",\"two\"],\"e\":null}}]}");
    check_reads("---\n# a comment\na:\n  b: true\n\n  c: ~\nd: x # y\ne:\n",
                "{\"a\":{\"b\":true,\"c\":null},\"d\":\"x\",\"e\":null}");
    check_reads("hint: Install it by following\n  https://example.com/a:b\nafter: 1\n",
                "{\"hint\":\"Install it by following https://example.com/a:b\",\"after\":\"1\"}");
    check_reads("a: |\n  one\n  two: three\nb: >\n  four\n",
                "{\"a\":\"one\\ntwo: three\",\"b\":\"four\"}");
    check_reads("- - 1\n  - 2\n- 3\n", "[[\"1\",\"2\"],\"3\"]");
    check_reads("-\n- a\n-\n  b: c\n", "[null,\"a\",{\"b\":\"c\"}]");
    check_reads("a: x  # one\n  y # two\n  z#\n", "{\"a\":\"x y z#\"}");
    check_reads("a:\r\n- b\r\n", "{\"a\":[\"b\"]}");
    check_reads("\"a b\": c\n'd': e#f\n", "{\"a b\":\"c\",\"d\":\"e#f\"}");
    check_reads(" {\"a\": [1, null]}", "{\"a\":[1,null]}");
}

static void unsupported_or_invalid_yaml_is_refused_with_a_reason(void **state)
{
    (void)state;
    check_refuses("", "empty");
    check_refuses("a: &x b\n", "line 1: anchors");
    check_refuses("a: 1\nb: *x\n", "line 2: anchors");
    check_refuses("a: !!binary x\n", "tags");
    check_refuses("a: 1\n\tb: 2\n", "line 2: it is indented with a tab");
    check_refuses("a: \"x\n", "a quoted string must end on the line");
    check_refuses("a: \"x\" y\n", "after the value");
    check_refuses("a: {b: c\n", "must end on the line on which it begins");
    check_refuses("a: [b,\n  c]\n", "must end on the line on which it begins");
    check_refuses("a: [\"b\" c]\n", "need a ',' between");
    check_refuses("a: \"b\tc\"\n", "double quotes");
    check_refuses("a: 1\na: 2\n", "line 2: a key occurs twice");
    check_refuses("a: {b: 1, b: 2}\n", "twice");
    check_refuses("just a string\n", "was expected");
    check_refuses("  a: 1\nb: 2\n", "line 2: it does not belong to any mapping");
    check_refuses("a: \xff\n", "it is not UTF-8");
    check_refuses("? a\n: b\n", "was expected");
    check_refuses("{\"a\": secretsecret}", "not valid JSON");
}

static void a_nul_is_refused(void **state)
{
    static const char yaml[] = "a: b\0c\n";
    json_t *value = NULL;
    struct error error = { 0 };

    (void)state;
    assert_false(yaml_parse(yaml, sizeof yaml - 1, &value, &error));
    assert_string_equal(error.message, "it has a NUL byte");
}

/* The content of a kubeconfig includes credentials. */
static void an_error_does_not_repeat_the_content(void **state)
{
    json_t *value = NULL;
    struct error error;

    (void)state;
    assert_false(yaml_parse("token \"CANARY\n", 14, &value, &error));
    assert_null(strstr(error.message, "CANARY"));
    assert_false(yaml_parse("{\"token\": CANARY}", 17, &value, &error));
    assert_null(strstr(error.message, "CANARY"));
}

static void depth_is_bounded(void **state)
{
    TEXT_AUTO deep = { 0 };
    json_t *value = NULL;
    struct error error;

    (void)state;
    text_add(&deep, "a: ");
    for (size_t i = 0; i < 100000; i++)
        text_add_char(&deep, '[');
    assert_false(yaml_parse(deep.data, deep.length, &value, &error));
    assert_non_null(strstr(error.message, "nested deeper than 32 levels"));
    text_clear(&deep);
    for (size_t i = 0; i < 100000; i++)
        text_add(&deep, "- ");
    text_add(&deep, "a");
    assert_false(yaml_parse(deep.data, deep.length, &value, &error));
    assert_non_null(strstr(error.message, "nested deeper than 32 levels"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(supported_yaml_is_read),
        cmocka_unit_test(unsupported_or_invalid_yaml_is_refused_with_a_reason),
        cmocka_unit_test(a_nul_is_refused),
        cmocka_unit_test(an_error_does_not_repeat_the_content),
        cmocka_unit_test(depth_is_bounded),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
