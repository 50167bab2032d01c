/* SPDX-License-Identifier: Apache-2.0 */
/* dataset_read: for any bytes, each prompt that it keeps lies within the dataset's texts and can be
 * copied into a JSON string as it is; the dataset is the same after packing and unpacking. */
#include <string.h>

#include "base/json/json.h"
#include "bench/workload/dataset.h"
#include "tests/fuzz/fuzz.h"

static void check_row(const struct dataset *dataset, const struct dataset_row *row)
{
    TEXT_AUTO quoted = { 0 };
    json_t *json = NULL;
    struct error error;

    must((uint64_t)row->offset + row->length <= dataset->texts.length);
    must(row->input_tokens == -1 || row->input_tokens >= 1);
    must(row->length > 0 || row->input_tokens >= 1);
    must((row->length > 0) == (dataset->kind == DATASET_PROMPTS));
    must(row->output_tokens == -1
         || (row->output_tokens >= 1 && row->output_tokens <= DATASET_TOKENS_MAX));
    must(row->input_tokens <= DATASET_TOKENS_MAX && row->length <= DATASET_PROMPT_MAX_BYTES);
    text_add(&quoted, "[\"");
    text_add_bytes(&quoted, text_string(&dataset->texts) + row->offset, row->length);
    text_add(&quoted, "\"]");
    must(json_parse(quoted.data, quoted.length, &json, &error));
    json_decref(json);
}

static void check_range(const struct dataset_range *range)
{
    if (range->count > 0)
        must(range->low <= range->median && range->median <= range->high && range->low >= 1
             && range->mean >= (double)range->low && range->mean <= (double)range->high);
}

static bool is_same(const struct dataset_row *a, const struct dataset_row *b)
{
    return a->offset == b->offset && a->length == b->length && a->input_tokens == b->input_tokens
           && a->output_tokens == b->output_tokens && a->output_bytes == b->output_bytes;
}

static void check_again(const struct dataset *dataset, const struct dataset *again)
{
    char digest[DIGEST_TEXT_SIZE], digest_again[DIGEST_TEXT_SIZE];

    must(again->kind == dataset->kind && again->skipped == dataset->skipped);
    must(again->count == dataset->count && again->texts.length == dataset->texts.length);
    must(dataset->texts.length == 0
         || memcmp(again->texts.data, dataset->texts.data, dataset->texts.length) == 0);
    for (size_t i = 0; i < dataset->count; i++)
        must(is_same(&dataset->rows[i], &again->rows[i]));
    dataset_digest(dataset, digest);
    dataset_digest(again, digest_again);
    must(strcmp(digest, digest_again) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    DATASET_AUTO dataset = { 0 }, again = { 0 };
    struct dataset_range input, output;
    struct error error;
    void *packed;
    size_t length;

    if (!dataset_read((const char *)data, size, &dataset, &error))
        return 0;
    must(dataset.count > 0);
    for (size_t i = 0; i < dataset.count; i++)
        check_row(&dataset, &dataset.rows[i]);
    dataset_lengths(&dataset, &input, &output);
    must(input.count == dataset.count && output.count <= dataset.count);
    check_range(&input);
    check_range(&output);
    must(dataset_repeated(&dataset) < dataset.count);
    must(dataset_pack(&dataset, &packed, &length, &error));
    must(dataset_unpack(packed, length, &again, &error));
    check_again(&dataset, &again);
    free(packed);
    return 0;
}
