/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "server/http/origin.h"

static const struct origin_rules strict = { .allowed_hosts = "", .allowed_origins = "" };
static const struct origin_rules open_rules = {
    .allowed_hosts = "ops.example.com, lab:9000",
    .allowed_origins = "https://board.example.com",
    .any_address = true,
};

static bool allowed(const struct origin_rules *rules, const char *host, const char *origin)
{
    struct error error;

    return origin_check(rules, host, origin, &error);
}

static void loopback_names_are_always_allowed(void **state)
{
    static const char *const hosts[] = { "localhost",   "LOCALHOST:8080", "127.0.0.1",
                                         "127.0.0.1:1", "[::1]",          "[::1]:8080" };

    (void)state;
    for (size_t i = 0; i < sizeof hosts / sizeof *hosts; i++)
        assert_true(allowed(&strict, hosts[i], NULL));
    assert_true(allowed(&strict, NULL, NULL)); /* both are absent */
    assert_true(allowed(&strict, "localhost", "http://localhost:5173"));
    assert_true(allowed(&strict, "localhost", "https://[::1]:1"));
}

static void a_refusal_names_the_setting_that_would_allow_the_host_or_origin(void **state)
{
    struct error error;

    (void)state;
    assert_false(origin_check(&strict, "evil.example.com", NULL, &error));
    assert_int_equal(error.kind, ERROR_FORBIDDEN);
    assert_non_null(strstr(error.message, "OPSBRAIN_ALLOWED_HOSTS"));
    assert_false(origin_check(&strict, "localhost", "http://evil.example.com", &error));
    assert_non_null(strstr(error.message, "OPSBRAIN_ALLOWED_ORIGINS"));
}

static void malformed_hosts_and_origins_and_those_not_allowed_are_refused(void **state)
{
    static const char *const hosts[] = {
        "localhost.evil.com", "127.0.0.1.evil.com", "", "evil.com:localhost", "[::1",
        "10.0.0.1",           "localhost@evil.com"
    };
    static const char *const origins[] = { "null",
                                           "localhost",
                                           "http://",
                                           "ftp://localhost",
                                           "http://localhost.evil.com",
                                           "http://evil.com/localhost",
                                           "http://localhost@evil.com" };

    (void)state;
    for (size_t i = 0; i < sizeof hosts / sizeof *hosts; i++)
        assert_false(allowed(&strict, hosts[i], NULL));
    for (size_t i = 0; i < sizeof origins / sizeof *origins; i++)
        assert_false(allowed(&strict, "localhost", origins[i]));
}

static void configured_names_and_addresses_are_allowed(void **state)
{
    static const struct origin_rules any = { .allowed_hosts = "*", .allowed_origins = "*" };

    (void)state;
    assert_true(allowed(&open_rules, "ops.example.com", NULL));
    assert_true(allowed(&open_rules, "Ops.Example.com:443", "https://ops.example.com"));
    assert_true(allowed(&open_rules, "lab:9000", NULL));
    assert_false(allowed(&open_rules, "lab:9001", NULL));
    assert_false(allowed(&open_rules, "example.com", NULL));
    assert_true(allowed(&open_rules, "10.1.2.3:8080", NULL));
    assert_true(allowed(&open_rules, "[fd00::1]:8080", NULL));
    assert_true(allowed(&open_rules, "localhost", "https://board.example.com"));
    assert_false(allowed(&open_rules, "localhost", "http://board.example.com"));
    assert_true(allowed(&any, "whatever", "null"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loopback_names_are_always_allowed),
        cmocka_unit_test(a_refusal_names_the_setting_that_would_allow_the_host_or_origin),
        cmocka_unit_test(malformed_hosts_and_origins_and_those_not_allowed_are_refused),
        cmocka_unit_test(configured_names_and_addresses_are_allowed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
