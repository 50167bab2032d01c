/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/import/import_formats.h"

#include <string.h>

#include "analysis/import/import_members.h"
#include "analysis/import/import_variant.h"
#include "base/core/digest.h"

#define KEYS(...) ((const char *const[]){ __VA_ARGS__, NULL })
#define BY_KEYS(format, help, name, takes_columns, ...)                                            \
    {                                                                                              \
        format, help, KEYS(__VA_ARGS__), NULL, import_read_##name, takes_columns                   \
    }
#define BY_SNIFFING(format, help, name, keys, takes_columns)                                       \
    {                                                                                              \
        format, help, keys, import_sniff_##name, import_read_##name, takes_columns                 \
    }

const struct importer importers[] = {
    BY_SNIFFING("vllm", "vLLM `bench serve --save-result` JSON, one result or several", vllm,
                KEYS("num_prompts", "completed", "request_throughput", "total_input_tokens"),
                false),
    BY_KEYS("sglang", "SGLang `bench_serving` JSONL, one line per measurement", sglang, false,
            "backend", "completed", "random_range_ratio", "total_output_tokens_retokenized"),
    BY_SNIFFING("inferencex",
                "InferenceX's (InferenceMAX's) agg_*.json, and rows from its dashboard", inferencex,
                KEYS("hw", "conc", "isl", "osl", "tput_per_gpu"), true),
    BY_SNIFFING("llama-bench", "llama-bench's JSON, JSONL, CSV or Markdown", llama_bench,
                KEYS("n_prompt", "n_gen", "avg_ns", "avg_ts"), true),
    BY_KEYS("guidellm", "GuideLLM's benchmarks.json", guidellm, false, "benchmarks"),
    BY_SNIFFING("genai-perf", "GenAI-Perf's profile_export_genai_perf.json", genai_perf,
                KEYS("request_latency", "request_throughput", "input_config"), false),
    BY_SNIFFING("aiperf", "aiperf's profile_export_aiperf.json", aiperf,
                KEYS("request_latency", "request_throughput", "input_config"), false),
    BY_KEYS("aiperf-records", "aiperf's profile_export.jsonl, one line per request", aiperf_records,
            false, "metadata", "metrics"),
    BY_KEYS("inference-perf", "inference-perf's stage_N_lifecycle_metrics.json, one or several",
            inference_perf, false, "load_summary", "successes"),
    BY_KEYS("serving-report", "serving report JSON, schema 1.0 or 1.1", serving_report, false,
            "schema_version", "throughput"),
    BY_SNIFFING("aiperf-csv", "the CSV that aiperf and GenAI-Perf write next to their JSON",
                aiperf_csv, NULL, true),
    BY_KEYS("llmperf", "LLMPerf's *_summary.json", llmperf, true, "num_concurrent_requests",
            "results_num_requests_started", "results_ttft_s_mean"),
    BY_KEYS("trtllm-bench", "trtllm-bench's --report_json", trtllm_bench, true, "engine",
            "world_info", "request_info", "performance"),
    BY_SNIFFING("llm-d", "llm-d's benchmark report 0.2 as JSON, one or several", llm_d,
                KEYS("version", "run", "results"), false),
    BY_SNIFFING("console", "what vLLM's `bench serve` or SGLang's `bench_serving` printed", console,
                NULL, true),
    BY_SNIFFING("summary", "sweep summary JSON: an object of cells per model", summary, NULL, true),
    BY_SNIFFING(
        "rows",
        "JSON rows: objects with figures, in a list, one after another, or in an object; units "
        "are taken from the members' names",
        rows, NULL, true),
    BY_SNIFFING("csv", "a table with a heading; units are taken from the columns' names", csv, NULL,
                true),
    { 0 },
};

/* ---- Which format it is ---- */

static bool sniffs(const struct importer *importer, const char *bytes, size_t length)
{
    return importer->sniff != NULL ? importer->sniff(bytes, length)
                                   : import_has_keys(bytes, length, importer->keys);
}

static const struct importer *find_by_content(const char *bytes, size_t length)
{
    for (const struct importer *importer = importers; importer->format != NULL; importer++)
        if (sniffs(importer, bytes, length))
            return importer;
    return NULL;
}

