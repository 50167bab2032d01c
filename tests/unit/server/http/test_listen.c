/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <sys/resource.h>
#include <unistd.h>

#include "server/http/listen.h"

static void addresses_are_read_and_written_and_loopback_is_recognized(void **state)
{
    static const struct {
        const char *text, *shown;
        bool loopback;
    } cases[] = {
        { "127.0.0.1:8080", "127.0.0.1:8080", true },
        { "127.9.9.9:1", "127.9.9.9:1", true },
        { "[::1]:8080", "[::1]:8080", true },
        { "0.0.0.0:8080", "0.0.0.0:8080", false },
        { "[::]:8080", "[::]:8080", false },
        { "192.0.2.1:65535", "192.0.2.1:65535", false },
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct listen_address address;
        struct error error;
        char shown[LISTEN_TEXT_SIZE];

        assert_true(listen_parse(cases[i].text, &address, &error));
        assert_int_equal(listen_is_loopback(&address), cases[i].loopback);
        listen_format(&address, shown);
        assert_string_equal(shown, cases[i].shown);
    }
}

static void text_that_is_not_an_address_is_refused(void **state)
{
    static const char *const texts[] = { "",
                                         "8080",
                                         "127.0.0.1",
                                         ":8080",
                                         "127.0.0.1:",
                                         "127.0.0.1:65536",
                                         "127.0.0.1:x",
                                         "no such host:80" };

    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct listen_address address;
        struct error error;

        assert_false(listen_parse(texts[i], &address, &error));
        assert_int_equal(error.kind, ERROR_INVALID);
    }
}

static void a_free_port_is_chosen_shared_by_its_sockets_and_refused_to_others(void **state)
{
    struct listen_address address, again;
    struct error error;
    int sockets[3], other;

    (void)state;
    assert_true(listen_parse("127.0.0.1:0", &address, &error));
    assert_true(listen_open(&address, sockets, 3, &error));
    assert_int_not_equal(listen_port(&address), 0);
    again = address;
    assert_false(listen_open(&again, &other, 1, &error));
    assert_int_equal(error.kind, ERROR_CONFLICT);
    assert_non_null(strstr(error.message, "is in use"));
    assert_false(listen_open(&again, sockets, 2, &error));
    for (int i = 0; i < 3; i++)
        close(sockets[i]);
    assert_true(listen_open(&again, &other, 1, &error));
    close(other);
}

static void if_a_socket_cannot_be_opened_none_stays_open(void **state)
{
    struct listen_address address;
    struct rlimit limit, tight;
    int sockets[2] = { -1, -1 }, next = dup(STDIN_FILENO);
    struct error error;

    (void)state;
    close(next);
    assert_true(listen_parse("127.0.0.1:0", &address, &error));
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
    tight = (struct rlimit){ (rlim_t)next + 1, limit.rlim_max };
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &tight), 0);
    assert_false(listen_open(&address, sockets, 2, &error));
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
    assert_int_equal(sockets[0], -1);
    assert_int_equal(sockets[1], -1);
    assert_int_equal(dup(STDIN_FILENO), next); /* nothing leaked */
    close(next);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(addresses_are_read_and_written_and_loopback_is_recognized),
        cmocka_unit_test(text_that_is_not_an_address_is_refused),
        cmocka_unit_test(a_free_port_is_chosen_shared_by_its_sockets_and_refused_to_others),
        cmocka_unit_test(if_a_socket_cannot_be_opened_none_stays_open),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
