/* SPDX-License-Identifier: Apache-2.0 */
/* Questions to a client during a request, and its answers, in the JSON that both eras and tasks
 * share. */
#pragma once

#include <jansson.h>

#include "base/core/error.h"
#include "handlers/tool.h"

/* A question's parameters as they are sent; new reference, an object. */
json_t *input_request_params(const struct question *question);
/* {"key":{"method":...,"params":...}} as MCP's InputRequests; new reference. */
json_t *input_request_requests(const struct question *questions, size_t count);
/* The capabilities that the questions need but that are not among the client's `capabilities`
 * (NULL: none), as MCP's ClientCapabilities; new reference. NULL: none is missing. */
json_t *input_request_missing(const json_t *capabilities, const struct question *questions,
                              size_t count);
/* Checks that `result` has the right form for an answer to the question. INVALID says what is
 * wrong. */
CHECKED bool input_request_check(const struct question *question, const json_t *result,
                                 struct error *error);
