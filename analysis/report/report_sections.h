/* The parts of a report behind the matrices, each as markdown and as JSON. Private to analysis/. */
#pragma once

#include <jansson.h>

#include "analysis/report/cell_grid.h"
#include "analysis/report/failure_onset.h"
#include "analysis/report/report.h"

void peak_write(const struct grid *grid, size_t output, struct text *out);
json_t *peak_to_json(const struct grid *grid, size_t output); /* null if there is none */
void saturation_write(const struct grid *grid, size_t output, struct text *out);
json_t *saturation_to_json(const struct grid *grid, size_t output);
/* The largest load that meets the plan's limits; nothing where it states none. */
void limit_write(const struct report_input *input, const struct grid *grid, size_t output,
                 struct text *out);
/* "limits met up to 26 users (32: E2E 4600 of 4000 ms)"; false where the plan states none. */
bool limit_sentence(const struct report_input *input, const struct grid *grid, size_t output,
                    size_t context, struct text *out);
json_t *limit_to_json(const struct report_input *input, const struct grid *grid, size_t output);
/* "context 512, at 8 users: failed, rate_limited, 4 of 9 requests" */
void failure_sentence(const struct grid *grid, const struct first_failure *failure,
                      struct text *out);
void failures_write(const struct grid *grid, struct text *out);
json_t *failures_to_json(const struct grid *grid);
void warnings_write(const struct report_input *input, const struct grid *grid, struct text *out);
json_t *warnings_to_json(const struct grid *grid);
/* Cold starts and interrupted attempts; nothing where there are none. */
void cold_write(const struct report_input *input, struct text *out);
json_t *cold_to_json(const struct report_input *input);
void interrupted_write(const struct report_input *input, struct text *out);
json_t *interrupted_to_json(const struct report_input *input);
