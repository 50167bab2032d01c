/* SPDX-License-Identifier: Apache-2.0 */
/* Reads llama-bench's JSON, JSONL, CSV and Markdown. llama-bench measures one stream in the engine
 * itself, without a server. A test processes a prompt (n_prompt tokens), generates tokens (n_gen),
 * or does both; avg_ts is the tokens per second of both together. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/import/import_formats.h"
#include "analysis/import/import_members.h"
#include "analysis/import/import_table.h"
#include "analysis/import/import_variant.h"
#include "base/json/json.h"

/* Members that are not listed are not read as figures: most are settings of the engine. */
static const struct import_alias aliases[] = {
    { "build_commit", "engine_version" },
    { "gpu_info", "hardware" },
    { "model_type", "model" },
    { "model", "model" },
    { "test_time", "timestamp" },
    { "avg_ns", "mean_e2e_ns" },
    { "stddev_ns", "std_e2e_ns" },
    { "n_prompt", "" },
    { "n_gen", "" },
    { "avg_ts", "" },
    { "test", "" },
    { "t/s", "" },
    { "*", "" },
    { NULL, NULL },
};

/* Members that are results, or that describe the test or the file. Rows that differ in any other
 * member are different variants. */
static const char *const results[] = { "n_prompt",   "n_gen",      "test",   "test_time",
                                       "avg_ns",     "stddev_ns",  "avg_ts", "stddev_ts",
                                       "samples_ns", "samples_ts", "t/s",    "model_filename",
                                       NULL };

static double number_of(const struct evidence_cell *cell, const char *name)
{
    const char *text = json_get_text(cell->original, name, "");
    char *end;
    double value = strtod(text, &end);

    return end > text && isfinite(value) && value >= 0 ? value : NAN;
}

/* How many tokens the prompt has, and how many are generated. */
struct shape {
    double prompt, generated;
};

/* The number after a word in Markdown's test names: "pp512", "tg 128 @ d4096", "pp512+tg128"; 0:
 * the word is not there. */
static double number_after(const char *test, const char *word)
{
    const char *at = strstr(test, word);

    return at == NULL ? 0 : strtod(at + strlen(word), NULL);
}

static struct shape shape_of(const struct evidence_cell *cell)
{
    const char *test = json_get_text(cell->original, "test", NULL);
    struct shape shape = { number_of(cell, "n_prompt"), number_of(cell, "n_gen") };

    if (test != NULL)
        shape = (struct shape){ number_after(test, "pp"), number_after(test, "tg") };
    return shape;
}

/* The number of samples; NaN: not known, for example because the list was truncated. */
static double samples_of(const struct evidence_cell *cell)
{
    const char *at = json_get_text(cell->original, "samples_ns", NULL);
    bool is_whole = at != NULL && strchr(at, ']') != NULL && strpbrk(at, "0123456789") != NULL;
    double count = is_whole ? 1 : NAN;

    for (; at != NULL && (at = strchr(at, ',')) != NULL; at++)
        count++;
    return count;
}

/* Stores how many tokens were in the context before the test. Markdown has no column for this
 * number, but it is in the test's name: "@ d4096". */
static void keep_depth(struct evidence_cell *cell)
{
    const char *test = json_get_text(cell->original, "test", "");
    const char *depth = strstr(test, "@ d");

    if (depth != NULL)
        json_object_set_new(cell->original, "n_depth", json_string(depth + strlen("@ d")));
}

/* A test has one user; each of its samples counts as one request. */
static void fill(struct evidence_cell *cell)
{
    struct shape shape = shape_of(cell);
    double speed =
        number_of(cell, json_object_get(cell->original, "avg_ts") != NULL ? "avg_ts" : "t/s");
    struct evidence_latency *token = &cell->latency[METRIC_TPOT];

    keep_depth(cell);
    cell->concurrency = 1;
    cell->input_length = shape.prompt;
    cell->output_tokens_asked = shape.generated;
    cell->succeeded = samples_of(cell);
    if (shape.generated == 0)
        cell->input_throughput = speed;
    else if (shape.prompt == 0)
        cell->output_throughput = cell->stream_throughput = speed;
    else
        cell->total_throughput = speed;
    if (shape.prompt == 0 && shape.generated > 0) {
        token->mean_ms = cell->latency[METRIC_E2E].mean_ms / shape.generated;
        token->deviation_ms = cell->latency[METRIC_E2E].deviation_ms / shape.generated;
    }
    if (speed > 0)
        cell->state = EVIDENCE_MEASURED;
    import_complete_cell(cell);
}

/* Whether the first line is the heading of llama-bench's CSV or Markdown. */
static bool is_table(const char *bytes, size_t length)
{
    static const char *const words[2][3] = { { "build_commit", "n_prompt", "avg_ts" },
                                             { "| model ", " test |", " t/s |" } };
    const char *end = memchr(bytes, '\n', length);
    size_t size = end == NULL ? length : (size_t)(end - bytes);

    for (size_t i = 0; i < 2; i++) {
        size_t found = 0;

        for (size_t w = 0; w < 3; w++)
            found += memmem(bytes, size, words[i][w], strlen(words[i][w])) != NULL;
        if (found == 3 && bytes[0] != '{' && bytes[0] != '[')
            return true;
    }
    return false;
}

bool import_sniff_llama_bench(const char *bytes, size_t length)
{
    static const char *const keys[] = { "n_prompt", "n_gen", "avg_ts", "avg_ns", NULL };

    return import_has_keys(bytes, length, keys) || is_table(bytes, length);
}

bool import_read_llama_bench(const struct import_file *file, struct evidence *out,
                             struct error *error)
{
    bool done = is_table(file->bytes, file->length)
                    ? import_table_read_csv(file, aliases, out, error)
                    : import_table_read_rows(file, aliases, "name", out, error);

    if (!done)
        return false;
    out->input_unit = LENGTH_TOKENS;
    text_copy(out->facts.tool, sizeof out->facts.tool, "llama-bench");
    text_copy(out->facts.engine, sizeof out->facts.engine, "llama.cpp");
    for (size_t i = 0; i < out->cell_count; i++)
        fill(&out->cells[i]);
    import_mark_differing(out, results);
    evidence_remark(out, "llama-bench measures the engine itself with one stream: no server, no "
                         "requests, no queue");
    return true;
}
