/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the meaning of headings composed of words: "p99_ttft_ms", "output_tokens_per_sec". */
#include <string.h>

#include "analysis/import/import_columns.h"
#include "base/core/text.h"

/* ---- Latencies: a metric, with a statistic before or after it, and a unit ---- */

struct name {
    const char *word;
    size_t value; /* in `metrics`, an enum metric; in the other tables, a member's offset */
};

static const struct name statistics[] = {
    { "mean", offsetof(struct evidence_latency, mean_ms) },
    { "avg", offsetof(struct evidence_latency, mean_ms) },
    { "average", offsetof(struct evidence_latency, mean_ms) },
    { "median", offsetof(struct evidence_latency, p50_ms) },
    { "p50", offsetof(struct evidence_latency, p50_ms) },
    { "p90", offsetof(struct evidence_latency, p90_ms) },
    { "p95", offsetof(struct evidence_latency, p95_ms) },
    { "p99", offsetof(struct evidence_latency, p99_ms) },
    { "min", offsetof(struct evidence_latency, min_ms) },
    { "max", offsetof(struct evidence_latency, max_ms) },
    { "std", offsetof(struct evidence_latency, deviation_ms) },
    { "stddev", offsetof(struct evidence_latency, deviation_ms) },
    { "count", offsetof(struct evidence_latency, count) },
    { NULL, 0 },
};

static const struct name metrics[] = {
    { "ttft", METRIC_TTFT },
    { "time_to_first_token", METRIC_TTFT },
    { "itl", METRIC_ITL },
    { "inter_token_latency", METRIC_ITL },
    { "icl", METRIC_ICL },
    { "inter_chunk_latency", METRIC_ICL },
    { "ttfo", METRIC_TTFO },
    { "ttst", METRIC_TTST },
    { "tpot", METRIC_TPOT },
    { "time_per_output_token", METRIC_TPOT },
    { "e2e", METRIC_E2E },
    { "e2el", METRIC_E2E },
    { "e2e_latency", METRIC_E2E },
    { "end_to_end_latency", METRIC_E2E },
    { "request_latency", METRIC_E2E },
    { "latency", METRIC_E2E },
    { "queue", METRIC_QUEUE },
    { "ttft_from_send", METRIC_TTFT_SENT },
    { "e2e_from_send", METRIC_E2E_SENT },
    { NULL, 0 },
};

static const struct unit {
    const char *word;
    double scale; /* milliseconds per unit */
} units[] = {
    { "_ms", 1 },        { "_msec", 1 },    { "_milliseconds", 1 }, { "_s", 1000 },
    { "_sec", 1000 },    { "_secs", 1000 }, { "_seconds", 1000 },   { "_us", 0.001 },
    { "_ns", 0.000001 }, { NULL, 0 },
};

/* Removes the unit from the end, and returns its scale; 0: the name does not end with a unit. */
static double remove_unit(char *name)
{
    size_t length = strlen(name);

    for (const struct unit *unit = units; unit->word != NULL; unit++) {
        size_t size = strlen(unit->word);

        if (length > size && strcmp(name + length - size, unit->word) == 0) {
            name[length - size] = '\0';
            return unit->scale;
        }
    }
    return 0;
}

/* Removes the statistic from the beginning or the end, and returns it; NULL: the name has no
 * statistic there. */
static const struct name *remove_statistic(char *name)
{
    size_t length = strlen(name);

    for (const struct name *row = statistics; row->word != NULL; row++) {
        size_t size = strlen(row->word);

        if (length <= size + 1)
            continue;
        if (strncmp(name, row->word, size) == 0 && name[size] == '_') {
            memmove(name, name + size + 1, length - size);
            return row;
        }
        if (name[length - size - 1] == '_' && strcmp(name + length - size, row->word) == 0) {
            name[length - size - 1] = '\0';
            return row;
        }
    }
    return NULL;
}

struct import_column import_column_latency(const char *heading)
{
    struct import_column column = { .kind = IMPORT_COLUMN_UNKNOWN };
    char name[HEADING_SIZE];
    const struct name *statistic, *metric = metrics;
    double scale;

