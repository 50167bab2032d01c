/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/support/prompt_requests.h"

static struct prompt_source *make_prompts(const struct workload *workload, uint64_t seed,
                                          int64_t tokens)
{
    const struct plan plan = { .seed = seed };

    return make_prompts_of_plan(workload, &plan, tokens, 5);
}

static void bodies_are_requests_with_prompts_of_the_requested_length(void **state)
{
    static const int64_t lengths[] = { 2, 17, 33, 34, 1000 };

    (void)state;
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        struct workload workload = make_workload(PROMPT_IDS);
        struct prompt_source *prompts = make_prompts(&workload, 1, lengths[i]);
        json_auto_t *json = read_prompt(prompts, i, 1 + i * 700);

        assert_int_equal(json_array_size(json_object_get(json, "prompt")), lengths[i] - 1);
        assert_string_equal(json_get_text(json, "model", ""), "a \"model\"");
        assert_int_equal(json_get_integer(json, "max_tokens", 0), 7);
        assert_int_equal(json_get_integer(json, "min_tokens", 0), 7);
        assert_true(json_get_boolean(json, "stream", false));
        assert_true(json_get_boolean(json, "ignore_eos", false));
        assert_true(
            json_get_boolean(json_object_get(json, "stream_options"), "include_usage", false));
        prompt_source_destroy(prompts);
    }
}

static size_t count_words(const char *text)
{
    size_t count = 1;

    for (; *text != '\0'; text++)
        count += *text == ' ';
    return count;
}

static void word_prompts_have_a_word_for_each_token(void **state)
{
    struct workload workload = make_workload(PROMPT_WORDS);
    struct prompt_source *prompts = make_prompts(&workload, 1, 100);
    json_auto_t *json = read_prompt(prompts, 0, 4096);
    json_auto_t *chat = NULL;

    (void)state;
    /* The first word is "a", which is the overhead. */
    assert_int_equal(count_words(json_get_text(json, "prompt", "")), 100);
    prompt_source_destroy(prompts);
    workload.api = BENCH_CHAT;
    prompts = make_prompts(&workload, 1, 100);
    chat = read_prompt(prompts, 0, 4096);
    const json_t *message = json_array_get(json_object_get(chat, "messages"), 0);
    assert_string_equal(json_get_text(message, "role", ""), "user");
    assert_int_equal(count_words(json_get_text(message, "content", "")), 100);
    prompt_source_destroy(prompts);
}

static bool same_head(const json_t *a, const json_t *b, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (json_integer_value(json_array_get(json_object_get(a, "prompt"), i))
            != json_integer_value(json_array_get(json_object_get(b, "prompt"), i)))
            return false;
    return true;
}

static void different_requests_and_different_attempts_begin_differently(void **state)
{
    struct workload workload = make_workload(PROMPT_IDS);
    const struct plan plan = { .seed = 1 };
    struct prompt_source *prompts = make_prompts(&workload, 1, 200);
    struct prompt_source *other_attempt = make_prompts_of_plan(&workload, &plan, 200, 6);
    json_auto_t *first = read_prompt(prompts, 0, 4096);

    (void)state;
    for (uint64_t index = 1; index < 500; index++) {
        json_auto_t *next = read_prompt(prompts, index, 4096);
        json_auto_t *retried = read_prompt(other_attempt, index, 4096);

        assert_false(same_head(first, next, 16)); /* 16 tokens: a block of the prefix cache */
        assert_false(same_head(next, retried, 16));
    }
    prompt_source_destroy(other_attempt);
    prompt_source_destroy(prompts);
}

static void equal_sources_make_equal_requests(void **state)
{
    struct workload workload = make_workload(PROMPT_IDS);
    struct prompt_source *prompts = make_prompts(&workload, 1, 200);
    struct prompt_source *equal = make_prompts(&workload, 1, 200);
    json_auto_t *one = read_prompt(prompts, 3, 4096);
    json_auto_t *two = read_prompt(equal, 3, 4096);

    (void)state;
    assert_true(json_equal(one, two));
    prompt_source_destroy(prompts);
    prompt_source_destroy(equal);
}

