/* SPDX-License-Identifier: Apache-2.0 */
/* Questions to a client during a request, and the client's answers, as JSON. Both protocol eras
 * (rpc.h) and the tasks extension use the same form. */
#pragma once

#include <jansson.h>

#include "base/core/error.h"
#include "handlers/tool.h"

/* A question's parameters, as the object that is sent; new reference. */
json_t *input_request_params(const struct question *question);
/* {"key":{"method":...,"params":...}} as MCP's InputRequests; new reference. */
json_t *input_request_requests(const struct question *questions, size_t count);
/* Returns the capabilities that the questions need but the client lacks, as MCP's
 * ClientCapabilities; new reference. NULL: none is missing. `capabilities`: those that the client
 * declared; NULL: none. */
json_t *input_request_missing(const json_t *capabilities, const struct question *questions,
                              size_t count);
/* Checks that `result` has the right form for an answer to the question. INVALID: the error message
 * says what is wrong. */
CHECKED bool input_request_check(const struct question *question, const json_t *result,
                                 struct error *error);
