/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/workload/dataset.h"

#include <endian.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/core/compress.h"
#include "base/core/memory.h"

#define MAGIC "OBD1"
#define HEADER_WORDS 4 /* kind, number of rows, bytes of all texts, number of skipped records */
#define ROW_WORDS 5
#define WORD_BYTES 4

void dataset_finish(struct dataset *dataset)
{
    text_finish(&dataset->texts);
    free(dataset->rows);
    *dataset = (struct dataset){ 0 };
}

/* ---- The stored form ------------------------------------------------------------------------- */

static void add_word(struct text *out, uint32_t value)
{
    uint32_t little = htole32(value);

    text_add_bytes(out, (const char *)&little, sizeof little);
}

static uint32_t read_word(const char *bytes, size_t index)
{
    uint32_t little;

    memcpy(&little, bytes + index * WORD_BYTES, sizeof little);
    return le32toh(little);
}

static void write_uncompressed(const struct dataset *dataset, struct text *out)
{
    text_add_bytes(out, MAGIC, WORD_BYTES);
    add_word(out, (uint32_t)dataset->kind);
    add_word(out, (uint32_t)dataset->count);
    add_word(out, (uint32_t)dataset->texts.length);
    add_word(out, (uint32_t)dataset->skipped);
    for (size_t i = 0; i < dataset->count; i++) {
        const struct dataset_row *row = &dataset->rows[i];

        add_word(out, row->offset);
        add_word(out, row->length);
        add_word(out, (uint32_t)row->input_tokens);
        add_word(out, (uint32_t)row->output_tokens);
        add_word(out, row->output_bytes);
    }
    text_add_bytes(out, text_string(&dataset->texts), dataset->texts.length);
}

bool dataset_pack(const struct dataset *dataset, void **out, size_t *length, struct error *error)
{
    TEXT_AUTO bytes = { 0 };

    write_uncompressed(dataset, &bytes);
    return compress_bytes(bytes.data, bytes.length, out, length, error);
}

static void read_rows(const char *bytes, struct dataset *out)
{
    out->rows = memory_zeroed(out->count, sizeof *out->rows);
    out->capacity = out->count;
    for (size_t i = 0; i < out->count; i++, bytes += (size_t)ROW_WORDS * WORD_BYTES)
        out->rows[i] = (struct dataset_row){ .offset = read_word(bytes, 0),
                                             .length = read_word(bytes, 1),
                                             .input_tokens = (int32_t)read_word(bytes, 2),
                                             .output_tokens = (int32_t)read_word(bytes, 3),
                                             .output_bytes = read_word(bytes, 4) };
}

/* We wrote the stored form ourselves, but a damaged disk must not cause a crash. */
static bool is_valid(const struct dataset *dataset)
{
    for (size_t i = 0; i < dataset->count; i++)
        if ((uint64_t)dataset->rows[i].offset + dataset->rows[i].length > dataset->texts.length)
            return false;
    return dataset->count > 0;
}

bool dataset_unpack(const void *data, size_t length, struct dataset *out, struct error *error)
{
    const size_t header_bytes = (1 + HEADER_WORDS) * WORD_BYTES;
    const size_t row_bytes = (size_t)ROW_WORDS * WORD_BYTES;
    size_t limit = header_bytes + DATASET_ROWS_MAX * row_bytes + DATASET_LIMIT_BYTES;
    size_t size, texts_bytes;
    FREE_AUTO void *restored = NULL;
    const char *bytes;

    *out = (struct dataset){ 0 };
    if (!compress_restore(data, length, limit, &restored, &size, error))
        return false;
    bytes = restored;
    if (size < header_bytes || memcmp(bytes, MAGIC, WORD_BYTES) != 0)
        return error_set(error, ERROR_INVALID, "the stored dataset is damaged (%zu bytes)", size);
    out->kind = read_word(bytes, 1) == DATASET_LENGTHS ? DATASET_LENGTHS : DATASET_PROMPTS;
    out->count = read_word(bytes, 2);
    texts_bytes = read_word(bytes, 3);
    out->skipped = read_word(bytes, 4);
    if (out->count > DATASET_ROWS_MAX
        || size != header_bytes + out->count * row_bytes + texts_bytes) {
        out->count = 0;
        return error_set(error, ERROR_INVALID, "the stored dataset is damaged (%zu bytes)", size);
    }
    read_rows(bytes + header_bytes, out);
    text_add_bytes(&out->texts, bytes + header_bytes + out->count * row_bytes, texts_bytes);
    if (is_valid(out))
        return true;
    dataset_finish(out);
    return error_set(
        error, ERROR_INVALID,
        "the stored dataset is damaged: it has no rows, or a row points outside the texts");
}

