/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <arpa/inet.h>
#include <netinet/in.h>

#include "base/net/server_list.h"

static struct server_list *list_of(const char *text)
{
    struct server_list *list;
    struct error error;

    if (!server_list_create(text, &list, &error))
        fail_msg("%s", error.message);
    return list;
}

static bool has_address(const struct server_list *list, const char *text)
{
    struct sockaddr_in ipv4 = { .sin_family = AF_INET };
    struct sockaddr_in6 ipv6 = { .sin6_family = AF_INET6 };

    if (inet_pton(AF_INET, text, &ipv4.sin_addr) == 1)
        return server_list_has_address(list, (struct sockaddr *)&ipv4);
    assert_int_equal(inet_pton(AF_INET6, text, &ipv6.sin6_addr), 1);
    return server_list_has_address(list, (struct sockaddr *)&ipv6);
}

static void an_empty_list_allows_any_server(void **state)
{
    (void)state;
    assert_null(list_of(""));
    assert_null(list_of(" , "));
}

static void allows_only_listed_addresses_and_those_in_listed_networks(void **state)
{
    struct server_list *list =
        list_of("10.0.0.0/8, 192.168.1.5 ,[fd00:1::]/33,::1, 172.16.0.0/12 ::ffff:9.8.0.0/112");
    static const char *const in[] = { "10.255.0.1",     "192.168.1.5",     "fd00:1:7fff::1", "::1",
                                      "172.31.255.255", "::ffff:10.0.0.1", "9.8.7.6" };
    static const char *const out[] = { "11.0.0.1",   "192.168.1.4", "fd00:1:8000::1",
                                       "::2",        "172.32.0.0",  "::ffff:11.0.0.1",
                                       "::10.0.0.1", "127.0.0.1",   "9.9.0.1" };

    (void)state;
    for (size_t i = 0; i < sizeof in / sizeof *in; i++)
        if (!has_address(list, in[i]) || !server_list_may_have(list, in[i]))
            fail_msg("%s is not in the list", in[i]);
    for (size_t i = 0; i < sizeof out / sizeof *out; i++)
        if (has_address(list, out[i]) || server_list_may_have(list, out[i]))
            fail_msg("%s is in the list", out[i]);
    assert_false(server_list_has_name(list, "10.0.0.1"));
    assert_true(server_list_may_have(list, "a.name.resolved.later"));
    server_list_destroy(list);
    list = list_of("[::]/0 [::1] ::ffff:10.0.0.0/64");
    assert_true(has_address(list, "2001:db8::1"));
    assert_false(has_address(list, "10.0.0.1") || has_address(list, "::ffff:10.0.0.1"));
    server_list_destroy(list);
}

static void a_leading_dot_adds_subdomains_and_an_asterisk_allows_only_subdomains(void **state)
{
    struct server_list *list = list_of("GPU.example.com,.lab.example.com *.dev.example.com");
    static const char *const in[] = { "gpu.example.com", "lab.example.com", "a.lab.example.com",
                                      "a.b.lab.example.com", "a.dev.example.com" };
    static const char *const out[] = { "a.gpu.example.com",
                                       "evillab.example.com",
                                       "dev.example.com",
                                       "gpu.example.com.evil.com",
                                       "example.com",
                                       "10.0.0.1",
                                       "::1",
                                       "" };

    (void)state;
    for (size_t i = 0; i < sizeof in / sizeof *in; i++)
        if (!server_list_has_name(list, in[i]) || !server_list_may_have(list, in[i]))
            fail_msg("%s is not in the list", in[i]);
    for (size_t i = 0; i < sizeof out / sizeof *out; i++)
        if (server_list_has_name(list, out[i]) || server_list_may_have(list, out[i]))
            fail_msg("%s is in the list", out[i]);
    server_list_destroy(list);
}

static void refuses_entries_that_are_neither_networks_nor_names(void **state)
{
    static const char *const wrong[] = {
        "10.0.0.0/33", "10.0.0.0/", "10.0.0.0/-1", "10.0.0", "fd00::/129",       "http://gpu",
        "gpu:8000",    "*",         ".",           "*.",     "*gpu.example.com", "**.example.com",
        "..a",         "a/8",       "[::1",        "[::]1",  "10.0.0.0/8/8",     "%"
    };
    struct server_list *list = NULL;
    struct error error;

    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        if (server_list_create(wrong[i], &list, &error))
            fail_msg("%s is accepted", wrong[i]);
        assert_int_equal(error.kind, ERROR_INVALID);
        assert_non_null(strstr(error.message, wrong[i]));
    }
    assert_null(list);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_list_allows_any_server),
        cmocka_unit_test(allows_only_listed_addresses_and_those_in_listed_networks),
        cmocka_unit_test(a_leading_dot_adds_subdomains_and_an_asterisk_allows_only_subdomains),
        cmocka_unit_test(refuses_entries_that_are_neither_networks_nor_names),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
