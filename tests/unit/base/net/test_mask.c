/* SPDX-License-Identifier: Apache-2.0 */
/* Secrets that servers repeat are hidden in all forms that mask.h lists. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/core/error.h"
#include "base/net/mask.h"

#define SECRET "Lab-7f3Kq9ZxT0vW2mR8uYc41" /* 25 bytes; any 19 in a row are hidden */

static void assert_becomes_with(const char *secret, enum mask_kind kind, const char *given,
                                const char *shown)
{
    MASK_AUTO mask = mask_create(secret);
    TEXT_AUTO text = { 0 };

    text_add(&text, given);
    mask_text(mask, kind, false, &text);
    assert_string_equal(text.data, shown);
}

static void assert_becomes(const char *given, const char *shown)
{
    assert_becomes_with(SECRET, MASK_ANSWER, given, shown);
}

static void assert_hidden(const char *given)
{
    TEXT_AUTO framed = { 0 };

    text_addf(&framed, "before %s, after", given);
    assert_becomes(text_string(&framed), "before (hidden), after");
}

static void hides_the_secret_anywhere_in_a_string(void **state)
{
    (void)state;
    assert_becomes(SECRET, "(hidden)");
    assert_becomes("invalid key: " SECRET, "invalid key: (hidden)");
    assert_becomes(SECRET SECRET " and " SECRET "!", "(hidden)(hidden) and (hidden)!");
    assert_becomes("Bearer " SECRET "\r\nHost: a", "Bearer (hidden)\r\nHost: a");
    assert_becomes("{\"id\":\"x" SECRET "x\"}", "{\"id\":\"x(hidden)x\"}");
    assert_becomes("", "");
}

static void hides_large_pieces_of_the_secret(void **state)
{
    (void)state;
    assert_hidden("ab-7f3Kq9ZxT0vW2mR8uYc41"); /* without its first byte */
    assert_hidden("Lab-7f3Kq9ZxT0vW2mR8uYc4"); /* without its last byte */
    assert_hidden("ab-7f3Kq9ZxT0vW2mR8uYc4");
    assert_hidden("7f3Kq9ZxT0vW2mR8uYc");
    assert_becomes("Lab-7f3Kq9ZxT0vW2mX", "Lab-7f3Kq9ZxT0vW2mX"); /* only 18 bytes of it */
    assert_becomes("Lab-****************uYc41", "Lab-****************uYc41");
}

static void hides_the_secret_when_escaped(void **state)
{
    (void)state;
    assert_hidden("\\u004c\\u0061\\u0062-7f3Kq9ZxT0vW2mR8uYc\\u0034\\u0031");
    assert_hidden("L\\u0061b-7f3Kq9Zx\\u00540vW2mR8uYc41");
    assert_hidden("Lab\\-7f3Kq9ZxT0vW2mR8uYc41");
    assert_hidden("\\x4cab-7f3Kq9ZxT0vW2mR8uYc\\x341");
    assert_hidden("%4cab%2D7f3Kq9ZxT0vW2mR8uYc4%31");
    assert_hidden("&#76;ab-7f3Kq9ZxT0vW2mR8uYc&#x34;1");
    assert_hidden("Lab-7f3Kq9\\\\u005axT0vW2mR8uYc41"); /* escaped twice */
    assert_hidden("Lab%252d7f3Kq9ZxT0vW2mR8uYc41");
    assert_becomes_with("a/b+c/d+e/f\\g\"h&i", MASK_ANSWER,
                        "{\"a\": \"a\\/b+c\\/d+e\\/f\\\\g\\\"h&i\"}", "{\"a\": \"(hidden)\"}");
    assert_becomes_with("a/b+c/d+e/f\\g\"h%41i", MASK_ANSWER, "a/b+c/d+e/f\\g\"h%41i", "(hidden)");
    assert_becomes_with("\xc3\xa4-\xe2\x82\xac-\xf0\x9f\x98\x80-secret", MASK_ANSWER,
                        "\"\\u00e4-\\u20ac-\\ud83d\\ude00-secret\"", "\"(hidden)\"");
}

static void hides_the_secret_in_capitals_hexadecimal_and_base64(void **state)
{
    (void)state;
    assert_hidden("LAB-7F3KQ9ZXT0VW2MR8UYC41");
    assert_hidden("4c61622d3766334b71395a785430765732"
                  "6d5238755963"
                  "3431");
    assert_hidden("4C61622D3766334B71395A785430765732"
                  "6D5238755963"
                  "3431");
    assert_becomes("TGFiLTdmM0txOVp4VDB2VzJtUjh1WWM0MQ==", "(hidden)Q==");
    /* The same with one and two bytes before the secret. */
    assert_becomes("eExhYi03ZjNLcTlaeFQwdlcybVI4dVljNDE=", "eExh(hidden)E=");
    assert_becomes("eHhMYWItN2YzS3E5WnhUMHZXMm1SOHVZYzQx", "eHhM(hidden)");
}

