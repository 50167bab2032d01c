/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/simserve/config.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/core/text.h"
#include "base/json/json.h"

/* A ROW_RATE is set as a rate per second, and stored as a duration in milliseconds. */
enum row_type { ROW_TEXT, ROW_INTEGER, ROW_NUMBER, ROW_BOOLEAN, ROW_RATE };

enum row_when { ANY_TIME, AT_START };

struct row {
    const char *name;
    size_t offset;
    enum row_type type;
    enum row_when when;
    const char *initial; /* NULL if another row sets the same member */
    double low, high;
    const char *help;
};

#define FIELD(field) #field, offsetof(struct config, field)
#define TEXT(field) FIELD(field), ROW_TEXT
#define INTEGER(field) FIELD(field), ROW_INTEGER
#define NUMBER(field) FIELD(field), ROW_NUMBER
#define BOOLEAN(field) FIELD(field), ROW_BOOLEAN

static const struct row rows[] = {
    { TEXT(listen), AT_START, "127.0.0.1:0", 0, 0, "address and port; port 0 = any free port" },
    { TEXT(pid_file), AT_START, "", 0, 0, "where to write the process id" },
    { TEXT(api_key), AT_START, "", 0, 0, "bearer token that requests under /v1 need" },
    { INTEGER(kv_blocks), AT_START, "1000000", 1, 1e8,
      "size of the KV cache, in blocks of 16 tokens" },
    { INTEGER(truth_requests), AT_START, "1000000", 1, 1e7,
      "number of requests that /sim/truth keeps" },
    { INTEGER(truth_chunks_mib), AT_START, "256", 0, 65536,
      "memory for the write times of chunks, in MiB; the oldest times are dropped first" },

    { TEXT(model), ANY_TIME, "simserve/toy", 0, 0, "model id" },
    { INTEGER(max_model_len), ANY_TIME, "32768", 1, 1e8, "context length, in tokens" },
    { INTEGER(chat_template_tokens), ANY_TIME, "10", 0, 10000,
      "tokens that the chat template adds" },
    { BOOLEAN(ends_at_context), ANY_TIME, "false", 0, 0,
      "output that would exceed the context is shortened, not refused (as in llama.cpp)" },

    { NUMBER(ttft_ms), ANY_TIME, "20", 0, 1e7, "fixed part of the prefill time" },
    { NUMBER(prefill_tokens_per_s), ANY_TIME, "0", 0, 1e12,
      "prefill speed; the prefill time is added to ttft_ms; 0 = prompt tokens take no time" },
    { BOOLEAN(prefill_serial), ANY_TIME, "false", 0, 0, "prefills run one after the other" },
    { NUMBER(cached_token_cost), ANY_TIME, "0", 0, 1,
      "prefill time of a cached token, as a fraction of that of a computed one" },
    { NUMBER(cold_shape_ms), ANY_TIME, "0", 0, 1e7,
      "extra prefill time for the first prompt of each size class (from 2^n to 2^(n+1) - 1 "
      "tokens)" },
    { NUMBER(step_ms), ANY_TIME, "20", 0, 1e7, "duration of a decode step" },
    { "tokens_per_s", offsetof(struct config, step_ms), ROW_RATE, ANY_TIME, NULL, 0, 1e9,
      "step_ms as a rate: 1000 / step_ms" },
    { NUMBER(step_ms_per_running), ANY_TIME, "0", 0, 1e7,
      "time that each running sequence adds to step_ms" },
    { NUMBER(jitter), ANY_TIME, "0", 0, 1,
      "uniform jitter, as a fraction of each prefill or step time" },
    { INTEGER(seed), ANY_TIME, "1", 0, 9e15, "random seed for jitter, chunk sizes and faults" },
    { INTEGER(max_running), ANY_TIME, "256", 1, 1e6,
      "how many sequences can run at once; others wait, first come, first served" },
    { INTEGER(max_waiting), ANY_TIME, "0", 0, 1e7,
      "how many sequences can wait while max_running run; further ones get 503; 0 = no limit" },
    { BOOLEAN(prefix_cache), ANY_TIME, "true", 0, 0, "automatic prefix caching" },
    { BOOLEAN(blast), ANY_TIME, "false", 0, 0, "writes without pacing, as fast as clients read" },

    { NUMBER(tokens_per_chunk), ANY_TIME, "1", 1, 64,
      "mean number of tokens per decode step (the first chunk has 1)" },
    { BOOLEAN(tokens_per_chunk_geometric), ANY_TIME, "false", 0, 0,
      "the number of tokens per decode step is geometrically distributed" },
    { INTEGER(draft_tokens), ANY_TIME, "0", 0, 64,
      "tokens drafted per step; 0 = as many as tokens_per_chunk needs" },
    { INTEGER(natural_tokens), ANY_TIME, "128", 0, 1e8,
      "maximum output tokens without ignore_eos (min_tokens can raise it); 0 = no maximum" },
    { BOOLEAN(unicode_output), ANY_TIME, "false", 0, 0,
      "the output consists of non-ASCII words, still of one token each" },
    { BOOLEAN(role_chunk), ANY_TIME, "true", 0, 0, "chat streams begin with a role-only chunk" },
    { BOOLEAN(role_early), ANY_TIME, "false", 0, 0,
      "the role chunk is sent with the headers, not with the first token" },
    { BOOLEAN(finish_joined), ANY_TIME, "false", 0, 0,
      "finish_reason is in the last content chunk, not in a chunk of its own" },
    { BOOLEAN(cached_tokens_in_usage), ANY_TIME, "false", 0, 0,
      "usage.prompt_tokens_details has cached_tokens, instead of being null (vLLM's "
      "--enable-prompt-tokens-details)" },
    { BOOLEAN(reasoning_tokens_in_usage), ANY_TIME, "false", 0, 0,
      "usage has completion_tokens_details, which count one token per reasoning chunk" },

    { NUMBER(keep_alive_idle_ms), ANY_TIME, "0", 0, 1e9,
      "time after which an idle connection is closed; 0 = never (uvicorn: 5000)" },
    { INTEGER(close_after_requests), ANY_TIME, "0", 0, 1e9,
      "number of requests after which a connection is closed without notice; 0 = never" },
    { BOOLEAN(truth_chunks), ANY_TIME, "false", 0, 0, "/sim/truth lists every chunk's write time" },
    { BOOLEAN(lazy_counters), ANY_TIME, "false", 0, 0,
      "/metrics has no counter, label set or histogram before its first count, except the counters "
      "per draft position" },

    { INTEGER(fault_after_chunks), ANY_TIME, "3", 0, 1e9,
      "content chunks before a mid-stream fault" },
    { NUMBER(stall_ms), ANY_TIME, "3600000", 0, 1e9, "duration of a stall" },
    { INTEGER(retry_after_s), ANY_TIME, "1", 0, 1e6, "Retry-After header of 429 and 503" },
    { NUMBER(slow_headers_ms), ANY_TIME, "200", 0, 1e9,
      "delay of the headers, with the fault slow_headers" },
    { INTEGER(reasoning_chunks), ANY_TIME, "3", 0, 1e9,
      "reasoning chunks before the content, with the fault reasoning_first" },
    { TEXT(reasoning_field), ANY_TIME, "reasoning_content", 0, 0,
      "name of the member with the reasoning (newer vLLM: reasoning)" },
    { NUMBER(split_pause_ms), ANY_TIME, "0.5", 0, 1e6, "pause between the parts of a split event" },
    { INTEGER(events_per_write), ANY_TIME, "4", 1, 1000,
      "number of events in one write, with the fault joined_events" },
};

