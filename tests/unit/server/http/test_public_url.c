/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the URL with which links in answers begin: the setting public_url or, if that is empty,
 * a URL made from the request's scheme and Host. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "server/http/public_url.h"

static void the_public_url_comes_from_the_setting_or_else_from_the_host(void **state)
{
    static const struct {
        const char *setting, *host, *wanted;
    } cases[] = {
        { "", "127.0.0.1:8080", "http://127.0.0.1:8080" },
        { "", "[::1]:8080", "http://[::1]:8080" },
        { "", "lab-7.example", "http://lab-7.example" },
        { "", NULL, "" },
        { "", "", "" },
        { "", "localhost:80/x", "" },
        { "", "localhost:<script>", "" },
        { "", "user@localhost", "" },
        { "", "localhost\n: evil", "" },
        { "https://ops.example/", "127.0.0.1:8080", "https://ops.example" },
        { "https://ops.example/brain//", NULL, "https://ops.example/brain" },
    };
    char out[PUBLIC_URL_SIZE], too_long[300];

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_string_equal(public_url_make(cases[i].setting, "http", cases[i].host, out),
                            cases[i].wanted);
    assert_string_equal(public_url_make("", "https", "lab-7.example", out),
                        "https://lab-7.example");
    memset(too_long, 'a', sizeof too_long - 1);
    too_long[sizeof too_long - 1] = '\0';
    assert_string_equal(public_url_make("", "http", too_long, out), "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_public_url_comes_from_the_setting_or_else_from_the_host),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
