/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/llm/failure.h"

static void assert_class(long status, const char *body, enum failure expected)
{
    enum failure found = failure_of_status(status, body, strlen(body));

    if (found != expected)
        fail_msg("%ld \"%s\": got %s, expected %s", status, body, failure_name(found),
                 failure_name(expected));
}

static void every_class_has_a_name_of_its_own(void **state)
{
    (void)state;
    for (enum failure i = FAILURE_NONE; i < FAILURE_COUNT; i++) {
        assert_non_null(failure_name(i));
        for (enum failure j = FAILURE_NONE; j < i; j++)
            assert_string_not_equal(failure_name(j), failure_name(i));
    }
}

static void each_status_has_a_failure_class(void **state)
{
    (void)state;
    assert_class(200, "", FAILURE_NONE);
    assert_class(204, "", FAILURE_NONE);
    assert_class(302, "", FAILURE_PROTOCOL);
    assert_class(400, "", FAILURE_REFUSED_400);
    assert_class(401, "", FAILURE_AUTH);
    assert_class(403, "", FAILURE_AUTH);
    assert_class(404, "", FAILURE_NOT_FOUND);
    assert_class(413, "", FAILURE_TOO_LONG);
    assert_class(422, "", FAILURE_REFUSED_400);
    assert_class(429, "", FAILURE_RATE_LIMITED);
    assert_class(500, "", FAILURE_SERVER_ERROR);
    assert_class(502, "", FAILURE_SERVER_ERROR);
    assert_class(503, "Loading model", FAILURE_OVERLOADED_503);
    assert_class(0, "", FAILURE_PROTOCOL);
    assert_class(101, "", FAILURE_PROTOCOL);
    assert_class(999, "", FAILURE_PROTOCOL);
    assert_int_equal(failure_of_status(400, NULL, 0), FAILURE_REFUSED_400);
}

static void long_prompt_errors_are_recognized_with_400_422_and_500_but_not_429(void **state)
{
    static const char *const bodies[] = {
        "This model's maximum context length is 8192 tokens. However, you requested 9000 tokens "
        "(8000 in the messages, 1000 in the completion). Please reduce the length.",
        "'max_tokens' or 'max_completion_tokens' is too large: 1000. This model's maximum context "
        "length is 1000 tokens and your request has 203 input tokens (1000 > 1000 - 203).",
        "You passed 8193 input tokens and requested 16 output tokens. However, the model's context "
        "length is only 8192 tokens, resulting in a maximum input length of 8176 tokens.",
        "The decoder prompt (length 10127) is longer than the maximum model length of 8192.",
        "{\"error\":{\"code\":400,\"message\":\"the request exceeds the available context size, "
        "try increasing it\",\"type\":\"exceed_context_size_error\",\"n_prompt_tokens\":9000}}",
        "Input length (160062 tokens) exceeds the maximum allowed length (59862 tokens).",
        "The input (61709 tokens) is longer than the model's context length (40960 tokens).",
        "Requested token count exceeds the model's maximum context length of 4096 tokens.",
        "Input validation error: `inputs` must have less than 1024 tokens. Given: 1168",
        "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 1512. Given: 1000",
        "Requested tokens (17) exceed context window of 16",
        "{\"error\":\"the input length exceeds the context length\"}",
        "{\"error\":{\"code\":\"context_length_exceeded\"}}",
        "input length and `max_tokens` exceed context limit: 199759 + 8192 > 200000",
        "Prompt length (200) exceeds maximum input length (1)",
    };

    (void)state;
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
        assert_class(400, bodies[i], FAILURE_TOO_LONG);
        assert_class(422, bodies[i], FAILURE_TOO_LONG);
        assert_class(500, bodies[i], FAILURE_TOO_LONG);
        assert_class(429, bodies[i], FAILURE_RATE_LIMITED);
    }
}

static void an_error_inside_a_stream_is_classed_as_too_long_only_if_it_says_so(void **state)
{
    static const char sglang[] = "The input (512 tokens) is longer than the model's context length "
                                 "(300 tokens).";

    (void)state;
    assert_int_equal(failure_in_stream(sglang, sizeof sglang - 1), FAILURE_TOO_LONG);
    assert_int_equal(failure_in_stream("CUDA error", 10), FAILURE_STREAM_ERROR);
    assert_int_equal(failure_in_stream("", 0), FAILURE_STREAM_ERROR);
}

static void other_refusals_are_not_called_too_long(void **state)
{
    static const char *const bodies[] = {
        "temperature must be at most 2",
        "`max_new_tokens` must be strictly positive",
        "model `gemma` has a context length of 8192 and no LoRA adapter of that name",
        "logprobs must be less than 20",
        "maximum context lengt",
    };

    (void)state;
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++)
        assert_class(400, bodies[i], FAILURE_REFUSED_400);
}

static void only_the_given_bytes_of_a_body_are_read(void **state)
{
    static const char body[] = "maximum context length";

    (void)state;
    assert_int_equal(failure_of_status(400, body, sizeof body - 1), FAILURE_TOO_LONG);
    assert_int_equal(failure_of_status(400, body, sizeof body - 2), FAILURE_REFUSED_400);
}

static void finds_the_message_in_the_errors_of_each_server(void **state)
{
    static const char *const bodies[] = { "{\"error\":{\"message\":\"no\",\"type\":\"a\"}}",
                                          "{\"error\":\"no\"}", "{\"message\":\"no\"}",
                                          "{\"detail\":\"no\"}" };

    (void)state;
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
        json_auto_t *body = json_loads(bodies[i], 0, NULL);

        assert_string_equal(failure_message(body), "no");
    }
    assert_null(failure_message(NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_class_has_a_name_of_its_own),
        cmocka_unit_test(each_status_has_a_failure_class),
        cmocka_unit_test(long_prompt_errors_are_recognized_with_400_422_and_500_but_not_429),
        cmocka_unit_test(an_error_inside_a_stream_is_classed_as_too_long_only_if_it_says_so),
        cmocka_unit_test(other_refusals_are_not_called_too_long),
        cmocka_unit_test(only_the_given_bytes_of_a_body_are_read),
        cmocka_unit_test(finds_the_message_in_the_errors_of_each_server),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
