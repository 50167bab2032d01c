/* SPDX-License-Identifier: Apache-2.0 */
/* Reads what vLLM's `bench serve` and SGLang's `bench_serving` print for each measurement: a block
 * of lines such as "Successful requests: 20". Both tools print the run's options before the block;
 * if the text includes them, they are read, too. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/import/import_formats.h"
#include "analysis/import/import_table.h"
#include "base/core/memory.h"
#include "base/json/json.h"

#define TITLE "= Serving Benchmark Result ="
#define OPTIONS "Namespace("
#define VALUE_SIZE 256
#define LINES_MAX 400000 /* lines with a label, in all blocks together */

#define CHUNK_LATENCY(statistic, name)                                                             \
    {                                                                                              \
        statistic " ITL (ms)", name "_icl_ms"                                                      \
    }

static const struct import_alias aliases[] = {
    { "Benchmark duration (s)", "duration_s" },
    { "Successful requests", "succeeded" },
    { "Total generated tokens", "total_output_tokens" },
    { "Request throughput (req/s)", "requests_per_s" },
    { "Output token throughput (tok/s)", "output_tok_per_s" },
    { "Input token throughput (tok/s)", "input_tok_per_s" },
    { "Total Token throughput (tok/s)", "total_tok_per_s" },
    { "Total token throughput (tok/s)", "total_tok_per_s" },
    { "Request goodput (req/s)", "goodput" },
    { "Maximum request concurrency", "concurrency" },
    { "Max request concurrency", "concurrency" },
    { "Max reqeuest concurrency", "concurrency" }, /* misspelled by older versions of SGLang */
    { "Request rate configured (RPS)", "request_rate" },
    { "Traffic request rate", "request_rate" },
    { "Peak concurrent requests", "max_concurrent_requests" },
    { "Concurrency", "concurrency_actual" },
    /* both tools' ITL is the gap between chunks */
    CHUNK_LATENCY("Mean", "mean"),
    CHUNK_LATENCY("Median", "median"),
    CHUNK_LATENCY("P50", "p50"),
    CHUNK_LATENCY("P90", "p90"),
    CHUNK_LATENCY("P95", "p95"),
    CHUNK_LATENCY("P99", "p99"),
    CHUNK_LATENCY("Max", "max"),
    { "Backend", "" },
    { "Burstiness factor", "" },
    { "Peak output token throughput (tok/s)", "" },
    { "Total input text tokens", "" },
    { "Total input vision tokens", "" },
    { "Total generated tokens (retokenized)", "" },
    { "Total cached tokens", "cached_tokens" },
    /* options */
    { "dataset_name", "dataset" },
    { "random_range_ratio", "" },
    { NULL, NULL },
};

static const char *const options[] = { "model",
                                       "dataset_name",
                                       "num_prompts",
                                       "max_concurrency",
                                       "request_rate",
                                       "random_input_len",
                                       "random_output_len",
                                       "random_range_ratio",
                                       NULL };

/* Whether the value is missing (""), or says that there is no limit. */
static bool is_none(const char *value)
{
    return value[0] == '\0' || strcmp(value, "inf") == 0 || strcmp(value, "not set") == 0
           || strcmp(value, "None") == 0;
}

/* ---- Options ---- */

/* Copies the value after "name=", without the quotes around a string. */
static void copy_option(const char *at, const char *end, char out[VALUE_SIZE])
{
    char quote = at < end && (*at == '\'' || *at == '"') ? *at++ : '\0';
    size_t length = 0;

    while (at < end && length + 1 < VALUE_SIZE
           && (quote != '\0' ? *at != quote : *at != ',' && *at != ')'))
        out[length++] = *at++;
    out[length] = '\0';
}

