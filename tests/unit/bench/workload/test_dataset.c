/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/workload/dataset.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/core/memory.h"

static struct dataset must_read(const char *text)
{
    struct dataset dataset;
    struct error error;

    if (!dataset_read(text, strlen(text), &dataset, &error))
        fail_msg("%s", error.message);
    return dataset;
}

static void must_refuse(const char *text, const char *because)
{
    struct dataset dataset;
    struct error error = { 0 };

    assert_false(dataset_read(text, strlen(text), &dataset, &error));
    assert_int_equal(error.kind, ERROR_INVALID);
    if (strstr(error.message, because) == NULL)
        fail_msg("got the error '%s', expected it to contain '%s'", error.message, because);
}

static void expect_prompt(const struct dataset *dataset, size_t row, const char *prompt)
{
    const char *texts = text_string(&dataset->texts);

    assert_true(row < dataset->count);
    assert_int_equal(dataset->rows[row].length, strlen(prompt));
    assert_memory_equal(texts + dataset->rows[row].offset, prompt, strlen(prompt));
}

static void reads_conversations_up_to_the_first_answer(void **state)
{
    DATASET_AUTO dataset = must_read(
        "[{\"id\":\"a\",\"conversations\":[{\"from\":\"human\",\"value\":\"Say \\\"hi\\\"\"},"
        "{\"from\":\"gpt\",\"value\":\"hi there\"},{\"from\":\"human\",\"value\":\"more\"}]},"
        "{\"conversations\":[]},"
        "{\"conversations\":[{\"value\":\"two\",\"from\":\"user\"}]}]");

    (void)state;
    assert_int_equal(dataset.kind, DATASET_PROMPTS);
    assert_int_equal(dataset.count, 2);
    assert_int_equal(dataset.skipped, 1);
    expect_prompt(&dataset, 0, "Say \\\"hi\\\"");
    assert_int_equal(dataset.rows[0].output_bytes, 8);
    expect_prompt(&dataset, 1, "two");
    assert_int_equal(dataset_output_tokens(&dataset.rows[1], 0.25), -1);
    assert_int_equal(dataset_output_tokens(&dataset.rows[0], 0.25), 2);
    assert_int_equal(dataset_input_tokens(&dataset.rows[1], 0.25), 1);
}

static void reads_messages_and_prompts_line_by_line(void **state)
{
    DATASET_AUTO dataset =
        must_read("{\"messages\":[{\"role\":\"system\",\"content\":\"Be kind.\"},"
                  "{\"role\":\"user\",\"content\":\"Why?\"},{\"role\":\"assistant\",\"content\":"
                  "\"So.\"}]}\r\n"
                  "\n"
                  "{\"prompt\":\"Tell me\",\"output_tokens\":17,\"completion\":\"ok\"}\n"
                  "{\"other\":[1,{\"deep\":[]}],\"prompt\":\"\"}\n");

    (void)state;
    assert_int_equal(dataset.count, 2);
    assert_int_equal(dataset.skipped, 1);
    expect_prompt(&dataset, 0, "Be kind.\\n\\nWhy?");
    assert_int_equal(dataset.rows[0].output_bytes, 3);
    expect_prompt(&dataset, 1, "Tell me");
    assert_int_equal(dataset_output_tokens(&dataset.rows[1], 0.25), 17);
}

static void reads_tables_and_traces_of_lengths(void **state)
{
    static const char *const files[] = {
        "input_tokens,output_tokens\n100,20\n7,3\n",
        "Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type\n"
        "5,ChatGPT,100,20,120,Conversation log\n6,GPT-4,7,3,10,API log\n",
        "TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:17:03.97,100,20\n"
        "2023-11-16 18:17:04.03,7,3\n",
        "{\"timestamp\":27482,\"input_length\":100,\"output_length\":20,\"hash_ids\":[46,47]}\n"
        "{\"timestamp\":30535,\"input_length\":7,\"output_length\":3,\"hash_ids\":[46]}\n",
    };

    (void)state;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        DATASET_AUTO dataset = must_read(files[i]);

        assert_int_equal(dataset.kind, DATASET_LENGTHS);
        assert_int_equal(dataset.count, 2);
        assert_int_equal(dataset.rows[0].input_tokens, 100);
        assert_int_equal(dataset.rows[0].output_tokens, 20);
        assert_int_equal(dataset.rows[1].input_tokens, 7);
        assert_int_equal(dataset.rows[1].output_tokens, 3);
    }
}

