/* SPDX-License-Identifier: Apache-2.0 */
/* A report shortened for a user at a terminal. */
#pragma once

#include "base/core/text.h"

/* Adds the report (Markdown) to `out`, without the sections that say what was measured and how, or
 * repeat the takeaways, without the matrix of requests/s, and with only the first few of the
 * other matrices of each output length. If anything is omitted, a line names it. */
void brief_report_add(const char *report, struct text *out);
