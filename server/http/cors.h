/* SPDX-License-Identifier: Apache-2.0 */
/* The headers that let web pages of other origins call the server (CORS). origin.h checks which
 * origins may. */
#pragma once

#include <stdbool.h>

struct exchange;

/* Whether the request is a browser's preflight. */
bool cors_is_preflight(const struct exchange *exchange);
/* Allows the requesting page, whose origin was checked, to read the answer. */
void cors_allow(struct exchange *exchange);
/* Answers a preflight: allows these verbs, and the headers that MCP clients send. */
void cors_answer_preflight(struct exchange *exchange, const char *verbs);
