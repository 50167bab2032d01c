/* SPDX-License-Identifier: Apache-2.0 */
/* A line that shows progress. */
#pragma once

#include "base/core/text.h"
#include "client/terminal/terminal.h"

/* Adds "[████░░░░] 3 of 6  MESSAGE": the bar takes the remaining width, at most a quarter of the
 * line and at most 30 columns. There is no bar if fewer than 4 columns remain, and the words are
 * shortened only if they are wider than the line. If `total` is 0, it is not known yet: the bar is
 * empty, and "3 of 6" is omitted. */
void progress_bar_add(const struct terminal *terminal, double done, double total,
                      const char *message, struct text *out);
