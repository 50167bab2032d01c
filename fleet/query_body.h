/* SPDX-License-Identifier: Apache-2.0 */
/* The JSON of a completion request, and which of its members some servers do not support. Private
 * to fleet/. */
#pragma once

#include "fleet/query.h"

enum query_field {
    QUERY_MAX_TOKENS = 1,
    QUERY_MAX_COMPLETION_TOKENS = 2,
    QUERY_STREAM_OPTIONS = 4,
};

/* Returns the query_fields for the first request. A chat sends its token limit under both names,
 * because a server may know only one of them and would ignore the other. */
unsigned query_fields(const struct query *query);
/* Returns the JSON of the request, with the given query_fields. The caller frees it. */
char *query_body(const struct endpoint *endpoint, const struct query *query, unsigned fields);
/* Of the `fields` that can be omitted, returns the one that the server's refusal names first, or 0
 * if it names none of them. */
unsigned query_body_refused_field(unsigned fields, const char *refusal, size_t length);
