/* SPDX-License-Identifier: Apache-2.0 */
/* The headers that let web pages from other origins call the server (CORS). origin.h decides which
 * origins are allowed. */
#pragma once

#include <stdbool.h>

struct exchange;

/* Whether the request is a browser's preflight. */
bool cors_is_preflight(const struct exchange *exchange);
/* Allows the requesting page to read the answer. Call this only after the page's origin has been
 * checked. */
void cors_allow(struct exchange *exchange);
/* Answers a preflight: allows the verbs in `verbs`, and the headers that MCP clients send. */
void cors_answer_preflight(struct exchange *exchange, const char *verbs);
