/* SPDX-License-Identifier: Apache-2.0 */
/* The JSON of a completion request, and which of its members a server may not support. Private to
 * fleet/. */
#pragma once

#include "fleet/query.h"

enum query_field {
    QUERY_MAX_TOKENS = 1,
    QUERY_MAX_COMPLETION_TOKENS = 2,
    QUERY_STREAM_OPTIONS = 4,
};

/* The fields of the first attempt. Chat sends its limit under both names: a server that ignores one
 * would generate without end. */
unsigned query_fields(const struct query *query);
/* Heap memory. */
char *query_body(const struct endpoint *endpoint, const struct query *query, unsigned fields);
/* The first optional field that a refusal (status 400) names; 0: none */
unsigned query_body_refused_field(unsigned fields, const char *refusal, size_t length);
