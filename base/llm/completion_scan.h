/* SPDX-License-Identifier: Apache-2.0 */
/* The fast path of completion_stream: one pass over a chunk's JSON without building it. */
#pragma once

#include "base/llm/completion_stream.h"

/* What can be said of one event by looking at it: true with *out filled, or false where it is
 * anything but a plain chunk (an error, a finish reason, escapes to be undone, usage in an unusual
 * place or form, malformed): then the JSON library decides. Never says anything else than the
 * library would. */
bool completion_scan(const char *json, size_t length, bool want_text, struct completion_event *out);
/* All counts "not said", nothing seen. */
void completion_scan_clear(struct completion_event *event);
