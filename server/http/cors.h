/* SPDX-License-Identifier: Apache-2.0 */
/* Calls from web pages of other origins (CORS), for the origins that the setting allowed_origins
 * admits. */
#pragma once

#include <stdbool.h>

struct exchange;

/* Whether the request is a browser's preflight. */
bool cors_is_preflight(const struct exchange *exchange);
/* Allows the requesting page, whose origin was checked, to read the answer. */
void cors_allow(struct exchange *exchange);
/* Answers a preflight: allows these verbs, and the headers of MCP. */
void cors_answer_preflight(struct exchange *exchange, const char *verbs);
