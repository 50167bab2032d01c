/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json/json.h"
#include "fleet/cloud/cloud_jwt.h"

#define DATA SOURCE_DIR "/tests/data/clouds/"

static json_t *read_account(void)
{
    json_t *account = json_load_file(DATA "service-account.json", 0, NULL);

    assert_non_null(account);
    return account;
}

/* The golden token was made with the Python package cryptography. RS256 is deterministic, so both
 * tokens must be equal. */
static void test_a_signed_token_equals_the_golden_one(void **state)
{
    json_auto_t *account = read_account();
    json_auto_t *claims =
        json_pack("{s:s, s:s, s:s, s:I, s:I}", "iss", json_get_text(account, "client_email", ""),
                  "scope", "https://www.googleapis.com/auth/cloud-platform", "aud",
                  "https://oauth2.googleapis.com/token", "iat", (json_int_t)1764000000, "exp",
                  (json_int_t)1764003600);
    char golden[4096] = "";
    FILE *file = fopen(DATA "assertion.jwt", "r");
    TEXT_AUTO token = { 0 };
    struct error error = { 0 };

    (void)state;
    assert_non_null(file);
    assert_non_null(fgets(golden, sizeof golden, file));
    fclose(file);
    golden[strcspn(golden, "\n")] = '\0';
    assert_true(cloud_jwt_sign(json_get_text(account, "private_key", ""),
                               json_get_text(account, "private_key_id", ""), claims, &token,
                               &error));
    assert_string_equal(token.data, golden);
    assert_int_equal(cloud_jwt_ends_ms(token.data), INT64_C(1764003600000));
}

static void test_keys_that_cannot_sign_are_refused_without_being_shown(void **state)
{
    static const char *const keys[] = {
        "",
        "CANARY",
        "-----BEGIN PRIVATE KEY-----\nCANARY\n-----END PRIVATE KEY-----\n",
        /* an elliptic-curve key */
        "-----BEGIN PRIVATE KEY-----\n"
        "MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgevZzL1gdAFr88hb2\n"
        "OF/2NxApJCzGCEDdfSp6VQO30hyhRANCAAQRWz+jn65BtOMvdyHKcvjBeBSDZH2r\n"
        "1RTwjmYSi9R/zpBnuQ4EiMnCqfMPWiZqB4QdbAd0E7oH50VpuZ1P087G\n"
        "-----END PRIVATE KEY-----\n",
    };
    json_auto_t *claims = json_object();

    (void)state;
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        TEXT_AUTO token = { 0 };
        struct error error = { 0 };

        assert_false(cloud_jwt_sign(keys[i], "", claims, &token, &error));
        assert_non_null(strstr(error.message, "not an RSA key"));
        assert_null(strstr(error.message, "CANARY"));
    }
}

static void test_the_expiry_of_a_jwt_is_read_if_it_has_one(void **state)
{
    (void)state;
    assert_int_equal(cloud_jwt_ends_ms("a.eyJleHAiOjEyM30.b"), 123000);
    assert_int_equal(cloud_jwt_ends_ms("a.e30.b"), 0);
    assert_int_equal(cloud_jwt_ends_ms("a.eyJleHAiOiJ4In0.b"), 0);
    assert_int_equal(cloud_jwt_ends_ms("a.!!.b"), 0);
    assert_int_equal(cloud_jwt_ends_ms("a.eyJleHAiOjEyM30"), 0);
    assert_int_equal(cloud_jwt_ends_ms(""), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_signed_token_equals_the_golden_one),
        cmocka_unit_test(test_keys_that_cannot_sign_are_refused_without_being_shown),
        cmocka_unit_test(test_the_expiry_of_a_jwt_is_read_if_it_has_one),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
