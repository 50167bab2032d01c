/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/net/credential.h"

static void finds_credentials_of_known_forms_anywhere_in_a_string(void **state)
{
    static const char *const with_credential[] = {
        "sk-abcdefghijklmnop",
        "sk-proj-AbCdEfGh1234567890",
        "key=sk-ant-api03-AbCdEfGh-1234567890_x;",
        "team-sk-AbCdEfGh1234567890",
        "hf_AbCdEfGhIjKlMnOpQr",
        "x-ghp_AbCdEfGhIjKlMnOpQrStUvWxYz0123456789",
        "github_pat_11ABCDEFG0",
        "glpat-AbCdEfGhIjKlMnOpQrSt",
        "myxoxb-123456789012-abc",
        "AKIAIOSFODNN7EXAMPLE",
        "http://gpu/v1/AKIAIOSFODNN7EXAMPLE/x",
        "AIzaSyA1234567890abcdefghijklmnopqrstuv",
        "ya29.a0AfH6SMBx",
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln",
        "obk_0123456789abcdef",
        "-----BEGIN OPENSSH PRIVATE KEY-----",
        "Authorization: bearer AbCdEfGh1234567890",
        "nvapi-AbCdEfGh1234",
        "sk_live_4eC39HqLyjW",
    };
    static const char *const without_credential[] = {
        "",
        "desk-abcdefghijklmnopqrstuvwxyz",
        "disk-monitoring-cluster-12",
        "task-0123456789abcdefghij",
        "sk-short",
        "hf_model",
        "shf_AbCdEfGhIjKlMnOpQr",
        "the bearer of good news",
        "Bearer token",
        "google/gemma-3-4b-it",
        "AKIAtoken",
        "ASIATIC",
        "http://10.0.0.5:8000/v1",
        "2x NVIDIA H100 80GB HBM3, NVLink",
        "0123456789abcdef0123456789abcdef01234567",
        "----- BEGIN -----",
    };

    (void)state;
    for (size_t i = 0; i < sizeof with_credential / sizeof *with_credential; i++)
        if (!credential_is_in(with_credential[i]))
            fail_msg("no credential was found in %s", with_credential[i]);
    for (size_t i = 0; i < sizeof without_credential / sizeof *without_credential; i++)
        if (credential_is_in(without_credential[i]))
            fail_msg("a credential was found in %s", without_credential[i]);
    assert_false(credential_is_in(NULL));
}

static void reports_where_the_credential_is(void **state)
{
    static const char text[] = "the key (hf_AbCdEfGhIjKlMnOpQr) of a";
    static const char pem[] = "my -----BEGIN PRIVATE KEY-----\nMIIE\n-----END PRIVATE KEY-----";
    size_t at, length;

    (void)state;
    assert_true(credential_find(text, &at, &length));
    assert_int_equal(at, strlen("the key ("));
    assert_int_equal(length, strlen("hf_AbCdEfGhIjKlMnOpQr"));
    assert_true(credential_find(pem, &at, &length));
    assert_int_equal(at, 3);
    assert_int_equal(length, strlen(pem) - 3); /* to the end of the string */
}

static void hides_the_user_part_of_every_url_in_a_string(void **state)
{
    static const char *const texts[][2] = {
        { "from http://user:pass@host/x, again", "from http://(hidden)@host/x, again" },
        { "http://user:pa,s;s=(w)'rd@host/x", "http://(hidden)@host/x" },
        { "('http://user:p/a?s@host:80/x')", "('http://(hidden)@host:80/x')" },
        { "http://a:1/x, mail me@home, http://b@[::1]/", "http://a:1/x, mail me@home, "
                                                         "http://(hidden)@[::1]/" },
        { "http://a:1,http://b:2", "http://a:1,http://b:2" },
        { "no address, @ all ://", "no address, @ all ://" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        TEXT_AUTO out = { 0 };

        credential_add_masked(&out, texts[i][0]);
        assert_string_equal(text_string(&out), texts[i][1]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_credentials_of_known_forms_anywhere_in_a_string),
        cmocka_unit_test(reports_where_the_credential_is),
        cmocka_unit_test(hides_the_user_part_of_every_url_in_a_string),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
