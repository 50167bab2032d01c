/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/un.h>

#include "base/net/outbound_address.h"
#include "base/net/url.h"

static bool refused(const char *address)
{
    struct sockaddr_in ipv4 = { .sin_family = AF_INET };
    struct sockaddr_in6 ipv6 = { .sin6_family = AF_INET6 };

    if (inet_pton(AF_INET, address, &ipv4.sin_addr) == 1)
        return outbound_address_is_refused((struct sockaddr *)&ipv4);
    assert_int_equal(inet_pton(AF_INET6, address, &ipv6.sin6_addr), 1);
    return outbound_address_is_refused((struct sockaddr *)&ipv6);
}

static void refuses_metadata_and_special_addresses(void **state)
{
    static const char *const bad[] = { "169.254.169.254",
                                       "169.254.0.0",
                                       "169.254.255.255",
                                       "100.100.100.200",
                                       "192.0.0.192",
                                       "168.63.129.16",
                                       "0.0.0.0",
                                       "0.1.2.3",
                                       "224.0.0.1",
                                       "239.255.255.255",
                                       "240.0.0.1",
                                       "255.255.255.255",
                                       "::",
                                       "fe80::1",
                                       "febf::1",
                                       "ff02::1",
                                       "fd00:ec2::254",
                                       "fd20:ce::254",
                                       "::ffff:169.254.169.254",
                                       "::ffff:0.0.0.0",
                                       "::169.254.169.254",
                                       "64:ff9b::169.254.169.254",
                                       "64:ff9b:1::169.254.169.254",
                                       "64:ff9b:1:fffe::168.63.129.16",
                                       "64:ff9b:1:a9fe:a9:fe00::",
                                       "64:ff9b:1:aaa9:fe:a9fe::",
                                       "64:ff9b:1:1:a9:fea9:fe00:0",
                                       "::ffff:0:169.254.169.254",
                                       "::ffff:0:100.100.100.200",
                                       "2001:0:5db8:d822:8000:0:5601:5601",
                                       "2001:0:a9fe:a9fe:8000:0:f5ff:fffa",
                                       "2001:db8::5efe:169.254.169.254",
                                       "2001:db8::200:5efe:169.254.169.254",
                                       "fd00:42::42",
                                       "2002:a9fe:a9fe::1" };
    struct sockaddr_un local = { .sun_family = AF_UNIX };

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (!refused(bad[i]))
            fail_msg("%s is not refused", bad[i]);
    assert_true(outbound_address_is_refused((struct sockaddr *)&local));
}

static void accepts_private_loopback_and_public_addresses(void **state)
{
    static const char *const good[] = { "127.0.0.1",
                                        "10.0.0.5",
                                        "172.16.0.1",
                                        "192.168.1.10",
                                        "8.8.8.8",
                                        "169.253.255.255",
                                        "169.255.0.0",
                                        "100.100.100.201",
                                        "192.0.0.191",
                                        "223.255.255.255",
                                        "::1",
                                        "fd00::1",
                                        "2001:db8::1",
                                        "fec0::1",
                                        "fd00:ec2::253",
                                        "::ffff:10.0.0.5",
                                        "::ffff:127.0.0.1",
                                        "64:ff9b::10.0.0.5",
                                        "2002:a00:1::1",
                                        "64:ff9b:1::8.8.8.8",
                                        "64:ff9b:1:fffe::10.0.0.5",
                                        "::ffff:0:10.0.0.5",
                                        "2001:0:5db8:d822:8000:0:f5ff:fffa",
                                        "2001:db8::5efe:10.0.0.5",
                                        "2001:db8::fe5e:169.254.169.254" };

    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        if (refused(good[i]))
            fail_msg("%s is refused", good[i]);
}

static void assert_url(const char *url, const char *expected_host, int expected_port)
{
    char host[URL_HOST_SIZE];
    struct error error = { 0 };
    int port;

    if (!url_check(url, host, &port, &error))
        fail_msg("%s: %s", url, error.message);
    assert_string_equal(host, expected_host);
    assert_int_equal(port, expected_port);
}

