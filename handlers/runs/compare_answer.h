/* SPDX-License-Identifier: Apache-2.0 */
/* Comparisons of runs in answers. */
#pragma once

#include "analysis/compare/compare.h"
#include "handlers/tool.h"

extern const struct field compare_answer_fields[];
/* With `detail` also every compared cell. New reference. */
json_t *compare_answer_json(const struct compare_input *input, const struct comparison *comparison,
                            bool detail);
void compare_answer_describe(const struct compare_input *input, const struct comparison *comparison,
                             struct text *out);
