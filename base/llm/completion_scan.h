/* SPDX-License-Identifier: Apache-2.0 */
/* The fast path of completion_stream: one pass over a chunk's JSON without building a tree. */
#pragma once

#include "base/llm/completion_stream.h"

/* Parses one event in a single pass. Returns false if the event is not a plain chunk, for example
 * because it is an error, is malformed, or has a finish reason, escapes in text that is wanted, or
 * usage in an unusual place or form. The caller then parses the event with the JSON library. For a
 * plain chunk, the result is the same as with the JSON library. */
bool completion_scan(const char *json, size_t length, bool want_text, struct completion_event *out);
/* Resets the event: it has no content, and all counts are -1. */
void completion_scan_clear(struct completion_event *event);
