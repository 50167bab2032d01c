/* SPDX-License-Identifier: Apache-2.0 */
/* Writes comparisons of runs into answers. */
#pragma once

#include "analysis/compare/compare.h"
#include "handlers/tool.h"

extern const struct field compare_answer_fields[];
/* Returns the comparison in the form of compare_answer_fields, without `pairing` and
 * `pairs_left_out`, which the caller adds. With `detail`, compared cells are listed, too. New
 * reference. */
json_t *compare_answer_json(const struct compare_input *input, const struct comparison *comparison,
                            bool detail);
/* Adds the comparison as text. */
void compare_answer_describe(const struct compare_input *input, const struct comparison *comparison,
                             struct text *out);
