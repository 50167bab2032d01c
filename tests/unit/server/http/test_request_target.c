/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "server/http/request_target.h"

static void must_have(const char *target, const char *wanted_authority, const char *wanted_path)
{
    const char *authority;
    size_t length;
    const char *path = request_target_path(target, &authority, &length);

    assert_true(request_target_is_sound(target));
    assert_string_equal(path, wanted_path);
    assert_int_equal(length, strlen(wanted_authority));
    if (length > 0)
        assert_memory_equal(authority, wanted_authority, length);
    else
        assert_null(authority);
}

static void a_target_is_a_path_a_uri_or_an_asterisk(void **state)
{
    (void)state;
    must_have("/mcp", "", "/mcp");
    must_have("/", "", "/");
    must_have("*", "", "*");
    must_have("//evil.example/mcp", "", "//evil.example/mcp");
    must_have("/mcp?url=http://user@host%2f/", "", "/mcp?url=http://user@host%2f/");
    must_have("http://localhost/mcp", "localhost", "/mcp");
    must_have("HTTPS://[::1]:8080/mcp?a", "[::1]:8080", "/mcp?a");
    must_have("http://localhost", "localhost", "");
    must_have("http://localhost?a", "localhost", "?a");
}

static void an_ambiguous_or_malformed_target_is_not_sound(void **state)
{
    static const char *const targets[] = {
        "/mcp%00",
        "/mcp?name=a%00b",
        "http://localhost/mcp%00",
        "http:///mcp",
        "http://",
        "http://user@localhost/mcp",
        "http://localhost%2f.evil.example/mcp",
        "http://local\\host/mcp",
        "http:/mcp",
        "ftp://localhost/mcp",
        "localhost:8080",
        "mcp",
        "*/mcp",
        "",
    };

    (void)state;
    for (size_t i = 0; i < sizeof targets / sizeof *targets; i++)
        if (request_target_is_sound(targets[i]))
            fail_msg("accepted \"%s\"", targets[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_target_is_a_path_a_uri_or_an_asterisk),
        cmocka_unit_test(an_ambiguous_or_malformed_target_is_not_sound),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
