/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/evidence/evidence.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/core/memory.h"
#include "base/json/json.h"

#define NUMBER(type, member, help)                                                                 \
    {                                                                                              \
#member, offsetof(struct type, member), 0, help                                            \
    }
#define TEXT(type, member, help)                                                                   \
    {                                                                                              \
#member, offsetof(struct type, member), sizeof((struct type *)0)->member, help             \
    }

const struct evidence_field evidence_cell_fields[] = {
    NUMBER(evidence_cell, concurrency, "users, or requests in flight, as requested"),
    NUMBER(evidence_cell, request_rate_asked, "requests per second, as requested (open loop)"),
    NUMBER(evidence_cell, input_length, "per request, in the run's input_unit"),
    NUMBER(evidence_cell, output_tokens_asked, "per request"),
    NUMBER(evidence_cell, requests_asked, "requests planned"),
    NUMBER(evidence_cell, attempted, "requests"),
    NUMBER(evidence_cell, succeeded, "requests"),
    NUMBER(evidence_cell, failed, "requests"),
    NUMBER(evidence_cell, success_rate, "succeeded / attempted"),
    NUMBER(evidence_cell, duration_s, "duration of the measurement in seconds"),
    NUMBER(evidence_cell, input_tokens, "of all requests"),
    NUMBER(evidence_cell, output_tokens, "of all requests"),
    NUMBER(evidence_cell, cached_tokens, "input tokens served from the server's prefix cache"),
    NUMBER(evidence_cell, cached_share,
           "share of the input tokens that came from the prefix cache"),
    NUMBER(evidence_cell, input_tokens_mean, "per request"),
    NUMBER(evidence_cell, output_tokens_mean, "per request"),
    NUMBER(evidence_cell, input_tokens_usage,
           "per request as the server reports it, where the tool counted with its own tokenizer"),
    NUMBER(evidence_cell, output_tokens_usage,
           "per request as the server reports it, as for input_tokens_usage"),
    NUMBER(evidence_cell, request_throughput, "requests per second"),
    NUMBER(evidence_cell, goodput, "requests per second within the stated limits"),
    NUMBER(evidence_cell, input_throughput, "input tokens per second"),
    NUMBER(evidence_cell, output_throughput, "output tokens per second"),
    NUMBER(evidence_cell, total_throughput, "input and output tokens per second"),
    NUMBER(evidence_cell, token_throughput,
           "tokens per second where the file does not say which tokens"),
    NUMBER(evidence_cell, stream_throughput, "output tokens per second of one stream"),
    NUMBER(evidence_cell, concurrency_actual, "requests in flight, averaged over time"),
    NUMBER(evidence_cell, concurrency_max, "maximum number of requests in flight"),
    NUMBER(evidence_cell, concurrency_expected,
           "requests in flight, averaged over time, as expected for users with think time"),
    NUMBER(evidence_cell, timeout_s, "request timeout in seconds"),
    TEXT(evidence_cell, status, "as the file says"),
    TEXT(evidence_cell, time, "as the file says"),
    TEXT(evidence_cell, variant, "which run in the file the cell belongs to: model, trial, ..."),
    TEXT(evidence_cell, marks, "names of the warnings, from the measurement or the export"),
    { 0 },
};

const struct evidence_field evidence_latency_fields[] = {
    NUMBER(evidence_latency, count, "values"),
    NUMBER(evidence_latency, mean_ms, "arithmetic mean"),
    NUMBER(evidence_latency, deviation_ms, "standard deviation"),
    NUMBER(evidence_latency, min_ms, "smallest"),
    NUMBER(evidence_latency, p50_ms, "median"),
    NUMBER(evidence_latency, p90_ms, "90th percentile"),
    NUMBER(evidence_latency, p95_ms, "95th percentile"),
    NUMBER(evidence_latency, p99_ms, "99th percentile"),
    NUMBER(evidence_latency, max_ms, "largest"),
    { 0 },
};

const struct evidence_field evidence_fact_fields[] = {
    TEXT(evidence_facts, model, "the model's id"),
    TEXT(evidence_facts, model_revision, "the model's revision"),
    TEXT(evidence_facts, quantization, "of the weights"),
    TEXT(evidence_facts, weights_type, "type of the weights"),
    TEXT(evidence_facts, cache_type, "type of the KV cache"),
    TEXT(evidence_facts, engine, "serving engine"),
    TEXT(evidence_facts, engine_version, "version of the engine"),
    TEXT(evidence_facts, flags, "the engine's arguments"),
    TEXT(evidence_facts, hardware, "accelerator"),
    TEXT(evidence_facts, provider, "cloud or provider"),
    TEXT(evidence_facts, region, "region or zone"),
    TEXT(evidence_facts, deployment, "name of what was measured"),
    TEXT(evidence_facts, tool, "name of the tool that measured it"),
    TEXT(evidence_facts, dataset, "source of the prompts"),
    TEXT(evidence_facts, workload, "description of what was sent"),
    TEXT(evidence_facts, date, "when it was measured, as the file says"),
    NUMBER(evidence_facts, chips, "accelerators"),
    NUMBER(evidence_facts, memory_gb_per_chip, "memory of one accelerator in GB"),
    NUMBER(evidence_facts, price_usd_per_chip_hour, "price of one accelerator per hour in USD"),
    NUMBER(evidence_facts, context_limit_tokens, "the model's context as served"),
    NUMBER(evidence_facts, max_instances, "maximum number of instances that the platform starts"),
    NUMBER(evidence_facts, container_concurrency, "requests that one instance admits at once"),
    NUMBER(evidence_facts, tensor_parallel, "accelerators that share the weights"),
    NUMBER(evidence_facts, repetitions, "runs averaged in each cell"),
    NUMBER(evidence_facts, output_tokens,
           "output tokens requested per request, where the cell does not say"),
    NUMBER(evidence_facts, timeout_s, "request timeout in seconds, where the cell does not say"),
    { 0 },
};

