/* SPDX-License-Identifier: Apache-2.0 */
/* A dataset has imported prompts, which a cell sends instead of generated ones, or imported
 * lengths, for which a cell generates prompts. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/core/digest.h"
#include "base/core/error.h"
#include "base/core/text.h"

#define DATASET_ROWS_MAX 500000
#define DATASET_PROMPT_MAX_BYTES 1048576
#define DATASET_TOKENS_MAX 1000000
#define DATASET_LIMIT_BYTES 67108864 /* maximum size of a file, and of all its texts together */

enum dataset_kind { DATASET_PROMPTS, DATASET_LENGTHS };

struct dataset_row {
    uint32_t offset, length; /* the prompt's bytes in `texts`; length 0: there is no prompt */
    int32_t input_tokens;    /* -1: not known */
    int32_t output_tokens;   /* -1: not known */
    uint32_t output_bytes;   /* length of the recorded answer, escaped as in JSON; 0: no answer */
};

struct dataset {
    enum dataset_kind kind;
    struct text texts; /* the prompts one after the other, escaped as in a JSON string */
    struct dataset_row *rows;
    size_t count, capacity;
    /* Number of records that cannot be sent. If there are prompts, this includes records without a
     * prompt. */
    size_t skipped;
};

#define DATASET_AUTO __attribute__((cleanup(dataset_finish))) struct dataset
void dataset_finish(struct dataset *dataset);

/* Reads a file of JSON objects, in one list or one per line: conversations in ShareGPT's form
 * ({"conversations": [{"from": "human", "value": ...}, ...]}), chat messages ({"messages": [...]}),
 * prompts ({"prompt": ...}), or lengths ({"input_tokens": ..., "output_tokens": ...}, or the names
 * used in the traces of BurstGPT, Azure and Mooncake). Lengths can also be in a CSV table whose
 * columns have these names. INVALID if the file has another form, contains nothing that can be
 * sent, or is too large. Free with dataset_finish. */
CHECKED bool dataset_read(const char *bytes, size_t length, struct dataset *out,
                          struct error *error);

/* Converts a dataset to the compressed form in which it is stored, and back. INVALID if the stored
 * data is damaged. Free the packed *out with free, and an unpacked dataset with dataset_finish. */
CHECKED bool dataset_pack(const struct dataset *dataset, void **out, size_t *length,
                          struct error *error);
CHECKED bool dataset_unpack(const void *data, size_t length, struct dataset *out,
                            struct error *error);
/* The digest of everything but `skipped`. Files in different forms can have the same digest. */
void dataset_digest(const struct dataset *dataset, char out[DIGEST_TEXT_SIZE]);

#define DATASET_TOKENS_PER_BYTE 0.25 /* in English, roughly */
/* The number of tokens in a row's prompt and in its answer: as stated in the row, else estimated
 * from the number of bytes; -1 if the row has neither. */
int64_t dataset_input_tokens(const struct dataset_row *row, double tokens_per_byte);
int64_t dataset_output_tokens(const struct dataset_row *row, double tokens_per_byte);

struct dataset_range {
    size_t count; /* number of rows whose length is stated or estimated */
    int64_t low, median, high;
    double mean; /* NaN: there are no such rows */
};
/* Computes statistics of the lengths in tokens. The lengths of rows that have only texts are
 * estimated. */
void dataset_lengths(const struct dataset *dataset, struct dataset_range *input,
                     struct dataset_range *output);
/* Returns the number of rows whose prompt occurred earlier in the file. */
size_t dataset_repeated(const struct dataset *dataset);
