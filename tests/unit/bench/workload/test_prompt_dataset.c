/* SPDX-License-Identifier: Apache-2.0 */
/* Prompts whose texts or lengths come from a dataset, and prompts for two servers that are
 * compared. */
#include "tests/unit/support/prompt_requests.h"

static struct prompt_source *make_from_dataset(const struct workload *workload,
                                               const struct plan *plan, const char *file,
                                               struct dataset *dataset)
{
    struct prompt_source_order order = { .workload = workload,
                                         .plan = plan,
                                         .model = "m",
                                         .input_tokens = 10,
                                         .output_tokens = 7,
                                         .context_tokens = 100,
                                         .nonce = 5,
                                         .dataset = dataset };
    struct prompt_source *prompts;
    struct error error;

    if (!dataset_read(file, strlen(file), dataset, &error)
        || !prompt_source_create(&order, &prompts, &error))
        fail_msg("%s", error.message);
    return prompts;
}

static void a_datasets_prompts_are_sent_as_they_are(void **state)
{
    struct workload workload = make_workload(PROMPT_IDS);
    const struct plan plan = { .seed = 1,
                               .input_distribution = DISTRIBUTION_DATASET,
                               .output_distribution = DISTRIBUTION_DATASET };
    DATASET_AUTO dataset = { 0 };
    struct prompt_source *prompts =
        make_from_dataset(&workload, &plan,
                          "{\"prompt\":\"Say \\\"a\\\"\",\"output_tokens\":3}\n"
                          "{\"prompt\":\"two\",\"output_tokens\":4}\n"
                          "{\"prompt\":\"too long\",\"output_tokens\":99}\n"
                          "{\"prompt\":\"no answer\"}\n",
                          &dataset);
    int seen[2] = { 0 };

    (void)state;
    assert_int_equal(prompt_source_left_out(prompts), 2);
    for (uint64_t index = 0; index < 4; index++) {
        json_auto_t *json = read_prompt(prompts, index, 4096);
        const char *text = json_get_text(json, "prompt", "");
        bool first = strcmp(text, "Say \"a\"") == 0;
        struct bench_prompt prompt;

        prompt_source_make(prompts, index, &prompt);
        if (!first)
            assert_string_equal(text, "two");
        seen[first]++;
        assert_int_equal(json_get_integer(json, "max_tokens", 0), first ? 3 : 4);
        assert_int_equal(prompt.wanted.output_tokens, first ? 3 : 4);
        assert_int_equal(prompt.wanted.input_tokens, -1);
        assert_int_equal(prompt.wanted.repeated, index >= 2);
    }
    assert_true(seen[0] == 2 && seen[1] == 2);
    prompt_source_destroy(prompts);
}

static void repeated_prompts_are_made_unique_if_the_plan_says_so(void **state)
{
    struct workload workload = make_workload(PROMPT_WORDS);
    const struct plan plan = { .seed = 1,
                               .input_distribution = DISTRIBUTION_DATASET,
                               .unique_prompts = true };
    DATASET_AUTO dataset = { 0 };
    json_auto_t *one = NULL, *again = NULL;
    struct prompt_source *prompts;
    const char *texts[2];
    struct bench_prompt prompt;

    (void)state;
    workload.api = BENCH_CHAT;
    prompts = make_from_dataset(&workload, &plan, "[{\"prompt\":\"same\"}]", &dataset);
    one = read_prompt(prompts, 0, 7);
    again = read_prompt(prompts, 1, 4096);
    texts[0] = json_get_text(json_array_get(json_object_get(one, "messages"), 0), "content", "");
    texts[1] = json_get_text(json_array_get(json_object_get(again, "messages"), 0), "content", "");
    assert_int_equal(strlen(texts[0]), 16 + strlen(" same"));
    assert_string_equal(texts[0] + 16, " same");
    assert_string_equal(texts[1] + 16, " same");
    assert_int_not_equal(strncmp(texts[0], texts[1], 16), 0);
    prompt_source_make(prompts, 1, &prompt);
    assert_false(prompt.wanted.repeated);
    assert_int_equal(prompt.wanted.output_tokens, 7);
    prompt_source_destroy(prompts);
}

static void generated_prompts_have_the_lengths_of_a_dataset(void **state)
{
    struct workload workload = make_workload(PROMPT_IDS);
    const struct plan plan = { .seed = 1,
                               .input_distribution = DISTRIBUTION_DATASET,
                               .output_distribution = DISTRIBUTION_DATASET };
    DATASET_AUTO dataset = { 0 };
    struct prompt_source *prompts = make_from_dataset(
        &workload, &plan, "input_tokens,output_tokens\n60,5\n30,9\n1,5\n99,5\n", &dataset);

    (void)state;
    /* 1 token leaves no room for a piece, and 99 + 5 tokens exceed the context. */
    assert_int_equal(prompt_source_left_out(prompts), 2);
    for (uint64_t index = 0; index < 6; index++) {
        json_auto_t *json = read_prompt(prompts, index, 4096);
        struct bench_prompt prompt;

        prompt_source_make(prompts, index, &prompt);
        assert_true(prompt.wanted.input_tokens == 60 || prompt.wanted.input_tokens == 30);
        assert_int_equal(json_array_size(json_object_get(json, "prompt")) + 1,
                         prompt.wanted.input_tokens);
        assert_int_equal(prompt.wanted.output_tokens, prompt.wanted.input_tokens == 60 ? 5 : 9);
        assert_false(prompt.wanted.repeated);
    }
    prompt_source_destroy(prompts);
}

