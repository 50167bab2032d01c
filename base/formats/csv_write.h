/* SPDX-License-Identifier: Apache-2.0 */
/* Writes CSV fields. */
#pragma once

#include "base/core/text.h"

/* Appends the number with 6 significant digits, or as many more as it needs to read back as the
 * same number; omits trailing zeros. Appends nothing if the number is not finite. */
void csv_write_number(double value, struct text *out);
/* Appends the text in quotes. If a spreadsheet might run it as a formula, puts an apostrophe in
 * front, because texts can come from servers that are not trusted. */
void csv_write_text(const char *string, struct text *out);
