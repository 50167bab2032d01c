#include "bench/prompts.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/json.h"

static struct workload make_workload(enum prompt_form form)
{
    struct workload workload = { .api = BENCH_COMPLETIONS,
                                 .form = form,
                                 .overhead_tokens = 1,
                                 .tokens_per_piece = 1,
                                 .fields = FIELD_MAX_TOKENS | FIELD_STREAM_USAGE | FIELD_IGNORE_EOS
                                           | FIELD_MIN_TOKENS,
                                 .piece_count = 300 };

    for (int i = 0; i < 300; i++)
        snprintf(workload.pieces[i], WORKLOAD_PIECE_SIZE, form == PROMPT_IDS ? "%d" : "w%d", i);
    return workload;
}

static struct prompts *make_prompts(const struct workload *workload, uint64_t seed, int64_t tokens)
{
    struct prompts *prompts;
    struct error error;

    if (!prompts_create(workload, "a \"model\"", seed, tokens, 7, &prompts, &error))
        fail_msg("%s", error.message);
    return prompts;
}

/* The request's JSON, read in pieces of `size` bytes. */
static json_t *read_prompt(const struct prompts *prompts, uint64_t nonce, uint64_t index,
                           size_t size)
{
    struct prompt prompt;
    TEXT_AUTO body = { 0 };
    char piece[4096];
    size_t got;
    json_t *json;
    struct error error;

    prompt_make(prompts, nonce, index, &prompt);
    while ((got = prompt_read(&prompt, piece, size)) > 0)
        text_add_bytes(&body, piece, got);
    assert_int_equal(body.length, prompt.length);
    if (!json_parse(body.data, body.length, &json, &error))
        fail_msg("%s: %s", error.message, body.data);
    return json;
}

static void bodies_are_requests_of_the_length_asked_for(void **state)
{
    static const int64_t lengths[] = { 2, 17, 33, 34, 1000 };

    (void)state;
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        struct workload workload = make_workload(PROMPT_IDS);
        struct prompts *prompts = make_prompts(&workload, 1, lengths[i]);
        json_auto_t *json = read_prompt(prompts, 1, i, 1 + i * 700);

        assert_int_equal(json_array_size(json_object_get(json, "prompt")), lengths[i] - 1);
        assert_string_equal(json_get_text(json, "model", ""), "a \"model\"");
        assert_int_equal(json_get_integer(json, "max_tokens", 0), 7);
        assert_int_equal(json_get_integer(json, "min_tokens", 0), 7);
        assert_true(json_get_boolean(json, "stream", false));
        assert_true(json_get_boolean(json, "ignore_eos", false));
        assert_true(
            json_get_boolean(json_object_get(json, "stream_options"), "include_usage", false));
        prompts_destroy(prompts);
    }
}

static size_t count_words(const char *text)
{
    size_t count = 1;

    for (; *text != '\0'; text++)
        count += *text == ' ';
    return count;
}

static void word_prompts_have_as_many_words(void **state)
{
    struct workload workload = make_workload(PROMPT_WORDS);
    struct prompts *prompts = make_prompts(&workload, 1, 100);
    json_auto_t *json = read_prompt(prompts, 1, 0, 4096);
    json_auto_t *chat = NULL;

    (void)state;
    assert_int_equal(count_words(json_get_text(json, "prompt", "")), 100); /* "a" is the overhead */
    prompts_destroy(prompts);
    workload.api = BENCH_CHAT;
    prompts = make_prompts(&workload, 1, 100);
    chat = read_prompt(prompts, 1, 0, 4096);
    const json_t *message = json_array_get(json_object_get(chat, "messages"), 0);
    assert_string_equal(json_get_text(message, "role", ""), "user");
    assert_int_equal(count_words(json_get_text(message, "content", "")), 100);
    prompts_destroy(prompts);
}

