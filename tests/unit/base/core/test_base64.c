/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/core/base64.h"

static void decoding_restores_the_encoded_bytes(void **state)
{
    char bytes[4099];

    (void)state;
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (char)(i * 7 + i / 256);
    for (size_t length = 0; length < sizeof bytes; length += length < 9 ? 1 : 409) {
        TEXT_AUTO written = { 0 }, read = { 0 };

        base64_add(&written, bytes, length);
        assert_int_equal(written.length, (length + 2) / 3 * 4);
        assert_true(base64_decode(&read, text_string(&written), written.length));
        assert_int_equal(read.length, length);
        if (length > 0)
            assert_memory_equal(read.data, bytes, length);
    }
}

static void text_that_no_encoder_writes_is_refused(void **state)
{
    static const char *const wrong[] = { "A",    "AB",   "ABC",  "A===", "====",   "AB=C",
                                         "AB C", "AB-_", "AR==", "ABJ=", "AAAA\n", "QUJD=" };

    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        TEXT_AUTO out = { 0 };

        if (base64_decode(&out, wrong[i], strlen(wrong[i])))
            fail_msg("\"%s\" was not refused, but decoded to \"%s\"", wrong[i], text_string(&out));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(decoding_restores_the_encoded_bytes),
        cmocka_unit_test(text_that_no_encoder_writes_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
