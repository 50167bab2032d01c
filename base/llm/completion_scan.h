/* SPDX-License-Identifier: Apache-2.0 */
/* The fast path of completion_stream: one pass over a chunk's JSON without building a tree. */
#pragma once

#include "base/llm/completion_stream.h"

/* Parses one event in a single pass. Returns false if the event is not a plain chunk, for example
 * because it is an error or malformed, or has a finish reason, escapes in wanted text, or usage in
 * an unusual place or form: the caller then parses it with the JSON library. The result never
 * differs from the library's. */
bool completion_scan(const char *json, size_t length, bool want_text, struct completion_event *out);
/* Resets the event: it has no content, and all counts are -1. */
void completion_scan_clear(struct completion_event *event);