static const struct importer *find_by_name(const char *format)
{
    for (const struct importer *importer = importers; importer->format != NULL; importer++)
        if (strcmp(importer->format, format) == 0)
            return importer;
    return NULL;
}

static bool begins(const char *bytes, size_t length, const char *with, size_t size)
{
    return length >= size && memcmp(bytes, with, size) == 0;
}

/* Why no importer can read a file that begins with these bytes; NULL: no such reason is known. */
static const char *find_obstacle(const char *bytes, size_t length)
{
    if (begins(bytes, length, "\xff\xfe", 2) || begins(bytes, length, "\xfe\xff", 2)
        || (length >= 4 && bytes[0] != 0 && bytes[1] == 0 && bytes[2] != 0 && bytes[3] == 0))
        return "the file is UTF-16: save it as UTF-8";
    if (begins(bytes, length, "\x1f\x8b", 2) || begins(bytes, length, "\x28\xb5\x2f\xfd", 4)
        || begins(bytes, length, "PK\x03\x04", 4))
        return "the file is compressed, or a spreadsheet: unpack it, or save the sheet as CSV";
    return NULL;
}

/* ---- Refusals ---- */

static void list_formats(struct text *out)
{
    for (const struct importer *importer = importers; importer->format != NULL; importer++)
        text_addf(out, "%s%s", importer == importers ? "" : ", ", importer->format);
}

/* Returns the importer of whose `keys` the file has the largest share; NULL: of every importer's
 * keys, the file has fewer than half. `lacking` receives the names of the missing keys. */
static const struct importer *find_nearest(const char *bytes, size_t length, struct text *lacking)
{
    const struct importer *nearest = NULL;
    size_t best = 0, best_of = 1;

    for (const struct importer *importer = importers; importer->format != NULL; importer++) {
        TEXT_AUTO missing = { 0 };
        size_t count, found;

        if (importer->keys == NULL)
            continue;
        found = import_count_keys(bytes, length, importer->keys, &count, &missing);
        if (found == 0 || found * 2 < count || found * best_of <= best * count)
            continue;
        nearest = importer;
        best = found;
        best_of = count;
        text_clear(lacking);
        text_add(lacking, text_string(&missing));
    }
    return nearest;
}

static bool is_json(const struct import_file *file)
{
    return file->length > 0 && (file->bytes[0] == '{' || file->bytes[0] == '[');
}

static CHECKED bool refuse_unknown(const struct import_file *file, struct error *error)
{
    TEXT_AUTO formats = { 0 };
    TEXT_AUTO lacking = { 0 };
    const struct importer *nearest;
    struct json_scan scan;

    import_scan_init(&scan, file->bytes, file->length);
    if (is_json(file) && !json_scan_value(&scan, NULL, NULL))
        return json_scan_fail(&scan, error); /* the message says where the JSON is broken */
    nearest = find_nearest(file->bytes, file->length, &lacking);
    list_formats(&formats);
    if (nearest != NULL && lacking.length > 0)
        return error_set(error, ERROR_INVALID,
                         "the file has no known format: the nearest is %s, but the file lacks %s; "
                         "the known formats are %s",
                         nearest->format, text_string(&lacking), text_string(&formats));
    return error_set(error, ERROR_INVALID,
                     "the file has none of the known formats (%s): to see what is wrong, name the "
                     "intended format in `format`%s",
                     text_string(&formats),
                     is_json(file) ? "; for JSON rows whose members have unknown names, say in "
                                     "\"columns\" what they mean: \"tput=output_tok_per_s\""
                                   : "");
}

static CHECKED bool refuse_format(const char *format, struct error *error)
{
    TEXT_AUTO formats = { 0 };

    list_formats(&formats);
    return error_set(error, ERROR_INVALID, "there is no format \"%.40s\": give one of %s", format,
                     text_string(&formats));
}

/* Refuses a file that is certainly not in the named format: it would be misread, because members
 * with the same name have different meanings in different formats. */
static CHECKED bool check_named(const struct importer *named, const char *bytes, size_t length,
                                struct error *error)
{
    const struct importer *found = find_by_content(bytes, length);
    TEXT_AUTO missing = { 0 };
    size_t count;