static const char *const state_names[EVIDENCE_STATES] = {
    [EVIDENCE_UNKNOWN] = "unknown", [EVIDENCE_MEASURED] = "measured",
    [EVIDENCE_FAILED] = "failed",   [EVIDENCE_INFEASIBLE] = "infeasible",
    [EVIDENCE_SKIPPED] = "skipped",
};

const char *evidence_state_name(enum evidence_state state)
{
    return state_names[state];
}

static enum evidence_state state_find(const char *name)
{
    for (enum evidence_state i = 0; i < EVIDENCE_STATES; i++)
        if (strcmp(state_names[i], name) == 0)
            return i;
    return EVIDENCE_UNKNOWN;
}

const char *length_unit_name(enum length_unit unit)
{
    static const char *const names[LENGTH_UNITS] = { "unknown", "tokens", "words" };

    return names[unit];
}

enum length_unit length_unit_find(const char *name)
{
    for (enum length_unit i = 0; i < LENGTH_UNITS; i++)
        if (strcmp(length_unit_name(i), name) == 0)
            return i;
    return LENGTH_UNKNOWN;
}

/* ---- Creating and freeing ---- */

/* Sets every number to NaN and every text to "". */
static void set_unknown(const struct evidence_field *fields, void *base)
{
    for (; fields->name != NULL; fields++)
        if (fields->size == 0)
            *(double *)((char *)base + fields->offset) = NAN;
        else
            *((char *)base + fields->offset) = '\0';
}

void evidence_init(struct evidence *evidence)
{
    *evidence = (struct evidence){ .repetition = -1 };
    set_unknown(evidence_fact_fields, &evidence->facts);
}

void evidence_finish(struct evidence *evidence)
{
    for (size_t i = 0; i < evidence->cell_count; i++) {
        free(evidence->cells[i].error);
        json_decref(evidence->cells[i].original);
    }
    free(evidence->cells);
    free(evidence->notes);
    json_decref(evidence->other_names);
    json_decref(evidence->remarks);
    json_decref(evidence->fingerprint);
    *evidence = (struct evidence){ 0 };
}

static void cell_init(struct evidence_cell *cell)
{
    *cell = (struct evidence_cell){ 0 };
    set_unknown(evidence_cell_fields, cell);
    for (int i = 0; i < METRIC_COUNT; i++)
        set_unknown(evidence_latency_fields, &cell->latency[i]);
}

struct evidence_cell *evidence_add(struct evidence *evidence)
{
    size_t count = evidence->cell_count;
    struct evidence_cell *cell;

    if (count == EVIDENCE_CELLS_MAX)
        return NULL;
    if ((count & (count - 1)) == 0) /* the array is full: its capacity is 0 or a power of two */
        evidence->cells =
            memory_resize(evidence->cells, count == 0 ? 1 : count * 2, sizeof *evidence->cells);
    cell = &evidence->cells[evidence->cell_count++];
    cell_init(cell);
    cell->position = (int64_t)count;
    cell->row = (int64_t)count + 1;
    return cell;
}

void evidence_remark(struct evidence *evidence, const char *format, ...)
{
    TEXT_AUTO printable = { 0 };
    char sentence[600];
    va_list args;

    va_start(args, format);
    vsnprintf(sentence, sizeof sentence, format, args);
    va_end(args);
    if (evidence->remarks == NULL)
        evidence->remarks = json_array();
    text_add_printable(&printable, sentence, strlen(sentence), sizeof sentence);
    json_array_append_new(evidence->remarks, json_string(text_string(&printable)));
}

/* ---- Warnings of cells ---- */

static bool is_name(const char *name)
{
    return name[0] != '\0' && strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_") == strlen(name);
}

bool evidence_has_warning(const struct evidence_cell *cell, const char *name)
{
    size_t size = strlen(name);

    for (const char *at = cell->marks; (at = strstr(at, name)) != NULL; at += size)
        if ((at == cell->marks || at[-1] == ' ') && (at[size] == ',' || at[size] == '\0'))
            return true;
    return false;
}

