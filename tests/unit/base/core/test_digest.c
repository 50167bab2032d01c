/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "base/core/digest.h"

static void assert_hex(const uint8_t digest[DIGEST_BYTES], const char *expected)
{
    char hex[DIGEST_TEXT_SIZE];

    for (size_t i = 0; i < DIGEST_BYTES; i++)
        snprintf(hex + 2 * i, 3, "%02x", digest[i]);
    assert_string_equal(hex, expected);
}

/* The example "abc" in FIPS 180-2, B.1, and the digest of an empty input. */
static void computes_sha256(void **state)
{
    char hex[DIGEST_TEXT_SIZE];
    uint8_t digest[DIGEST_BYTES];

    (void)state;
    digest_sha256_text("abc", 3, hex);
    assert_string_equal(hex, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    digest_sha256("abc", 3, digest);
    assert_hex(digest, hex);
    digest_sha256_text(NULL, 0, hex);
    assert_string_equal(hex, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

/* RFC 4231, test cases 2 and 6. */
static void computes_hmac_sha256(void **state)
{
    static const char data[] = "Test Using Larger Than Block-Size Key - Hash Key First";
    uint8_t key[131], digest[DIGEST_BYTES];

    (void)state;
    digest_hmac_sha256("Jefe", 4, "what do ya want for nothing?", 28, digest);
    assert_hex(digest, "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
    memset(key, 0xaa, sizeof key);
    digest_hmac_sha256(key, sizeof key, data, strlen(data), digest);
    assert_hex(digest, "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(computes_sha256),
        cmocka_unit_test(computes_hmac_sha256),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
