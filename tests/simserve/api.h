/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the function of each request, and makes answers. */
#pragma once

#include <jansson.h>

#include "tests/simserve/connection.h"

/* Answers the connection's request, at once or when the model is done. */
void api_dispatch(struct connection *connection);

void api_respond(struct connection *connection, int status, const char *type, const char *extra,
                 const char *body, size_t length);
void api_respond_json_take(struct connection *connection, int status, json_t *body);
/* vLLM's error object. `extra`: header lines or NULL. */
void api_respond_error(struct connection *connection, int status, const char *type,
                       const char *message, const char *extra);
/* The same for a failed function: 404 or 400 by the error's kind. */
void api_respond_failure(struct connection *connection, const struct error *error);
/* Reads the body as JSON; answers 400 itself if it is none. The caller frees *out. */
bool api_read_json(struct connection *connection, json_t **out);