static void expect_digest(uint64_t seed, int64_t tokens, const char *other, bool same)
{
    struct workload workload = make_workload(PROMPT_IDS);
    struct prompt_source *prompts = make_prompts(&workload, seed, tokens);
    char digest[DIGEST_TEXT_SIZE];

    prompt_source_digest(prompts, digest);
    assert_int_equal(strcmp(digest, other) == 0, same);
    prompt_source_destroy(prompts);
}

static void the_digest_depends_on_the_seed_and_the_length(void **state)
{
    struct workload workload = make_workload(PROMPT_IDS);
    struct prompt_source *prompts = make_prompts(&workload, 1, 200);
    char digest[DIGEST_TEXT_SIZE];
    struct bench_prompt prompt;

    (void)state;
    prompt_source_make(prompts, 1, &prompt); /* does not change the digest */
    prompt_source_digest(prompts, digest);
    expect_digest(1, 200, digest, true);
    expect_digest(2, 200, digest, false);
    expect_digest(1, 201, digest, false);
    prompt_source_destroy(prompts);
}

static void refuses_prompts_that_have_no_room_for_a_piece(void **state)
{
    struct workload workload = make_workload(PROMPT_IDS);
    struct prompt_source *prompts;
    struct error error;

    (void)state;
    const struct plan plan = { .seed = 1 };

    workload.overhead_tokens = 12;
    const struct prompt_source_order order = {
        .workload = &workload, .plan = &plan, .model = "m", .input_tokens = 12, .output_tokens = 7
    };
    assert_false(prompt_source_create(&order, &prompts, &error));
    assert_non_null(strstr(error.message, "12 input tokens are too few"));
    assert_non_null(strstr(error.message, "the shortest possible prompt has 13"));
}

/* ---- Drawn lengths, and shared prefixes ------------------------------------------------------ */

static const struct plan spread_plan = { .seed = 1,
                                         .input_distribution = DISTRIBUTION_UNIFORM,
                                         .input_spread = 0.5,
                                         .output_distribution = DISTRIBUTION_LOGNORMAL,
                                         .output_spread = 0.8 };

static void each_body_has_the_lengths_drawn_for_it(void **state)
{
    struct workload workload = make_workload(PROMPT_IDS);
    struct prompt_source *prompts = make_prompts_of_plan(&workload, &spread_plan, 100, 5);
    int64_t input = 0, output = 0, shortest = INT64_MAX, longest = 0;

    (void)state;
    for (uint64_t index = 0; index < 2000; index++) {
        json_auto_t *json = read_prompt(prompts, index, 4096);
        struct bench_prompt prompt;

        prompt_source_make(prompts, index, &prompt);
        assert_int_equal(json_array_size(json_object_get(json, "prompt")) + 1,
                         prompt.wanted.input_tokens);
        assert_int_equal(json_get_integer(json, "max_tokens", 0), prompt.wanted.output_tokens);
        assert_int_equal(json_get_integer(json, "min_tokens", 0), prompt.wanted.output_tokens);
        assert_in_range(prompt.wanted.input_tokens, 50, 150);
        assert_in_range(prompt.wanted.output_tokens, 1, 70);
        assert_false(prompt.wanted.cut || prompt.wanted.may_stop);
        input += prompt.wanted.input_tokens;
        output += prompt.wanted.output_tokens;
        if (prompt.wanted.input_tokens < shortest)
            shortest = prompt.wanted.input_tokens;
        if (prompt.wanted.input_tokens > longest)
            longest = prompt.wanted.input_tokens;
    }
    assert_in_range(input, 2000 * 98, 2000 * 102);
    assert_in_range(output, 2000 * 6.5, 2000 * 7.5);
    assert_true(shortest == 50 && longest == 150);
    prompt_source_destroy(prompts);
}

