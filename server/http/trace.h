/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the trace that a request belongs to (W3C Trace Context), for the log. */
#pragma once

#include <stdbool.h>

#define TRACE_ID_SIZE 33 /* 32 hex digits and NUL */

/* Reads the trace id from the value of a `traceparent` header. False: there is no header (NULL), or
 * its value does not have the form that the recommendation requires: version, trace id, parent id
 * and flags in lowercase hexadecimal, with neither id zero. Then `out` is unchanged. */
bool trace_id_read(const char *traceparent, char out[TRACE_ID_SIZE]);
