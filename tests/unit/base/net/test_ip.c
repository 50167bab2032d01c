/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <arpa/inet.h>
#include <cmocka.h>

#include "base/net/ip.h"

static const char *round_trip(const char *text, char out[IP_TEXT_SIZE])
{
    struct ip_address address;

    if (!ip_parse(text, strlen(text), &address))
        return "";
    ip_format(&address, out);
    return out;
}

static void an_address_is_formatted_the_same_way_however_it_was_written(void **state)
{
    char out[IP_TEXT_SIZE];

    (void)state;
    assert_string_equal(round_trip("192.0.2.1", out), "192.0.2.1");
    assert_string_equal(round_trip("::ffff:192.0.2.1", out), "192.0.2.1");
    assert_string_equal(round_trip("::ffff:c000:201", out), "192.0.2.1");
    assert_string_equal(round_trip("2001:DB8:0:0::1", out), "2001:db8::1");
    assert_string_equal(round_trip("::1", out), "::1");
}

static void text_that_is_not_an_address_is_refused(void **state)
{
    static const char *const texts[] = {
        "",          "1",        "1.2.3",        "1.2.3.4.5",
        "1.2.3.256", "01.2.3.4", "fe80::1%eth0", "[::1]",
        "::1 ",      "unknown",  "1.2.3.4:80",   "11111111111111111111111111111111111111111111111"
    };
    char out[IP_TEXT_SIZE];

    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        assert_string_equal(round_trip(texts[i], out), "");
}

static void the_network_of_a_client_is_an_ipv6_slash_64_or_one_ipv4_address(void **state)
{
    struct ip_address address, network;
    char out[IP_TEXT_SIZE];

    (void)state;
    assert_true(ip_parse("2001:db8:1:2:3:4:5:6", 20, &address));
    network = ip_client_network(&address);
    ip_format(&network, out);
    assert_string_equal(out, "2001:db8:1:2::");
    assert_true(ip_parse("192.0.2.1", 9, &address));
    network = ip_client_network(&address);
    ip_format(&network, out);
    assert_string_equal(out, "192.0.2.1");
}

static bool contains(const char *networks, const char *address)
{
    struct ip_networks parsed;
    struct ip_address ip;
    struct error error;

    assert_true(ip_networks_parse(networks, &parsed, &error));
    assert_true(ip_parse(address, strlen(address), &ip));
    return ip_networks_hold(&parsed, &ip);
}

static void networks_contain_their_addresses_and_no_others(void **state)
{
    static const char all[] = " 10.0.0.0/8, 192.0.2.7,172.16.0.0/12 fd00::/8, ::1,";

    (void)state;
    assert_true(contains(all, "10.255.0.1"));
    assert_true(contains(all, "::ffff:10.255.0.1"));
    assert_false(contains(all, "11.0.0.1"));
    assert_true(contains(all, "192.0.2.7"));
    assert_false(contains(all, "192.0.2.8"));
    assert_true(contains(all, "172.31.255.255"));
    assert_false(contains(all, "172.32.0.0"));
    assert_true(contains(all, "fdff::1"));
    assert_false(contains(all, "fe00::1"));
    assert_true(contains(all, "::1"));
    assert_false(contains(all, "::2"));
    assert_false(contains("", "127.0.0.1"));
    assert_true(contains("0.0.0.0/0", "203.0.113.9"));
    assert_false(contains("0.0.0.0/0", "2001:db8::1"));
    assert_true(contains("::/0", "2001:db8::1"));
    assert_true(contains("::/0", "203.0.113.9"));
}

static void a_refusal_quotes_the_text_that_is_not_a_network(void **state)
{
    static const char *const texts[] = { "10.0.0.0/33", "10.0.0.0/", "10.0.0.0/x",  "10.0.0/8",
                                         "fd00::/129",  "localhost", "10.0.0.0/-1", "/8" };
    struct ip_networks parsed;
    struct error error;

    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        assert_false(ip_networks_parse(texts[i], &parsed, &error));
        assert_int_equal(error.kind, ERROR_INVALID);
        assert_non_null(strstr(error.message, texts[i]));
    }
}

static void an_ipv4_peer_of_an_ipv6_socket_is_recognized_and_a_unix_peer_is_refused(void **state)
{
    struct sockaddr_storage storage = { .ss_family = AF_INET6 };
    struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)&storage;
    struct ip_address address;
    char out[IP_TEXT_SIZE];

    (void)state;
    assert_int_equal(inet_pton(AF_INET6, "::ffff:192.0.2.1", &v6->sin6_addr), 1);
    assert_true(ip_of(&storage, &address));
    ip_format(&address, out);
    assert_string_equal(out, "192.0.2.1");
    storage.ss_family = AF_UNIX;
    assert_false(ip_of(&storage, &address));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_address_is_formatted_the_same_way_however_it_was_written),
        cmocka_unit_test(text_that_is_not_an_address_is_refused),
        cmocka_unit_test(the_network_of_a_client_is_an_ipv6_slash_64_or_one_ipv4_address),
        cmocka_unit_test(networks_contain_their_addresses_and_no_others),
        cmocka_unit_test(a_refusal_quotes_the_text_that_is_not_a_network),
        cmocka_unit_test(an_ipv4_peer_of_an_ipv6_socket_is_recognized_and_a_unix_peer_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