static bool have_equal_lengths(const struct prompt_source *a, const struct prompt_source *b)
{
    for (uint64_t index = 0; index < 20; index++) {
        struct bench_prompt one, other;

        prompt_source_make(a, index, &one);
        prompt_source_make(b, index, &other);
        if (one.wanted.input_tokens != other.wanted.input_tokens
            || one.wanted.output_tokens != other.wanted.output_tokens)
            return false;
    }
    return true;
}

static void lengths_depend_on_the_seed_but_not_on_the_attempt(void **state)
{
    struct workload workload = make_workload(PROMPT_IDS);
    struct plan reseeded = spread_plan;
    struct prompt_source *prompts = make_prompts_of_plan(&workload, &spread_plan, 100, 5);
    struct prompt_source *other_attempt = make_prompts_of_plan(&workload, &spread_plan, 100, 6);
    struct prompt_source *other_seed;

    (void)state;
    reseeded.seed = 2;
    other_seed = make_prompts_of_plan(&workload, &reseeded, 100, 5);
    assert_true(have_equal_lengths(prompts, other_attempt));
    assert_false(have_equal_lengths(prompts, other_seed));
    prompt_source_destroy(prompts);
    prompt_source_destroy(other_attempt);
    prompt_source_destroy(other_seed);
}

static void drawn_lengths_are_cut_to_the_context_and_marked(void **state)
{
    struct workload workload = make_workload(PROMPT_IDS);
    const struct plan plan = { .seed = 1,
                               .input_distribution = DISTRIBUTION_LOGNORMAL,
                               .input_spread = 1 };
    struct prompt_source *prompts = make_prompts_of_plan(&workload, &plan, 1500, 5);
    int cut = 0;

    (void)state;
    for (uint64_t index = 0; index < 500; index++) {
        struct bench_prompt prompt;

        prompt_source_make(prompts, index, &prompt);
        assert_true(prompt.wanted.input_tokens + 7 <= 2000);
        assert_true(!prompt.wanted.cut || prompt.wanted.input_tokens == 2000 - 7);
        cut += prompt.wanted.cut;
    }
    assert_in_range(cut, 50, 250);
    prompt_source_destroy(prompts);
}

static void a_mean_length_that_exceeds_the_context_is_refused(void **state)
{
    struct workload workload = make_workload(PROMPT_IDS);
    const struct prompt_source_order order = { .workload = &workload,
                                               .plan = &spread_plan,
                                               .model = "m",
                                               .input_tokens = 100,
                                               .output_tokens = 8,
                                               .context_tokens = 107 };
    struct prompt_source *prompts;
    struct error error;

    (void)state;
    assert_false(prompt_source_create(&order, &prompts, &error));
    assert_non_null(strstr(error.message, "exceed the model's context of 107"));
}

/* Combines a prompt's first three token ids into one number, to compare the beginnings of
 * prompts. */
static json_int_t first_ids(const json_t *json)
{
    const json_t *ids = json_object_get(json, "prompt");

    return json_integer_value(json_array_get(ids, 0)) * 1000000
           + json_integer_value(json_array_get(ids, 1)) * 1000
           + json_integer_value(json_array_get(ids, 2));
}

static void prompts_share_as_many_prefixes_as_there_are_pools(void **state)
{
    struct workload workload = make_workload(PROMPT_IDS);
    const struct plan plan = { .seed = 1, .shared_prefix_tokens = 40, .prefix_pools = 3 };
    struct prompt_source *prompts = make_prompts_of_plan(&workload, &plan, 60, 5);
    json_t *examples[3] = { 0 };
    size_t found = 0;

    (void)state;
    for (uint64_t index = 0; index < 100; index++) {
        json_auto_t *json = read_prompt(prompts, index, 4096);
        size_t pool = 0;

        assert_int_equal(json_array_size(json_object_get(json, "prompt")), 59);
        while (pool < found && first_ids(examples[pool]) != first_ids(json))
            pool++;
        assert_true(pool < 3);
        if (pool == found)
            examples[found++] = json_incref(json);
        else {
            assert_true(same_head(examples[pool], json, 40));
            assert_false(same_head(examples[pool], json, 46));
        }
    }
    assert_int_equal(found, 3);
    for (size_t i = 0; i < found; i++)
        json_decref(examples[i]);
    prompt_source_destroy(prompts);
}