static void hides_the_secret_with_spaces_in_between(void **state)
{
    (void)state;
    assert_hidden("Lab-7f3Kq9Zx\n  T0vW2mR8uYc41");
    assert_hidden("L a b - 7 f 3 K q 9 Z x T 0 v W 2 m R 8 u Y c 4 1");
    assert_hidden("Lab-7f3Kq9Zx\xe2\x80\x8bT0vW2mR8uYc41");   /* U+200B */
    assert_hidden("Lab-7f3Kq9Zx\\u200b\\u202eT0vW2mR8uYc41"); /* U+200B, U+202E */
    assert_hidden("Lab-7f3Kq9Zx\\n\\tT0vW2mR8uYc41");
}

static void leaves_other_text_alone(void **state)
{
    static const char other[] =
        "Labels of 7 days: 100%, \\u00e9t\\u00e9, a&b; C:\\new\\table \xe2\x82\xac "
        "Lab-7f3Kq9Zx-other-text-than-that vW2mR8uYc41";

    (void)state;
    assert_becomes(other, other);
    assert_becomes_with("", MASK_FAILURE, SECRET, SECRET);
    assert_becomes_with(NULL, MASK_FAILURE, SECRET, SECRET);
}

/* A string counts as truncated if its array has no room for another character of 4 bytes. */
static void hides_8_or_more_bytes_of_the_secret_at_the_end_of_truncated_text(void **state)
{
    MASK_AUTO mask = mask_create(SECRET);
    char cut[24] = "the key Lab-7f3Kq9ZxT0v", whole[40] = "the key Lab-7f3Kq9ZxT0v",
         short_one[16] = "the key Lab-7f3";
    TEXT_AUTO text = { 0 };

    (void)state;
    mask_string(mask, MASK_ANSWER, cut, sizeof cut);
    assert_string_equal(cut, "the key (hidden)");
    mask_string(mask, MASK_ANSWER, whole, sizeof whole);
    assert_string_equal(whole, "the key Lab-7f3Kq9ZxT0v");
    mask_string(mask, MASK_ANSWER, short_one, sizeof short_one);
    assert_string_equal(short_one, "the key Lab-7f3"); /* 7 bytes are too few */
    text_add(&text, "b-7f3Kq9 ... Lab-7f3K");
    mask_text(mask, MASK_ANSWER, true, &text);
    assert_string_equal(text.data, "b-7f3Kq9 ... (hidden)");
}

static void hides_weak_secrets_only_in_failures(void **state)
{
    static const char *const weak[] = { "EMPTY",   "none",         "x",
                                        "ollama",  "token-abc123", "TOKEN-ABC123",
                                        "hunter2", "unauthorized", "xxxxxxxxxxxxxxxx" };

    (void)state;
    for (size_t i = 0; i < sizeof weak / sizeof *weak; i++)
        assert_true(mask_is_weak(weak[i]));
    assert_false(mask_is_weak("hunter2hunter"));
    assert_false(mask_is_weak(SECRET));
    assert_becomes_with("EMPTY", MASK_ANSWER, "EMPTY", "EMPTY");
    assert_becomes_with("EMPTY", MASK_FAILURE, "bad key EMPTY.", "bad key (hidden).");
    assert_becomes_with("EMPTY", MASK_FAILURE, "the list is empty, not EMPTYISH",
                        "the list is empty, not EMPTYISH");
    assert_becomes_with("EMPTY", MASK_FAILURE, "\"\\u0045MPTY\"", "\"(hidden)\"");
    assert_becomes_with("x", MASK_FAILURE, "x: no x in max", "(hidden): no (hidden) in max");
    assert_becomes_with("unauthorized", MASK_ANSWER, "unauthorized", "unauthorized");
}

static void hides_the_secret_in_errors(void **state)
{
    MASK_AUTO mask = mask_create(SECRET);
    struct error error;

    (void)state;
    error_set(&error, ERROR_UPSTREAM, "401: \"%s\" is wrong", SECRET);
    mask_error(mask, &error);
    assert_string_equal(error.message, "401: \"(hidden)\" is wrong");
    assert_int_equal(error.kind, ERROR_UPSTREAM);
}

