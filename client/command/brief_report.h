/* SPDX-License-Identifier: Apache-2.0 */
/* A report as a person at a terminal wants it first. */
#pragma once

#include "base/core/text.h"

/* Without what the takeaways say in a sentence, and how it was measured; of each output length the
 * first matrices. A line names what is not shown. */
void brief_report_add(const char *report, struct text *out);
