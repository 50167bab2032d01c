/* The parts of a report behind the matrices, each as markdown and as JSON. Private to analysis/. */
#pragma once

#include <jansson.h>

#include "analysis/grid.h"
#include "analysis/report.h"

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
void failures_write(const struct grid *grid, struct text *out);
json_t *failures_to_json(const struct grid *grid);
void warnings_write(const struct report_input *input, const struct grid *grid, struct text *out);
json_t *warnings_to_json(const struct grid *grid);
/* Cold starts and interrupted attempts; nothing where there are none. */
void cold_write(const struct report_input *input, struct text *out);
json_t *cold_to_json(const struct report_input *input);
void interrupted_write(const struct report_input *input, struct text *out);
json_t *interrupted_to_json(const struct report_input *input);
