/* How a comparison of runs is told. */
#pragma once

#include "analysis/compare/compare.h"
#include "handlers/tool.h"

extern const struct field comparison_fields[];
/* With `detail` also every compared cell. New reference. */
json_t *comparison_json(const struct compare_input *input, const struct comparison *comparison,
                        bool detail);
void comparison_describe(const struct compare_input *input, const struct comparison *comparison,
                         struct text *out);