static void assert_url_refused(const char *url, enum error_kind kind, const char *because)
{
    char host[URL_HOST_SIZE] = "untouched";
    struct error error = { 0 };
    int port = -1;

    if (url_check(url, host, &port, &error))
        fail_msg("%s is accepted", url);
    if (strstr(error.message, because) == NULL)
        fail_msg("%s: the error message \"%s\" does not contain \"%s\"", url, error.message,
                 because);
    assert_int_equal(error.kind, kind);
    assert_string_equal(host, "untouched");
    assert_int_equal(port, -1);
}

static void reads_host_and_port_from_a_url(void **state)
{
    (void)state;
    assert_url("http://gpu-box:8000", "gpu-box", 8000);
    assert_url("http://gpu_box", "gpu_box", 80);
    assert_url("HTTPS://Model.Example.COM/v1", "model.example.com", 443);
    assert_url("https://a.b-c.run.app:8443/base/path%20x/", "a.b-c.run.app", 8443);
    assert_url("http://10.0.0.5:1/", "10.0.0.5", 1);
    assert_url("http://[::1]:65535/v1", "::1", 65535);
    assert_url("http://[FD00::A]", "fd00::a", 80);
    assert_url("http://1.2.3.4.example/", "1.2.3.4.example", 80);
    assert_url("http://x/a:b@c", "x", 80);
}

static void refuses_urls_that_are_not_base_urls(void **state)
{
    (void)state;
    assert_url_refused("", ERROR_INVALID, "must begin with http");
    assert_url_refused("ftp://x/", ERROR_INVALID, "must begin with http");
    assert_url_refused("http:/x", ERROR_INVALID, "must begin with http");
    assert_url_refused(" http://x", ERROR_INVALID, "must begin with http");
    assert_url_refused("file:///etc/passwd", ERROR_INVALID, "must begin with http");
    assert_url_refused("http://", ERROR_INVALID, "1 to 253 characters");
    assert_url_refused("http:///x", ERROR_INVALID, "1 to 253 characters");
    assert_url_refused("http://:80", ERROR_INVALID, "1 to 253 characters");
    assert_url_refused("http://x/?a=1", ERROR_INVALID, "query or fragment");
    assert_url_refused("http://x#y", ERROR_INVALID, "query or fragment");
    assert_url_refused("http://x/a b", ERROR_INVALID, "percent-encoded");
    assert_url_refused("http://x/%zz", ERROR_INVALID, "percent-encoded");
    assert_url_refused("http://x/%4", ERROR_INVALID, "percent-encoded");
    assert_url_refused("http://x\\@y/", ERROR_INVALID, "percent-encoded");
    assert_url_refused("http://x/\r\nHost: y", ERROR_INVALID, "percent-encoded");
}

static void refuses_a_user_in_a_url_without_repeating_the_password(void **state)
{
    char host[URL_HOST_SIZE];
    struct error error = { 0 };
    int port;

    (void)state;
    assert_url_refused("http://user@x/", ERROR_INVALID, "user or password");
    assert_url_refused("http://127.0.0.1:80@evil/", ERROR_INVALID, "user or password");
    assert_false(url_check("http://me:hunter2@x/", host, &port, &error));
    assert_null(strstr(error.message, "hunter2"));
}

static void refuses_invalid_ports(void **state)
{
    (void)state;
    assert_url_refused("http://x:", ERROR_INVALID, "port");
    assert_url_refused("http://x:0", ERROR_INVALID, "port");
    assert_url_refused("http://x:65536", ERROR_INVALID, "port");
    assert_url_refused("http://x:80a", ERROR_INVALID, "port");
    assert_url_refused("http://x:-1", ERROR_INVALID, "port");
    assert_url_refused("http://x:000000000080", ERROR_INVALID, "port");
    assert_url_refused("http://[::1]80", ERROR_INVALID, "port");
}

static void refuses_invalid_host_names(void **state)
{
    (void)state;
    assert_url_refused("http://a..b/", ERROR_INVALID, "must be a name");
    assert_url_refused("http://.a/", ERROR_INVALID, "must be a name");
    assert_url_refused("http://a./", ERROR_INVALID, "must be a name");
    assert_url_refused("http://a%20b/", ERROR_INVALID, "must be a name");
    assert_url_refused("http://\xc3\xa4/", ERROR_INVALID, "must be a name");
    assert_url_refused("http://a b/", ERROR_INVALID, "must be a name");
    assert_url_refused("http://[::1/", ERROR_INVALID, "]");
    assert_url_refused("http://[]/", ERROR_INVALID, "1 to 253 characters");
    assert_url_refused("http://[", ERROR_INVALID, "]");
    assert_url_refused("http://[x]/", ERROR_INVALID, "not an IPv6 address");
    assert_url_refused("http://[fe80::1%25eth0]/", ERROR_INVALID, "not an IPv6 address");
}

