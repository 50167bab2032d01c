/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <stdlib.h>

#include "server/settings/settings.h"

static bool read_flag(const char *flag, struct settings *out, struct error *error)
{
    char name[] = "serve", word[128];
    char *argv[] = { name, word };

    text_copy(word, sizeof word, flag != NULL ? flag : "");
    return settings_read(flag != NULL ? 2 : 1, argv, out, error);
}

static int forget_environment(void **state)
{
    (void)state;
    unsetenv("PORT");
    unsetenv("OPSBRAIN_LISTEN");
    unsetenv("OPSBRAIN_CONNECTIONS_PER_ADDRESS");
    return 0;
}

static void by_default_only_clients_on_this_machine_are_served(void **state)
{
    struct settings settings;
    struct error error;

    (void)state;
    assert_true(read_flag(NULL, &settings, &error));
    assert_string_equal(settings.listen, "127.0.0.1:8080");
    assert_string_equal(settings.data, "./data");
    assert_string_equal(settings.auth, "auto");
    assert_int_equal(settings.sweep_workers, 2);
    assert_int_equal(settings.body_limit_bytes, 1 << 20);
    assert_true(settings.log_requests);
}

/* Platforms such as Cloud Run set the environment variable PORT. */
static void the_platforms_port_is_open_on_all_addresses_unless_listen_is_set(void **state)
{
    struct settings settings;
    struct error error;

    (void)state;
    setenv("PORT", "9123", 1);
    assert_true(read_flag(NULL, &settings, &error));
    assert_string_equal(settings.listen, "0.0.0.0:9123");
    assert_true(read_flag("--listen=127.0.0.1:1", &settings, &error));
    assert_string_equal(settings.listen, "127.0.0.1:1");
    setenv("OPSBRAIN_LISTEN", "127.0.0.1:2", 1);
    assert_true(read_flag(NULL, &settings, &error));
    assert_string_equal(settings.listen, "127.0.0.1:2");
    setenv("OPSBRAIN_LISTEN", "", 1);
    assert_true(read_flag(NULL, &settings, &error));
    assert_string_equal(settings.listen, "0.0.0.0:9123");
}

static void with_a_platforms_port_connections_per_address_are_unlimited_by_default(void **state)
{
    struct settings settings;
    struct error error;

    (void)state;
    assert_true(read_flag(NULL, &settings, &error));
    assert_int_equal(settings.connections_per_address, 1024);
    setenv("PORT", "9123", 1);
    assert_true(read_flag(NULL, &settings, &error));
    assert_int_equal(settings.connections_per_address, 0);
    assert_true(read_flag("--connections-per-address=7", &settings, &error));
    assert_int_equal(settings.connections_per_address, 7);
    setenv("OPSBRAIN_LISTEN", "127.0.0.1:2", 1);
    setenv("OPSBRAIN_CONNECTIONS_PER_ADDRESS", "9", 1);
    assert_true(read_flag(NULL, &settings, &error));
    assert_int_equal(settings.connections_per_address, 9);
}

static void bad_values_and_unknown_settings_are_refused(void **state)
{
    struct settings settings = { 0 };
    struct error error;

    (void)state;
    setenv("PORT", "http", 1);
    assert_false(read_flag(NULL, &settings, &error));
    assert_non_null(strstr(error.message, "PORT"));
    unsetenv("PORT");
    assert_false(read_flag("--auth=never", &settings, &error));
    assert_non_null(strstr(error.message, "auto, keys or none"));
    assert_false(read_flag("--workers=0", &settings, &error));
    assert_false(read_flag("--no-such=1", &settings, &error));
    assert_false(read_flag("--trusted-proxies=10.0.0.0/8,proxy.example", &settings, &error));
    assert_non_null(strstr(error.message, "trusted_proxies"));
    assert_non_null(strstr(error.message, "proxy.example"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(by_default_only_clients_on_this_machine_are_served,
                               forget_environment),
        cmocka_unit_test_setup(the_platforms_port_is_open_on_all_addresses_unless_listen_is_set,
                               forget_environment),
        cmocka_unit_test_setup(
            with_a_platforms_port_connections_per_address_are_unlimited_by_default,
            forget_environment),
        cmocka_unit_test_setup(bad_values_and_unknown_settings_are_refused, forget_environment),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
