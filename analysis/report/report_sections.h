/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of a report after the matrices, each as Markdown and as JSON (a new reference). Private
 * to analysis/. */
#pragma once

#include <jansson.h>

#include "analysis/report/cell_grid.h"
#include "analysis/report/failure_onset.h"
#include "analysis/report/report.h"

void report_peak_write(const struct cell_grid *grid, size_t output, struct text *out);
/* JSON null: no peak was found. */
json_t *report_peak_to_json(const struct cell_grid *grid, size_t output);
void report_saturation_write(const struct cell_grid *grid, size_t output, struct text *out);
json_t *report_saturation_to_json(const struct cell_grid *grid, size_t output);
/* Writes the largest load that meets the plan's limits; nothing if the plan has none. */
void report_limit_write(const struct report_input *input, const struct cell_grid *grid,
                        size_t output, struct text *out);
/* Writes "limits met up to 26 users (32: E2E 4600 of 4000 ms)"; false if the plan has no limits. */
bool report_limit_sentence(const struct report_input *input, const struct cell_grid *grid,
                           size_t output, size_t context, struct text *out);
json_t *report_limit_to_json(const struct report_input *input, const struct cell_grid *grid,
                             size_t output);
/* Writes "context 512, at 8 users: failed, rate_limited, 4 of 9 requests failed". */
void report_failure_sentence(const struct cell_grid *grid, const struct failure_onset *failure,
                             struct text *out);
void report_failures_write(const struct cell_grid *grid, struct text *out);
json_t *report_failures_to_json(const struct cell_grid *grid);
void report_warnings_write(const struct report_input *input, const struct cell_grid *grid,
                           struct text *out);
json_t *report_warnings_to_json(const struct cell_grid *grid);
/* Write cold starts and interrupted attempts; nothing if there are none. */
void report_cold_write(const struct report_input *input, struct text *out);
json_t *report_cold_to_json(const struct report_input *input);
void report_interrupted_write(const struct report_input *input, struct text *out);
json_t *report_interrupted_to_json(const struct report_input *input);