    if (named->keys == NULL || found == NULL || found == named || found->keys == NULL
        || sniffs(named, bytes, length))
        return true;
    import_count_keys(bytes, length, named->keys, &count, &missing);
    return error_set(error, ERROR_INVALID, "the file's format is %s, not %s%s%s: omit `format`",
                     found->format, named->format,
                     missing.length > 0 ? ", for which it lacks " : "", text_string(&missing));
}

/* ---- Reading ---- */

/* The length of the byte order mark that Windows programs write before UTF-8; 0: there is none. */
static size_t mark_length(const char *bytes, size_t length)
{
    return begins(bytes, length, "\xef\xbb\xbf", 3) ? 3 : 0;
}

static bool has_columns(const struct import_file *file)
{
    return file->columns != NULL && file->columns[0] != NULL;
}

static const struct importer *find(const struct import_file *file)
{
    const struct importer *found = file->format != NULL
                                       ? find_by_name(file->format)
                                       : find_by_content(file->bytes, file->length);

    /* JSON rows whose members' names are unknown; the caller says in `columns` what they mean */
    return found == NULL && file->format == NULL && has_columns(file) && is_json(file)
               ? find_by_name("rows")
               : found;
}

static CHECKED bool choose_importer(const struct import_file *file, const struct importer **out,
                                    struct error *error)
{
    *out = find(file);
    if (*out == NULL)
        return file->format == NULL ? refuse_unknown(file, error)
                                    : refuse_format(file->format, error);
    if (file->format != NULL && !check_named(*out, file->bytes, file->length, error))
        return false;
    if (has_columns(file) && !(*out)->takes_columns)
        return error_set(error, ERROR_INVALID,
                         "\"columns\" is only for tables and JSON rows; this is a %s file, whose "
                         "members have known meanings",
                         (*out)->format);
    return true;
}

static CHECKED bool read_content(const struct import_file *file, struct evidence *out,
                                 struct error *error)
{
    size_t mark = mark_length(file->bytes, file->length);
    const char *problem = find_obstacle(file->bytes, file->length);
    struct import_file unmarked = *file;
    const struct importer *importer;

    if (file->length == mark)
        return error_set(error, ERROR_INVALID, "the file is empty");
    if (problem != NULL)
        return error_set(error, ERROR_INVALID, "%s", problem);
    unmarked.bytes += mark;
    unmarked.length -= mark;
    if (!choose_importer(&unmarked, &importer, error))
        return false;
    text_copy(out->format, sizeof out->format, importer->format);
    return importer->read(&unmarked, out, error);
}

static bool takes_columns(const struct evidence *evidence)
{
    return find_by_name(evidence->format)->takes_columns;
}

/* Whether no cell has any result, as when a document of a different kind is read as the named
 * format. False for tables and JSON rows: their readers have checked the columns. */
static bool has_nothing(const struct evidence *evidence)
{
    if (takes_columns(evidence))
        return false;
    for (size_t i = 0; i < evidence->cell_count; i++) {
        const struct evidence_cell *cell = &evidence->cells[i];

        if (cell->state != EVIDENCE_UNKNOWN || cell->status[0] != '\0' || cell->attempted > 0)
            return false;
    }
    return true;
}

bool import_read_file(const struct import_file *file, struct evidence *out, struct error *error)
{
    evidence_init(out);
    out->imported = true;
    digest_sha256_text(file->bytes, file->length, out->digest);
    if (!read_content(file, out, error))
        return false;
    if (out->cell_count == 0)
        return error_set(error, ERROR_INVALID,
                         "the %s file has no cells: import a file with at least one measurement",
                         out->format);
    if (has_nothing(out))
        return error_set(
            error, ERROR_INVALID,
            "the %s file has no requests, no rate and no latency: is it really in that format? "
            "Omit `format` to have it detected",
            out->format);
    if (!takes_columns(out)) /* otherwise, `read` has listed the unknown columns */
        import_list_unknown(out);
    import_mark_variants(out);
    return true;
}

bool import_read(const char *bytes, size_t length, const char *format, struct evidence *out,
                 struct error *error)
{
    const struct import_file file = { .bytes = bytes, .length = length, .format = format };

    return import_read_file(&file, out, error);
}
