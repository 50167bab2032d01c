/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "server/http/forwarded.h"

/* Checks which client is found for a request that the proxy 10.0.0.1 sent with these values of
 * X-Forwarded-For. The trusted proxies are those of 10.0.0.0/8 and fd00::/8. */
static void must_be(const char *hops, const char *wanted)
{
    struct ip_networks trusted;
    struct ip_address address;
    char out[IP_TEXT_SIZE];
    struct error error;

    assert_true(ip_networks_parse("10.0.0.0/8, fd00::/8", &trusted, &error));
    assert_true(ip_parse("10.0.0.1", 8, &address));
    forwarded_follow(hops, &trusted, &address);
    ip_format(&address, out);
    if (strcmp(out, wanted) != 0)
        fail_msg("\"%s\": got %s, expected %s", hops, out, wanted);
}

static void the_last_hop_that_is_not_a_trusted_proxy_is_the_client(void **state)
{
    (void)state;
    must_be("203.0.113.9", "203.0.113.9");
    must_be("203.0.113.9, 10.0.0.2", "203.0.113.9");
    must_be("198.51.100.1, 203.0.113.9,10.0.0.2 , fd00::7", "203.0.113.9");
    must_be("127.0.0.1, 203.0.113.9", "203.0.113.9");
    must_be("10.0.0.3, 10.0.0.2", "10.0.0.3"); /* if all are trusted proxies, the first hop */
    must_be("", "10.0.0.1"); /* if there are no hops, the address that connected */
}

static void ports_are_dropped_and_both_ip_versions_are_read(void **state)
{
    (void)state;
    must_be("203.0.113.9:4711", "203.0.113.9");
    must_be("2001:db8::9", "2001:db8::9");
    must_be("[2001:db8::9]", "2001:db8::9");
    must_be("[2001:db8::9]:4711, [fd00::1]:80", "2001:db8::9");
    must_be("::ffff:203.0.113.9", "203.0.113.9");
}

/* Whatever comes before an unreadable entry might have been forged by the client. */
static void an_unreadable_entry_ends_the_search(void **state)
{
    (void)state;
    must_be("203.0.113.9, unknown", "10.0.0.1");
    must_be("203.0.113.9, unknown, 10.0.0.2", "10.0.0.2");
    must_be("203.0.113.9,", "10.0.0.1");
    must_be("203.0.113.9,,10.0.0.2", "10.0.0.2");
    must_be("203.0.113.9 10.0.0.2", "10.0.0.1");
    must_be("[203.0.113.9", "10.0.0.1");
    must_be("203.0.113.9.evil.example", "10.0.0.1");
    must_be("\"203.0.113.9\"", "10.0.0.1");
    must_be("for=203.0.113.9", "10.0.0.1");
    must_be("fe80::1%eth0", "10.0.0.1");
    must_be(",", "10.0.0.1");
    must_be(":", "10.0.0.1");
    must_be("[]", "10.0.0.1");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_last_hop_that_is_not_a_trusted_proxy_is_the_client),
        cmocka_unit_test(ports_are_dropped_and_both_ip_versions_are_read),
        cmocka_unit_test(an_unreadable_entry_ends_the_search),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
