/* SPDX-License-Identifier: Apache-2.0 */
/* Reads results of vLLM `bench serve --save-result`: one object per measurement. If vLLM appended
 * results to the file, the objects follow one another. */
#include "analysis/import/import_vllm.h"
#include "analysis/import/import_formats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CELL(name, member) MEMBER_NUMBER_AT(name, import_vllm_result, cell.member, 1)
#define FACT(name, member) MEMBER_TEXT_AT(name, import_vllm_result, facts.member)
#define LATENCIES(name, metric)                                                                    \
    CELL("mean_" name "_ms", latency[metric].mean_ms),                                             \
        CELL("std_" name "_ms", latency[metric].deviation_ms),                                     \
        CELL("median_" name "_ms", latency[metric].p50_ms),                                        \
        CELL("p50_" name "_ms", latency[metric].p50_ms),                                           \
        CELL("p90_" name "_ms", latency[metric].p90_ms),                                           \
        CELL("p95_" name "_ms", latency[metric].p95_ms),                                           \
        CELL("p99_" name "_ms", latency[metric].p99_ms),                                           \
        CELL("max_" name "_ms", latency[metric].max_ms)

/* Keeps the first non-empty error in the list that --save-detailed writes. */
static bool read_error(struct json_scan *scan, void *context)
{
    struct import_vllm_result *result = context;

    return import_skip_error(scan, json_scan_next(scan), &result->cell.error);
}

static bool read_errors(struct json_scan *scan, void *base)
{
    return import_array(scan, read_error, base);
}

/* Reads a number or "inf". "inf" means that nothing delays requests, except max_concurrency if it
 * is set. */
static bool read_rate(struct json_scan *scan, void *base)
{
    struct import_vllm_result *result = base;
    enum json_scan_token token = json_scan_next(scan);
    double rate = token == JSON_SCAN_NUMBER ? json_scan_number(scan) : NAN;
    char text[16];

    if (token == JSON_SCAN_STRING && json_scan_copy(scan, text, sizeof text))
        rate = strtod(text, NULL);
    result->has_infinite_rate = isinf(rate) && rate > 0;
    if (isfinite(rate) && rate > 0)
        result->cell.request_rate_asked = rate;
    return import_skip(scan, token);
}

const struct import_member import_vllm_members[] = {
    MEMBER_TEXT_AT("date", import_vllm_result, cell.time),
    FACT("model_id", model),
    FACT("dataset_name", dataset),
    FACT("dataset", dataset),
    CELL("num_prompts", requests_asked),
    MEMBER_BY("request_rate", read_rate),
    CELL("max_concurrency", concurrency),
    CELL("random_input_len", input_length),
    CELL("input_len", input_length),
    CELL("random_output_len", output_tokens_asked),
    CELL("output_len", output_tokens_asked),
    CELL("duration", duration_s),
    CELL("completed", succeeded),
    CELL("failed", failed),
    CELL("total_input_tokens", input_tokens),
    CELL("total_output_tokens", output_tokens),
    CELL("request_throughput", request_throughput),
    CELL("request_goodput", goodput),
    CELL("request_goodput:", goodput), /* as vLLM itself misspells it */
    CELL("output_throughput", output_throughput),
    CELL("total_token_throughput", total_throughput),
    CELL("max_concurrent_requests", concurrency_max),
    LATENCIES("ttft", METRIC_TTFT),
    LATENCIES("itl", METRIC_ICL),
    LATENCIES("tpot", METRIC_TPOT),
    LATENCIES("e2el", METRIC_E2E),
    MEMBER_BY("errors", read_errors),
    OWN_MEMBERS(import_vllm_result),
    /* --save-detailed writes lists with an item for each request; rtfx is the real-time factor of
     * audio */
    MEMBER_IGNORE("input_lens"),
    MEMBER_IGNORE("output_lens"),
    MEMBER_IGNORE("ttfts"),
    MEMBER_IGNORE("itls"),
    MEMBER_IGNORE("latencies"),
    MEMBER_IGNORE("start_times"),
    MEMBER_IGNORE("queue_times"),
    MEMBER_IGNORE("generated_texts"),
    MEMBER_IGNORE("rtfx"),
    { 0 },
};

void import_vllm_result_init(struct import_vllm_result *result)
{
    evidence_cell_read(NULL, &result->cell);
    evidence_facts_read(NULL, &result->facts);
    import_own_init(&result->own);
    result->has_infinite_rate = false;
}

/* ---- Recognizing a result ---- */

static bool ends_with(const char *name, const char *end)
{
    size_t length = strlen(name), size = strlen(end);

    return length >= size && strcmp(name + length - size, end) == 0;
}

/* vLLM's latencies are in milliseconds, as their names say. Other tools use these names without
 * "_ms" and give seconds. */
enum units { UNITS_NO_LATENCY, UNITS_GIVEN, UNITS_MISSING };

static enum units units_of(const char *bytes, size_t length, char example[64])
{
    static const char *const metrics[] = { "_ttft", "_tpot", "_itl", "_e2el" };
    enum units units = UNITS_NO_LATENCY;
    struct json_scan scan;
    char name[64];

