/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a secret from standard input: typed without being shown, or piped. */
#pragma once

#include "base/core/error.h"
#include "base/core/text.h"

#define HIDDEN_LINE_LIMIT 512

/* If standard input is a terminal, shows the prompt on standard error. Reads the first line, or its
 * first HIDDEN_LINE_LIMIT bytes, without the spaces and tabs around it. CANCELLED: Ctrl-C or a
 * signal. The caller wipes *out, also on failure. */
CHECKED bool hidden_line_read(const char *prompt, struct text *out, struct error *error);
