/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/core/memory.h"
#include "base/core/text.h"
#include "server/mcp/request_state.h"

static const uint8_t key[DIGEST_BYTES] = { 1, 2, 3 };
static const uint8_t other_key[DIGEST_BYTES] = { 3, 2, 1 };

static char *seal(int64_t expires_ms)
{
    json_auto_t *answers = json_pack("{s:{s:s}}", "sure", "action", "accept");
    struct request_state state = { "rnd_1", "ann", "d1", expires_ms, answers };
    struct error error;
    char *sealed;

    assert_true(request_state_seal(key, &state, &sealed, &error));
    return sealed;
}

static void a_sealed_state_can_be_opened(void **state)
{
    FREE_AUTO char *sealed = seal(1000);
    struct request_state out;
    struct error error;

    (void)state;
    assert_true(request_state_open(key, sealed, "ann", "d1", 999, &out, &error));
    assert_string_equal(out.nonce, "rnd_1");
    assert_int_equal(out.expires_ms, 1000);
    assert_int_equal(json_object_size(out.answers), 1);
    json_decref(out.answers);
}

static void
a_state_is_refused_if_it_has_expired_or_its_key_principal_or_request_differs(void **state)
{
    static const struct {
        const uint8_t *key;
        const char *principal, *digest;
        int64_t now_ms;
        const char *words;
    } cases[] = {
        { other_key, "ann", "d1", 0, "is not valid" },
        { key, "bob", "d1", 0, "is not valid" },
        { key, "ann", "d2", 0, "a different request" },
        { key, "ann", "d1", 1000, "has expired" },
    };
    FREE_AUTO char *sealed = seal(1000);

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct request_state out;
        struct error error;

        assert_false(request_state_open(cases[i].key, sealed, cases[i].principal, cases[i].digest,
                                        cases[i].now_ms, &out, &error));
        assert_non_null(strstr(error.message, cases[i].words));
    }
}

static void a_changed_or_truncated_state_is_refused(void **state)
{
    FREE_AUTO char *sealed = seal(1000);

    (void)state;
    for (size_t i = 0; sealed[i] != '\0'; i++) {
        FREE_AUTO char *changed = memory_copy_text(sealed);
        struct request_state out;
        struct error error;

        changed[i] = changed[i] == 'a' ? 'b' : 'a';
        assert_false(request_state_open(key, changed, "ann", "d1", 0, &out, &error));
        changed[i] = '\0';
        assert_false(request_state_open(key, changed, "ann", "d1", 0, &out, &error));
    }
}

static void overlong_answers_are_not_sealed_and_overlong_states_are_refused(void **state)
{
    TEXT_AUTO long_text = { 0 };
    struct request_state sealing = { "rnd_1", "ann", "d1", 1000, NULL };
    struct error error;
    char *sealed = NULL;

    (void)state;
    for (size_t i = 0; i < REQUEST_STATE_BYTES; i++)
        text_add_char(&long_text, 'x');
    json_auto_t *answers = json_pack("{s:s}", "a", text_string(&long_text));
    sealing.answers = answers;
    assert_false(request_state_seal(key, &sealing, &sealed, &error));
    assert_int_equal(error.kind, ERROR_INVALID);
    assert_false(
        request_state_open(key, text_string(&long_text), "ann", "d1", 0, &sealing, &error));
}

static void the_digest_depends_on_the_request_but_not_on_the_order_of_arguments(void **state)
{
    json_auto_t *a = json_pack("{s:i, s:i}", "x", 1, "y", 2);
    json_auto_t *same = json_pack("{s:i, s:i}", "y", 2, "x", 1), *none = json_object();
    char digest[DIGEST_TEXT_SIZE], other[DIGEST_TEXT_SIZE];

    (void)state;
    request_state_digest("tools/call", "t", a, digest);
    request_state_digest("tools/call", "t", same, other);
    assert_string_equal(digest, other);
    request_state_digest("tools/call", "u", a, other);
    assert_string_not_equal(digest, other);
    request_state_digest("prompts/get", "t", a, other);
    assert_string_not_equal(digest, other);
    request_state_digest("tools/call", "t", NULL, digest);
    request_state_digest("tools/call", "t", none, other);
    assert_string_equal(digest, other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_sealed_state_can_be_opened),
        cmocka_unit_test(
            a_state_is_refused_if_it_has_expired_or_its_key_principal_or_request_differs),
        cmocka_unit_test(a_changed_or_truncated_state_is_refused),
        cmocka_unit_test(overlong_answers_are_not_sealed_and_overlong_states_are_refused),
        cmocka_unit_test(the_digest_depends_on_the_request_but_not_on_the_order_of_arguments),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
