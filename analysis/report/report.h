/* SPDX-License-Identifier: Apache-2.0 */
/* The report on a sweep or a run: pure functions of stored rows. */
#pragma once

#include <jansson.h>

#include "base/core/text.h"
#include "store/ledger/sweeps.h"

/* The stored rows that a report is made from. */
struct report_input {
    const struct sweep_row *sweep;
    const struct run_row *runs; /* of the sweep, on one deployment */
    size_t run_count;
    const struct cell_row *cells; /* all repetitions, in the plan's order */
    size_t cell_count;
    const struct attempt_row *interrupted;
    size_t interrupted_count;
};

/* Writes Markdown: verdict and key takeaways; a matrix for each latency and throughput (a row per
 * context, a column per load), or a single table if there is only one context or load; peak,
 * saturation point, and the largest load within the limits; where and how failures begin; warnings;
 * cold starts; interrupted attempts; what was measured and how. Matrices are at most 100 characters
 * wide; loads that do not fit go into further tables. Repetitions are shown as mean and spread,
 * never silently averaged. */
void report_markdown(const struct report_input *input, struct text *out);
/* The same figures, structured: matrices, peak, saturation, limits, failures, warnings. New
 * reference. */
json_t *report_json(const struct report_input *input);
/* Only the saturation point and the largest load that meets the limits: one sentence for each
 * output length and context that have a measured point. New reference. */
json_t *report_verdict(const struct report_input *input);
/* The same sentences as a Markdown list. */
void report_findings(const struct report_input *input, struct text *out);
/* The same findings as a list with one object per output length, whose members are as in
 * report_json. New reference. */
json_t *report_findings_json(const struct report_input *input);
/* The key takeaways of report_markdown, as a list of sentences. New reference. */
json_t *report_takeaways(const struct report_input *input);
