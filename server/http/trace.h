/* SPDX-License-Identifier: Apache-2.0 */
/* W3C trace context: finds the trace of a request, for the log. */
#pragma once

#include <stdbool.h>

#define TRACE_ID_SIZE 33 /* 32 hex digits and NUL */

/* The trace id of a `traceparent` (NULL: none). False, and out unchanged, unless it has the form of
 * the recommendation: version, trace id, parent id and flags in lower-case hex, neither id zero. */
bool trace_id_read(const char *traceparent, char out[TRACE_ID_SIZE]);
