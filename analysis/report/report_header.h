/* SPDX-License-Identifier: Apache-2.0 */
/* What a report says about the sweep: its state, runs, fingerprint and plan. Private to analysis/.
 */
#pragma once

#include <jansson.h>

#include "analysis/report/report.h"

/* Writes "# Sweep swp_... of demo", and the sweep's state. */
void report_header_write(const struct report_input *input, struct text *out);
/* Writes what was measured and how: cells, time, runs, fingerprint and plan. */
void report_header_write_origin(const struct report_input *input, struct text *out);
/* Adds the members "sweep", "runs", "client", "fingerprint", "fingerprints_differ" and "plan" to
 * `out`. */
void report_header_to_json(const struct report_input *input, json_t *out);
/* The plan, or an empty object if it cannot be parsed; new reference. */
json_t *report_header_plan(const struct report_input *input);
/* A number from the plan; NaN if the plan does not have it. */
double report_header_plan_number(const struct report_input *input, const char *name);
