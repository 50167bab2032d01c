/* SPDX-License-Identifier: Apache-2.0 */
/* The fast path of completion_stream: one pass over a chunk's JSON without building it. */
#pragma once

#include "base/llm/completion_stream.h"

/* Parses one event in a single pass. Returns false for anything but a plain chunk (an error, a
 * finish reason, escapes, usage in an unusual place or form, malformed JSON), which is left to the
 * JSON library. The result never differs from the library's. */
bool completion_scan(const char *json, size_t length, bool want_text, struct completion_event *out);
/* Resets the event: without content, and with all counts -1. */
void completion_scan_clear(struct completion_event *event);
