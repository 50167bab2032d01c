/* SPDX-License-Identifier: Apache-2.0 */
/* The JSON of a completion request, and which of its members a server may not know. Private to
 * fleet/. */
#pragma once

#include "fleet/query.h"

enum query_field {
    QUERY_MAX_TOKENS = 1,
    QUERY_MAX_COMPLETION_TOKENS = 2,
    QUERY_STREAM_OPTIONS = 4,
};

/* Those to begin with. Chat asks for its limit by both names: servers that ignore one would answer
 * without end. */
unsigned query_fields(const struct query *query);
/* Heap memory. */
char *query_body(const struct endpoint *endpoint, const struct query *query, unsigned fields);
/* The field that a refusal (of status 400) names first, among those that may be left out; 0: none.
 */
unsigned query_body_refused_field(unsigned fields, const char *refusal, size_t length);
