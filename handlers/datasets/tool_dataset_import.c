/* SPDX-License-Identifier: Apache-2.0 */
/* dataset_import: stores a team's own prompts, or their lengths, so that sweeps can measure with
 * them. */

#include <stdlib.h>
#include <string.h>

#include "base/core/clock.h"
#include "base/core/memory.h"
#include "base/json/json.h"
#include "handlers/datasets/dataset_answer.h"
#include "handlers/values.h"

#define TEXT_BYTES_MAX 524288 /* limit on `text`; larger files go to POST /v1/datasets */

static const struct param params[] = {
    { "name", VALUE_TEXT, .required = true, .low = 1, .high = DATASET_NAME_SIZE - 1,
      .help = "Its name; different content needs another name.",
      .more = "Letters, digits, '.', '_' and '-'. A dataset never changes." },
    { "text", VALUE_TEXT, .is_free = true, .low = 1, .high = TEXT_BYTES_MAX,
      .help = "The content: JSON (lines or a list) of ShareGPT, messages or {prompt}, or a table "
              "with input_tokens, output_tokens.",
      .more = "ShareGPT: {\"conversations\": [{\"from\": \"human\", \"value\": ...}, ...]}; chat: "
              "{\"messages\": [...]}. For a table (CSV, JSON lines), prompts of these lengths are "
              "generated. A larger file, up to 64 MiB: POST it to /v1/datasets?name=..., with the "
              "same credential." },
    PARAM_IDEMPOTENCY_KEY,
    { 0 },
};

static const struct field fields[] = {
    { "dataset", VALUE_OBJECT, .help = "The dataset.", .fields = dataset_fields,
      .described_in = "dataset_list" },
    { "already_known", VALUE_BOOLEAN, .help = "True: it already existed with this content." },
    FIELD_NEXT_STEP,
    { 0 },
};

static CHECKED bool check(const struct call *call, struct error *error)
{
    bool has_text = call_text(call, "text") != NULL;
    char shown[VALUE_SHOWN_SIZE];

    if (!text_is_name(call_text(call, "name")))
        return error_set(
            error, ERROR_INVALID,
            "\"name\" is %s: it must begin with a letter or digit and contain only those, "
            "'.', '_' and '-'",
            value_show_text(call_text(call, "name"), shown));
    if (has_text && call->file != NULL)
        return error_set(error, ERROR_INVALID, "the request's body is the file: omit \"text\"");
    return has_text || call->file != NULL
           || error_set(error, ERROR_INVALID, "dataset_import needs \"text\", the file's content");
}

static CHECKED bool keep(struct call *call, const struct dataset *dataset, size_t file_bytes,
                         bool *existed, struct error *error)
{
    struct dataset_entry entry = { .rows = (int64_t)dataset->count,
                                   .skipped = (int64_t)dataset->skipped,
                                   .file_bytes = (int64_t)file_bytes };
    json_auto_t *lengths = dataset_lengths_json(dataset);
    FREE_AUTO char *written = json_write(lengths);
    FREE_AUTO void *packed = NULL;
    size_t length;

    entry.lengths = written;
    text_copy(entry.name, sizeof entry.name, call_text(call, "name"));
    text_copy(entry.kind, sizeof entry.kind,
              dataset->kind == DATASET_PROMPTS ? "prompts" : "lengths");
    dataset_digest(dataset, entry.digest);
    return dataset_pack(dataset, &packed, &length, error)
           && dataset_entry_create(call->services->store, &entry, packed, length, clock_utc_ms(),
                                   &call->change, existed, error);
}

static CHECKED bool run(struct call *call, struct answer *answer, struct error *error)
{
    const char *text = call_text(call, "text");
    struct dataset_entry entry;
    DATASET_AUTO dataset = { 0 };
    bool existed;

    if (!check(call, error))
        return false;
    const char *bytes = call->file != NULL ? call->file : text;
    size_t length = call->file != NULL ? call->file_bytes : strlen(text);
    if (!dataset_read(bytes, length, &dataset, error)
        || !keep(call, &dataset, length, &existed, error)
        || !dataset_entry_find(call->services->store, call_text(call, "name"), &entry, NULL, NULL,
                               error))
        return false;
    answer->structured =
        json_pack("{s:o, s:b}", "dataset", dataset_json(&entry), "already_known", (int)existed);
    if (existed)
        text_add(&answer->text, "This dataset already existed: nothing was added.\n");
    dataset_describe(&entry, &answer->text);
    text_addf(&answer->text, "Digest: %s\n", entry.digest);
    answer_next(answer, "sweep_plan with this dataset");
    dataset_entry_finish(&entry);
    return true;
}

const struct tool tool_dataset_import = {
    .name = "dataset_import",
    .title = "Import prompts to measure with",
    .help = "Stores real prompts, or lengths of prompts, under a name for sweeps to measure with.",
    .more = "It takes ShareGPT, chat messages, prompts, a table of lengths, or a BurstGPT, Azure "
            "or Mooncake trace, and reports their number and lengths. Without a dataset, sweeps "
            "generate their prompts.",
    .sets = SET_MEASURE,
    .params = params,
    .fields = fields,
    .role = ROLE_OPERATOR,
    .placement = PLACE_WORKER,
    .idempotent = true,
    .destroys = STATED_NO,
    .spends_money = STATED_NO,
    .grows = true,
    .run = run,
};