#define ROW_COUNT (sizeof rows / sizeof rows[0])

static void *field(const struct row *row, struct config *config)
{
    return (char *)config + row->offset;
}

static bool number_check(const struct row *row, double value, struct error *error)
{
    if (isfinite(value) && value >= row->low && value <= row->high)
        return true;
    return error_set(error, ERROR_INVALID, "\"%s\" must be from %g to %g, not %g", row->name,
                     row->low, row->high, value);
}

static bool number_store(const struct row *row, double value, void *out, struct error *error)
{
    if (!number_check(row, value, error))
        return false;
    if (row->type == ROW_INTEGER && value != floor(value))
        return error_set(error, ERROR_INVALID, "\"%s\" must be a whole number, not %g", row->name,
                         value);
    if (row->type == ROW_INTEGER)
        *(int64_t *)out = (int64_t)value;
    else if (row->type == ROW_RATE)
        *(double *)out = value > 0 ? 1000 / value : 0;
    else
        *(double *)out = value;
    return true;
}

static bool text_store(const struct row *row, const char *value, char *out, struct error *error)
{
    if (strlen(value) >= CONFIG_TEXT_SIZE)
        return error_set(error, ERROR_INVALID, "\"%s\" is longer than %d bytes", row->name,
                         CONFIG_TEXT_SIZE - 1);
    if (!text_is_utf8(value, strlen(value)) || strpbrk(value, "\"\\\r\n"))
        return error_set(error, ERROR_INVALID,
                         "\"%s\" must be UTF-8 without double quotes, backslashes or line breaks",
                         row->name);
    text_copy(out, CONFIG_TEXT_SIZE, value);
    return true;
}

