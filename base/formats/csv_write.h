/* SPDX-License-Identifier: Apache-2.0 */
/* Writes fields of CSV. */
#pragma once

#include "base/core/text.h"

/* Appends the number in the fewest digits that read back as the same number; nothing if it is not
 * finite. */
void csv_write_number(double value, struct text *out);
/* Appends the text in quotes. If a spreadsheet might run it as a formula, it gets an apostrophe in
 * front, because texts may come from servers. */
void csv_write_text(const char *string, struct text *out);