static bool same_head(const json_t *a, const json_t *b, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (json_integer_value(json_array_get(json_object_get(a, "prompt"), i))
            != json_integer_value(json_array_get(json_object_get(b, "prompt"), i)))
            return false;
    return true;
}

static void no_two_requests_begin_alike(void **state)
{
    struct workload workload = make_workload(PROMPT_IDS);
    struct prompts *prompts = make_prompts(&workload, 1, 200);
    json_auto_t *first = read_prompt(prompts, 5, 0, 4096);

    (void)state;
    for (uint64_t index = 1; index < 500; index++) {
        json_auto_t *next = read_prompt(prompts, 5, index, 4096);
        json_auto_t *retried = read_prompt(prompts, 6, index, 4096);

        assert_false(same_head(first, next, 16)); /* a block of the prefix cache */
        assert_false(same_head(next, retried, 16));
    }
    prompts_destroy(prompts);
}

static void the_same_request_is_made_again(void **state)
{
    struct workload workload = make_workload(PROMPT_IDS);
    struct prompts *prompts = make_prompts(&workload, 1, 200);
    struct prompts *others = make_prompts(&workload, 1, 200);
    json_auto_t *one = read_prompt(prompts, 5, 3, 4096);
    json_auto_t *two = read_prompt(others, 5, 3, 4096);

    (void)state;
    assert_true(json_equal(one, two));
    prompts_destroy(prompts);
    prompts_destroy(others);
}

static void expect_digest(uint64_t seed, int64_t tokens, const char *than, bool same)
{
    struct workload workload = make_workload(PROMPT_IDS);
    struct prompts *prompts = make_prompts(&workload, seed, tokens);
    char digest[DIGEST_TEXT_SIZE];

    prompts_digest(prompts, digest);
    assert_int_equal(strcmp(digest, than) == 0, same);
    prompts_destroy(prompts);
}

static void the_digest_is_of_seed_and_shape(void **state)
{
    struct workload workload = make_workload(PROMPT_IDS);
    struct prompts *prompts = make_prompts(&workload, 1, 200);
    char digest[DIGEST_TEXT_SIZE];
    struct prompt prompt;

    (void)state;
    prompt_make(prompts, 77, 1, &prompt); /* whatever was sent already */
    prompts_digest(prompts, digest);
    expect_digest(1, 200, digest, true);
    expect_digest(2, 200, digest, false);
    expect_digest(1, 201, digest, false);
    prompts_destroy(prompts);
}

static void refuses_prompts_shorter_than_what_the_server_adds(void **state)
{
    struct workload workload = make_workload(PROMPT_IDS);
    struct prompts *prompts;
    struct error error;

    (void)state;
    workload.overhead_tokens = 12;
    assert_false(prompts_create(&workload, "m", 1, 12, 7, &prompts, &error));
    assert_non_null(strstr(error.message, "12 input tokens are too few"));
    assert_non_null(strstr(error.message, "the shortest has 13"));
}

static void a_kept_workload_comes_back(void **state)
{
    struct workload workload = make_workload(PROMPT_WORDS), again;
    json_auto_t *json = workload_to_json(&workload);
    struct error error;

    (void)state;
    assert_true(workload_from_json(json, &again, &error));
    json_auto_t *twice = workload_to_json(&again);
    assert_true(json_equal(json, twice));
    json_array_set_new(json_object_get(json, "pieces"), 3, json_string("\",\"evil\":\""));
    assert_false(workload_from_json(json, &again, &error));
    json_object_clear(json);
    assert_false(workload_from_json(json, &again, &error));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bodies_are_requests_of_the_length_asked_for),
        cmocka_unit_test(word_prompts_have_as_many_words),
        cmocka_unit_test(no_two_requests_begin_alike),
        cmocka_unit_test(the_same_request_is_made_again),
        cmocka_unit_test(the_digest_is_of_seed_and_shape),
        cmocka_unit_test(refuses_prompts_shorter_than_what_the_server_adds),
        cmocka_unit_test(a_kept_workload_comes_back),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
