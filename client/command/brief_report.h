/* SPDX-License-Identifier: Apache-2.0 */
/* A report shortened for a user at a terminal. */
#pragma once

#include "base/core/text.h"

/* Adds the report (Markdown) to `out`, without the sections that say what was measured and how, the
 * sections that repeat the takeaways, and the matrix of requests/s. Of the other matrices for each
 * output length, only the first few are added. If anything is omitted, a line names what. */
void brief_report_add(const char *report, struct text *out);
