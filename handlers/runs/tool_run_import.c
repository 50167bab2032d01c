/* SPDX-License-Identifier: Apache-2.0 */
/* run_import: stores the results of another load generator as a run that can be shown, audited and
 * compared. */

#include <string.h>

#include "base/core/clock.h"
#include "base/json/json.h"
#include "handlers/answers/import_answer.h"
#include "handlers/answers/run_answer.h"
#include "handlers/runs/import_keep.h"

#define TEXT_BYTES_MAX 524288 /* maximum length of `text`; larger files go to POST /v1/imports */

#define COLUMNS_MAX 64

static const char *const formats[] = { "vllm",
                                       "sglang",
                                       "inferencex",
                                       "llama-bench",
                                       "guidellm",
                                       "genai-perf",
                                       "aiperf",
                                       "aiperf-records",
                                       "inference-perf",
                                       "serving-report",
                                       "aiperf-csv",
                                       "llmperf",
                                       "trtllm-bench",
                                       "llm-d",
                                       "console",
                                       "summary",
                                       "rows",
                                       "csv",
                                       NULL };

static const struct param params[] = {
    { "text", VALUE_TEXT, .is_free = true, .low = 1, .high = TEXT_BYTES_MAX,
      .help = "The file's content; large files: POST to /v1/imports?name=..." },
    { "run", VALUE_TEXT, .low = 1, .high = 39,
      .help = "Or an imported run, to state facts about it.",
      .more = "The answer is a new run that points to that run." },
    { "name", VALUE_TEXT, .low = 1, .high = 150, .help = "The file's name." },
    { "format", VALUE_CHOICE, .choices = formats, .help = "Default: detected from content." },
    { "columns", VALUE_TEXTS, .high = COLUMNS_MAX, .item_high = 250,
      .help = "What columns mean, like [\"tput=output_tok_per_s\"]." },
    { "notes", VALUE_TEXT, .low = 1, .high = 2000, .help = "How the run was made, what to doubt." },
    { "deployment", VALUE_TEXT, .low = 1, .high = 63, .rare = true,
      .help = "Name of what was measured." },
    { "model", VALUE_TEXT, .low = 1, .high = 150, .help = "The model's id." },
    { "model_revision", VALUE_TEXT, .low = 1, .high = 90, .rare = true,
      .help = "The model's revision." },
    { "quantization", VALUE_TEXT, .low = 1, .high = 60, .rare = true,
      .help = "Format of the model's weights." },
    { "engine", VALUE_TEXT, .low = 1, .high = 60, .rare = true, .help = "vllm, sglang, ..." },
    { "engine_version", VALUE_TEXT, .low = 1, .high = 90, .rare = true,
      .help = "The engine's version." },
    { "flags", VALUE_TEXT, .low = 1, .high = 2000, .rare = true,
      .help = "The engine's arguments." },
    { "workload", VALUE_TEXT, .low = 1, .high = 500, .rare = true,
      .help = "What was sent: random, ShareGPT, the same prompt, ..." },
    { "output_tokens", VALUE_NUMBER, .low = 1, .high = 1e7, .rare = true,
      .help = "Per request, if the rows do not say." },
    { "timeout_s", VALUE_NUMBER, .low = 0.001, .high = 1e6, .rare = true,
      .help = "The client's timeout." },
    { "hardware", VALUE_TEXT, .low = 1, .high = 90, .help = "Accelerator: L4, tpu-v5e, ..." },
    { "chips", VALUE_NUMBER, .low = 1, .high = 100000, .help = "How many accelerators." },
    { "region", VALUE_TEXT, .low = 1, .high = 60, .rare = true, .help = "Region or zone." },
    { "price_usd_per_chip_hour", VALUE_NUMBER, .low = 0, .high = 10000, .rare = true,
      .help = "Price of one accelerator." },
    { "context_limit_tokens", VALUE_NUMBER, .low = 1, .high = 1e9, .rare = true,
      .help = "The model's context as served." },
    { "max_instances", VALUE_NUMBER, .low = 1, .high = 100000, .rare = true,
      .help = "Maximum instances of the deployment." },
    { "container_concurrency", VALUE_NUMBER, .low = 1, .high = 1e6, .rare = true,
      .help = "Maximum concurrent requests per instance." },
    PARAM_IDEMPOTENCY_KEY,
    { 0 },
};

static const struct field fields[] = {
    { "run", VALUE_OBJECT, .help = "The imported run.", .fields = run_answer_fields,
      .described_in = "run_show" },
    { "already_known", VALUE_BOOLEAN,
      .help = "True: the file was imported before, and the call states nothing different." },
    { "import", VALUE_OBJECT, .help = "What is known about the imported run.",
      .fields = import_answer_fields, .described_in = "run_show" },
    FIELD_NEXT_STEP,
    { 0 },
};

/* Returns what the call states: facts, `columns` and `notes`. New reference. */
static json_t *stated_json(const struct call *call)
{
    static const char *const not_stated[] = { "text", "run", "name", "format", "idempotency_key" };
    json_t *stated = json_copy(json_iterable(call->arguments));

    for (size_t i = 0; i < sizeof not_stated / sizeof not_stated[0]; i++)
        json_object_del(stated, not_stated[i]);
    return stated;
}