static void a_dataset_whose_prompts_all_exceed_the_context_is_refused(void **state)
{
    struct workload workload = make_workload(PROMPT_IDS);
    const struct plan plan = { .seed = 1, .input_distribution = DISTRIBUTION_DATASET };
    DATASET_AUTO dataset = { 0 };
    const struct prompt_source_order order = { .workload = &workload,
                                               .plan = &plan,
                                               .model = "m",
                                               .output_tokens = 95,
                                               .context_tokens = 100,
                                               .dataset = &dataset };
    const char *file = "input_tokens\n60\n";
    struct prompt_source *prompts;
    struct error error;

    (void)state;
    assert_true(dataset_read(file, strlen(file), &dataset, &error));
    assert_false(prompt_source_create(&order, &prompts, &error));
    assert_non_null(strstr(error.message, "none of the dataset's 1 prompts can be sent"));
}

static void an_unknown_context_is_not_mentioned(void **state)
{
    struct workload workload = make_workload(PROMPT_IDS);
    const struct plan plan = { .seed = 1, .input_distribution = DISTRIBUTION_DATASET };
    DATASET_AUTO dataset = { 0 };
    const struct prompt_source_order order = {
        .workload = &workload, .plan = &plan, .model = "m", .output_tokens = 8, .dataset = &dataset
    };
    const char *file = "input_tokens\n1\n";
    struct prompt_source *prompts;
    struct error error;

    (void)state;
    workload.overhead_tokens = 12;
    assert_true(dataset_read(file, strlen(file), &dataset, &error));
    assert_false(prompt_source_create(&order, &prompts, &error));
    assert_non_null(strstr(error.message, "they are too short"));
    assert_null(strstr(error.message, "context"));
}

/* One server adds 1 token to each prompt, and the other adds 30. Both have a context of 100
 * tokens. */
static void servers_that_are_compared_get_prompts_of_the_same_lengths(void **state)
{
    static const char *const files[] = {
        "{\"prompt\":\"short\",\"output_tokens\":3}\n"
        "{\"prompt\":\"does not fit where the template is long\",\"output_tokens\":75}\n"
        "{\"prompt\":\"fits either\",\"output_tokens\":60}\n",
        "input_tokens,output_tokens\n60,5\n20,9\n31,60\n99,1\n",
        NULL, /* no dataset: lengths are drawn */
    };
    static const enum distribution inputs[] = { DISTRIBUTION_DATASET, DISTRIBUTION_DATASET,
                                                DISTRIBUTION_LOGNORMAL };
    struct workload terse = make_workload(PROMPT_IDS), wordy = terse;
    struct workload_room room = { 0 };

    (void)state;
    wordy.overhead_tokens = 30;
    workload_room_widen(&room, &terse);
    workload_room_widen(&room, &wordy);
    assert_int_equal(room.overhead_tokens, 30);
    assert_int_equal(room.shortest_tokens, 31);
    for (size_t i = 0; i < 3; i++) {
        const struct plan plan = { .seed = 1,
                                   .input_distribution = inputs[i],
                                   .input_spread = 1,
                                   .output_distribution = DISTRIBUTION_LOGNORMAL,
                                   .output_spread = 2 };
        DATASET_AUTO dataset = { 0 };
        struct prompt_source_order order = { .plan = &plan,
                                             .model = "m",
                                             .input_tokens = 40,
                                             .output_tokens = 20,
                                             .context_tokens = 100,
                                             .room = room,
                                             .dataset = files[i] == NULL ? NULL : &dataset };
        struct prompt_source *prompts[2];
        struct error error;

        if (files[i] != NULL)
            assert_true(dataset_read(files[i], strlen(files[i]), &dataset, &error));
        order.workload = &terse;
        assert_true(prompt_source_create(&order, &prompts[0], &error));
        order.workload = &wordy;
        assert_true(prompt_source_create(&order, &prompts[1], &error));
        assert_int_equal(prompt_source_left_out(prompts[0]), prompt_source_left_out(prompts[1]));
        for (uint64_t index = 0; index < 100; index++) {
            struct bench_prompt left, right;

            prompt_source_make(prompts[0], index, &left);
            prompt_source_make(prompts[1], index, &right);
            assert_int_equal(left.wanted.input_tokens, right.wanted.input_tokens);
            assert_int_equal(left.wanted.output_tokens, right.wanted.output_tokens);
            assert_int_equal(left.wanted.cut, right.wanted.cut);
            /* 20 tokens are too few for `wordy`. */
            assert_true(files[i] == NULL || left.wanted.input_tokens != 20);
        }
        for (int side = 0; side < 2; side++)
            prompt_source_destroy(prompts[side]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_datasets_prompts_are_sent_as_they_are),
        cmocka_unit_test(repeated_prompts_are_made_unique_if_the_plan_says_so),
        cmocka_unit_test(generated_prompts_have_the_lengths_of_a_dataset),
        cmocka_unit_test(a_dataset_whose_prompts_all_exceed_the_context_is_refused),
        cmocka_unit_test(an_unknown_context_is_not_mentioned),
        cmocka_unit_test(servers_that_are_compared_get_prompts_of_the_same_lengths),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