static bool boolean_parse(const struct row *row, const char *value, bool *out, struct error *error)
{
    bool yes = strcmp(value, "true") == 0 || strcmp(value, "on") == 0 || strcmp(value, "1") == 0;
    bool no = strcmp(value, "false") == 0 || strcmp(value, "off") == 0 || strcmp(value, "0") == 0;

    if (!yes && !no)
        return error_set(error, ERROR_INVALID, "\"%s\" must be true or false, not \"%s\"",
                         row->name, value);
    *out = yes;
    return true;
}

static bool row_set_text(const struct row *row, const char *value, struct config *config,
                         struct error *error)
{
    char *end;
    double number;

    if (row->type == ROW_TEXT)
        return text_store(row, value, field(row, config), error);
    if (row->type == ROW_BOOLEAN)
        return boolean_parse(row, value, field(row, config), error);
    number = strtod(value, &end);
    if (end == value || *end)
        return error_set(error, ERROR_INVALID, "\"%s\" must be a number, not \"%s\"", row->name,
                         value);
    return number_store(row, number, field(row, config), error);
}

static bool row_set_json(const struct row *row, const json_t *value, struct config *config,
                         struct error *error)
{
    if (row->when == AT_START)
        return error_set(error, ERROR_INVALID, "\"%s\" can only be set when simserve starts",
                         row->name);
    if (row->type == ROW_TEXT && json_is_string(value))
        return text_store(row, json_string_value(value), field(row, config), error);
    if (row->type == ROW_BOOLEAN && json_is_boolean(value)) {
        *(bool *)field(row, config) = json_is_true(value);
        return true;
    }
    if (row->type != ROW_TEXT && row->type != ROW_BOOLEAN && json_is_number(value))
        return number_store(row, json_number_value(value), field(row, config), error);
    return error_set(error, ERROR_INVALID, "\"%s\" has the wrong JSON type", row->name);
}

/* Finds a row by its name, which can have dashes instead of underscores; NULL if there is none. */
static const struct row *row_find(const char *name)
{
    for (size_t i = 0; i < ROW_COUNT; i++) {
        const char *a = rows[i].name, *b = name;

        while (*a && (*a == *b || (*a == '_' && *b == '-')))
            a++, b++;
        if (!*a && !*b)
            return &rows[i];
    }
    return NULL;
}

void config_init(struct config *config)
{
    struct error error;

    memset(config, 0, sizeof *config);
    for (size_t i = 0; i < ROW_COUNT; i++)
        if (rows[i].initial && !row_set_text(&rows[i], rows[i].initial, config, &error))
            abort();
}

/* Applies the value of --fault: "name=probability", "name/period", or "name" (probability 1). */
static bool fault_flag(struct config *config, const char *value, struct error *error)
{
    size_t length = strcspn(value, "=/");
    enum fault fault = fault_find(value, length);
    char *end;
    double number;

    if (fault == FAULT_COUNT)
        return error_set(error, ERROR_INVALID, "no fault named \"%.*s\"; --help lists them",
                         (int)length, value);
    number = value[length] ? strtod(value + length + 1, &end) : 1;
    if (value[length] == '/' && *end == '\0' && number >= 1 && number <= 1e15) {
        config->faults[fault].period = (int64_t)number;
        return true;
    }
    if (value[length] == '/' || (value[length] && *end) || !(number >= 0 && number <= 1))
        return error_set(error, ERROR_INVALID,
                         "\"--fault %s\": give name=probability (0 to 1) or name/period", value);
    config->faults[fault].probability = number;
    return true;
}