void evidence_add_warning(struct evidence_cell *cell, const char *name)
{
    size_t length = strlen(cell->marks), more = strlen(name) + 2;

    if (!is_name(name) || evidence_has_warning(cell, name) || length + more >= sizeof cell->marks)
        return;
    snprintf(cell->marks + length, sizeof cell->marks - length, "%s%s", length > 0 ? ", " : "",
             name);
    cell->client_limited |= strcmp(name, "client_limited") == 0;
    cell->contaminated |= strcmp(name, "contaminated") == 0;
    cell->tokens_estimated |= strcmp(name, "tokens_estimated") == 0;
}

void evidence_add_warnings(struct evidence_cell *cell, const char *marks)
{
    char list[sizeof cell->marks], *next = NULL;

    text_copy(list, sizeof list, marks);
    for (char *name = strtok_r(list, ", ", &next); name != NULL; name = strtok_r(NULL, ", ", &next))
        evidence_add_warning(cell, name);
}

/* ---- JSON ---- */

static void write_fields(const struct evidence_field *fields, const void *base, json_t *out)
{
    for (; fields->name != NULL; fields++) {
        const char *at = (const char *)base + fields->offset;

        if (fields->size > 0 && *at != '\0')
            json_object_set_new(out, fields->name, json_string(at));
        else if (fields->size == 0 && isfinite(*(const double *)(const void *)at))
            json_object_set_new(out, fields->name,
                                json_number_or_null(*(const double *)(const void *)at));
    }
}

static void read_fields(const struct evidence_field *fields, const json_t *json, void *base)
{
    for (; fields->name != NULL; fields++) {
        char *at = (char *)base + fields->offset;

        if (fields->size > 0)
            text_copy(at, fields->size, json_get_text(json, fields->name, ""));
        else
            *(double *)(void *)at = json_get_number(json, fields->name, NAN);
    }
}

const struct evidence_flag evidence_latency_flags[] = {
    { "p50_at_least", offsetof(struct evidence_latency, p50_at_least) },
    { "p90_at_least", offsetof(struct evidence_latency, p90_at_least) },
    { "p95_at_least", offsetof(struct evidence_latency, p95_at_least) },
    { "p99_at_least", offsetof(struct evidence_latency, p99_at_least) },
    { 0 },
};

static void write_latency(const struct evidence_cell *cell, enum metric metric, json_t *out)
{
    json_t *json = json_object();

    write_fields(evidence_latency_fields, &cell->latency[metric], json);
    for (const struct evidence_flag *f = evidence_latency_flags; f->name != NULL; f++)
        if (*((const bool *)&cell->latency[metric] + f->offset))
            json_object_set_new(json, f->name, json_true());
    if (json_object_size(json) > 0)
        json_object_set_new(out, metric_name(metric), json);
    else
        json_decref(json);
}

json_t *evidence_cell_json(const struct evidence_cell *cell)
{
    json_t *json = json_pack("{s:I, s:I, s:s}", "position", (json_int_t)cell->position, "row",
                             (json_int_t)cell->row, "state", evidence_state_name(cell->state));

    write_fields(evidence_cell_fields, cell, json);
    for (enum metric i = 0; i < METRIC_COUNT; i++)
        write_latency(cell, i, json);
    if (cell->client_limited)
        json_object_set_new(json, "client_limited", json_true());
    if (cell->contaminated)
        json_object_set_new(json, "contaminated", json_true());
    if (cell->tokens_estimated)
        json_object_set_new(json, "tokens_estimated", json_true());
    if (cell->error != NULL)
        json_object_set_new(json, "error", json_string(cell->error));
    if (cell->original != NULL)
        json_object_set(json, "original", cell->original);
    return json;
}

void evidence_cell_read(const json_t *json, struct evidence_cell *out)
{
    const char *error = json_get_text(json, "error", NULL);

    cell_init(out);
    out->position = json_get_integer(json, "position", 0);
    out->row = json_get_integer(json, "row", 0);
    out->state = state_find(json_get_text(json, "state", ""));
    read_fields(evidence_cell_fields, json, out);
    for (enum metric i = 0; i < METRIC_COUNT; i++) {
        const json_t *latency = json_object_get(json, metric_name(i));

        read_fields(evidence_latency_fields, latency, &out->latency[i]);
        for (const struct evidence_flag *f = evidence_latency_flags; f->name != NULL; f++)
            *((bool *)&out->latency[i] + f->offset) = json_get_boolean(latency, f->name, false);
    }
    out->client_limited = json_get_boolean(json, "client_limited", false);
    out->contaminated = json_get_boolean(json, "contaminated", false);
    out->tokens_estimated = json_get_boolean(json, "tokens_estimated", false);
    out->error = error == NULL ? NULL : memory_copy_text(error);
    out->original = json_incref(json_object_get(json, "original"));
}

json_t *evidence_facts_json(const struct evidence_facts *facts)
{
    json_t *json = json_object();

    write_fields(evidence_fact_fields, facts, json);
    return json;
}

void evidence_facts_read(const json_t *json, struct evidence_facts *out)
{
    read_fields(evidence_fact_fields, json, out);
}