static void different_attempts_have_different_prefixes(void **state)
{
    struct workload workload = make_workload(PROMPT_WORDS);
    const struct plan plan = { .seed = 1, .shared_prefix_tokens = 40 };
    struct prompt_source *prompts = make_prompts_of_plan(&workload, &plan, 60, 5);
    struct prompt_source *other_attempt = make_prompts_of_plan(&workload, &plan, 60, 6);
    json_auto_t *one = read_prompt(prompts, 0, 4096), *other = read_prompt(other_attempt, 0, 4096);
    const char *text = json_get_text(one, "prompt", "");

    (void)state;
    assert_int_equal(count_words(text), 60);
    assert_int_not_equal(strncmp(text, json_get_text(other, "prompt", ""), 40), 0);
    prompt_source_destroy(prompts);
    prompt_source_destroy(other_attempt);
}

static void sampling_and_natural_output_apply_to_each_body(void **state)
{
    struct workload workload = make_workload(PROMPT_IDS);
    const struct plan plan = { .seed = 1,
                               .temperature = 0.7,
                               .top_p = 0.9,
                               .top_k = 40,
                               .stop = { "\"end\"" },
                               .stop_count = 1,
                               .natural_output = true };
    json_auto_t *one = NULL, *other = NULL;
    struct prompt_source *prompts;
    struct bench_prompt prompt;

    (void)state;
    workload.fields |= FIELD_SEED;
    workload_apply_plan(&workload, &plan);
    prompts = make_prompts_of_plan(&workload, &plan, 60, 5);
    one = read_prompt(prompts, 0, 4096);
    other = read_prompt(prompts, 1, 4096);
    prompt_source_make(prompts, 0, &prompt);
    assert_true(prompt.wanted.may_stop);
    assert_true(json_get_number(one, "temperature", 0) == 0.7);
    assert_true(json_get_number(one, "top_p", 0) == 0.9);
    assert_int_equal(json_get_integer(one, "top_k", 0), 40);
    assert_string_equal(json_string_value(json_array_get(json_object_get(one, "stop"), 0)),
                        "\"end\"");
    assert_null(json_object_get(one, "ignore_eos"));
    assert_null(json_object_get(one, "min_tokens"));
    assert_null(json_object_get(one, "presence_penalty"));
    assert_int_not_equal(json_get_integer(one, "seed", -1), json_get_integer(other, "seed", -1));
    prompt_source_destroy(prompts);
}

static void a_stored_workload_is_read_back_unless_it_is_damaged(void **state)
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
        cmocka_unit_test(bodies_are_requests_with_prompts_of_the_requested_length),
        cmocka_unit_test(word_prompts_have_a_word_for_each_token),
        cmocka_unit_test(different_requests_and_different_attempts_begin_differently),
        cmocka_unit_test(equal_sources_make_equal_requests),
        cmocka_unit_test(the_digest_depends_on_the_seed_and_the_length),
        cmocka_unit_test(refuses_prompts_that_have_no_room_for_a_piece),
        cmocka_unit_test(each_body_has_the_lengths_drawn_for_it),
        cmocka_unit_test(lengths_depend_on_the_seed_but_not_on_the_attempt),
        cmocka_unit_test(drawn_lengths_are_cut_to_the_context_and_marked),
        cmocka_unit_test(a_mean_length_that_exceeds_the_context_is_refused),
        cmocka_unit_test(prompts_share_as_many_prefixes_as_there_are_pools),
        cmocka_unit_test(different_attempts_have_different_prefixes),
        cmocka_unit_test(sampling_and_natural_output_apply_to_each_body),
        cmocka_unit_test(a_stored_workload_is_read_back_unless_it_is_damaged),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
