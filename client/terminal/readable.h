/* SPDX-License-Identifier: Apache-2.0 */
/* Makes a server's answer safe to show on a terminal: no escape sequence in it takes effect,
 * whoever wrote it. */
#pragma once

#include <jansson.h>

#include "base/core/text.h"
#include "client/terminal/terminal.h"

/* Adds a text, with a final newline. On a terminal, Markdown tables are fitted to the width,
 * headings are bold if the terminal has colours, and lines are wrapped between words; elsewhere the
 * layout is unchanged. */
void readable_add_text(const struct terminal *terminal, const char *text, struct text *out);
/* Adds JSON, indented by `indent` spaces or, if `indent` is 0, on one line, with a final newline.
 * Characters that a terminal interprets or does not show are escaped. */
#define READABLE_INDENT 2
void readable_add_json(const json_t *value, unsigned indent, struct text *out);