static void refuses_forbidden_addresses_and_unusual_spellings_of_ipv4(void **state)
{
    (void)state;
    assert_url_refused("http://169.254.169.254/", ERROR_FORBIDDEN, "no deployment may have");
    assert_url_refused("http://[::ffff:169.254.169.254]/", ERROR_FORBIDDEN, "no deployment");
    assert_url_refused("http://[fe80::1]/", ERROR_FORBIDDEN, "no deployment may have");
    assert_url_refused("http://0.0.0.0:8000", ERROR_FORBIDDEN, "no deployment may have");
    assert_url_refused("http://2852039166/", ERROR_INVALID, "four decimal numbers");
    assert_url_refused("http://0xA9FEA9FE/", ERROR_INVALID, "four decimal numbers");
    assert_url_refused("http://169.254.43518/", ERROR_INVALID, "four decimal numbers");
    assert_url_refused("http://0251.0376.0251.0376/", ERROR_INVALID, "four decimal numbers");
    assert_url_refused("http://0x/", ERROR_INVALID, "four decimal numbers");
}

static void the_lengths_of_urls_and_hosts_are_limited(void **state)
{
    char url[1100], name[256];
    char expected[URL_HOST_SIZE];

    (void)state;
    memset(name, 'a', sizeof name);
    for (int i = 63; i < 253; i += 64)
        name[i] = '.';
    name[253] = '\0';
    memcpy(expected, name, 254);
    snprintf(url, sizeof url, "http://%s/", name);
    assert_url(url, expected, 80);
    name[253] = 'a';
    name[254] = '\0';
    snprintf(url, sizeof url, "http://%s/", name);
    assert_url_refused(url, ERROR_INVALID, "1 to 253 characters");
    memset(name, 'a', 64);
    name[64] = '\0';
    snprintf(url, sizeof url, "http://%s/", name);
    assert_url_refused(url, ERROR_INVALID, "must be a name");
    memset(url, 'a', sizeof url);
    memcpy(url, "http://x/", 9);
    url[1024] = '\0';
    assert_url(url, "x", 80);
    url[1024] = 'a';
    url[1025] = '\0';
    assert_url_refused(url, ERROR_INVALID, "longer than 1024 bytes");
}

static void normalizes_origins(void **state)
{
    static const char *const origins[][2] = {
        { "http://gpu", "http://gpu" },
        { "HTTP://GPU:80/v1/", "http://gpu" },
        { "https://Model.Example.com:443", "https://model.example.com" },
        { "https://model.example.com:80", "https://model.example.com:80" },
        { "http://model.example.com:443/a/b", "http://model.example.com:443" },
        { "http://10.0.0.5:08000", "http://10.0.0.5:8000" },
        { "http://[0:0:0:0:0:0:0:1]:8000/x", "http://[::1]:8000" },
        { "http://[2001:DB8::00AA]", "http://[2001:db8::aa]" },
    };
    char origin[ORIGIN_SIZE];
    struct error error;

    (void)state;
    for (size_t i = 0; i < sizeof origins / sizeof *origins; i++) {
        assert_true(url_origin(origins[i][0], origin, &error));
        assert_string_equal(origin, origins[i][1]);
    }
    assert_false(url_origin("http://me@gpu", origin, &error));
    assert_false(url_origin("null", origin, &error));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(refuses_metadata_and_special_addresses),
        cmocka_unit_test(accepts_private_loopback_and_public_addresses),
        cmocka_unit_test(reads_host_and_port_from_a_url),
        cmocka_unit_test(refuses_urls_that_are_not_base_urls),
        cmocka_unit_test(refuses_a_user_in_a_url_without_repeating_the_password),
        cmocka_unit_test(refuses_invalid_ports),
        cmocka_unit_test(refuses_invalid_host_names),
        cmocka_unit_test(refuses_forbidden_addresses_and_unusual_spellings_of_ipv4),
        cmocka_unit_test(the_lengths_of_urls_and_hosts_are_limited),
        cmocka_unit_test(normalizes_origins),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
