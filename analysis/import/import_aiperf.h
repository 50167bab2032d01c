/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the importers of aiperf's JSON and of the JSON of its predecessor, GenAI-Perf. Private
 * to analysis/import/. */
#pragma once

#include "analysis/import/import_members.h"

/* Converts a unit of time to milliseconds: 1000 for "sec". `unit` is aiperf's name for the unit; ""
 * counts as milliseconds. NaN: the unit is not known. */
double import_aiperf_ms(const char *unit);

/* A metric as both tools write it. Its values are in `unit`, although the members of `values` have
 * names that end in "_ms". */
struct import_aiperf_block {
    char unit[32];
    struct evidence_latency values;
};

/* One profile while it is being read. */
struct import_aiperf_profile {
    struct import_aiperf_block ttft, request_latency, inter_token, inter_chunk, second_token,
        first_output;
    struct import_aiperf_block requests, errors, good, duration, request_throughput, goodput,
        output_rate;
    struct import_aiperf_block total_rate, stream_rate, input, output, usage_input, usage_output;
    struct import_aiperf_block concurrency, cached, cached_total, usage_input_total;
    struct import_aiperf_block input_rate, total_input, total_output;
    struct import_own own;
    struct evidence_cell cell; /* for marks and variant, which only our own exports have */
    double requested_concurrency, requested_rate, requested_count, requested_input,
        requested_output, timeout_s;
    char model[160], start_time[40];
    double errors_reported; /* sum of the error summary's counts; NaN: there is no summary */
    char error[600];
    char aggregation[24]; /* "confidence": the file summarizes repeated runs */
    /* used only for the file of a sweep */
    struct evidence *out;  /* receives a cell for each combination of parameters */
    struct error *refusal; /* set if a cell cannot be added */
    bool is_refused;       /* `refusal` was set */
    size_t combinations;   /* number read so far; 0: the file is not that of a sweep */
};
/* Sets every value to unknown. */
void import_aiperf_set_unknown(struct import_aiperf_profile *profile);
/* The members of a profile that are metrics. */
extern const struct import_member import_aiperf_metrics[];
/* Reads a list of model names and keeps the first. */
bool import_aiperf_read_models(struct json_scan *scan, void *base);
/* Adds a cell with the profile's figures; INVALID: there are too many cells. */
CHECKED bool import_aiperf_add_cell(const struct import_aiperf_profile *profile,
                                    struct evidence *out, int64_t row, json_t *original,
                                    struct error *error);