static CHECKED bool check_source(const struct call *call, struct error *error)
{
    bool has_file = call->file != NULL || call_text(call, "text") != NULL;
    const char *run = call_text(call, "run");

    if (call->file != NULL && call_text(call, "text") != NULL)
        return error_set(error, ERROR_INVALID,
                         "the file came as the request's body: omit \"text\"");
    if (!has_file && run == NULL)
        return error_set(error, ERROR_INVALID,
                         "run_import needs \"text\" (the file's content) or \"run\" (an imported "
                         "run's id)");
    if (has_file && run != NULL)
        return error_set(error, ERROR_INVALID,
                         "give \"text\", to import a file's content, or \"run\", to state facts "
                         "about an imported run, but not both");
    if (run != NULL && json_object_get(call->arguments, "columns") != NULL)
        return error_set(error, ERROR_INVALID,
                         "\"columns\" are for reading a file: give the file's content as \"text\" "
                         "instead of \"run\"");
    if (run != NULL && !evidence_is_import(run))
        return error_set(
            error, ERROR_INVALID,
            "\"run\" is \"%s\": facts can be stated only about imported runs (imp_...)", run);
    return true;
}

/* Lists the entries of the argument `columns` in `out`, which borrows them and ends with NULL. */
static void list_columns(const struct call *call, const char *out[COLUMNS_MAX + 1])
{
    const json_t *columns = json_object_get(call->arguments, "columns"), *column;
    size_t i, count = 0;

    json_array_foreach(columns, i, column) {
        if (count < COLUMNS_MAX)
            out[count++] = json_string_value(column);
    }
    out[count] = NULL;
}

static CHECKED bool keep(struct call *call, struct import_row *row, bool *existed,
                         struct error *error)
{
    const char *columns[COLUMNS_MAX + 1];
    const char *text = call_text(call, "text"), *run = call_text(call, "run");
    const char *name = call_text(call, "name");
    json_auto_t *stated = stated_json(call);
    struct store *store = call->services->store;
    const struct import_offer offer = {
        .bytes = call->file != NULL ? call->file : text,
        .length = call->file != NULL ? call->file_bytes
                  : text != NULL     ? strlen(text)
                                     : 0,
        .name = name != NULL  ? name
                : run != NULL ? ""
                              : "unnamed",
        .format = call_text(call, "format"),
        .columns = columns,
        .stated = stated,
    };

    list_columns(call, columns);
    if (run != NULL)
        return import_keep_restate(store, run, &offer, clock_utc_ms(), &call->change, row, existed,
                                   error);
    return import_offer_keep(store, &offer, clock_utc_ms(), &call->change, row, existed, error);
}

static void write_answer(const struct import_row *row, bool existed,
                         const struct evidence *evidence, struct answer *answer)
{
    char time[TIME_SHOWN_SIZE];

    answer->structured =
        json_pack("{s:o, s:b, s:o}", "run", import_answer_run_json(row), "already_known",
                  (int)existed, "import", import_answer_json(evidence));
    if (existed)
        text_add(&answer->text, "This file was imported before: no run was added.\n");
    else if (row->corrects[0] != '\0')
        text_addf(&answer->text,
                  "This is a new import of the same file: its facts, columns or notes differ from "
                  "those stated for %s.\n",
                  row->corrects);
    import_answer_describe(evidence, &answer->text);
    text_addf(&answer->text, "Imported by %s, %s.\n", row->principal,
              answer_time(row->created_ms, time));
    answer_next(answer, "run_audit checks its figures, run_report shows them");
    answer_shows(answer, "/runs/%s", row->id);
}

static CHECKED bool run(struct call *call, struct answer *answer, struct error *error)
{
    struct import_row row = { 0 };
    EVIDENCE_AUTO evidence;
    bool existed, done;

    evidence_init(&evidence);
    if (!check_source(call, error) || !keep(call, &row, &existed, error))
        return false;
    done = evidence_find(call->services->store, row.id, &evidence, error);
    if (done)
        write_answer(&row, existed, &evidence, answer);
    import_row_finish(&row);
    return done;
}

const struct tool tool_run_import = {
    .name = "run_import",
    .title = "Import results from another tool",
    .help = "Imports another load generator's result file as a run to audit, report and compare.",
    .more = "It reads vLLM bench serve, SGLang, GuideLLM, aiperf, inference-perf, InferenceX, "
            "llama-bench, CSV and JSON rows. What the file does not say stays unknown: state "
            "model, hardware and what else you know. The same file with the same facts, or with "
            "none, is the same run.",
    .sets = SET_MEASURE,
    .params = params,
    .fields = fields,
    .role = ROLE_OPERATOR,
    .placement = PLACE_WORKER,
    .idempotent = true,
    .destroys = STATED_NO,
    .spends_money = STATED_NO,
    .changes_resources = true,
    .grows = true,
    .run = run,
};
