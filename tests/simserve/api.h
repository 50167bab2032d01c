/* SPDX-License-Identifier: Apache-2.0 */
/* Routes each request to its function, and writes answers. */
#pragma once

#include <jansson.h>

#include "tests/simserve/connection.h"

/* Answers the connection's request, now or when the model has finished. */
void api_dispatch(struct connection *connection);

/* Every api_respond* function answers the current request. `extra`: further header lines, or NULL.
 */

void api_respond(struct connection *connection, int status, const char *content_type,
                 const char *extra, const char *body, size_t length);
void api_respond_json_take(struct connection *connection, int status, json_t *body);
/* Answers with vLLM's error object, whose `type` is a name such as "BadRequestError"; if the status
 * is 401, the object has only the message. */
void api_respond_error(struct connection *connection, int status, const char *type,
                       const char *message, const char *extra);
/* Answers with vLLM's error object, with status 404 for ERROR_NOT_FOUND, otherwise
 * 400. */
void api_respond_failure(struct connection *connection, const struct error *error);
/* Parses the request's body as JSON; the caller releases *out. On failure, answers 400 and returns
 * false. */
bool api_read_json(struct connection *connection, json_t **out);