    import_scan_init(&scan, bytes, length);
    import_enter_list(&scan);
    if (json_scan_next(&scan) != JSON_SCAN_OBJECT)
        return UNITS_NO_LATENCY;
    while (json_scan_next(&scan) == JSON_SCAN_KEY) {
        json_scan_copy(&scan, name, sizeof name);
        for (size_t i = 0; i < sizeof metrics / sizeof metrics[0]; i++) {
            if (strstr(name, metrics[i]) != NULL && ends_with(name, "_ms"))
                return UNITS_GIVEN;
            if (ends_with(name, metrics[i])) {
                units = UNITS_MISSING;
                text_copy(example, 64, name);
            }
        }
        if (!json_scan_value(&scan, NULL, NULL))
            break;
    }
    return units;
}

bool import_sniff_vllm(const char *bytes, size_t length)
{
    static const char *const keys[] = { "num_prompts", "completed", "request_throughput",
                                        "total_input_tokens", NULL };
    char example[64];

    if (import_is_own(bytes, length, "vllm"))
        return true;
    return import_has_keys(bytes, length, keys)
           && units_of(bytes, length, example) != UNITS_MISSING;
}

/* ---- Reading it ---- */

/* Earlier versions of vLLM do not report failures: in their results, the requests that did not
 * complete count as failed. */
static void complete_failures(struct evidence_cell *cell)
{
    if (isnan(cell->failed) && cell->requests_asked >= cell->succeeded)
        cell->attempted = cell->requests_asked;
}

struct reading {
    struct evidence *out;
    bool noted_bursts;
};

/* Without limits on the rate and on the requests in flight, all requests start together. */
static void complete_burst(const struct import_vllm_result *result, struct evidence_cell *cell,
                           struct reading *reading)
{
    if (!result->has_infinite_rate || !isnan(cell->concurrency) || !(cell->requests_asked > 0))
        return;
    cell->concurrency = cell->requests_asked;
    if (!reading->noted_bursts)
        evidence_remark(
            reading->out,
            "row %lld has neither max_concurrency nor a finite request_rate: all of its "
            "%.15g requests started at once, so it counts as a row with that many "
            "users; other such rows are read the same way",
            (long long)cell->row, cell->requests_asked);
    reading->noted_bursts = true;
}

/* Stores the model and the dataset in the row, since the results in a file may differ in them. */
static void keep_facts(const struct import_vllm_result *result, json_t *original)
{
    if (result->facts.model[0] != '\0')
        json_object_set_new(original, "model_id", json_string(result->facts.model));
    if (result->facts.dataset[0] != '\0')
        json_object_set_new(original, "dataset_name", json_string(result->facts.dataset));
}

/* Keeps only the facts on which all results agree. */
static void merge_facts(const struct import_vllm_result *result, struct evidence *out)
{
    if (out->cell_count == 1) {
        text_copy(out->facts.model, sizeof out->facts.model, result->facts.model);
        text_copy(out->facts.dataset, sizeof out->facts.dataset, result->facts.dataset);
        return;
    }
    if (strcmp(out->facts.dataset, result->facts.dataset) != 0)
        out->facts.dataset[0] = '\0';
    if (strcmp(out->facts.model, result->facts.model) == 0 || out->facts.model[0] == '\0')
        return;
    out->facts.model[0] = '\0';
    evidence_remark(out, "the results are for several models, which are named in the rows");
}

static CHECKED bool read_result(void *context, const char *document, size_t size, int64_t line,
                                struct error *error)
{
    struct reading *reading = context;
    struct evidence *out = reading->out;
    struct import_vllm_result result;
    struct evidence_cell *cell;
    struct json_scan scan;
    int64_t position;

    if (!import_cell(out, &cell, error))
        return false;
    position = cell->position;
    import_vllm_result_init(&result);
    result.cell.original = json_object();
    import_scan_init(&scan, document, size);
    import_object(&scan, import_vllm_members, &result, result.cell.original);
    *cell = result.cell;
    cell->position = position;
    cell->row = line;
    import_own_apply(&result.own, cell, out);
    keep_facts(&result, cell->original);
    merge_facts(&result, out);
    complete_failures(cell);
    complete_burst(&result, cell, reading);
    import_complete_cell(cell);
    return true;
}

bool import_read_vllm(const struct import_file *file, struct evidence *out, struct error *error)
{
    struct reading reading = { .out = out };
    char example[64];

    if (units_of(file->bytes, file->length, example) == UNITS_MISSING)
        return error_set(error, ERROR_INVALID,
                         "the latencies have no unit (\"%s\"), where vLLM writes \"%s_ms\": set "
                         "`format` to rows, and state the unit in \"columns\", as in \"%s=%s_s\"",
                         example, example, example, example);
    out->input_unit = LENGTH_TOKENS;
    text_copy(out->facts.tool, sizeof out->facts.tool, "vllm bench serve");
    return import_documents(file->bytes, file->length, read_result, &reading, error);
}
