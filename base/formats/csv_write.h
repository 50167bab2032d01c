/* SPDX-License-Identifier: Apache-2.0 */
/* Writes fields of CSV. */
#pragma once

#include "base/core/text.h"

/* The shortest form that reads back as the same number; nothing if it is not finite. */
void csv_write_number(double value, struct text *out);
/* In quotes. A text that a spreadsheet would run as a formula gets an apostrophe in front, since
 * servers may have chosen it. */
void csv_write_text(const char *string, struct text *out);
