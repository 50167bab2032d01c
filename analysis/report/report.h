/* SPDX-License-Identifier: Apache-2.0 */
/* The report of a sweep or a run: pure functions on stored cells. */
#pragma once

#include <jansson.h>

#include "base/core/text.h"
#include "store/ledger/sweeps.h"

/* Peak, saturation and limits, per context and over all; the figures behind the report. */
struct report_input {
    const struct sweep_row *sweep;
    const struct run_row *runs; /* of the sweep, on one deployment */
    size_t run_count;
    const struct cell_row *cells; /* all repetitions, in order of measuring */
    size_t cell_count;
    const struct attempt_row *interrupted;
    size_t interrupted_count;
};

/* Markdown: fingerprint, latency matrix (rows context, columns users) and throughput matrix, TTFT,
 * ITL, TPOT and E2E percentiles, peak, saturation point, where and how failures begin, marks and
 * warnings, key takeaways. Tables fit 100 columns (more users than fit: further blocks).
 * Repetitions are shown with mean and spread, never silently averaged. */
void report_markdown(const struct report_input *input, struct text *out);
/* The same figures, structured: matrices, peak, saturation, limits, failures, warnings. New
 * reference. */
json_t *report_json(const struct report_input *input);
/* The saturation point and the largest load that meets the limits alone: a line per context with
 * anything measured; and an object per output length with the two as report_json has them. */
void report_findings(const struct report_input *input, struct text *out);
json_t *report_verdict(const struct report_input *input);       /* those lines as sentences, */
json_t *report_takeaways(const struct report_input *input);     /* and what else the figures say: */
json_t *report_findings_json(const struct report_input *input); /* new reference */
