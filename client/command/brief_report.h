/* SPDX-License-Identifier: Apache-2.0 */
/* A report shortened for a user at a terminal. */
#pragma once

#include "base/core/text.h"

/* Adds the report (Markdown) to `out`, without the sections that say what was measured and how, or
 * repeat the takeaways, and with only the first matrices of each output length. A line names the
 * omitted parts. */
void brief_report_add(const char *report, struct text *out);
