/* SPDX-License-Identifier: Apache-2.0 */
#include "handlers/datasets/dataset_answer.h"

#include <inttypes.h>

#include "base/json/json.h"
#include "handlers/answer_row.h"

static const struct field range_fields[] = {
    { "count", VALUE_INTEGER, .included = INCLUDED_IN_DETAIL,
      .help = "Rows whose length is known." },
    { "mean", VALUE_NUMBER, .optional = true, .help = "Mean; missing: no row's length is known." },
    { "min", VALUE_INTEGER, .help = "Shortest." },
    { "median", VALUE_INTEGER, .included = INCLUDED_IN_DETAIL, .help = "Median." },
    { "max", VALUE_INTEGER, .help = "Longest." },
    { 0 },
};

static const struct field lengths_fields[] = {
    { "estimated", VALUE_BOOLEAN, .sparse = true,
      .help = "True: estimated at 4 bytes a token; a sweep reports the server's counts." },
    { "repeated", VALUE_INTEGER, .sparse = true,
      .help = "Prompts that repeat an earlier one in the file." },
    { "input_tokens", VALUE_OBJECT, .help = "Lengths of prompts.", .fields = range_fields },
    { "output_tokens", VALUE_OBJECT, .help = "Lengths of answers.", .fields = range_fields,
      .described_in = "input_tokens" },
    { 0 },
};

const struct field dataset_fields[] = {
    { "name", VALUE_TEXT, .help = "Its name: `dataset` of sweep_plan and sweep_start.",
      ROW_TEXT(struct dataset_entry, name) },
    { "digest", VALUE_TEXT, .included = INCLUDED_OUTSIDE_LISTS,
      .help = "SHA-256 of its prompts or lengths; part of a run's fingerprint.",
      ROW_TEXT(struct dataset_entry, digest) },
    { "kind", VALUE_TEXT, .help = "prompts; or lengths, for which opsbrain generates prompts.",
      ROW_TEXT(struct dataset_entry, kind) },
    { "count", VALUE_INTEGER, .help = "Number of prompts or lengths.",
      ROW_INTEGER(struct dataset_entry, rows) },
    { "skipped", VALUE_INTEGER, .sparse = true,
      .help = "Unusable records in the file, which were skipped.",
      ROW_INTEGER(struct dataset_entry, skipped) },
    { "file_bytes", VALUE_INTEGER, .included = INCLUDED_IN_DETAIL, .help = "Size of the file.",
      ROW_INTEGER(struct dataset_entry, file_bytes) },
    { "lengths", VALUE_OBJECT, .help = "Lengths in tokens.", .fields = lengths_fields,
      ROW_HEAP_JSON(struct dataset_entry, lengths) },
    { "principal", VALUE_TEXT, .included = INCLUDED_IN_DETAIL, .help = "Who imported it.",
      ROW_TEXT(struct dataset_entry, principal) },
    { "created_at", VALUE_TEXT, .included = INCLUDED_IN_DETAIL, .optional = true,
      .help = "When it was imported, UTC.", ROW_TIME(struct dataset_entry, created_ms) },
    { 0 },
};

json_t *dataset_json(const struct dataset_entry *entry)
{
    return answer_row_take(dataset_fields, entry, NULL);
}

static json_t *range_json(const struct dataset_range *range)
{
    return json_pack("{s:I, s:o, s:I, s:I, s:I}", "count", (json_int_t)range->count, "mean",
                     json_number_or_null(range->mean), "min", (json_int_t)range->low, "median",
                     (json_int_t)range->median, "max", (json_int_t)range->high);
}

json_t *dataset_lengths_json(const struct dataset *dataset)
{
    struct dataset_range input, output;

    dataset_lengths(dataset, &input, &output);
    return json_pack("{s:b, s:I, s:o, s:o}", "estimated", dataset->kind == DATASET_PROMPTS,
                     "repeated", (json_int_t)dataset_repeated(dataset), "input_tokens",
                     range_json(&input), "output_tokens", range_json(&output));
}

static void add_range(struct text *out, const char *what, const json_t *range)
{
    if (json_get_integer(range, "count", 0) > 0)
        text_addf(out, ", %s tokens: %.0f on average (%" PRId64 " to %" PRId64 ")", what,
                  json_get_number(range, "mean", 0), json_get_integer(range, "min", 0),
                  json_get_integer(range, "max", 0));
}

void dataset_describe(const struct dataset_entry *entry, struct text *out)
{
    json_auto_t *lengths = answer_json_stored(entry->lengths);

    text_addf(out, "%s: %" PRId64 " %s", entry->name, entry->rows, entry->kind);
    add_range(out, "input", json_object_get(lengths, "input_tokens"));
    add_range(out, "output", json_object_get(lengths, "output_tokens"));
    if (json_get_boolean(lengths, "estimated", false))
        text_add(out, ", estimated at 4 bytes a token");
    if (json_get_integer(lengths, "repeated", 0) > 0)
        text_addf(out, "; prompts that repeat an earlier one in the file: %" PRId64,
                  json_get_integer(lengths, "repeated", 0));
    if (entry->skipped > 0)
        text_addf(out, "; %" PRId64 " unusable record%s skipped", entry->skipped,
                  entry->skipped == 1 ? " was" : "s were");
    text_add(out, ".\n");
}