/* Reads the options that matter from Python's "Namespace(name=value, name='value')". */
static json_t *read_options(const char *line, size_t length)
{
    const char *end = line + length;
    json_t *row = json_object();

    for (const char *const *name = options; *name != NULL; name++) {
        TEXT_AUTO wanted = { 0 };
        char value[VALUE_SIZE];
        const char *at;

        text_addf(&wanted, " %s=", *name);
        at = memmem(line, length, text_string(&wanted), wanted.length);
        if (at == NULL)
            continue;
        copy_option(at + wanted.length, end, value);
        json_object_set_new(row, *name, json_string(value));
    }
    return row;
}

/* If SGLang printed the block, replaces the value of the length option `name` with the mean of the
 * lengths that were drawn: SGLang draws them from `random_range_ratio` times the value up to the
 * value. vLLM draws them around the value, which is therefore their mean. */
static void use_mean_length(json_t *row, const char *name)
{
    double ratio = strtod(json_get_text(row, "random_range_ratio", "1"), NULL);
    double length = strtod(json_get_text(row, name, "0"), NULL);
    TEXT_AUTO mean = { 0 };

    if (json_object_get(row, "Backend") == NULL || !(length > 0) || !(ratio >= 0 && ratio < 1))
        return;
    text_addf(&mean, "%.15g", length * (1 + ratio) / 2);
    json_object_set_new(row, name, json_string(text_string(&mean)));
}

/* The options always contain the lengths of random datasets. Removes these lengths if a different
 * dataset was used; otherwise, replaces SGLang's lengths with means. */
static void resolve_lengths(json_t *row)
{
    if (strncmp(json_get_text(row, "dataset_name", ""), "random", 6) != 0) {
        json_object_del(row, "random_input_len");
        json_object_del(row, "random_output_len");
    }
    use_mean_length(row, "random_input_len");
    use_mean_length(row, "random_output_len");
}

/* If neither the rate nor the number of requests in flight is limited, all requests start at once.
 * Their number is then the concurrency. */
static void resolve_load(json_t *row)
{
    const char *prompts = json_get_text(row, "num_prompts", NULL);
    bool is_burst = prompts != NULL && is_none(json_get_text(row, "request_rate", ""))
                    && is_none(json_get_text(row, "max_concurrency", ""));

    if (is_burst)
        json_object_set_new(row, "max_concurrency", json_string(prompts));
    else if (is_none(json_get_text(row, "max_concurrency", "")))
        json_object_del(row, "max_concurrency");
    if (is_none(json_get_text(row, "request_rate", "")))
        json_object_del(row, "request_rate");
}

/* ---- Blocks ---- */

struct console {
    json_t *rows;    /* a row for each block */
    json_t *options; /* the options for the next block; NULL: none */
    json_t *row;     /* the row of the block being read; NULL: none. Borrowed */
    size_t lines;    /* lines with a label, in all blocks together */
};

static void begin_block(struct console *console)
{
    console->row = console->options != NULL ? console->options : json_object();
    console->options = NULL;
    json_array_append_new(console->rows, console->row);
}

static void end_block(struct console *console)
{
    if (console->row == NULL)
        return;
    resolve_lengths(console->row);
    resolve_load(console->row);
    console->row = NULL;
}

/* Reads a line such as "Successful requests: 20 ". */
static void read_block_line(struct console *console, const char *line, size_t length)
{
    const char *colon = memchr(line, ':', length);
    char label[HEADING_SIZE], value[VALUE_SIZE];
    const char *from = colon == NULL ? NULL : colon + 1, *to = line + length;

    if (colon == NULL || (size_t)(colon - line) >= sizeof label)
        return;
    while (from < to && *from == ' ')
        from++;
    while (to > from && to[-1] == ' ')
        to--;
    if ((size_t)(to - from) >= sizeof value || json_object_size(console->row) >= CSV_FIELDS_MAX)
        return;
    console->lines++;
    *(char *)mempcpy(label, line, (size_t)(colon - line)) = '\0';
    *(char *)mempcpy(value, from, (size_t)(to - from)) = '\0';
    if (!is_none(value) && text_is_utf8(label, strlen(label)) && text_is_utf8(value, strlen(value)))
        json_object_set_new(console->row, label, json_string(value));
}

