/* SPDX-License-Identifier: Apache-2.0 */
/* What the audit's rules need: each function returns whether the run or enough of its cells have
 * the figures for a rule. Private to analysis/audit/. */
#pragma once

#include "analysis/audit/audit_parts.h"

/* The run has at least two rows, and at least one states a load, an input length or a number of
 * requests. */
bool audit_needs_places(const struct audit *audit);
/* The audit's caller passes runs among which to look for copies. */
bool audit_needs_others(const struct audit *audit);
bool audit_needs_outcomes(const struct audit *audit);
bool audit_needs_in_flight(const struct audit *audit);
bool audit_needs_three_levels(const struct audit *audit);
bool audit_needs_requests(const struct audit *audit);
bool audit_needs_rounds(const struct audit *audit);
bool audit_needs_admission(const struct audit *audit);
bool audit_needs_two_levels(const struct audit *audit);
bool audit_needs_slowest(const struct audit *audit);
bool audit_needs_percentiles(const struct audit *audit);
bool audit_needs_order(const struct audit *audit);
bool audit_needs_output(const struct audit *audit);
bool audit_needs_tokens_of_context(const struct audit *audit);
/* True for our own runs, and for imports with a warning that a rule reports. */
bool audit_needs_warnings(const struct audit *audit);
bool audit_needs_lengths(const struct audit *audit);
bool audit_needs_both_counts(const struct audit *audit);
bool audit_needs_cache(const struct audit *audit);
bool audit_needs_rates_twice(const struct audit *audit);
/* The hardware and model of at least one cell are in the catalogue, and the cell has the rate or
 * the latency that the rule uses. */
bool audit_needs_compute(const struct audit *audit);
bool audit_needs_bandwidth(const struct audit *audit);
