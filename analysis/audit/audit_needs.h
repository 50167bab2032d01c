/* What the rules of the audit need, for the table of them: is it there in at least one cell?
 * Private to audit*.c. */
#pragma once

#include "analysis/audit/audit_parts.h"

bool has_places(const struct audit *audit); /* what sets rows apart, and two rows */
bool has_others(const struct audit *audit);
bool has_outcomes(const struct audit *audit);
bool has_in_flight(const struct audit *audit);
bool has_three_levels(const struct audit *audit);
bool has_requests(const struct audit *audit);
bool has_rounds(const struct audit *audit);
bool has_door(const struct audit *audit);
bool has_two_levels(const struct audit *audit);
bool has_slowest(const struct audit *audit);
bool has_percentiles(const struct audit *audit);
bool has_order(const struct audit *audit);
bool has_output(const struct audit *audit);
bool has_tokens_of_context(const struct audit *audit);
bool has_marks(const struct audit *audit); /* our own load generator's */
bool has_lengths(const struct audit *audit);
bool has_both_counts(const struct audit *audit);
bool has_cache(const struct audit *audit);
bool has_rates_twice(const struct audit *audit);
bool has_roof(const struct audit *audit); /* hardware and model, in the catalogue */
bool has_token_rate(const struct audit *audit);
bool has_stream_rate(const struct audit *audit);