static bool is_end_of_block(const char *line, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (line[i] != '=')
            return false;
    return length >= 20;
}

static void read_console_line(struct console *console, const char *line, size_t length)
{
    const char *at = memmem(line, length, OPTIONS, strlen(OPTIONS));

    if (memmem(line, length, TITLE, strlen(TITLE)) != NULL) {
        end_block(console);
        begin_block(console);
    } else if (console->row != NULL && is_end_of_block(line, length)) {
        end_block(console);
    } else if (console->row != NULL) {
        read_block_line(console, line, length);
    } else if (at != NULL) {
        json_decref(console->options);
        console->options = read_options(at, (size_t)(line + length - at));
    }
}

/* If there are too many blocks or lines, reads one more than the limit, and stops. */
static json_t *read_blocks(const struct import_file *file, size_t *lines)
{
    struct console console = { .rows = json_array() };
    const char *at = file->bytes, *line;
    size_t length;

    while (console.lines <= LINES_MAX && json_array_size(console.rows) <= EVIDENCE_CELLS_MAX
           && import_table_next_line(&at, file->bytes + file->length, &line, &length))
        read_console_line(&console, line, length);
    end_block(&console);
    json_decref(console.options);
    *lines = console.lines;
    return console.rows;
}

/* ---- The file ---- */

static const char *tool_of(const json_t *rows)
{
    return json_object_get(json_array_get(rows, 0), "Backend") != NULL ? "sglang bench_serving"
                                                                       : "vllm bench serve";
}

/* Refuses text that is too large, and blocks without the line "Successful requests". A block lacks
 * it if it was cut off, or if each line has a prefix, such as a time. */
static CHECKED bool check_blocks(const json_t *rows, size_t lines, struct error *error)
{
    const json_t *row;
    size_t i;

    if (lines > LINES_MAX || json_array_size(rows) > EVIDENCE_CELLS_MAX)
        return error_set(error, ERROR_INVALID,
                         "the console text has more than %d lines or %d blocks: import it in parts",
                         LINES_MAX, EVIDENCE_CELLS_MAX);
    json_array_foreach(rows, i, row) {
        if (json_object_get(row, "Successful requests") == NULL)
            return error_set(error, ERROR_INVALID,
                             "block %zu of the console text has no line \"Successful requests: "
                             "...\": is the block complete, as the tool printed it?",
                             i + 1);
    }
    return true;
}

static bool lacks_failures(const struct evidence *out)
{
    for (size_t i = 0; i < out->cell_count; i++)
        if (isnan(out->cells[i].failed))
            return true;
    return false;
}

/* Whether the title is at the beginning of any line. The text before it can begin like JSON:
 * "[transformers] ...". */
bool import_sniff_console(const char *bytes, size_t length)
{
    const char *at = bytes, *end = bytes + length;

    while ((at = memmem(at, (size_t)(end - at), TITLE, strlen(TITLE))) != NULL) {
        const char *begin = at;

        while (begin > bytes && begin[-1] == '=')
            begin--;
        if (begin == bytes || begin[-1] == '\n' || begin[-1] == '\r')
            return true;
        at += strlen(TITLE);
    }
    return false;
}

bool import_read_console(const struct import_file *file, struct evidence *out, struct error *error)
{
    size_t lines;
    json_auto_t *rows = read_blocks(file, &lines);
    FREE_AUTO char *text = json_write(rows);
    const struct import_file made = { .bytes = text,
                                      .length = strlen(text),
                                      .columns = file->columns };

    if (!check_blocks(rows, lines, error)
        || !import_table_read_rows(&made, aliases, "name", out, error))
        return false;
    out->input_unit = LENGTH_TOKENS;
    text_copy(out->facts.tool, sizeof out->facts.tool, tool_of(rows));
    if (lacks_failures(out))
        evidence_remark(out, "SGLang, and vLLM before 0.11, do not print how many requests "
                             "failed: the success rate is not known");
    return true;
}