void dataset_digest(const struct dataset *dataset, char out[DIGEST_TEXT_SIZE])
{
    struct dataset without_skipped = *dataset;
    TEXT_AUTO bytes = { 0 };

    without_skipped.skipped = 0;
    write_uncompressed(&without_skipped, &bytes);
    digest_sha256_text(bytes.data, bytes.length, out);
}

/* ---- Lengths --------------------------------------------------------------------------------- */

static int64_t tokens_of(int64_t stated, uint32_t bytes, double tokens_per_byte)
{
    if (stated >= 0 || bytes == 0)
        return stated;
    return llround(ceil((double)bytes * tokens_per_byte));
}

int64_t dataset_input_tokens(const struct dataset_row *row, double tokens_per_byte)
{
    return tokens_of(row->input_tokens, row->length, tokens_per_byte);
}

int64_t dataset_output_tokens(const struct dataset_row *row, double tokens_per_byte)
{
    return tokens_of(row->output_tokens, row->output_bytes, tokens_per_byte);
}

static int compare_lengths(const void *a, const void *b)
{
    int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;

    return (left > right) - (left < right);
}

static void summarize(const struct dataset *dataset,
                      int64_t (*tokens)(const struct dataset_row *, double),
                      struct dataset_range *out)
{
    FREE_AUTO int64_t *lengths = memory_zeroed(dataset->count, sizeof *lengths);
    double sum = 0;

    *out = (struct dataset_range){ .mean = NAN };
    for (size_t i = 0; i < dataset->count; i++) {
        int64_t length = tokens(&dataset->rows[i], DATASET_TOKENS_PER_BYTE);

        if (length < 0)
            continue;
        lengths[out->count++] = length;
        sum += (double)length;
    }
    if (out->count == 0)
        return;
    qsort(lengths, out->count, sizeof *lengths, compare_lengths);
    out->low = lengths[0];
    out->median = lengths[out->count / 2];
    out->high = lengths[out->count - 1];
    out->mean = sum / (double)out->count;
}

void dataset_lengths(const struct dataset *dataset, struct dataset_range *input,
                     struct dataset_range *output)
{
    summarize(dataset, dataset_input_tokens, input);
    summarize(dataset, dataset_output_tokens, output);
}

/* ---- Repeated prompts ------------------------------------------------------------------------ */

static int compare_digests(const void *a, const void *b)
{
    return memcmp(a, b, DIGEST_BYTES);
}

size_t dataset_repeated(const struct dataset *dataset)
{
    FREE_AUTO uint8_t *digests = memory_zeroed(dataset->count, DIGEST_BYTES);
    const char *texts = text_string(&dataset->texts);
    size_t repeated = 0;

    if (dataset->kind != DATASET_PROMPTS)
        return 0;
    for (size_t i = 0; i < dataset->count; i++)
        digest_sha256(texts + dataset->rows[i].offset, dataset->rows[i].length,
                      digests + i * DIGEST_BYTES);
    qsort(digests, dataset->count, DIGEST_BYTES, compare_digests);
    for (size_t i = 1; i < dataset->count; i++)
        repeated +=
            memcmp(digests + (i - 1) * DIGEST_BYTES, digests + i * DIGEST_BYTES, DIGEST_BYTES) == 0;
    return repeated;
}