bool config_read_flags(struct config *config, int argc, char **argv, struct error *error)
{
    for (int i = 1; i < argc; i++) {
        const char *flag = argv[i];
        const char *value = i + 1 < argc ? argv[i + 1] : "--";
        const struct row *row = strncmp(flag, "--", 2) == 0 ? row_find(flag + 2) : NULL;
        bool is_fault = strcmp(flag, "--fault") == 0;
        bool is_alone = strncmp(value, "--", 2) == 0; /* the flag has no value */

        if (!row && !is_fault)
            return error_set(error, ERROR_INVALID, "unknown argument \"%s\"; see --help", flag);
        if (is_alone && (is_fault || row->type != ROW_BOOLEAN))
            return error_set(error, ERROR_INVALID, "%s needs a value", flag);
        if (is_fault && !fault_flag(config, value, error))
            return false;
        if (row && !row_set_text(row, is_alone ? "true" : value, config, error))
            return false;
        i += !is_alone;
    }
    return true;
}

static bool fault_apply(const char *name, const json_t *value, struct fault_rate *rates,
                        struct error *error)
{
    enum fault fault = fault_find(name, strlen(name));
    struct fault_rate rate = { json_get_number(value, "probability", 0),
                               json_get_integer(value, "period", 0) };

    if (fault == FAULT_COUNT)
        return error_set(error, ERROR_INVALID, "no fault named \"%s\"; --help lists them", name);
    if (!(rate.probability >= 0 && rate.probability <= 1) || rate.period < 0)
        return error_set(error, ERROR_INVALID,
                         "fault \"%s\": probability must be from 0 to 1, period at least 0", name);
    rates[fault] = rate;
    return true;
}

static bool member_apply(struct config *config, const char *name, json_t *value,
                         struct error *error)
{
    const struct row *row = row_find(name);
    const char *fault;
    json_t *rate;

    if (row)
        return row_set_json(row, value, config, error);
    if (strcmp(name, "faults") != 0)
        return error_set(error, ERROR_INVALID, "no setting named \"%s\"; --help lists them", name);
    json_object_foreach(value, fault, rate) {
        if (!fault_apply(fault, rate, config->faults, error))
            return false;
    }
    return true;
}

bool config_apply(struct config *config, json_t *object, struct error *error)
{
    struct config changed = *config;
    const char *name;
    json_t *value;

    if (!json_is_object(object))
        return error_set(error, ERROR_INVALID, "the settings must be a JSON object");
    json_object_foreach(object, name, value) {
        if (!member_apply(&changed, name, value, error))
            return false;
    }
    *config = changed;
    return true;
}

static json_t *row_show(const struct row *row, const struct config *config)
{
    const char *at = (const char *)config + row->offset;
    double number;

    switch (row->type) {
    case ROW_TEXT:
        return json_string(at);
    case ROW_BOOLEAN:
        return json_boolean(*(const bool *)at);
    case ROW_INTEGER:
        return json_integer(*(const int64_t *)at);
    case ROW_NUMBER:
        return json_real(*(const double *)at);
    case ROW_RATE:
        number = *(const double *)at;
        return json_real(number > 0 ? 1000 / number : 0);
    }
    return NULL;
}

json_t *config_show(const struct config *config)
{
    json_t *out = json_object();
    json_t *faults = json_object();

    for (size_t i = 0; i < ROW_COUNT; i++)
        if (rows[i].offset != offsetof(struct config, api_key))
            json_object_set_new(out, rows[i].name, row_show(&rows[i], config));
    for (int i = 0; i < FAULT_COUNT; i++) {
        struct fault_rate rate = config->faults[i];

        if (rate.probability > 0 || rate.period > 0)
            json_object_set_new(faults, fault_kind((enum fault)i)->name,
                                json_pack("{s:f, s:I}", "probability", rate.probability, "period",
                                          (json_int_t)rate.period));
    }
    json_object_set_new(out, "faults", faults);
    return out;
}

void config_help(FILE *out)
{
    fputs("simserve: a model server with vLLM's API and known timing.\n\n"
          "Flags, with dashes or underscores (POST /sim/config can also set those without *):\n",
          out);
    for (size_t i = 0; i < ROW_COUNT; i++)
        fprintf(out, "  --%-27s%c %s [%s]\n", rows[i].name, rows[i].when == AT_START ? '*' : ' ',
                rows[i].help, rows[i].initial ? rows[i].initial : "");
    fputs(
        "  --fault NAME=PROBABILITY or NAME/PERIOD; for one request: header X-Sim-Fault: NAME,...\n"
        "\nFaults:\n",
        out);
    for (int i = 0; i < FAULT_COUNT; i++)
        fprintf(out, "  %-25s %s\n", fault_kind((enum fault)i)->name,
                fault_kind((enum fault)i)->help);
}