    text_copy(name, sizeof name, heading);
    scale = remove_unit(name);
    statistic = remove_statistic(name);
    if (scale == 0)
        scale = remove_unit(name); /* in "ttft_ms_p99", the unit is before the statistic */
    while (metric->word != NULL && strcmp(metric->word, name) != 0)
        metric++;
    if (statistic == NULL || metric->word == NULL)
        return column;
    if (statistic->value == offsetof(struct evidence_latency, count))
        scale = 1;
    column.lacks_unit = scale == 0 && strcmp(metric->word, "latency") != 0;
    if (column.lacks_unit)
        return column;
    column.kind = IMPORT_COLUMN_NUMBER;
    column.offset = offsetof(struct evidence_cell, latency)
                    + metric->value * sizeof(struct evidence_latency) + statistic->value;
    column.scale = scale == 0 ? 1000 : scale;
    column.assumed = scale == 0 ? "seconds" : NULL;
    return column;
}

/* ---- Rates: what is counted, per second ---- */

static const struct name subjects[] = {
    { "req", offsetof(struct evidence_cell, request_throughput) },
    { "reqs", offsetof(struct evidence_cell, request_throughput) },
    { "request", offsetof(struct evidence_cell, request_throughput) },
    { "requests", offsetof(struct evidence_cell, request_throughput) },
    { "output", offsetof(struct evidence_cell, output_throughput) },
    { "out", offsetof(struct evidence_cell, output_throughput) },
    { "generated", offsetof(struct evidence_cell, output_throughput) },
    { "generation", offsetof(struct evidence_cell, output_throughput) },
    { "gen", offsetof(struct evidence_cell, output_throughput) },
    { "completion", offsetof(struct evidence_cell, output_throughput) },
    { "decode", offsetof(struct evidence_cell, output_throughput) },
    { "input", offsetof(struct evidence_cell, input_throughput) },
    { "prompt", offsetof(struct evidence_cell, input_throughput) },
    { "prefill", offsetof(struct evidence_cell, input_throughput) },
    { "total", offsetof(struct evidence_cell, total_throughput) },
    { "", offsetof(struct evidence_cell, token_throughput) },
    { NULL, 0 },
};

/* Removes the first of `ends` that the name ends with; false: it ends with none of them. */
static bool remove_end(char *name, const char *const *ends)
{
    size_t length = strlen(name);

    for (; *ends != NULL; ends++) {
        size_t size = strlen(*ends);

        if (length >= size && strcmp(name + length - size, *ends) == 0) {
            name[length - size] = '\0';
            return true;
        }
    }
    return false;
}

/* Finds "output_tok_s", "throughput_tokens_per_sec", "decode_tps" and the like. */
struct import_column import_column_rate(const char *heading)
{
    static const char *const seconds[] = { "_per_second", "_per_sec", "_per_s", "_second",
                                           "_sec",        "_s",       NULL };
    static const char *const tokens[] = { "_tokens", "_token", "_toks", "_tok", NULL };
    static const char *const bare[] = { "tokens", "token", "toks", "tok", NULL };
    static const char *const tokens_per_second[] = { "_tps", NULL };
    struct import_column column = { .kind = IMPORT_COLUMN_UNKNOWN };
    const struct name *subject = subjects;
    char name[HEADING_SIZE];
    bool of_tokens;

    text_copy(name, sizeof name, strncmp(heading, "throughput_", 11) == 0 ? heading + 11 : heading);
    of_tokens = remove_end(name, tokens_per_second);
    if (!of_tokens && !remove_end(name, seconds))
        return column;
    of_tokens = of_tokens || remove_end(name, tokens) || remove_end(name, bare);
    while (subject->word != NULL && strcmp(subject->word, name) != 0)
        subject++;
    if (subject->word == NULL
        || of_tokens == (subject->value == offsetof(struct evidence_cell, request_throughput)))
        return column;
    column.kind = IMPORT_COLUMN_NUMBER;
    column.offset = subject->value;
    column.scale = 1;
    return column;
}
