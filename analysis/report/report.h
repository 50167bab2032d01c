/* SPDX-License-Identifier: Apache-2.0 */
/* The report of a sweep or a run: pure functions of stored cells. */
#pragma once

#include <jansson.h>

#include "base/core/text.h"
#include "store/ledger/sweeps.h"

/* Peak, saturation and limits, per context and overall; the figures that the report is based on. */
struct report_input {
    const struct sweep_row *sweep;
    const struct run_row *runs; /* of the sweep, on one deployment */
    size_t run_count;
    const struct cell_row *cells; /* all repetitions, in the order of measurement */
    size_t cell_count;
    const struct attempt_row *interrupted;
    size_t interrupted_count;
};

/* Markdown: verdict and key takeaways; latency matrix (rows context, columns users), throughput
 * matrix, matrices of TTFT, ITL, TPOT and E2E percentiles, or of one context or load all of them as
 * one table; peak, saturation point, where and how failures begin, warnings; what was measured and
 * how. Matrices are at most 100 characters wide; if more users do not fit, further tables follow.
 * Repetitions are shown with mean and spread, never silently averaged. */
void report_markdown(const struct report_input *input, struct text *out);
/* The same figures, structured: matrices, peak, saturation, limits, failures, warnings. New
 * reference. */
json_t *report_json(const struct report_input *input);
/* Only the saturation point and the largest load that meets the limits: a line per context with a
 * measured point, and an object per output length with the members of report_json. */
void report_findings(const struct report_input *input, struct text *out);
json_t *report_verdict(const struct report_input *input);       /* those lines as sentences, */
json_t *report_takeaways(const struct report_input *input);     /* and what else the figures say: */
json_t *report_findings_json(const struct report_input *input); /* new reference */