static void skips_and_counts_what_cannot_be_sent(void **state)
{
    DATASET_AUTO dataset =
        must_read("input_tokens,output_tokens\n0,5\nx,5\n-3,1\n99999999,1\n8,\n");

    (void)state;
    assert_int_equal(dataset.count, 1);
    assert_int_equal(dataset.skipped, 4);
    assert_int_equal(dataset.rows[0].output_tokens, -1);
}

static void says_what_is_wrong_with_a_file(void **state)
{
    (void)state;
    must_refuse("", "this is not a dataset");
    must_refuse("hello\nworld\n", "this is not a dataset");
    must_refuse("[{\"prompt\":\"a\"}", "cannot be read");
    must_refuse("{\"prompt\":\"a\"}\n{\"prompt\":\n", "cannot be read in line 2");
    must_refuse("{\"prompt\":\"\\ud800\"}", "cannot be read");
    must_refuse("[1,2]", "cannot be read");
    must_refuse("[{\"a\":1}]", "none of the dataset's 1 records has a usable prompt");
    must_refuse("[{\"conversations\":{\"from\":\"human\"}}]",
                "at byte 19: a different value was expected");
}

static void a_stored_dataset_is_read_back_unless_it_is_damaged(void **state)
{
    DATASET_AUTO dataset =
        must_read("[{\"prompt\":\"one\"},{\"prompt\":\"two\",\"output_tokens\":5},"
                  "{\"prompt\":\"one\"}]");
    DATASET_AUTO again = { 0 }, broken = { 0 };
    FREE_AUTO void *packed = NULL;
    char digest[DIGEST_TEXT_SIZE], digest_again[DIGEST_TEXT_SIZE];
    struct error error;
    size_t length;

    (void)state;
    assert_true(dataset_pack(&dataset, &packed, &length, &error));
    assert_true(dataset_unpack(packed, length, &again, &error));
    assert_int_equal(again.count, 3);
    expect_prompt(&again, 1, "two");
    assert_int_equal(again.rows[1].output_tokens, 5);
    dataset_digest(&dataset, digest);
    dataset_digest(&again, digest_again);
    assert_string_equal(digest, digest_again);
    again.rows[1].output_tokens = 6;
    dataset_digest(&again, digest_again);
    assert_string_not_equal(digest, digest_again);
    again.rows[1].offset = 100;
    free(packed);
    assert_true(dataset_pack(&again, &packed, &length, &error));
    assert_false(dataset_unpack(packed, length, &broken, &error));
    assert_non_null(strstr(error.message, "damaged"));
}

static void reports_lengths_and_repeated_prompts(void **state)
{
    DATASET_AUTO dataset = must_read("[{\"prompt\":\"12345678\"},{\"prompt\":\"1234\"},"
                                     "{\"prompt\":\"12345678\",\"output\":\"123456789012\"}]");
    struct dataset_range input, output;

    (void)state;
    dataset_lengths(&dataset, &input, &output);
    assert_int_equal(input.count, 3);
    assert_true(input.low == 1 && input.median == 2 && input.high == 2);
    assert_true(fabs(input.mean - 5.0 / 3) < 1e-9);
    assert_int_equal(output.count, 1);
    assert_true(output.mean == 3);
    assert_int_equal(dataset_repeated(&dataset), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_conversations_up_to_the_first_answer),
        cmocka_unit_test(reads_messages_and_prompts_line_by_line),
        cmocka_unit_test(reads_tables_and_traces_of_lengths),
        cmocka_unit_test(skips_and_counts_what_cannot_be_sent),
        cmocka_unit_test(says_what_is_wrong_with_a_file),
        cmocka_unit_test(a_stored_dataset_is_read_back_unless_it_is_damaged),
        cmocka_unit_test(reports_lengths_and_repeated_prompts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