/* Collects what users see when `given` arrives in pieces of `piece` bytes. */
static void show_in_pieces(const char *given, size_t piece, struct text *shown)
{
    MASK_AUTO mask = mask_create(SECRET);
    size_t passed = 0, length = strlen(given);

    for (size_t end = piece; end < length + piece; end += piece) {
        size_t arrived = end < length ? end : length;
        size_t safe = mask_safe_length(mask, given + passed, arrived - passed);
        TEXT_AUTO part = { 0 };

        if (arrived == length)
            safe = arrived - passed;
        text_add_bytes(&part, given + passed, safe);
        mask_text(mask, MASK_ANSWER, false, &part);
        text_add_bytes(shown, text_string(&part), part.length);
        passed += safe;
    }
}

static void hides_the_secret_in_text_that_arrives_in_pieces(void **state)
{
    static const char *const given[] = {
        "the key is " SECRET ", isn't it? " SECRET,
        "100 % \\u00 Lab-7f3Kq9 Lab-7f3Kq9\\u005axT0vW2mR8uYc41 \xe2\x82\xac.",
        "TGFiLTdmM0txOVp4VDB2VzJtUjh1WWM0MQ== \xc3\xa4\xc3\xb6 L a b - 7f3Kq9ZxT0vW2mR8uYc41",
        "&#76;ab-7f3Kq9ZxT0vW2mR8uYc&#x34;1 & more %4cab%2D7f3Kq9ZxT0vW2mR8uYc4%31",
        "twice %254c%2561%2562%252d%2537%2566%2533%254b%2571%2539%255a%2578%2554%2530%2576%2557"
        "%2532%256d%2552%2538%2575%2559%2563%2534%2531 escaped",
        "thrice %25254cab%25252d7f3%25254bq9%25255axT0%252576W2m%252552%252538uYc41 escaped",
    };
    static const char *const shown[] = {
        "the key is (hidden), isn't it? (hidden)",
        "100 % \\u00 Lab-7f3Kq9 (hidden) \xe2\x82\xac.",
        "(hidden)Q== \xc3\xa4\xc3\xb6 (hidden)",
        "(hidden) & more (hidden)",
        "twice (hidden) escaped",
        "thrice (hidden) escaped",
    };

    (void)state;
    for (size_t i = 0; i < sizeof given / sizeof *given; i++)
        for (size_t piece = 1; piece < 60; piece++) {
            TEXT_AUTO text = { 0 };

            show_in_pieces(given[i], piece, &text);
            assert_string_equal(text.data, shown[i]);
        }
}

static void shows_at_once_what_cannot_be_the_start_of_the_secret(void **state)
{
    MASK_AUTO mask = mask_create(SECRET);

    (void)state;
    assert_int_equal(mask_safe_length(mask, "hello, ", 7), 7);
    assert_int_equal(mask_safe_length(mask, "hello Lab-7f", 12), 6);
    assert_int_equal(mask_safe_length(mask, "hello: \\u00", 11), 7);
    assert_int_equal(mask_safe_length(NULL, SECRET, 25), 25);
}

/* The text is like a page of metrics; such pages are masked every few seconds. */
static void hides_a_long_secret_in_a_long_text(void **state)
{
    enum { TEXT_BYTES = 2 << 20, SECRET_BYTES = 4095 };
    char *secret = calloc(1, SECRET_BYTES + 1), *tail;
    TEXT_AUTO text = { 0 };

    (void)state;
    for (size_t i = 0; i < SECRET_BYTES; i++)
        secret[i] = "abcdefghijklmnopqrstuvwxyz0123456789"[(i * i + i / 7) % 36];
    while (text.length < TEXT_BYTES)
        text_addf(&text, "vllm:e2e_bucket{le=\"%zu\",model_name=\"m\"} %zu\n", text.length,
                  text.length);
    text_addf(&text, "x %s y", secret);
    {
        MASK_AUTO mask = mask_create(secret);

        mask_text(mask, MASK_ANSWER, false, &text);
    }
    tail = text.data + text.length - strlen("x (hidden) y");
    assert_string_equal(tail, "x (hidden) y");
    free(secret);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hides_the_secret_anywhere_in_a_string),
        cmocka_unit_test(hides_large_pieces_of_the_secret),
        cmocka_unit_test(hides_the_secret_when_escaped),
        cmocka_unit_test(hides_the_secret_in_capitals_hexadecimal_and_base64),
        cmocka_unit_test(hides_the_secret_with_spaces_in_between),
        cmocka_unit_test(leaves_other_text_alone),
        cmocka_unit_test(hides_8_or_more_bytes_of_the_secret_at_the_end_of_truncated_text),
        cmocka_unit_test(hides_weak_secrets_only_in_failures),
        cmocka_unit_test(hides_the_secret_in_errors),
        cmocka_unit_test(hides_the_secret_in_text_that_arrives_in_pieces),
        cmocka_unit_test(shows_at_once_what_cannot_be_the_start_of_the_secret),
        cmocka_unit_test(hides_a_long_secret_in_a_long_text),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
